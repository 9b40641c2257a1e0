import CoreData
import CoreDataStorage
import Foundation
import StackSupport
import TestSupport
import Testing

/// Findings of 2026-11-22, decimals: whatever way a decimal comes to a comparison, what stores keep of it is
/// compared (Decisions/0055): unsaved objects, saved ones, those of child contexts, in memory and
/// in SQL alike.
@Suite
struct DecimalAgreementTests {
  /// Each has more digits than a real; the second is a neighbour that becomes the same real.
  private static let long = NSDecimalNumber(string: "0.12345678901234567890123456789")
  private static let neighbour = NSDecimalNumber(string: "0.12345678901234567890123456788")
  private static let great = NSDecimalNumber(string: "12345678901234567890123.5")

  /// Purse ──coins→ Coin, with composite `price` of `amount` and `text`.
  private static func model() -> NSManagedObjectModel {
    let amount: NSAttributeDescription = World.attribute("amount", .decimalAttributeType)
    let price = NSCompositeAttributeDescription()
    price.name = "price"
    price.elements = [amount, World.attribute("text", .stringAttributeType)]
    let coin: NSEntityDescription = World.entity(
      "Coin",
      [
        World.attribute("label", .integer64AttributeType), World.attribute("value", .decimalAttributeType),
        World.attribute("other", .decimalAttributeType), World.attribute("double", .doubleAttributeType),
        price,
      ])
    let purse: NSEntityDescription = World.entity(
      "Purse",
      [World.attribute("label", .integer64AttributeType), World.attribute("budget", .decimalAttributeType)])
    World.pair(purse, "coins", .many, .nullifyDeleteRule, coin, "purse", .one, .nullifyDeleteRule)
    let token: NSEntityDescription = World.entity(
      "Token",
      [
        World.attribute("code", .decimalAttributeType), World.attribute("ratio", .floatAttributeType),
        World.attribute("note", .stringAttributeType),
      ])
    token.uniquenessConstraints = [["code"], ["ratio"]]
    let model = NSManagedObjectModel()
    model.entities = [purse, coin, token]
    return model
  }

  private static func open(_ kind: StoreKind, _ folder: TemporaryFolder) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: kind.url("Coins", in: folder),
      options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// Coins of close values in three purses; the last purse is empty, the last coin nobody's.
  private static func fill(_ context: NSManagedObjectContext) {
    let values: [NSDecimalNumber?] = [
      long, neighbour, 0.1, great, nil, NSDecimalNumber(string: "0.1234567890123456"), 7, 0,
    ]
    let purses: [NSManagedObject] = [long, great, 1].enumerated().map {
      context.make("Purse", ["label": $0, "budget": $1])
    }
    for (label, value) in values.enumerated() {
      let other: NSDecimalNumber? = label % 2 == 0 ? neighbour : value
      let coin: NSManagedObject = context.make("Coin", ["label": label])
      coin.setValue(value, forKey: "value")
      coin.setValue(other, forKey: "other")
      coin.setValue(value?.doubleValue, forKey: "double")
      coin.setValue(["amount": value as Any? ?? NSNull(), "text": "t"], forKey: "price")
      if label < 7 { coin.setValue(purses[label % 2], forKey: "purse") }
    }
  }

  // MARK: Predicates

  struct Case: CustomTestStringConvertible, Sendable {
    let entity: String
    let format: String
    var testDescription: String { format }
  }

