import CoreData
import CoreDataGraph
import Foundation
import StackSupport
import Testing

/// Names of value transformers, as models write them.
@Suite
struct TransformerTests {
  /// Texts kept backwards.
  final class BackwardsTransformer: ValueTransformer, @unchecked Sendable {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      (value as? String).map { Data(String($0.reversed()).utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
  }

  /// Reads nothing of what it has written.
  class NilTransformer: ValueTransformer, @unchecked Sendable {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? { Data([1]) }
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
  }

  /// Reads a value of another class than it has written.
  final class TextTransformer: NilTransformer, @unchecked Sendable {
    override func reverseTransformedValue(_ value: Any?) -> Any? { "a text" }
  }

  private func stack(transformer: String?, _ kind: StoreKind) throws -> Stack {
    let thing: NSAttributeDescription = World.attribute("thing", .transformableAttributeType)
    thing.valueTransformerName = transformer
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Holder", [thing])]
    return try Stack(kind, model: model)
  }

  @Test(
    .rule("STORE-15", "NSAttributeDescription.valueTransformerName"),
    arguments: StoreKind.every,
    [
      nil, "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer",
      "NSSecureUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromData",
    ])
  func `every name of the default archives values`(kind: StoreKind, name: String?) throws {
    let stack: Stack = try stack(transformer: name, kind)
    try stack.elsewhere { context in
      _ = context.make("Holder", ["thing": ["a", "b"]])
      try context.save()
    }
    try stack.run { context in
      let object = try #require(try context.all(NSManagedObject.self, "Holder").first)
      #expect(object.value(forKey: "thing") as? [String] == ["a", "b"])
    }
  }

  /// Tools have none of a program's transformers; other code of their process has its own.
  @Test(arguments: [StoreKind.sqlite, .xml, .binary, .inMemory])
  func `code that takes values as they are stored may run beside code that transforms them`(
    kind: StoreKind
  ) throws {
    let name = NSValueTransformerName("Beside \(kind)")
    ValueTransformer.setValueTransformer(BackwardsTransformer(), forName: name)
    let stack: Stack = try stack(transformer: name.rawValue, kind)
    try stack.elsewhere { context in
      _ = context.make("Holder", ["thing": "stressed"])
      try context.save()
    }
    func thing() throws -> Any? {
      try stack.elsewhere { context in
        try #require(try context.all(NSManagedObject.self, "Holder").first).value(forKey: "thing")
      }
    }
    func stored() throws -> Any? {
      try stack.elsewhere { context in
        try Transformation.$passesData.withValue(true) {
          try #require(try context.all(NSManagedObject.self, "Holder").first).value(forKey: "thing")
        }
      }
    }
    #expect(try thing() as? String == "stressed")
    #expect(try stored() as? Data == Data("desserts".utf8))
    try stack.elsewhere { context in
      let object = try #require(try context.all(NSManagedObject.self, "Holder").first)
      try Transformation.$passesData.withValue(true) {
        object.setValue(Data("abc".utf8), forKey: "thing")
        try context.save()
      }
    }
    #expect(try thing() as? String == "cba")
  }

  @Test(arguments: StoreKind.every, [nil, "NSSecureUnarchiveFromData"])
  func `what could not be read again is not saved`(kind: StoreKind, name: String?) throws {
    let stack: Stack = try stack(transformer: name, kind)
    try stack.run { context in
      let object: NSManagedObject = context.make("Holder", ["thing": ["inside": SecretThing()]])
      let error: NSError? = errorThrown { try context.save() }
      #expect(error?.localizedDescription.contains("Holder.thing") == true)
      #expect(error?.localizedDescription.contains("allowedTopLevelClasses") == true)
      #expect(object.isInserted && context.hasChanges)
      object.setValue(["a"], forKey: "thing")
      try context.save()
    }
    #expect(try stack.count("Holder") == 1)
  }

  @Test(arguments: StoreKind.every)
  func `a class is found by its name`(kind: StoreKind) throws {
    let stack: Stack = try stack(transformer: "BackwardsTransformer", kind)
    try stack.elsewhere { context in
      _ = context.make("Holder", ["thing": "stressed"])
      try context.save()
    }
    try stack.run { context in
      let object = try #require(try context.all(NSManagedObject.self, "Holder").first)
      #expect(object.value(forKey: "thing") as? String == "stressed")
      let made = try #require(ValueTransformer(forName: NSValueTransformerName("BackwardsTransformer")))
      #expect(made.transformedValue("abc") as? Data == Data("cba".utf8))
    }
  }

  /// Looks up another transformer, and registers itself, while it is made.
  final class NestingTransformer: ValueTransformer, @unchecked Sendable {
    let inner: ValueTransformer?

