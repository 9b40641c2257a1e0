import Testing

@testable import SwiftSources

struct ScannerTests {
  private func scan(_ text: String) throws -> ScannedFile {
    try DeclarationScanner.scan(SourceText(path: "Test.swift", text))
  }

  private func tokens(_ text: String) throws -> [String] {
    let source = SourceText(path: "Test.swift", text)
    return try Lexer.tokens(of: source).map { source[$0.range] }
  }

  @Test(arguments: [
    ("a /* b /* c */ d */ e // f\n/g", ["a", "e", "/", "g"]),
    (#"x = "a\"b" + y"#, ["x", "=", #""a\"b""#, "+", "y"]),
    (#""a\(b + "c\(d)")e" f"#, [#""a\("#, "b", "+", #""c\("#, "d", #")""#, #")e""#, "f"]),
    (##"#"a"b\(c)\#(d)"# e"##, [##"#"a"b\(c)\#("##, "d", ##")"#"##, "e"]),
    ("\"\"\"\n @objc \"quoted\" // no\n\"\"\" a", ["\"\"\"\n @objc \"quoted\" // no\n\"\"\"", "a"]),
    ("let r = /a[/\"]b\\/c/ ; x", ["let", "r", "=", "/a[/\"]b\\/c/", ";", "x"]),
    ("a / b / c", ["a", "/", "b", "/", "c"]),
    ("f(a)/2 + b[0]/3", ["f", "(", "a", ")", "/", "2", "+", "b", "[", "0", "]", "/", "3"]),
    ("#/a\"/b/# c", ["#/a\"/b/#", "c"]),
    (#""\(/@objc/)" / b"#, [#""\("#, "/@objc/", #")""#, "/", "b"]),
    ("### #if", ["#", "#", "#", "#if"]),
    (#""" + "" a"#, [#""""#, "+", #""""#, "a"]),
    ("`class` $0 0x1F 1.5e3 a->b", ["`class`", "$0", "0x1F", "1.5e3", "a", "->", "b"]),
    ("#!/usr/bin/swift\na", ["a"]),
    ("größe", ["größe"]),
  ])
  func `text is divided into tokens`(_ text: String, _ expected: [String]) throws {
    #expect(try tokens(text) == expected)
  }

  @Test(arguments: [
    ("a\n/* b /* c */", "Test.swift:2:1: error: This comment has no end."),
    ("a\n  \"b\nc", "Test.swift:2:3: error: This string literal has no end."),
    ("\"a\\(b\"", "Test.swift:1:6: error: This string literal has no end."),
    ("\"a\\(b", "Test.swift:1:1: error: This string literal has no end."),
    ("\"\"\"\n\"", "Test.swift:1:1: error: This string literal has no end."),
    ("#/a", "Test.swift:1:1: error: This regular expression has no end."),
    ("#if A\nb", "Test.swift:1:1: error: This #if has no #endif."),
    ("b\n#endif", "Test.swift:2:1: error: This #endif has no #if."),
    ("class A {\n  @objc(", "Test.swift:2:8: error: This ( has no end."),
    ("protocol e{optional func i()", "Test.swift:1:11: error: This { has no end."),
    ("protocol e{optional func i())", "Test.swift:1:11: error: This { has no end."),
  ])
  func `what has no end is an error at its place`(_ text: String, _ expected: String) {
    #expect(throws: SourceFailure.self) { try scan(text) }
    do { _ = try scan(text) } catch { #expect("\(error)" == expected) }
  }

  @Test func `types nested too deep are an error, and long types are read`() throws {
    let text: String = String(repeating: "class A {", count: 3000) + String(repeating: "}", count: 3000)
    let failure: SourceFailure = try #require(throws: SourceFailure.self) { try scan(text) }
    #expect(failure.message == "This type is in 256 other types, more than the compiler takes.")
    let types: String = Array(repeating: "A & B -> C", count: 20_000).joined(separator: " & ")
    #expect(try members("class A {\n  @NSManaged var x: \(types)\n}").count == 1)
  }

  /// Each member as `Owner.name: type` or `Owner.name(label: type)`, with what else is known of it.
  private func members(_ text: String) throws -> [String] {
    var found: [String] = []
    func walk(_ types: [TypeDeclaration], _ path: [String]) {
      for type in types {
        let path: [String] = path + type.name
        for member in type.members {
          var line: String = "\(path.joined(separator: ".")).\(member.name)"
          switch member.form {
          case .property(let type): line += ": \(type.text)"
          case .method(let parameters, let result):
            line += "(\(parameters.map { "\($0.label ?? "_"): \($0.type.text)" }.joined(separator: ", ")))"
            if let result { line += " -> \(result.text)" }
          }
          if let access = member.access { line += " \(access.rawValue)" }
          if let name = member.objectiveCName { line += " objc=\(name)" }
          if member.isOverride { line += " override" }
          if let condition = member.condition { line += " if \(condition)" }
          found.append(line)
        }
        walk(type.types, path)
      }
    }
    walk(try scan(text).declarations, [])
    return found
  }

  @Test(arguments: [
    ("class A: B { @NSManaged var x: String? }", ["A.x: String?"]),
    (
      "class A { @NSManaged public var x, y: Int16, z: Int32 }",
      ["A.x: Int16 public", "A.y: Int16 public", "A.z: Int32 public"]
    ),
    ("class A { public @NSManaged dynamic var x: [String: [Int]]? }", ["A.x: [String: [Int]]? public"]),
    (
      "class A { @NSManaged\n  @objc(z)\n  private(set) public var x: Set<B.C>? }",
      ["A.x: Set<B.C>? public objc=z"]
    ),
    (
      "extension A.B { @NSManaged open override var `class`: (any C & D)? }",
      ["A.B.class: (any C & D)? open override"]
    ),
    (
      "class A { @objc(addTagsObject:)\n@NSManaged public func addToTags(_ value: Tag)\n"
        + "@NSManaged func insertIntoTags(_ values: [Tag], at indexes: NSIndexSet) }",
      ["A.addToTags(_: Tag) public objc=addTagsObject:", "A.insertIntoTags(_: [Tag], at: NSIndexSet)"]
    ),
    (
      "enum N { struct S {} ; final class A<T: P, each U>: B<T> where T: Q { @NSManaged var x: Int } }",
      ["N.A.x: Int"]
    ),
    ("class A { func f() { class B { } } ; var y: Int { get { 1 } } ; @NSManaged var x: Int }", ["A.x: Int"]),
    (
      "class A { lazy var y = { () -> Int in 3 }() \n let z = a.class.init(x: { $0 }) \n @NSManaged var x: Int }",
      ["A.x: Int"]
    ),
    ("class A { static func < (a: A, b: A) -> Bool { true } ; @NSManaged var x: Int }", ["A.x: Int"]),
    ("class A { class func f() {} ; class var v: Int { 1 } ; @NSManaged var x: Int }", ["A.x: Int"]),
    ("class A { @available(iOS 13, *) @NSManaged var x: Int; subscript(i: Int) -> Int { 1 } }", ["A.x: Int"]),
    (
      "class A {\n#if os(iOS)\n@NSManaged var x: Int\n#elseif canImport(UIKit)\n@NSManaged var y: Int\n#else\n"
        + "@NSManaged var z: Int\n#endif\n}", ["A.z: Int"]
    ),
    (
      "class A {\n#if DEBUG\n@NSManaged var x: Int\n#else\n@NSManaged var y: Int\n#endif\n}",
      ["A.x: Int if DEBUG", "A.y: Int if !(DEBUG)"]
    ),
    (
      "class A {\n#if DEBUG && canImport(Foundation)\n#if FAST\n@NSManaged var x: Int\n#endif\n#endif\n}",
      ["A.x: Int if DEBUG && canImport(Foundation) && (FAST)"]
    ),
    (
      "#if canImport(UIKit) || (os(macOS) && !targetEnvironment(simulator))\nclass A { @NSManaged var x: Int }\n#endif",
      []
    ),
    ("#if compiler(>=5.9)\nclass A { @NSManaged var x: Int }\n#endif", ["A.x: Int"]),
    ("class A { // @NSManaged var x: Int\n let s = \"@NSManaged var y: Int\" }", []),
    ("let x = f { class A { @NSManaged var y: Int } }\nclass B { @NSManaged var z: Int? }", ["B.z: Int?"]),
    ("class A {\r\n  @NSManaged var x: Int\r\n}\r\n", ["A.x: Int"]),
  ])
  func `managed members are found with their types`(_ text: String, _ expected: [String]) throws {
    #expect(try members(text) == expected)
  }

  @Test func `imports and types are found`() throws {
    let file: ScannedFile = try scan(
      """
      @preconcurrency internal import struct Models.Color
      import Foundation
      #if canImport(UIKit)
      import UIKit
      #endif
      public typealias Name<T> = [T: String]
      private struct Hidden {}
      protocol P {}
      """)
    #expect(file.imports.map(\.text) == ["import struct Models.Color", "import Foundation"])
    #expect(file.imports.map(\.module) == ["Models", "Foundation"])
    #expect(file.imports.map(\.access) == ["internal", nil])
    #expect(file.declarations.map(\.kind) == [.typealias, .struct, .protocol])
    #expect(file.declarations.map(\.isHidden) == [false, true, false])
    #expect(file.declarations[0].genericParameters == ["T"])
  }

  /// Text that is cut anywhere, or has a byte too many, is scanned or refused.
  @Test func `broken sources are no trouble`() throws {
    let text: String = try String(
      contentsOf: Forms.folder.appendingPathComponent("Forms/Item.swift"), encoding: .utf8)
    let bytes: [UInt8] = Array(text.utf8)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      var broken: [UInt8] = Array(bytes[..<Int.random(in: 0..<bytes.count, using: &random)])
      if let place = broken.indices.randomElement(using: &random) {
        broken[place] = "\"/*({#`<@".utf8.randomElement(using: &random) ?? 0
      }
      let shown = String(decoding: broken, as: UTF8.self)
      do { _ = try scan(shown) } catch is SourceFailure {}
    }
  }
}
