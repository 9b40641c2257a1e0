import CoreData
import CoreDataRuntime
import Foundation
import Observation
import StackSupport
import Synchronization
import Testing

@testable import CoreDataGraph

/// What the graph reads of the runtime's memory layout, and a process in which nothing of it is read.
@Suite struct RuntimeLayoutTests {
  @Test(.enabled(if: RuntimeLayout.isUsed))
  func `the places of validation and of key-value coding in a class are found`() {
    #expect(MethodOverride.ofValidation.place.isKnown)
    #expect(MethodOverride.ofReading.place.isKnown)
    #expect(MethodOverride.ofValidation.isOverridden(by: LayoutParcel.self))
    #expect(!MethodOverride.ofReading.isOverridden(by: LayoutParcel.self))
  }

  @Test func `validation, sort descriptors, observation and class names work where no layout is read`() async
  {
    await #expect(processExitsWith: .success) {
      setenv("CLARUS_RUNTIME_LAYOUT", "0", 1)
      try WithoutLayout.check()
    }
  }
}

/// Runs in a process of its own.
private enum WithoutLayout {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  static func require(_ condition: Bool, _ what: String) throws {
    if !condition { throw Failure(description: what) }
  }

  static func check() throws {
    try require(!RuntimeLayout.isUsed, "the switch")
    try require(
      MethodOverride.ofReading.isOverridden(by: LayoutPlain.self), "every class counts as overriding")
    try require(TypeSearch.classes(named: "LayoutParcel", subclassOf: NSManagedObject.self).isEmpty, "search")
    let parcel = World.entity(
      "LayoutParcel",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer16AttributeType)])
    let plain = World.entity("LayoutPlain", [World.attribute("name", .stringAttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [parcel, plain]
    for kind in StoreKind.allCases {
      let stack = try Stack(kind, model: model)
      stack.context.tracksObservation = true
      try stack.run { try check($0) }
    }
  }

  static func check(_ context: NSManagedObjectContext) throws {
    for (name, rank) in [("b", 2), ("a", 3), ("c", 1)] {
      let made = try LayoutParcel.made(in: context)
      (made.name, made.rank) = (name, Int16(rank))
      let other = NSEntityDescription.insertNewObject(forEntityName: "LayoutPlain", into: context)
      other.setValue(name, forKey: "name")
    }
    let asked: Int = LayoutParcel.asked.load(ordering: .relaxed)
    try context.save()
    try require(LayoutParcel.asked.load(ordering: .relaxed) > asked, "validation is asked")
    let request = NSFetchRequest<LayoutParcel>(entityName: "LayoutParcel")
    request.sortDescriptors = [NSSortDescriptor(keyPath: \LayoutParcel.name, ascending: true)]
    let byName: [LayoutParcel] = try context.fetch(request)
    try require(byName.map(\.name) == ["a", "b", "c"], "order by text")
    request.sortDescriptors = [NSSortDescriptor(keyPath: \LayoutParcel.rank, ascending: false)]
    try require(try context.fetch(request).map(\.name) == ["a", "b", "c"], "order by numbers")
    request.predicate = NSPredicate(format: "name > %@", argumentArray: ["a"])
    try require(try context.fetch(request).map(\.name) == ["b", "c"], "arrays of arguments")
    let rings = Atomic<Int>(0)
    withObservationTracking {
      _ = byName[0].name
    } onChange: {
      rings.add(1, ordering: .relaxed)
    }
    byName[0].name = "d"
    try require(rings.load(ordering: .relaxed) == 1, "observation")
    context.rollback()
  }
}

final class LayoutParcel: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let rankKey = ManagedKey("rank")
  static let asked = Atomic<Int>(0)

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var rank: Int16 {
    get { managedValue(Self.rankKey) }
    set { setManagedValue(newValue, Self.rankKey) }
  }

  static func made(in context: NSManagedObjectContext) throws -> LayoutParcel {
    let made = NSEntityDescription.insertNewObject(forEntityName: "LayoutParcel", into: context)
    guard let parcel = made as? LayoutParcel else { throw CocoaError(.featureUnsupported) }
    return parcel
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    Self.asked.add(1, ordering: .relaxed)
    try super.validateValue(&value, forKey: key)
  }
}

final class LayoutPlain: NSManagedObject {}
