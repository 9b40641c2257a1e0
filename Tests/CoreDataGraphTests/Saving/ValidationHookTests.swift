import CoreData
import Foundation
import StackSupport
import Testing

/// Checks that the model can't say: `validateValue(_:forKey:)` overridden, called by saves, and what errors
/// tell a person.
@Suite
struct ValidationHookTests {
  /// Guest (name, age, note, seat) ← Regular (a subclass that overrides nothing); Table ←many→ Guest; Plain.
  private static let model: NSManagedObjectModel = {
    let name = World.attribute("name", .stringAttributeType, optional: false)
    name.setValidationPredicates(
      [NSPredicate(format: "length <= 8")], withValidationWarnings: ["\(NSValidationStringTooLongError)"])
    let polite = World.attribute("greeting", .stringAttributeType)
    polite.setValidationPredicates(
      [NSPredicate(format: "SELF BEGINSWITH 'Hello'")], withValidationWarnings: ["has to be polite"])
    let note = World.attribute("note", .stringAttributeType)
    note.isTransient = true
    let guest = World.entity("Guest", [name, World.attribute("age", .integer16AttributeType), polite, note])
    let regular = World.entity("RegularGuest", [World.attribute("since", .dateAttributeType)])
    guest.subentities = [regular]
    let table = World.entity("Table", [World.attribute("name", .stringAttributeType)])
    table.managedObjectClassName = "CoreDataGraphTests.DinnerTable"
    World.pair(
      table, "guests", .many, .denyDeleteRule, guest, "table", .one, .nullifyDeleteRule)
    table.relationshipsByName["guests"]?.minCount = 2
    table.relationshipsByName["guests"]?.maxCount = 3
    let model = NSManagedObjectModel()
    model.entities = [guest, regular, table]
    model.localizationDictionary = [
      "Property/greeting/Entity/Guest": "Der Gruß", "Property/age": "Das Alter",
      "ErrorString/has to be polite": "muss freundlich sein", "ErrorString/is too large": "ist zu groß",
    ]
    return model
  }()

  private func stack(_ kind: StoreKind) throws -> Stack { try Stack(kind, model: Self.model) }

  private func messages(_ error: NSError?) -> [String] {
    let details: [any Error] =
      error?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? error.map { [$0] } ?? []
    return details.map { ($0 as NSError).localizedDescription }.sorted()
  }

  @Test(arguments: StoreKind.allCases, ["Guest", "RegularGuest"])
  func `saving asks once for every property of a new object, and for the changed ones later`(
    kind: StoreKind, entity: String
  ) throws {
    try stack(kind).run { context in
      let guest = try #require(context.make(entity, ["name": "ann"]) as? Guest)
      try context.save()
      let keys: [String] = guest.entity.propertiesByName.keys.sorted()
      #expect(guest.asked.filter { $0 != "validateForInsert" }.sorted() == keys)
      guest.asked = []
      guest.age = 30
      guest.note = "transient"
      try context.save()
      #expect(guest.asked.sorted() == ["age", "note"])
      guest.asked = []
      context.delete(guest)
      try context.save()
      #expect(guest.asked.isEmpty, "deletion checks delete rules only")
    }
  }

