import Foundation
import Testing

@testable import CoreDataRuntime

// The classes to be found. Nothing else mentions most of them: a class that only a model names must be found
// although no code refers to it.

class SearchBase: NSObject {
  required override init() {}
  var label: String { "base" }
}

class SearchPlain: SearchBase { override var label: String { "plain" } }
enum SearchFirst { class Twin: SearchBase { override var label: String { "first" } } }
struct SearchSecond {
  class Twin: SearchBase { override var label: String { "second" } }
  struct SearchPlain {}
}
private class SearchPrivate: SearchBase { override var label: String { "private" } }
class SearchGeneric<Element>: SearchBase {}
class SearchConcrete: SearchGeneric<Int> { override var label: String { "concrete" } }
class SearchGenericOuter<Element> { class SearchInner: SearchBase {} }
class SearchStranger {}
class Sücher: SearchBase { override var label: String { "umlaut" } }
extension Date { class SearchExtended: SearchBase { override var label: String { "extended" } } }
/// Foundation has a class of this name.
enum SearchShadow { class Operation: NSObject {} }

@Suite(.enabled(if: TypeSearch.isSupported, "there is no list of classes to search on this platform"))
struct TypeSearchTests {
  private func names(_ bareName: String, _ base: AnyClass = SearchBase.self) -> [String] {
    TypeSearch.classes(named: bareName, subclassOf: base).map(\.qualifiedName)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let bareName: String
    let found: [String]
    let labels: [String]
    var testDescription: String { bareName.debugDescription }

    init(_ bareName: String, _ found: [String], _ labels: [String]) {
      (self.bareName, self.found, self.labels) = (bareName, found, labels)
    }
  }

  static let cases: [Case] = [
    Case("SearchPlain", ["CoreDataRuntimeTests.SearchPlain"], ["plain"]),
    Case(
      "Twin", ["CoreDataRuntimeTests.SearchFirst.Twin", "CoreDataRuntimeTests.SearchSecond.Twin"],
      ["first", "second"]),
    Case("SearchPrivate", ["CoreDataRuntimeTests.(private).SearchPrivate"], ["private"]),
    Case("SearchConcrete", ["CoreDataRuntimeTests.SearchConcrete"], ["concrete"]),
    Case("Sücher", ["CoreDataRuntimeTests.Sücher"], ["umlaut"]),
    Case(
      "SearchExtended", ["(extension in CoreDataRuntimeTests):FoundationEssentials.Date.SearchExtended"],
      ["extended"]),
    Case("SearchBase", ["CoreDataRuntimeTests.SearchBase"], ["base"]),
    // Generic classes have no single type.
    Case("SearchGeneric", [], []),
    Case("SearchInner", [], []),
    // Not a subclass, not a class, not there, not a bare name.
    Case("SearchStranger", [], []),
    Case("SearchFirst", [], []),
    Case("SearchNobody", [], []),
    Case("SearchPlai", [], []),
    Case("searchplain", [], []),
    Case("", [], []),
    Case(".SearchPlain", [], []),
    Case("CoreDataRuntimeTests.SearchPlain", [], []),
    Case("SearchPlain\0", [], []),
  ]

  @Test(arguments: cases)
  func `a bare name finds the classes that have it, and their objects can be made`(_ example: Case) throws {
    let found = TypeSearch.classes(named: example.bareName, subclassOf: SearchBase.self)
    #expect(found.map(\.qualifiedName) == example.found)
    let labels = try found.map { try #require($0.type as? SearchBase.Type).init().label }
    #expect(labels == example.labels)
  }

  @Test func `a class local to a function is found`() throws {
    class SearchLocal: SearchBase {}
    let found = TypeSearch.classes(named: "SearchLocal", subclassOf: SearchBase.self)
    #expect(found.count == 1)
    #expect(found.first?.type == SearchLocal.self)
    #expect(found.first?.qualifiedName.contains("unknown context") == false)
  }

  @Test func `the class is the one that NSClassFromString gives for the qualified name`() throws {
    let found = try #require(TypeSearch.classes(named: "SearchPlain", subclassOf: SearchBase.self).first)
    let expected: AnyClass = try #require(NSClassFromString("CoreDataRuntimeTests.SearchPlain"))
    #expect(ObjectIdentifier(found.type) == ObjectIdentifier(expected))
  }

  @Test func `classes of one name in two modules, one of them a shared library, are both found`() {
    #expect(
      names("Operation", NSObject.self) == [
        "CoreDataRuntimeTests.SearchShadow.Operation", "Foundation.Operation",
      ])
    #expect(names("Operation", Operation.self) == ["Foundation.Operation"])
    #expect(names("Operation", SearchBase.self) == [])
  }

