import CoreData
import Foundation
import StackSupport
import Testing

/// NaN is no value that a store can keep: SQLite makes NULL of it. Infinity is one.
@Suite
struct NotANumberTests {
  private static func model(default value: Any? = nil, ofClass name: String? = nil) -> NSManagedObjectModel {
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [
      World.attribute("latitude", .doubleAttributeType), World.attribute("name", .stringAttributeType),
    ]
    place.isOptional = true
    let plain: NSAttributeDescription = World.attribute("double", .doubleAttributeType)
    plain.defaultValue = value
    let entity: NSEntityDescription = World.entity(
      "Measure",
      [
        plain, World.attribute("float", .floatAttributeType), World.attribute("date", .dateAttributeType),
        World.attribute("decimal", .decimalAttributeType),
        World.attribute("needed", .doubleAttributeType, optional: false),
        World.attribute("text", .stringAttributeType),
      ])
    entity.propertiesByName["needed"].map { ($0 as? NSAttributeDescription)?.defaultValue = 0 }
    entity.properties.append(place)
    if let name { entity.managedObjectClassName = name }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  /// Attribute, key in the error, value, code.
  struct Case: Sendable, CustomTestStringConvertible {
    let key: String
    var named: String?
    let value: @Sendable () -> Any
    var code: Int = NSManagedObjectValidationError
    var testDescription: String { named ?? key }
  }

  static let cases: [Case] = [
    Case(key: "double", value: { Double.nan }), Case(key: "double", value: { Double.signalingNaN }),
    Case(key: "float", value: { Float.nan }), Case(key: "needed", value: { NSNumber(value: Double.nan) }),
    Case(
      key: "date", value: { Date(timeIntervalSinceReferenceDate: .nan) }, code: NSValidationInvalidDateError),
    Case(key: "decimal", value: { Decimal.nan }), Case(key: "decimal", value: { NSDecimalNumber.notANumber }),
    Case(
      key: "place", named: "place.latitude",
      value: { ["latitude": Double.nan, "name": "here"] as [String: Any] }),
  ]

  private func expectRefusal(
    _ entry: Case, _ object: NSManagedObject, _ context: NSManagedObjectContext
  ) throws {
    let error: NSError = try #require(errorThrown { try context.save() })
    #expect(error.domain == NSCocoaErrorDomain && error.code == entry.code, "\(error)")
    #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === object)
    let named: String = entry.named ?? entry.key
    #expect(error.userInfo[NSValidationKeyErrorKey] as? String == named)
    let text: String =
      (error.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? "") + error.localizedDescription
    #expect(text.contains("Measure.\(named)") && text.contains("NaN"), "\(text)")
    #expect(object.hasChanges)
  }

  // Finding A6
  @Test(arguments: StoreSetting.composite, NotANumberTests.cases)
  func `NaN is refused by name, in new objects and in changed ones`(setting: StoreSetting, entry: Case) throws
  {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      let new: NSManagedObject = context.make("Measure", ["text": "new"])
      new.setValue(entry.value(), forKey: entry.key)
      try expectRefusal(entry, new, context)
      new.setValue(entry.key == "needed" ? 1 : nil, forKey: entry.key)
      try context.save()
      new.setValue(entry.value(), forKey: entry.key)
      try expectRefusal(entry, new, context)
      new.setValue("beside it", forKey: "text")
      try expectRefusal(entry, new, context)
      context.rollback()
      #expect(throws: (any Error).self) {
        var value: Any? = entry.value()
        try new.validateValue(&value, forKey: entry.key)
      }
    }
    #expect(try stack.count("Measure") == 1)
    #expect(
      try stack.elsewhere { try $0.all(NSManagedObject.self, "Measure").first?.value(forKey: "text") }
        as? String == "new")
  }

  // Finding A6
  @Test(arguments: StoreSetting.composite, NotANumberTests.cases)
  func `it is refused where nobody validates`(setting: StoreSetting, entry: Case) throws {
    let stack = try Stack(setting: setting, model: Self.model(ofClass: "CoreDataGraphTests.UncheckedMeasure"))
    try stack.run { context in
      let new: NSManagedObject = context.make("Measure")
      #expect(new is UncheckedMeasure)
      new.setValue(entry.value(), forKey: entry.key)
      try expectRefusal(entry, new, context)
      let request = NSSaveChangesRequest(inserted: [new], updated: nil, deleted: nil, locked: nil)
      #expect(codeThrown { _ = try stack.coordinator.execute(request, with: context) } == entry.code)
      #expect(new.isInserted && new.objectID.isTemporaryID)
    }
    #expect(try stack.count("Measure") == 0)
  }

  // Finding A6
  @Test(arguments: StoreSetting.composite)
  func `a default value that is NaN is refused when an object has it`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting, model: Self.model(default: Double.nan))
    try stack.run { context in
      let new: NSManagedObject = context.make("Measure", ["text": "new"])
      try expectRefusal(Case(key: "double", value: { Double.nan }), new, context)
      new.setValue(1.5, forKey: "double")
      try context.save()
    }
  }

  // Finding A6: a float of what is too large for it is infinite, and a database keeps infinity.
  @Test(arguments: StoreSetting.composite)
  func `infinity is kept, found and sorted`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      for (text, number) in [("high", Double.infinity), ("low", -.infinity), ("none", 0)] {
        _ = context.make(
          "Measure",
          [
            "text": text, "double": number, "float": number,
            "date": Date(timeIntervalSinceReferenceDate: number),
          ])
      }
      _ = context.make("Measure", ["text": "rounded", "float": 1e300, "double": 1])
      try context.save()
    }
    try stack.elsewhere { context in
      let all: [NSManagedObject] = try context.all(NSManagedObject.self, "Measure", sort: ["double"])
      #expect(all.map { $0.value(forKey: "text") as? String } == ["low", "none", "rounded", "high"])
      #expect(all.map { $0.value(forKey: "double") as? Double } == [-.infinity, 0, 1, .infinity])
      #expect(all.map { $0.value(forKey: "float") as? Float } == [-.infinity, 0, .infinity, .infinity])
      #expect((all.last?.value(forKey: "date") as? Date)?.timeIntervalSinceReferenceDate == .infinity)
      let found: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Measure", NSPredicate(format: "double == %lf", Double.infinity))
      #expect(found.map { $0.value(forKey: "text") as? String } == ["high"])
    }
  }
}

/// Checks nothing of its own, and does not let the model check either.
final class UncheckedMeasure: NSManagedObject {
  override func validateForInsert() throws {}
  override func validateForUpdate() throws {}
}