  /// `%@` is always the long number.
  static let cases: [Case] =
    [
      "value == %@", "%@ == value", "value != %@", "value < %@", "value <= %@", "%@ > value",
      "value IN {%@, 7}",
      "value BETWEEN {0, %@}", "value BETWEEN {%@, %@}", "%@ IN {value, other}", "{value, other} CONTAINS %@",
      "%@ BETWEEN {value, other}", "value == other", "value < other", "value >= other", "value == double",
      "value BETWEEN {other, double}", "value IN {other, double}", "TERNARY(label > 2, value, other) == %@",
      "TERNARY(value == %@, 1, 0) == 1", "TERNARY(other == value, 1, 0) == 1", "NOT (value == %@)",
      "purse.budget == %@", "purse.budget == value", "value == purse.budget", "purse.budget < value",
      "max({value, other}) == %@", "min({value, other}) == value", "abs(value) == %@", "value + 0 == other",
      "value - other == 0", "value * 2 == other + other", "value * 1 == %@", "price.amount == %@",
      "price.amount == value", "price.amount < other", "price.amount IN {%@}", "value == nil",
      "value != other",
      "CAST(value, 'NSString') == CAST(other, 'NSString')",
      "value == SUBQUERY(purse.coins, $c, $c.label == 0).@max.value",
      "ANY purse.coins.value == %@", "value IN purse.coins.other", "purse.coins.@max.value == value",
      "SUBQUERY(purse.coins, $c, $c.value == value).@count > 1",
      "SUBQUERY(purse.coins, $c, $c.value == %@ AND $c.purse.budget == %@).@count > 0",
      "value.doubleValue == double",
    ].map { Case(entity: "Coin", format: $0) }
    + [
      "ANY coins.value == %@", "ALL coins.value != %@", "NONE coins.value == %@", "%@ IN coins.value",
      "coins.value CONTAINS %@", "coins.@max.value == %@", "coins.@min.value == %@",
      "coins.@max.value == budget",
      "max(coins.value) == %@", "min(coins.value) <= %@", "%@ == max(coins.value)", "coins.@sum.value == %@",
      "coins.@sum.value > coins.@max.value", "coins.@avg.value < %@",
      "SUBQUERY(coins, $c, $c.value == %@).@count > 0", "SUBQUERY(coins, $c, %@ == $c.value).@count == 2",
      "SUBQUERY(coins, $c, $c.value IN {%@, 7}).@count > 1",
      "SUBQUERY(coins, $c, $c.value == $c.other).@count > 1",
      "SUBQUERY(coins, $c, SUBQUERY($c.purse.coins, $d, $d.value == %@).@count > 0).@count > 0",
      "SUBQUERY(coins, $c, $c.value BETWEEN {0.1, %@}).@count > 1",
      "SUBQUERY(coins, $c, $c.price.amount == %@).@count > 0",
      "ANY coins.value == budget", "budget IN coins.value", "ANY coins.price.amount == %@",
      "coins.@count > 3",
      "SUBQUERY(coins, $c, $c.value == budget).@max.label == 0",
      "count(coins.@distinctUnionOfObjects.value) > 2",
      "budget == %@", "ANY coins.value BETWEEN {%@, %@}", "coins.@max.value IN {%@, 7}",
    ].map { Case(entity: "Purse", format: $0) }

  private static func labels(_ context: NSManagedObjectContext, _ sample: Case) -> String {
    let count: Int = sample.format.components(separatedBy: "%@").count - 1
    let predicate = NSPredicate(format: sample.format, argumentArray: Array(repeating: long, count: count))
    do {
      let found: [NSManagedObject] = try context.all(
        NSManagedObject.self, sample.entity, predicate, sort: ["label"])
      return "\(found.compactMap { $0.value(forKey: "label") as? Int })"
    } catch {
      return "\(error.localizedDescription)"
    }
  }

