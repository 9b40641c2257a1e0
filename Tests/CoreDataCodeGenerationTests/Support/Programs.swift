import Foundation
import TestSupport

/// The result of a program that ran to its end.
struct Output {
  var status: Int32
  var text: String
}

enum Programs {
  /// Runs a program and collects what it writes, in whichever stream.
  static func run(_ program: URL, _ arguments: [String], in folder: URL? = nil) throws -> Output {
    let place = try TemporaryFolder()
    // A file, not a pipe: nothing has to be drained while the process runs.
    let file: URL = place.url.appendingPathComponent("out")
    try Data().write(to: file)
    let handle = try FileHandle(forWritingTo: file)
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
    process.waitUntilExit()
    return Output(
      status: process.terminationStatus, text: String(decoding: try Data(contentsOf: file), as: UTF8.self))
  }

  /// The folder of the build that this test belongs to.
  static let build: URL = {
    let folders: [URL] = [
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
      Bundle.main.bundleURL.deletingLastPathComponent(),
    ]
    return folders.first {
      FileManager.default.isExecutableFile(atPath: $0.appendingPathComponent("coredata-modelc").path)
    } ?? folders[0]
  }()

  /// `coredata-modelc` with these arguments.
  static func modelCompiler(_ arguments: String..., in folder: URL? = nil) throws -> Output {
    try run(build.appendingPathComponent("coredata-modelc"), arguments, in: folder)
  }

  /// Checks sources with the modules of this build, as a module of their own; warnings are errors. Returns
  /// what the compiler says, nothing for correct code. `makes`: a file for the module; `searching`: where
  /// others are.
  static func typeCheck(
    _ sources: [URL], module: String = "Checked", isolation: String = "nonisolated", makes: URL? = nil,
    searching others: [URL] = []
  ) throws -> String {
    let checkouts: URL = build.resolvingSymlinksInPath()
      .appendingPathComponent("../../checkouts").standardizedFileURL
    let folders: [String] =
      others.map(\.path) + [
        build.appendingPathComponent("Modules").path,
        SharedFiles.package.appendingPathComponent("Sources/CZlib").path,
        SharedFiles.package.appendingPathComponent("Sources/CSwiftRuntime").path,
        checkouts.appendingPathComponent("GRDB.swift/Sources/GRDBSQLite").path,
      ]
    let output: Output = try run(
      URL(fileURLWithPath: "/usr/bin/env"),
      ["swiftc", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors"]
        + (makes.map { ["-emit-module", "-emit-module-path", $0.path] } ?? ["-typecheck"])
        + ["-default-isolation", isolation, "-module-name", module]
        + folders.flatMap { ["-I", $0] } + sources.map(\.path))
    return output.status == 0 ? "" : output.text
  }
}
