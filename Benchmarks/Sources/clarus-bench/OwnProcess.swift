import Foundation

/// This program, started once more for a measurement: nothing is warm in it but what the measurement itself
/// warms, and its peak of memory is its own.
enum OwnProcess {
  static var own: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

  /// Runs it, or another program, to its end, and decodes the JSON that it prints. `label`: what failed, for
  /// the error.
  static func measure<Value: Decodable>(
    _ type: Value.Type, label: @autoclosure () -> String, program: URL = own, _ arguments: String...
  ) throws -> Value {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data: Data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw BenchmarkError("\(label()) failed (status \(process.terminationStatus)).")
    }
    return try JSONDecoder().decode(type, from: data)
  }

  /// A folder for the stores of this process; the caller removes it.
  static func makeFolder() throws -> URL {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("clarus-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// What such a process prints.
  static func print(_ value: some Encodable) throws {
    Swift.print(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
  }
}

/// A table of fixed columns.
struct TextColumns {
  /// The width of the first column, and of each other.
  var first: Int
  var other: Int

  func row(_ title: String, _ cells: [String]) -> String {
    title.padding(toLength: first, withPad: " ", startingAt: 0)
      + cells.map { String(repeating: " ", count: max(1, other - $0.count)) + $0 }.joined()
  }
}

extension Double {
  func fixed(_ digits: Int) -> String { String(format: "%.\(digits)f", self) }
}