    required init() {
      inner = ValueTransformer(forName: NSValueTransformerName("BackwardsTransformer"))
      super.init()
      ValueTransformer.setValueTransformer(self, forName: NSValueTransformerName("NestingTransformer"))
    }
  }

  @Test func `a transformer may look up and register transformers while it is made`() throws {
    let name = NSValueTransformerName("NestingTransformer")
    let made = try #require(ValueTransformer(forName: name) as? NestingTransformer)
    #expect(made.inner is BackwardsTransformer)
    #expect(ValueTransformer(forName: name) === made)
  }

  /// A value whose transformer was there when it was saved, and is not any more.
  @Test(arguments: StoreKind.every)
  func `a value that can't be read is an error where one can be thrown, and else nil, and stays stored`(
    kind: StoreKind
  ) throws {
    let name = NSValueTransformerName("Missing \(kind)")
    ValueTransformer.setValueTransformer(BackwardsTransformer(), forName: name)
    let thing: NSAttributeDescription = World.attribute("thing", .transformableAttributeType)
    thing.valueTransformerName = name.rawValue
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Holder", [thing, World.attribute("name", .stringAttributeType)])]
    let stack = try Stack(kind, model: model)
    let id: NSManagedObjectID = try stack.elsewhere { context in
      let object: NSManagedObject = context.make("Holder", ["thing": "stressed", "name": "a"])
      try context.save()
      return object.objectID
    }
    ValueTransformer.setValueTransformer(nil, forName: name)
    /// The error names the attribute and the transformer.
    func expectError(_ body: () throws -> Void) {
      let text: String = errorThrown(body)?.localizedDescription ?? "none"
      #expect(text.contains("Holder.thing") && text.contains(name.rawValue), "\(text)")
    }
    try stack.run { context in
      expectError { _ = try context.existingObject(with: id) }
      let object = try #require(try context.all(NSManagedObject.self, "Holder").first)
      #expect(object.value(forKey: "thing") == nil)
      // An incremental store gives values in place of rows: without them there is no row.
      if kind == .incremental { return #expect(object.value(forKey: "name") == nil) }
      #expect(object.value(forKey: "name") as? String == "a" && !object.hasChanges)
      expectError { _ = try context.existingObject(with: id) }
      #expect(throws: (any Error).self) { try object.readValue(forKey: "thing") }
      object.setValue("b", forKey: "name")
      // A store that writes objects, not rows, would write nil.
      if kind == .atomic { expectError { try context.save() } } else { try context.save() }
    }
    ValueTransformer.setValueTransformer(BackwardsTransformer(), forName: name)
    try stack.elsewhere { context in
      let object: NSManagedObject = try context.existingObject(with: id)
      #expect(object.value(forKey: "thing") as? String == "stressed")
      #expect(object.value(forKey: "name") as? String == (kind.isOfProgram ? "a" : "b"))
    }
    try stack.run { context in
      if kind == .atomic { try context.save() }
    }
  }

  /// A transformer may give a value of another class than the accessor's, or none.
  @Test(arguments: StoreKind.every, [nil, "a text"])
  func `what a transformer makes of other data is what is read`(kind: StoreKind, answer: String?) throws {
    let name = NSValueTransformerName("Stubborn \(kind) \(answer ?? "")")
    ValueTransformer.setValueTransformer(answer == nil ? NilTransformer() : TextTransformer(), forName: name)
    let stack: Stack = try stack(transformer: name.rawValue, kind)
    try stack.elsewhere { context in
      _ = context.make("Holder", ["thing": 7])
      try context.save()
    }
    try stack.run { context in
      let object = try #require(try context.all(NSManagedObject.self, "Holder").first)
      #expect(try context.existingObject(with: object.objectID) === object)
      #expect(object.value(forKey: "thing") as? String == answer)
    }
  }

  /// Bridged, such a set never ends on Linux: Foundation hashes its members without end.
  @Test func `a transformable attribute holds a set of decimals`() throws {
    let stack: Stack = try stack(transformer: nil, .inMemory)
    try stack.run { context in
      let numbers: Set<Decimal> = [1, 2.5]
      let object: NSManagedObject = context.make("Holder", ["thing": numbers])
      object.setValue(numbers, forKey: "thing")
      #expect(object.value(forKey: "thing") as? Set<Decimal> == numbers)
      context.rollback()
    }
  }
}

/// A class that no transformer of Foundation's allows; not nested, since Foundation's archiver can't name
/// nested ones here.
final class SecretThing: NSObject, NSSecureCoding {
  static let supportsSecureCoding: Bool = true
  override init() { super.init() }
  init?(coder: NSCoder) { super.init() }
  func encode(with coder: NSCoder) {}
}