  #if os(Linux)
    @Test func `a library that is loaded later is searched too`() throws {
      let library = "libFoundationNetworking.so"
      // The search before the load fills the cache, which the load must make stale.
      let before = names("URLSessionConfiguration", NSObject.self)
      if dlopen(library, RTLD_NOW | RTLD_NOLOAD) == nil { #expect(before == []) }
      try #require(dlopen(library, RTLD_NOW) != nil)
      #expect(
        names("URLSessionConfiguration", NSObject.self) == ["FoundationNetworking.URLSessionConfiguration"])
    }
  #endif

  @Test func `searches from many threads agree`() {
    DispatchQueue.concurrentPerform(iterations: 200) { number in
      let name = number.isMultiple(of: 2) ? "Twin" : "SearchPlain"
      #expect(names(name).count == (number.isMultiple(of: 2) ? 2 : 1))
    }
  }
}

/// The reader alone, on bytes that no compiler wrote.
struct TypeSearchReaderTests {
  /// The example at the top of `TypeSearch.swift`.
  static let example: [UInt8] =
    [0x10, 0, 0, 0] + [UInt8](repeating: 0, count: 12)
    + [0x50, 0, 0, 0x80, 0, 0, 0, 0, 8, 0, 0, 0, 0xe4, 0x0f, 0, 0]
    + Array("Person\0".utf8)

  /// Reads `bytes` as an image whose first `sectionLength` bytes are records and whose code begins 0x1000
  /// bytes after its start; gives the accessors as offsets from the start.
  private func index(_ bytes: [UInt8], sectionLength: UInt = 4) -> [String: [UInt]] {
    bytes.withUnsafeBytes { buffer in
      let start = UInt(bitPattern: buffer.baseAddress)
      var images = TypeSearch.LoadedImages()
      images.memory = TypeSearch.MappedMemory([
        .init(start: start + 0x1000, end: start + 0x2000, isReadable: false, isExecutable: true),
        .init(start: start, end: start + UInt(bytes.count), isReadable: true, isExecutable: false),
      ])
      images.generation.sections = [.init(start: start, end: start + sectionLength)]
      return TypeSearch.ClassIndex(images).accessors.mapValues { $0.map { $0 - start } }
    }
  }

  @Test func `the documented example reads as documented`() {
    #expect(index(Self.example) == ["Person": [0x1000]])
  }

  @Test(
    arguments: [
      ("a record of an Objective-C class", [0: 0x12]), ("an empty record", [0: 0]), ("a struct", [16: 0x51]),
      ("a generic class", [16: 0xd0]), ("no name", [24: 0]), ("a name outside", [24: 0x7f]),
      ("no accessor", [28: 0, 29: 0]), ("an accessor before the code", [29: 0x0e]),
      ("an accessor behind the code", [29: 0x1f]), ("an empty text", [32: 0]),
      ("a name that is not UTF-8", [33: 0xff]), ("a name without an end", [38: 0x41]),
    ] as [(String, [Int: UInt8])])
  func `what is not a class is passed over`(_ what: String, _ changes: [Int: UInt8]) {
    var bytes = Self.example
    for (offset, byte) in changes { bytes[offset] = byte }
    #expect(index(bytes) == [:], "\(what)")
  }

  @Test func `every cut of the example is passed over`() {
    for length in 0..<Self.example.count {
      #expect(index(Array(Self.example[..<length])) == [:], "\(length) bytes")
    }
  }

  @Test func `random bytes are read without harm`() {
    var random = Lehmer(state: 0x5eed_1234_abcd_0001)
    for _ in 0..<500 {
      var bytes = (0..<512).map { _ in UInt8.random(in: 0...255, using: &random) }
      // Small offsets, so that a good part of the records lands inside.
      for record in 0..<32 {
        bytes.replaceSubrange(record * 4 + 1..<record * 4 + 4, with: [record % 2 == 0 ? 1 : 0, 0, 0])
      }
      for accessor in index(bytes, sectionLength: 4096).values.joined() {
        #expect((0x1000..<0x2000).contains(accessor))
      }
    }
  }

  /// A small generator with a fixed seed: a failure repeats.
  private struct Lehmer: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 0xda94_2042_e4dd_58b5 &+ 1
      return (state >> 32) | (state << 32)
    }
  }
}
