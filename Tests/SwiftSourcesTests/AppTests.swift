import Foundation
import TestSupport
import Testing

@testable import SwiftSources

/// `Forms/App/Notes.swift` is what an app has: Xcode's stack and classes, a fetched results controller with
/// its delegate, a method that checks a property, an observer, a computed property that is read by its key, a
/// protocol with optional requirements.
struct AppTests {
  private func ported(_ style: Porter.Style) throws -> [Porter.Result] {
    try Porter(try Forms.sources("App"), style: style).results()
  }

  @Test func `the command changes fourteen lines of an app, and nothing is left to do`() throws {
    let results: [Porter.Result] = try ported(.kept)
    #expect(results.map(\.changedLineCount).reduce(0, +) == 14)
    let findings: [PortingFinding] = results.flatMap(\.findings)
    #expect(findings.allSatisfy { $0.rule.outcome == .rewritten }, "\(findings)")
    let again: [Porter.Result] = try Porter(
      results.map { SourceText(path: $0.source.path, $0.text) }, style: .kept
    ).results()
    #expect(again.map(\.text) == results.map(\.text) && again.allSatisfy(\.findings.isEmpty))
  }

  static let styles: [Porter.Style] = Soak.isOn ? [.kept, .built] : [.kept]

  @Test(arguments: styles) func `the app works then`(_ style: Porter.Style) throws {
    let folder = try TemporaryFolder()
    var sources: [SourceText] = []
    for result in try ported(style) {
      let file: URL = folder.file(result.source.fileName)
      try result.text.write(to: file, atomically: true, encoding: .utf8)
      sources.append(try SourceText(contentsOf: file))
    }
    let compiler: SwiftCompiler = try #require(ManagedAccessorTests.compiler)
    let accessors = try ManagedAccessors(
      module: "App", sources: sources, compiler: compiler, folder: folder.file("skeleton"))
    #expect(accessors.remarks.isEmpty)
    try accessors.text.write(to: folder.file("Accessors.swift"), atomically: true, encoding: .utf8)
    var arguments: [String] = ["swiftc", "-Onone", "-module-name", "App"]
    arguments += ManagedAccessorTests.search
    arguments += sources.map(\.path) + [folder.file("Accessors.swift").path]
    arguments += try ManagedAccessorTests.objects()
    arguments += ["-lsqlite3", "-lz", "-o", folder.file("program").path]
    let compiled: ManagedAccessorTests.Output = try ManagedAccessorTests.run(arguments, in: folder.url)
    try #require(compiled.status == 0, "\(compiled.text.suffix(4000))")
    let run: ManagedAccessorTests.Output = try ManagedAccessorTests.run(
      [folder.file("program").path], in: folder.url)
    #expect(
      run.text == """
        Untitled
        Plants ["Plants"] ["begin", "insert   Plants ", "end", "begin", "update Plants", "end"] false
        A note needs a title.
        true
        2 1
        1 in Home 2

        """)
  }
}
