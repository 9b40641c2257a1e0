import CoreData
import Foundation
import StackSupport
import Testing

/// What fetched properties keep: `$FETCH_SOURCE` and `$FETCHED_PROPERTY` are those of the moment when a
/// property is read first, whatever was kept of requests before.
@Suite
struct FetchedPropertyTests {
  /// Things a, b, c, d with ranks 1 to 4, and owners whose fetched properties have one request in common. A
  /// special owner inherits them.
  private static func model(_ format: String) -> NSManagedObjectModel {
    let thing: NSEntityDescription = World.entity(
      "Thing",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer32AttributeType)])
    let owner: NSEntityDescription = World.entity("Owner", [World.attribute("rank", .integer32AttributeType)])
    let special: NSEntityDescription = World.entity("Special", [])
    owner.subentities = [special]
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
    request.predicate = NSPredicate(format: format)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    for name in ["first", "second"] {
      let property = NSFetchedPropertyDescription()
      property.name = name
      property.fetchRequest = request
      owner.properties.append(property)
    }
    let model = NSManagedObjectModel()
    model.entities = [thing, owner, special]
    return model
  }

  private func filled(_ kind: StoreKind, _ format: String) throws -> Stack {
    let stack = try Stack(kind, model: Self.model(format))
    try stack.elsewhere { context in
      for (place, name) in ["a", "b", "c", "d"].enumerated() {
        _ = context.make("Thing", ["name": name, "rank": place + 1])
      }
      for (entity, rank) in [("Owner", 2), ("Owner", 3), ("Special", 4)] {
        _ = context.make(entity, ["rank": rank])
      }
      try context.save()
    }
    return stack
  }

  private func owners(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    try context.all(NSManagedObject.self, "Owner", sort: ["rank"])
  }

  private func found(_ owner: NSManagedObject, _ key: String = "first") -> String {
    let things = owner.value(forKey: key) as? [NSManagedObject] ?? []
    return things.map { $0.value(forKey: "name") as? String ?? "" }.joined()
  }

  private func set(_ value: Any?, _ key: String = "first", in stack: Stack) throws {
    // Every entity that has a property has a description of it that programs may have at hand.
    for entity in stack.coordinator.managedObjectModel.entities {
      entity.propertiesByName[key]?.userInfo?["wanted"] = value
    }
  }

  private static let wanted: String = "name == $FETCHED_PROPERTY.userInfo.wanted"

  enum Refresh: CaseIterable {
    case discarding, merging, mergingChanges, all, merged, reset
  }

  @Test(arguments: StoreKind.every, Refresh.allCases)
  func `user info that has changed counts when the owner is refreshed`(kind: StoreKind, refresh: Refresh)
    throws
  {
    let stack: Stack = try filled(kind, Self.wanted)
    try stack.run { context in
      var owner: NSManagedObject = try #require(try owners(context).first)
      try set("b", in: stack)
      #expect(found(owner) == "b")
      try set("c", in: stack)
      #expect(found(owner) == "b", "kept")
      switch refresh {
      case .discarding: context.refresh(owner, mergeChanges: false)
      case .merging: context.refresh(owner, mergeChanges: true)
      case .mergingChanges:
        owner.setValue(1, forKey: "rank")
        context.refresh(owner, mergeChanges: true)
        #expect(owner.value(forKey: "rank") as? Int == 1)
      case .all: context.refreshAllObjects()
      case .merged:
        try stack.elsewhere { other in
          let recorder = Recorder([.NSManagedObjectContextDidSave], of: other)
          try #require(try owners(other).first).setValue(1, forKey: "rank")
          try other.save()
          context.mergeChanges(fromContextDidSave: try #require(recorder.received.first))
        }
      case .reset:
        context.reset()
        owner = try #require(try owners(context).first)
      }
      #expect(found(owner) == "c")
    }
  }

  @Test(arguments: StoreKind.every)
  func `what one object keeps of a fetched property is not the answer for others`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind, Self.wanted)
    try stack.run { context in
      let owners: [NSManagedObject] = try owners(context)
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      for (owner, value) in zip(owners, ["a", "b", "c"]) {
        try set(value, in: stack)
        #expect(found(owner) == value)
        let elsewhere: [String] = try stack.elsewhere { try self.owners($0).map { found($0) } }
        #expect(elsewhere == [value, value, value])
        child.performAndWait { #expect(found(child.object(with: owner.objectID)) == value) }
      }
      #expect(owners.map { found($0) } == ["a", "b", "c"])
    }
  }

  @Test(
    arguments: StoreKind.every,
    [
      wanted, "name == $FETCHED_PROPERTY.userInfo.wanted AND rank <= $FETCH_SOURCE.rank",
      "name IN $FETCHED_PROPERTY.userInfo.wanted", "name BEGINSWITH[c] $FETCHED_PROPERTY.userInfo.wanted",
    ])
  func `fetched properties that have a request in common find what each of them wants`(
    kind: StoreKind, format: String
  ) throws {
    let stack: Stack = try filled(kind, format)
    func value(_ name: String) -> Any { format.contains(" IN ") ? [name] : name }
    try stack.run { context in
      for (first, second) in [("a", "b"), ("b", "a"), ("b", "b")] {
        try set(value(first), "first", in: stack)
        try set(value(second), "second", in: stack)
        context.refreshAllObjects()
        for owner in try owners(context) {
          #expect(found(owner, "first") == first && found(owner, "second") == second)
        }
      }
    }
  }

  /// A predicate, and the values of `wanted` one after another with what is found by owners of rank 2, 3, 4.
  private static let scenes: [(format: String, steps: [(value: (any Sendable)?, found: [String])])] = [
    (wanted, [("a", ["a", "a", "a"]), (nil, ["", "", ""]), (1, ["", "", ""]), ("d", ["d", "d", "d"])]),
    (
      "rank >= $FETCHED_PROPERTY.userInfo.wanted",
      [(2, ["bcd", "bcd", "bcd"]), (3.5, ["d", "d", "d"]), (Int64(1), ["abcd", "abcd", "abcd"])]
    ),
    (
      "name IN $FETCHED_PROPERTY.userInfo.wanted",
      [
        (["a", "c"], ["ac", "ac", "ac"]), ([String](), ["", "", ""]),
        (["a", "b", "d"], ["abd", "abd", "abd"]),
      ]
    ),
    (
      "rank == $FETCH_SOURCE.rank OR name == $FETCHED_PROPERTY.userInfo.wanted",
      [("a", ["ab", "ac", "ad"]), ("b", ["b", "bc", "bd"])]
    ),
    (
      "name MATCHES $FETCHED_PROPERTY.userInfo.wanted",
      [("[ab]", ["ab", "ab", "ab"]), ("[^a]", ["bcd", "bcd", "bcd"])]
    ),
    (
      "rank > $FETCHED_PROPERTY.userInfo.wanted.low AND rank < $FETCHED_PROPERTY.userInfo.wanted.high",
      [(["low": 1, "high": 4], ["bc", "bc", "bc"]), (["low": 0, "high": 2], ["a", "a", "a"])]
    ),
    (
      "rank + $FETCHED_PROPERTY.userInfo.wanted == $FETCH_SOURCE.rank",
      [(1, ["a", "b", "c"]), (0, ["b", "c", "d"])]
    ),
  ]

  @Test(arguments: StoreKind.every, scenes.indices)
  func `each fetch reads the user info of the moment, of whatever type its values are`(
    kind: StoreKind, scene: Int
  ) throws {
    let (format, steps) = Self.scenes[scene]
    let stack: Stack = try filled(kind, format)
    try stack.run { context in
      // Twice: statements and checks of the first round may have been kept.
      for (value, expected) in steps + steps {
        try set(value, in: stack)
        context.refreshAllObjects()
        #expect(
          try owners(context).map { found($0) } == expected, "\(format) with \(String(describing: value))")
      }
    }
  }
}
