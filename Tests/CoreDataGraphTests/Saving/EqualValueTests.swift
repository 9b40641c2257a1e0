import CoreData
import Foundation
import GRDB
import StackSupport
import Synchronization
import Testing

/// Setting what is there already writes nothing.
@Suite
struct EqualValueTests {
  /// Makes other bytes each time.
  final class SaltingTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: `count` is guarded.
    private static let count = Mutex(UInt8(0))

    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      let salt: UInt8 = Self.count.withLock { count in
        count &+= 1
        return count
      }
      return (value as? String).map { Data([salt]) + Data($0.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(decoding: $0.dropFirst(), as: UTF8.self) }
    }
  }

  private static func model() -> NSManagedObjectModel {
    ValueTransformer.setValueTransformer(
      SaltingTransformer(), forName: NSValueTransformerName("SaltingTransformer"))
    let salted: NSAttributeDescription = World.attribute("salted", .transformableAttributeType)
    salted.valueTransformerName = "SaltingTransformer"
    let holder: NSEntityDescription = World.entity(
      "Holder",
      [
        salted, World.attribute("thing", .transformableAttributeType),
        World.attribute("uri", .URIAttributeType),
        World.attribute("text", .stringAttributeType), World.attribute("number", .doubleAttributeType),
        World.attribute("float", .floatAttributeType), World.attribute("decimal", .decimalAttributeType),
        World.attribute("bytes", .binaryDataAttributeType), World.attribute("uuid", .UUIDAttributeType),
        World.attribute("date", .dateAttributeType), World.attribute("flag", .booleanAttributeType),
        World.attribute("count", .integer16AttributeType),
      ])
    World.pair(holder, "inner", .many, .nullifyDeleteRule, holder, "outer", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [holder]
    return model
  }

  /// An attribute, a value, another that is equal to it, and one that is not.
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    let value: @Sendable () -> Any
    let equal: @Sendable () -> Any
    let other: @Sendable () -> Any
    var testDescription: String { key }
  }

  /// The same entries in another order of insertion, and in a table of another size.
  private static func dictionary(_ numbers: some Sequence<Int>, room: Int) -> [String: Int] {
    var result: [String: Int] = [:]
    result.reserveCapacity(room)
    for number in numbers { result["key \(number)"] = number }
    return result
  }

  static let cases: [Case] = [
    Case(key: "salted", value: { "a" }, equal: { "a" }, other: { "b" }),
    Case(
      key: "thing", value: { dictionary(0..<40, room: 40) },
      equal: { dictionary((0..<40).reversed(), room: 900) },
      other: { dictionary(0..<41, room: 40) }),
    Case(
      key: "thing", value: { Set(0..<40) }, equal: { Set((0..<40).reversed()) }, other: { Set(0..<41) }),
    Case(
      key: "uri", value: { url("https://example.org/a/b") },
      equal: { URL(string: "b", relativeTo: url("https://example.org/a/")) as Any },
      other: { url("https://example.org/a/c") }),
    Case(key: "text", value: { "a" }, equal: { NSString("a") as String }, other: { "b" }),
    Case(key: "number", value: { 0.0 }, equal: { -0.0 }, other: { 1.5 }),
    Case(key: "float", value: { 0.1 as Float }, equal: { 0.1 as Double }, other: { 0.2 }),
    Case(
      key: "decimal", value: { Decimal(string: "1.50") as Any }, equal: { Decimal(string: "1.5") as Any },
      other: { Decimal(2) }),
    Case(
      key: "bytes", value: { Data([1, 2]) }, equal: { NSData(data: Data([1, 2])) }, other: { Data([1]) }),
    Case(
      key: "uuid", value: { UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) },
      equal: { UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) },
      other: { UUID(uuid: (2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }),
    Case(
      key: "date", value: { Date(timeIntervalSinceReferenceDate: 1) },
      equal: { Date(timeIntervalSinceReferenceDate: 1) }, other: { Date(timeIntervalSinceReferenceDate: 2) }),
    Case(key: "flag", value: { true }, equal: { 7 }, other: { false }),
    Case(key: "count", value: { 3 }, equal: { 3.0 }, other: { 4 }),
  ]

  /// What a file holds of the one row, byte by byte.
  private func row(_ stack: Stack) throws -> [Row] {
    let queue = try DatabaseQueue(path: stack.folder.file("World.sqlite").path)
    return try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM ZHOLDER ORDER BY Z_PK") }
  }

  // Finding C11
  @Test(arguments: StoreSetting.files, EqualValueTests.cases)
  func `an equal value leaves the row as it is`(setting: StoreSetting, entry: Case) throws {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      let holder: NSManagedObject = context.make("Holder", [entry.key: entry.value()])
      try context.save()
      let before: [Row] = try row(stack)
      #expect(before.first?["Z_OPT"] == 1)
      holder.setValue(entry.equal(), forKey: entry.key)
      #expect(!holder.hasPersistentChangedValues)
      try context.save()
      #expect(try row(stack) == before)
      // Nor is it written beside what has changed.
      holder.setValue(entry.equal(), forKey: entry.key)
      let beside: String = entry.key == "text" ? "count" : "text"
      holder.setValue(beside == "text" ? "beside" : 9, forKey: beside)
      try context.save()
      let after: [Row] = try row(stack)
      #expect(after.first?["Z_OPT"] == 2)
      let column: String = "Z" + entry.key.uppercased()
      #expect(after.first?[column] as DatabaseValue? == before.first?[column] as DatabaseValue?)
      holder.setValue(entry.other(), forKey: entry.key)
      try context.save()
      #expect(try row(stack).first?["Z_OPT"] == 3)
      #expect(try row(stack).first?[column] as DatabaseValue? != before.first?[column] as DatabaseValue?)
    }
  }

  // Finding C11
  @Test(arguments: StoreSetting.allCases, EqualValueTests.cases)
  func `nobody meets a conflict over an equal value`(setting: StoreSetting, entry: Case) throws {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      let holder: NSManagedObject = context.make("Holder", [entry.key: entry.value()])
      try context.save()
      try stack.elsewhere { other in
        let theirs: NSManagedObject = try #require(try other.all(NSManagedObject.self, "Holder").first)
        theirs.setValue(theirs.value(forKey: "text") as? String == "x" ? "y" : "x", forKey: "text")
        holder.setValue(entry.equal(), forKey: entry.key)
        try context.save()
        try other.save()
      }
    }
  }

  // Finding C11
  @Test(arguments: StoreSetting.files)
  func `a relationship that is set to what it was leaves both rows as they are`(setting: StoreSetting) throws
  {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      let (outer, inner): (NSManagedObject, NSManagedObject) = (
        context.make("Holder"), context.make("Holder")
      )
      inner.setValue(outer, forKey: "outer")
      try context.save()
      let before: [Row] = try row(stack)
      inner.setValue(nil, forKey: "outer")
      inner.setValue(outer, forKey: "outer")
      outer.setValue(NSSet(), forKey: "inner")
      outer.setValue(NSSet(array: [inner]), forKey: "inner")
      try context.save()
      #expect(try row(stack) == before)
    }
  }
}
