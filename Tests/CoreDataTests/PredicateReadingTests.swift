import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

// Foundation has classes of these names too.
private typealias NSComparisonPredicate = CoreData.NSComparisonPredicate
private typealias NSCompoundPredicate = CoreData.NSCompoundPredicate
private typealias NSExpression = CoreData.NSExpression

/// Predicates read managed objects in place; key-value coding gives the same answers, whatever state an
/// object is in.
struct PredicateReadingTests {
  @Test(arguments: StoreKind.allCases, [false, true])
  func `managed objects read in place answer as by key-value coding`(kind: StoreKind, isNested: Bool) throws {
    let seed: UInt64 = .random(in: 0 ... .max)
    print("seed \(seed)")
    var maker = Maker(random: SeededRandom(seed: seed))
    let stack = try Stack(kind, model: Maker.model)
    try stack.run { context in
      for _ in 0..<30 { maker.insert(into: context) }
      try context.save()
    }
    if kind == .sqlite { try breakSomeTexts(stack.folder.file("World.sqlite")) }
    // Another context starts with faults.
    let outer: NSManagedObjectContext = stack.other()
    guard isNested else {
      try outer.performAndWait { try compare(outer, &maker, seed) }
      return
    }
    // Its child reads what the parent has changed.
    try outer.performAndWait {
      var objects: [NSManagedObject] = try outer.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
      maker.disturb(&objects, in: outer)
    }
    let inner = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    inner.parent = outer
    try inner.performAndWait { try compare(inner, &maker, seed) }
  }

  private func compare(_ context: NSManagedObjectContext, _ maker: inout Maker, _ seed: UInt64) throws {
    var objects: [NSManagedObject] = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
    #expect(objects.count > 15)
    maker.disturb(&objects, in: context)
    for round in 0..<400 {
      let predicate: NSPredicate = maker.predicate(depth: 2)
      for object in objects where round % 3 == 0 && !object.hasChanges && maker.chance(3) {
        context.refresh(object, mergeChanges: false)
      }
      for object in objects.shuffled(using: &maker.random).prefix(6) {
        let found: Outcome = Outcome { try predicate.evaluateThrowing(with: object) }
        let expected: Outcome = Outcome { try predicate.evaluateThrowing(with: ByKeys(object)) }
        #expect(found == expected, "seed \(seed): \(predicate) of \(object)")
      }
      let found: Outcome = Outcome { try objects.filterThrowing(using: predicate).map(\.objectID) }
      let expected: Outcome = Outcome {
        try objects.map { ByKeys($0) }.filterThrowing(using: predicate).map(\.object.objectID)
      }
      #expect(found == expected, "seed \(seed): \(predicate)")
    }
  }

  /// Text that is no UTF-8, as other programs may write it.
  private func breakSomeTexts(_ url: URL) throws {
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { database in
      try database.execute(sql: "UPDATE ZTHING SET ZTEXT = CAST(x'61FF62' AS TEXT) WHERE Z_PK % 5 = 0")
      try database.execute(sql: "UPDATE ZTHING SET ZTEXT = CAST(x'616EE381' AS TEXT) WHERE Z_PK % 7 = 0")
    }
    try queue.close()
  }

  @Test func `objects of several entities and of equal models pass one predicate`() throws {
    let (first, second) = (try Stack(.inMemory, model: Maker.makeModel()), try Stack(.inMemory))
    let predicate = NSPredicate(format: "name BEGINSWITH 'a' OR text BEGINSWITH 'a'")
    // In blocks of both contexts: each object is read on its queue.
    try second.run { context throws -> Void in
      let other = NSEntityDescription.insertNewObject(forEntityName: "Category", into: context)
      other.setValue("ab", forKey: "name")
      try first.run { context throws -> Void in
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        owner.setValue("abc", forKey: "name")
        let thing = NSEntityDescription.insertNewObject(forEntityName: "Special", into: context)
        thing.setValue("x", forKey: "text")
        #expect(try predicate.evaluateThrowing(with: owner))
        #expect(try predicate.evaluateThrowing(with: other))
        // An unknown key is an error for the one object and none for the other.
        #expect(throws: (any Error).self) { try predicate.evaluateThrowing(with: thing) }
        #expect(try [owner, other].filterThrowing(using: predicate) == [owner, other])
        #expect(throws: (any Error).self) { try [owner, thing].filterThrowing(using: predicate) }
      }
    }
  }