  @Test(
    .rule("VALID-3", "NSManagedObject.validateValue(_:forKey:)", "what it replaces is saved"),
    arguments: StoreKind.allCases)
  func `a value that a check replaces is what the object has and what is saved`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      let guest = try #require(context.make("Guest", ["name": "  ann ", "age": 3.7]) as? Guest)
      #expect(guest.name == "  ann ", "nothing is checked when a property is set")
      try context.save()
      #expect(guest.name == "ann")
      #expect(!context.hasChanges)
      guest.name = " bob"
      try context.save()
    }
    try stack.elsewhere { context in
      let guest = try #require(context.all(Guest.self, "Guest").first)
      #expect(guest.name == "bob")
      #expect(guest.age == 3)
    }
  }

  @Test func `an error of the program with the code of several errors stays one`() throws {
    try stack(.inMemory).run { context in
      let guest = try #require(context.make("Guest", ["name": "several", "age": 10]) as? Guest)
      let error = errorThrown { try context.save() }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSValidationMultipleErrorsError)
      let details = try #require(error?.userInfo[NSDetailedErrorsKey] as? [any Error])
      #expect(Set(details.map { ($0 as NSError).domain }) == ["GuestErrors", NSCocoaErrorDomain])
      guest.age = 30
      let alone = errorThrown { try context.save() }
      #expect(alone?.domain == "GuestErrors", "\(alone as Any)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a relationship that a check replaces is saved with its other side`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      let table = try #require(context.make("Table", ["name": "full"]) as? DinnerTable)
      let spare = try #require(context.make("Table", ["name": "spare"]) as? DinnerTable)
      for name in ["a", "b"] { _ = context.make("Guest", ["name": name, "table": spare]) }
      for name in ["c", "d"] { _ = context.make("Guest", ["name": name, "table": table]) }
      try context.save()
      let late = try #require(context.make("Guest", ["name": "late"]) as? Guest)
      late.instead = spare
      try context.save()
      #expect(late.table === spare)
      #expect(spare.guests.count == 3 && !context.hasChanges)
    }
    try stack.elsewhere { context in
      let spare = try #require(
        context.all(DinnerTable.self, "Table", NSPredicate(format: "name == 'spare'")).first)
      #expect(spare.guests.count == 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `errors of checks and of the model come together, flat, with their keys`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let one = try #require(context.make("Guest", ["name": "much too long", "age": 12]) as? Guest)
      let two = try #require(context.make("RegularGuest", ["name": "nobody", "greeting": "Oi"]) as? Guest)
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationMultipleErrorsError)
      let details: [NSError] = try #require(error.userInfo[NSDetailedErrorsKey] as? [any Error]).map {
        $0 as NSError
      }
      #expect(details.count == 4, "\(details)")
      #expect(!details.contains { $0.code == NSValidationMultipleErrorsError }, "flat")
      let tooLong = try #require(details.first { $0.code == NSValidationStringTooLongError })
      #expect(tooLong.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === one)
      #expect(tooLong.userInfo[NSValidationKeyErrorKey] as? String == "name")
      #expect(tooLong.userInfo[NSValidationValueErrorKey] as? String == "much too long")
      #expect(tooLong.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
      #expect(tooLong.localizedDescription == "Guest.name is too long: it does not satisfy length <= 8.")
      #expect(tooLong.localizedFailureReason?.contains("length <= 8") == true)
      #expect(details.contains { $0.domain == "GuestErrors" && $0.code == 7 }, "the class's own")
      #expect(details.contains { $0.code == NSValidationNumberTooSmallError })
      let rude = try #require(details.first { $0.code == NSManagedObjectValidationError })
      #expect(rude.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === two)
      #expect(rude.localizedDescription == "Der Gruß muss freundlich sein.")
      #expect(context.insertedObjects == [one, two], "nothing was saved, nothing lost")
    }
  }

  @Test(
    .rule(
      "VALID-10", "Object Validation", "a property's own check runs between the model's and the object's"),
    arguments: StoreKind.allCases)
  func `one failure stands for itself, and the order is model, property, object`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let guest = try #require(context.make("Guest", ["name": "ann", "age": 12]) as? Guest)
      let alone: NSError? = errorThrown { try context.save() }
      #expect(alone?.code == NSValidationNumberTooSmallError)
      #expect(alone?.localizedDescription == "Das Alter has to be 18 at least.")
      guest.age = 20
      guest.isUnwelcome = true
      let error: NSError? = errorThrown { try context.save() }
      #expect(error?.code == NSManagedObjectValidationError)
      #expect(guest.asked.last == "validateForInsert")
      guest.isUnwelcome = false
      guest.setValue(70_000, forKey: "age")
      #expect(messages(errorThrown { try context.save() }) == ["Das Alter ist zu groß."])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `counts and denied deletions carry what is counted`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let table: NSManagedObject = context.make("Table", ["name": "t"])
      let guests: [NSManagedObject] = (0..<4).map { context.make("Guest", ["name": "g\($0)"]) }
      for (count, code, message) in [
        (
          1, NSValidationRelationshipLacksMinimumCountError,
          "Table.guests has too few objects: it has 1, fewer than 2."
        ),
        (
          4, NSValidationRelationshipExceedsMaximumCountError,
          "Table.guests has too many objects: it has 4, more than 3."
        ),
      ] {
        table.setValue(NSSet(array: Array(guests.prefix(count))), forKey: "guests")
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.code == code)
        #expect(error.localizedDescription == message)
        #expect((error.userInfo[NSValidationValueErrorKey] as? NSSet)?.count == count)
        #expect(error.localizedFailureReason?.contains("\(count)") == true)
      }
      table.setValue(NSSet(array: Array(guests.prefix(2))), forKey: "guests")
      try context.save()
      context.delete(table)
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "guests")
      #expect((error.userInfo[NSValidationValueErrorKey] as? NSSet)?.count == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a child context's save validates, and asks its own objects`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = context
      try child.performAndWait {
        let guest = try #require(child.make("Guest", ["name": " ann", "age": 12]) as? Guest)
        #expect(codeThrown { try child.save() } == NSValidationNumberTooSmallError)
        #expect(context.insertedObjects.isEmpty)
        guest.age = 40
        try child.save()
      }
      #expect((context.insertedObjects.first as? Guest)?.name == "ann")
      try context.save()
    }
  }

  @Test func `a value is checked on request, at the end of a path too, and comes back replaced`() throws {
    try stack(.inMemory).run { context in
      let table: NSManagedObject = context.make("Table")
      let guest: NSManagedObject = context.make("Guest", ["name": "ann", "table": table])
      var name: Any? = " bob "
      try guest.validateValue(&name, forKey: "name")
      #expect(name as? String == "bob")
      #expect(guest.value(forKey: "name") as? String == "ann", "the object is left alone")
      var age: Any? = 12
      #expect(codeThrown { try guest.validateValue(&age, forKey: "age") } == NSValidationNumberTooSmallError)
      var missing: Any?
      #expect(
        codeThrown { try guest.validateValue(&missing, forKey: "name") }
          == NSValidationMissingMandatoryPropertyError)
      var guests: Any? = NSSet(object: guest)
      #expect(
        codeThrown { try guest.validateValue(&guests, forKeyPath: "table.guests") }
          == NSValidationRelationshipLacksMinimumCountError)
    }
  }
}

