import CoreData
import Foundation
import StackSupport
import Testing

/// What the model says of relationships: validation predicates over targets and members, and whether
/// they may be empty.
@Suite
struct RelationshipValidationTests {
  /// Crew ←many→ Sailor (name, rank); Crew ─ports (ordered)→ Port; Crew ─masts (required, 2 at least)→ Part; Crew ─flags (required)→ Part.
  private static let model: NSManagedObjectModel = {
    let sailor = World.entity(
      "Sailor",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer16AttributeType)])
    let port = World.entity("Port", [World.attribute("name", .stringAttributeType)])
    let part = World.entity("ShipPart", [World.attribute("name", .stringAttributeType)])
    let crew = World.entity("Crew", [World.attribute("name", .stringAttributeType)])
    World.pair(crew, "sailors", .many, .nullifyDeleteRule, sailor, "crew", .one, .nullifyDeleteRule)
    World.pair(crew, "ports", .ordered, .nullifyDeleteRule, port, "crew", .one, .nullifyDeleteRule)
    World.pair(crew, "masts", .many, .nullifyDeleteRule, part, "mastOf", .one, .nullifyDeleteRule)
    World.pair(crew, "flags", .many, .nullifyDeleteRule, part, "flagOf", .one, .nullifyDeleteRule)
    crew.relationshipsByName["sailors"]?.setValidationPredicates(
      [
        NSPredicate(format: "SUBQUERY(SELF, $s, $s.rank == 1).@count == 1"),
        NSPredicate(format: "ALL SELF.rank < 9"),
      ],
      withValidationWarnings: ["needs one captain", "\(NSValidationNumberTooLargeError)"])
    crew.relationshipsByName["ports"]?.setValidationPredicates(
      [NSPredicate(format: "SELF[FIRST].name == 'Home'")], withValidationWarnings: ["has to begin at home"])
    sailor.relationshipsByName["crew"]?.setValidationPredicates(
      [NSPredicate(format: "name != 'Flying Dutchman'")], withValidationWarnings: nil)
    for name in ["masts", "flags"] { crew.relationshipsByName[name]?.isOptional = false }
    crew.relationshipsByName["masts"]?.minCount = 2
    let model = NSManagedObjectModel()
    model.entities = [sailor, port, part, crew]
    return model
  }()

  /// The model without the predicates of `sailors`.
  private static func lenient() throws -> NSManagedObjectModel {
    let model = try #require(Self.model.copy() as? NSManagedObjectModel)
    model.entitiesByName["Crew"]?.relationshipsByName["sailors"]?.setValidationPredicates(
      nil, withValidationWarnings: nil)
    return model
  }

  private func crew(
    _ context: NSManagedObjectContext, _ name: String = "Argo", ranks: [Int] = [1]
  ) -> NSManagedObject {
    func parts(_ count: Int) -> NSSet { NSSet(array: (0..<count).map { _ in context.make("ShipPart") }) }
    return context.make(
      "Crew",
      [
        "name": name, "masts": parts(2), "flags": parts(1), "sailors": sailors(context, ranks),
        "ports": NSOrderedSet(object: context.make("Port", ["name": "Home"])),
      ])
  }

  private func sailors(_ context: NSManagedObjectContext, _ ranks: [Int]) -> NSSet {
    NSSet(array: ranks.map { context.make("Sailor", ["rank": $0]) })
  }

  @Test(
    .rule("VALID-11", "setValidationPredicates(_:withValidationWarnings:)", "predicates of relationships"),
    arguments: StoreKind.allCases)
  func `members are checked as a set`(kind: StoreKind) throws {
    try Stack(kind, model: Self.model).run { context in
      let crew: NSManagedObject = crew(context)
      try context.save()
      for (ranks, codes) in [
        ([1, 2, 3], []), ([], [NSManagedObjectValidationError]), ([2], [NSManagedObjectValidationError]),
        ([1, 1], [NSManagedObjectValidationError]), ([1, 9], [NSValidationNumberTooLargeError]),
        ([9], [NSManagedObjectValidationError, NSValidationNumberTooLargeError]),
      ] as [([Int], [Int])] {
        let members: NSSet = sailors(context, ranks)
        crew.setValue(members, forKey: "sailors")
        let error: NSError? = errorThrown { try context.save() }
        let details: [NSError] =
          (error?.userInfo[NSDetailedErrorsKey] as? [any Error] ?? error.map { [$0] } ?? [])
          .map { $0 as NSError }
        #expect(details.map(\.code).sorted() == codes.sorted(), "\(ranks)")
        for detail in details {
          #expect(detail.userInfo[NSValidationKeyErrorKey] as? String == "sailors")
          #expect(detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === crew)
          #expect(detail.userInfo[NSValidationValueErrorKey] as? NSSet == members)
          #expect(detail.userInfo[NSValidationPredicateErrorKey] is NSPredicate)
        }
        if ranks == [2] { #expect(error?.localizedDescription == "Crew.sailors needs one captain.") }
        var given: Any? = members
        #expect((errorThrown { try crew.validateValue(&given, forKey: "sailors") } == nil) == codes.isEmpty)
        context.rollback()
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an empty relationship is checked as an empty collection`(kind: StoreKind) throws {
    try Stack(kind, model: Self.model).run { context in
      let crew: NSManagedObject = crew(context)
      try context.save()
      for empty in [NSSet(), nil] as [NSSet?] {
        var given: Any? = empty
        #expect(
          codeThrown { try crew.validateValue(&given, forKey: "sailors") } == NSManagedObjectValidationError)
      }
      crew.setValue(nil, forKey: "sailors")
      #expect(errorThrown { try context.save() }?.localizedDescription == "Crew.sailors needs one captain.")
      context.rollback()
      _ = context.make("Crew", ["name": "none"])
      let error: NSError = try #require(errorThrown { try context.save() })
      let keys: [String] = (error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).compactMap {
        ($0 as NSError).userInfo[NSValidationKeyErrorKey] as? String
      }
      #expect(keys.sorted() == ["masts", "ports", "sailors"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the members of an ordered relationship are checked in order`(kind: StoreKind) throws {
    try Stack(kind, model: Self.model).run { context in
      let crew: NSManagedObject = crew(context)
      let ports: [NSManagedObject] = ["Home", "Away"].map { context.make("Port", ["name": $0]) }
      crew.setValue(NSOrderedSet(array: ports.reversed()), forKey: "ports")
      let error: NSError? = errorThrown { try context.save() }
      #expect(error?.localizedDescription == "Crew.ports has to begin at home.")
      crew.setValue(NSOrderedSet(array: ports), forKey: "ports")
      try context.save()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the target of a to-one relationship is checked when it is set`(kind: StoreKind) throws {
    try Stack(kind, model: Self.lenient()).run { context in
      let (good, cursed) = (crew(context), crew(context, "Flying Dutchman", ranks: []))
      let sailor: NSManagedObject = context.make("Sailor", ["rank": 1])
      try context.save()
      sailor.setValue(cursed, forKey: "crew")
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectValidationError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "crew")
      #expect(error.userInfo[NSValidationValueErrorKey] as? NSManagedObject === cursed)
      sailor.setValue(good, forKey: "crew")
      try context.save()
      // Checked when it is set, not when the target changes.
      good.setValue("Flying Dutchman", forKey: "name")
      try context.save()
      var target: Any? = cursed
      #expect(
        codeThrown { try sailor.validateValue(&target, forKey: "crew") } == NSManagedObjectValidationError)
      target = nil
      try sailor.validateValue(&target, forKey: "crew")
    }
  }

  // Finding B1, OBS-1.
  @Test(
    .rule(
      "VALID-12", "NSValidationRelationshipLacksMinimumCountError",
      "required to-many relationships that are empty"),
    arguments: StoreKind.allCases)
  func `a required relationship may be empty unless it has a minimum`(kind: StoreKind) throws {
    try Stack(kind, model: Self.model).run { context in
      let crew: NSManagedObject = crew(context)
      try context.save()
      for empty in [NSSet(), nil] as [NSSet?] {
        var given: Any? = empty
        try crew.validateValue(&given, forKey: "flags")
        crew.setValue(empty, forKey: "masts")
        let error: NSError? = errorThrown { try context.save() }
        #expect(error?.code == NSValidationRelationshipLacksMinimumCountError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "masts")
        context.rollback()
        crew.setValue(empty, forKey: "flags")
        try context.save()
      }
      let bare: NSManagedObject = context.make(
        "Crew",
        [
          "sailors": sailors(context, [1]),
          "ports": NSOrderedSet(object: context.make("Port", ["name": "Home"])),
        ])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSValidationRelationshipLacksMinimumCountError)
      #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "masts")
      context.delete(bare)
      try context.save()
    }
  }

  @Test func `a predicate that can't be evaluated fails and says why`() throws {
    let model: NSManagedObjectModel = try Self.lenient()
    model.entitiesByName["Sailor"]?.relationshipsByName["crew"]?.setValidationPredicates(
      [NSPredicate(format: "nmae == 'x'")], withValidationWarnings: nil)
    try Stack(.inMemory, model: model).run { context in
      _ = context.make("Sailor", ["crew": crew(context, ranks: []), "rank": 1])
      let error: NSError = try #require(errorThrown { try context.save() })
      #expect(error.code == NSManagedObjectValidationError)
      #expect(error.localizedFailureReason?.contains("nmae") == true)
      #expect(error.localizedFailureReason?.contains("name") == true)
    }
  }
}