  @Test func `reading in place loads faults as accessors do`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let item = Item(context: context)
      item.title = "one"
      item.category = Category(context: context)
      item.category?.name = "home"
      try context.save()
      context.refreshAllObjects()
      stack.journal.lines = []
      #expect(NSPredicate(format: "title == 'one' AND category.name == 'home'").evaluate(with: item))
      #expect(stack.journal.lines == ["awakeFromFetch Item", "awakeFromFetch Category"])
    }
  }
}

/// An object that predicates can only read by its keys.
private struct ByKeys: KeyValueReadable {
  let object: NSManagedObject
  init(_ object: NSManagedObject) { self.object = object }
  func readValue(forKey key: String) throws -> Any? { try object.readValue(forKey: key) }
}

/// A result or the text of an error.
private enum Outcome: Equatable {
  case value(String)
  case failure(String)

  init<Value>(_ body: () throws -> Value) {
    do {
      self = .value("\(try body())")
    } catch {
      self = .failure("\(error)")
    }
  }
}

/// Makes objects in every state, and predicates about them.
private struct Maker {
  var random: SeededRandom

  static let model: NSManagedObjectModel = makeModel()

  static func makeModel() -> NSManagedObjectModel {
    let note: NSAttributeDescription = World.attribute("note", .stringAttributeType)
    note.isTransient = true
    let thing: NSEntityDescription = World.entity(
      "Thing",
      [
        World.attribute("i16", .integer16AttributeType), World.attribute("i32", .integer32AttributeType),
        World.attribute("i64", .integer64AttributeType), World.attribute("flag", .booleanAttributeType),
        World.attribute("double", .doubleAttributeType), World.attribute("float", .floatAttributeType),
        World.attribute("date", .dateAttributeType), World.attribute("decimal", .decimalAttributeType),
        World.attribute("text", .stringAttributeType), World.attribute("uri", .URIAttributeType),
        World.attribute("uuid", .UUIDAttributeType), World.attribute("bytes", .binaryDataAttributeType),
        note,
      ])
    let special: NSEntityDescription = World.entity(
      "Special", [World.attribute("extra", .stringAttributeType)])
    thing.subentities = [special]
    let owner: NSEntityDescription = World.entity(
      "Owner",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer32AttributeType)])
    let mark: NSEntityDescription = World.entity("Mark", [World.attribute("name", .stringAttributeType)])
    World.pair(owner, "things", .many, .nullifyDeleteRule, thing, "owner", .one, .nullifyDeleteRule)
    World.pair(thing, "marks", .many, .nullifyDeleteRule, mark, "things", .many, .nullifyDeleteRule)
    World.pair(thing, "steps", .ordered, .nullifyDeleteRule, owner, "step", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [thing, special, owner, mark]
    return model
  }

  private static let texts: [String] = [
    "", "a", "A", "an", "Anna", "ANNA", "é", "e\u{301}", "straße", "STRASSE", "日本", "a\u{FFFD}b", "10",
    "a text that is longer than fifteen bytes", "an", "zebra",
  ]
  private static let uuids: [UUID] = [
    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)),
  ]
  private static let attributes: [String] = [
    "i16", "i32", "i64", "flag", "double", "float", "date", "decimal", "text", "uri", "uuid", "bytes", "note",
  ]

  mutating func chance(_ one: Int) -> Bool { below(one) == 0 }
  private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  private mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }

  private mutating func value(for attribute: String) -> Any? {
    if chance(5) { return nil }
    switch attribute {
    case "i16", "i32": return pick([0, 1, -1, 30, 31, 32_767, -32_768])
    case "i64": return pick([0, 1, -1, 30, Int64.max, Int64.min, 1 << 53, (1 << 53) + 1])
    case "flag": return chance(2)
    case "double": return pick([0, -0.0, 0.5, 30.5, 1e300, -1e300, 30])
    case "float": return pick([0, 0.1, 0.5, 30.5, 16_777_217.0, -1])
    case "date": return Date(timeIntervalSinceReferenceDate: pick([0, 1, -1.5, 1e9]))
    case "decimal": return pick([Decimal(0), Decimal(string: "0.1") ?? 0, Decimal(30)])
    case "uri": return URL(string: pick(["http://a.example", "x:y"]))
    case "uuid": return pick(Self.uuids)
    case "bytes": return Data(pick(Self.texts).utf8)
    default: return pick(Self.texts)
    }
  }

  mutating func insert(into context: NSManagedObjectContext) {
    let thing = NSEntityDescription.insertNewObject(
      forEntityName: chance(3) ? "Special" : "Thing", into: context)
    fill(thing)
    if chance(4) { return }
    let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
    owner.setValue(chance(4) ? nil : pick(Self.texts), forKey: "name")
    owner.setValue(below(5), forKey: "rank")
    thing.setValue(owner, forKey: "owner")
    var marks: [NSManagedObject] = []
    for _ in 0..<below(4) {
      let mark = NSEntityDescription.insertNewObject(forEntityName: "Mark", into: context)
      mark.setValue(chance(4) ? nil : pick(Self.texts), forKey: "name")
      marks.append(mark)
    }
    thing.setValue(NSSet(array: marks), forKey: "marks")
    var steps: [NSManagedObject] = []
    for number in 0..<below(3) {
      let step = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
      step.setValue(chance(3) ? nil : number, forKey: "rank")
      steps.append(step)
    }
    thing.setValue(NSOrderedSet(array: steps), forKey: "steps")
  }

  private mutating func fill(_ thing: NSManagedObject) {
    for attribute in Self.attributes where !chance(8) {
      thing.setValue(value(for: attribute), forKey: attribute)
    }
  }

  /// New, changed, deleted and wrongly filled objects among the stored ones, and faults of all kinds.
  mutating func disturb(_ objects: inout [NSManagedObject], in context: NSManagedObjectContext) {
    for object in objects {
      switch below(8) {
      case 0: fill(object)
      case 1: object.setValue(pick(Self.texts), forKey: pick(["i16", "double", "date", "uuid", "flag"]))
      case 2: object.setValue(100_000, forKey: "i32")
      case 3: context.delete(object)
      case 4: object.setValue(nil, forKey: "owner")
      case 5: object.setValue("note", forKey: "note")
      default: break
      }
    }
    for _ in 0..<6 { insert(into: context) }
    let new: [NSManagedObject] = context.insertedObjects.filter {
      ["Thing", "Special"].contains($0.entity.name ?? "")
    }
    objects += new.sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
  }

  mutating func predicate(depth: Int) -> NSPredicate {
    switch depth == 0 ? 9 : below(8) {
    case 0, 1:
      let kind: NSCompoundPredicate.LogicalType = chance(2) ? .and : .or
      return NSCompoundPredicate(
        type: kind, subpredicates: (0..<below(4)).map { _ in predicate(depth: depth - 1) })
    case 2: return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(depth: depth - 1))
    case 3:
      let modifier: NSComparisonPredicate.Modifier = chance(2) ? .any : .all
      let path: String = pick([
        "marks.name", "steps.rank", "steps.name", "owner.things.i32", "owner.things.text",
        "owner.things.marks.name", "owner.things.steps.rank", "owner.things.owner.name",
      ])
      return comparison(
        path, path.hasSuffix("name") || path.hasSuffix("text") ? "text" : "i32", modifier: modifier)
    case 4: return comparison(pick(["marks", "steps", "owner.things"]) + ".@count", "i32")
    case 5: return comparison("owner.name", "text")
    case 6: return comparison(pick(["owner.rank", "owner.step.i16"]), "i16")
    default:
      let attribute: String = pick(Self.attributes)
      return comparison(attribute, chance(12) ? pick(Self.attributes) : attribute)
    }
  }

  /// - Parameter kind: the attribute whose values the constant is taken from.
  private mutating func comparison(
    _ path: String, _ kind: String, modifier: NSComparisonPredicate.Modifier = .direct
  ) -> NSPredicate {
    let isText: Bool = ["text", "note"].contains(kind)
    let type: NSComparisonPredicate.Operator = pick(
      [
        .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .in,
        .between,
      ]
        + (isText ? [.beginsWith, .endsWith, .contains, .like] : []))
    let constant: Any?
    switch type {
    case .in: constant = (0..<below(12)).map { _ in value(for: kind) ?? NSNull() }
    case .between:
      // Bounds of two kinds are an error for members with a value, and which member of a set comes
      // first is left open.
      let (low, high): (Any, Any) = isText && modifier != .direct ? ("b", "m") : (1, 2)
      constant = [value(for: kind) ?? low, value(for: kind) ?? high]
    default: constant = value(for: kind)
    }
    return NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: path),
      rightExpression: NSExpression(forConstantValue: constant),
      modifier: modifier, type: type,
      options: isText && chance(2) ? NSComparisonPredicate.Options(rawValue: UInt(below(8))) : [])
  }
}