/// Checks its properties one by one.
class Guest: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let ageKey = ManagedKey("age")
  private static let noteKey = ManagedKey("note")
  private static let tableKey = ManagedKey("table")

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var age: Int16 {
    get { managedValue(Self.ageKey) }
    set { setManagedValue(newValue, Self.ageKey) }
  }
  var note: String? {
    get { managedObjectValue(Self.noteKey) }
    set { setManagedObjectValue(newValue, Self.noteKey) }
  }
  var table: DinnerTable? {
    get { managedObject(Self.tableKey) }
    set { setManagedObject(newValue, Self.tableKey) }
  }

  var asked: [String] = []
  var isUnwelcome = false
  var instead: DinnerTable?

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    asked.append(key)
    try super.validateValue(&value, forKey: key)
    switch key {
    case "name": try validateName(&value)
    case "age": try validateAge(value)
    case "table": if let instead { value = instead }
    default: break
    }
  }

  private func validateName(_ value: inout Any?) throws {
    guard let name = value as? String else { return }
    if name == "nobody" { throw NSError(domain: "GuestErrors", code: 7) }
    if name == "several" {
      throw NSError(
        domain: "GuestErrors", code: NSValidationMultipleErrorsError,
        userInfo: [NSDetailedErrorsKey: [NSError(domain: "Inner", code: 1)]])
    }
    value = name.trimmingCharacters(in: .whitespaces)
  }

  private func validateAge(_ value: Any?) throws {
    guard let age = (value as? NSNumber)?.intValue, age > 3, age < 18 else { return }
    throw CocoaError(
      CocoaError.Code(rawValue: NSValidationNumberTooSmallError),
      userInfo: [NSLocalizedDescriptionKey: "Das Alter has to be 18 at least."])
  }

  override func validateForInsert() throws {
    try super.validateForInsert()
    asked.append("validateForInsert")
    if isUnwelcome { throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectValidationError)) }
  }
}

/// Overrides nothing of its own.
final class RegularGuest: Guest {}

final class DinnerTable: NSManagedObject {
  private static let guestsKey = ManagedKey("guests")
  var guests: Set<Guest> { managedSet(Self.guestsKey) }
}