  @Test(arguments: cases)
  func `unsaved, saved, in a child, in memory and in SQL the same is found`(sample: Case) throws {
    var answers: [(String, String)] = []
    for kind in StoreKind.allCases {
      let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
      context.performAndWait {
        Self.fill(context)
        answers.append(("\(kind) unsaved", Self.labels(context, sample)))
      }
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      child.performAndWait { answers.append(("\(kind) of the parent", Self.labels(child, sample))) }
      try context.performAndWait {
        try context.save()
        answers.append(("\(kind) saved", Self.labels(context, sample)))
        context.reset()
        answers.append(("\(kind) read", Self.labels(context, sample)))
        // Objects with unsaved changes are weighed in memory.
        for object in try context.all(NSManagedObject.self, sample.entity) {
          let label: Any? = object.value(forKey: "label")
          object.setValue(-1, forKey: "label")
          object.setValue(label, forKey: "label")
        }
        answers.append(("\(kind) changed", Self.labels(context, sample)))
      }
      let fresh: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
      let draft = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      draft.parent = fresh
      try draft.performAndWait {
        Self.fill(draft)
        answers.append(("\(kind) draft", Self.labels(draft, sample)))
        try draft.save()
        answers.append(("\(kind) handed up", Self.labels(draft, sample)))
      }
      try fresh.performAndWait {
        answers.append(("\(kind) received", Self.labels(fresh, sample)))
        try fresh.save()
      }
      draft.performAndWait { answers.append(("\(kind) handed up and saved", Self.labels(draft, sample))) }
    }
    for answer in answers { #expect(answer.1 == answers[0].1, "\(answer.0), not as \(answers[0].0)") }
    #expect(answers[0].1.hasPrefix("["), "\(answers[0].1)")
  }

  // MARK: Order, groups, results

  @Test func `unsaved numbers are ordered as saved ones`() throws {
    for key in ["value", "purse.budget", "price.amount", "other"] {
      var orders: [[Int]] = []
      for kind in StoreKind.allCases {
        let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
        try context.performAndWait {
          Self.fill(context)
          for _ in 0..<2 {
            orders.append(
              try context.all(NSManagedObject.self, "Coin", sort: [key, "-label"])
                .compactMap { $0.value(forKey: "label") as? Int })
            try context.save()
          }
        }
      }
      for order in orders { #expect(order == orders[0], "\(key)") }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `groups, conditions on them and computed columns take what is kept`(kind: StoreKind) throws {
    let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
    try context.performAndWait {
      Self.fill(context)
      try context.save()
      func rows(_ request: NSFetchRequest<NSDictionary>) throws -> Int { try context.fetch(request).count }
      let request = NSFetchRequest<NSDictionary>(entityName: "Coin")
      request.resultType = .dictionaryResultType
      let count = NSExpressionDescription()
      count.name = "count"
      count.expression = NSExpression(format: "count(label)")
      let greatest = NSExpressionDescription()
      greatest.name = "greatest"
      greatest.expression = NSExpression(format: "max(value)")
      request.propertiesToFetch = ["value", count, greatest]
      request.propertiesToGroupBy = ["value"]
      #expect(try rows(request) == 7, "the two neighbours are one group")
      for having in [
        "value == %@", "max(value) == %@", "$greatest == %@", "greatest IN {%@, -1}", "%@ == value",
      ] {
        request.havingPredicate = NSPredicate(format: having, Self.long)
        let found: [NSDictionary] = try context.fetch(request)
        #expect(found.map { $0["count"] as? Int } == [2], "\(having)")
      }
      let computed = NSFetchRequest<NSDictionary>(entityName: "Coin")
      computed.resultType = .dictionaryResultType
      let isLong = NSExpressionDescription()
      isLong.name = "isLong"
      isLong.expression = NSExpression(format: "TERNARY(value == %@, 1, 0)", Self.neighbour)
      computed.propertiesToFetch = [isLong]
      #expect(try context.fetch(computed).filter { $0["isLong"] as? Int == 1 }.count == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a fetched results controller keeps what its fetch found`(kind: StoreKind) throws {
    let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
    try context.performAndWait {
      Self.fill(context)
      try context.save()
      let request: NSFetchRequest<NSManagedObject> = context.request(
        NSManagedObject.self, "Coin", NSPredicate(format: "value == %@", Self.long), sort: ["label"])
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let listener = Listener()
      controller.delegate = listener
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 2)
      controller.fetchedObjects?.first?.setValue(99, forKey: "double")
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 2)
    }
  }

  private final class Listener: NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  }

  // MARK: Saving

  @Test(arguments: StoreKind.allCases)
  func `what a child saves is what its parent's store will keep`(kind: StoreKind) throws {
    let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = context
    try child.performAndWait {
      let coin: NSManagedObject = child.make("Coin", ["value": Self.long])
      coin.setValue(["amount": Self.long], forKey: "price")
      #expect(coin.value(forKey: "value") as? NSDecimalNumber == Self.long)
      try child.save()
      let handed: NSDecimalNumber? = coin.value(forKey: "value") as? NSDecimalNumber
      #expect(handed != Self.long)
      #expect(coin.value(forKeyPath: "price.amount") as? NSDecimalNumber == handed)
      try context.performAndWait { try context.save() }
      #expect(coin.value(forKey: "value") as? NSDecimalNumber == handed)
      child.refresh(coin, mergeChanges: false)
      #expect(coin.value(forKey: "value") as? NSDecimalNumber == handed)
      // To set it again is no change.
      coin.setValue(Self.long, forKey: "value")
      #expect(!coin.hasPersistentChangedValues)
      #expect(coin.changedValues().isEmpty)
    }
  }

  /// Finding: error 133021 for ever, since the search for conflicts compared what was set.
  @Test(arguments: StoreKind.allCases, ["code", "ratio"])
  func `constraints over what is rounded are settled`(kind: StoreKind, key: String) throws {
    let folder = try TemporaryFolder()
    let values: [NSNumber] =
      key == "code" ? [Self.long, Self.neighbour] : [0.1, NSNumber(value: Float(0.1))]
    for policy in [
      NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
    ] {
      let context: NSManagedObjectContext = try Self.open(kind, try TemporaryFolder())
      context.mergePolicy = policy
      try context.performAndWait {
        _ = context.make("Token", [key: values[0], "note": "old"])
        try context.save()
        _ = context.make("Token", [key: values[1], "note": "new"])
        try context.save()
        #expect(try context.all(NSManagedObject.self, "Token").count == 1)
        let both: [NSManagedObject] = values.map { context.make("Token", [key: $0, "note": "both"]) }
        try context.save()
        #expect(try context.all(NSManagedObject.self, "Token").count == 1)
        #expect(both.count == 2)
      }
    }
    let strict: NSManagedObjectContext = try Self.open(kind, folder)
    strict.performAndWait {
      for value in values { _ = strict.make("Token", [key: value]) }
      #expect {
        try strict.save()
      } throws: { error in
        let error = error as NSError
        let conflicts = error.userInfo["conflictList"] as? [NSConstraintConflict]
        return error.code == NSManagedObjectConstraintMergeError
          && conflicts?.first?.conflictingObjects.count == 2
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a double and a decimal are compared as doubles, also beyond the integers that doubles can be`(
    kind: StoreKind
  ) throws {
    let context: NSManagedObjectContext = try Self.open(kind, TemporaryFolder())
    try context.performAndWait {
      let doubles: [Double] = [0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, 2.5, 0]
      for (label, double) in doubles.enumerated() {
        _ = context.make("Coin", ["label": label, "double": double])
      }
      try context.save()
      let texts: [String] = [
        "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "2.5",
        "2.50000000000000000000001", "0",
      ]
      for text in texts {
        let decimal = NSDecimalNumber(string: text)
        for (format, constant) in [
          ("double == %@", decimal), ("double != %@", decimal), ("double < %@", decimal),
          ("double <= %@", decimal), ("double > %@", decimal), ("NOT (double >= %@)", decimal),
          ("double IN %@", [decimal]), ("NOT (double IN %@)", [decimal, 7]),
          ("double BETWEEN %@", [decimal, decimal]), ("double + 0 == %@", decimal),
        ] as [(String, Any)] {
          let predicate = NSPredicate(format: format, argumentArray: [constant])
          let all: [NSManagedObject] = try context.all(NSManagedObject.self, "Coin", sort: ["label"])
          let fetched: [NSManagedObject] = try context.all(
            NSManagedObject.self, "Coin", predicate, sort: ["label"])
          #expect(fetched == all.filter { predicate.evaluate(with: $0) }, "\(format) \(text)")
        }
      }
    }
  }
}
