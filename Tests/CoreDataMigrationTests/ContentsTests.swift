import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Sets a number that the destination does not take.
final class OverflowingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
    for object in made { object.setValue(70_000, forKey: "amount") }
  }
}

/// Deletes or changes the objects that it is to migrate.
final class MeddlingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    switch manager.userInfo?["deed"] as? String {
    case "deleted": manager.sourceContext.delete(source)
    case "changed": source.setValue("other", forKey: "name")
    default:
      _ = NSEntityDescription.insertNewObject(
        forEntityName: source.entity.name ?? "", into: manager.sourceContext)
    }
  }
}

@Suite("What a store contains and the new version does not take is told, and never lost")
struct ContentsTests {
  /// One entity with a name and an amount.
  private static func version(
    _ type: NSAttributeType, _ change: (NSEntityDescription) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    let item = World.entity(
      "Item", [World.attribute("name", .stringAttributeType), World.attribute("amount", type)])
    item.managedObjectClassName = nil
    change(item)
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  private static func store(
    _ model: NSManagedObjectModel, _ kind: StoreKind, _ folder: TemporaryFolder, _ amounts: [NSNumber]
  ) throws -> URL {
    let url: URL = folder.file("store.\(kind.rawValue)")
    try Versions.using(model, kind, url) { context in
      for (number, amount) in amounts.enumerated() {
        _ = Versions.make("Item", ["name": "item \(number)", "amount": amount], context)
      }
      try context.save()
    }
    return url
  }

  private static func mapping(_ expression: String) -> NSMappingModel {
    let amount = NSPropertyMapping()
    amount.name = "amount"
    amount.valueExpression = CoreData.NSExpression(format: expression)
    let item = NSEntityMapping()
    item.name = "ItemToItem"
    item.mappingType = .transformEntityMappingType
    item.sourceEntityName = "Item"
    item.destinationEntityName = "Item"
    item.attributeMappings = [amount]
    let model = NSMappingModel()
    model.entityMappings = [item]
    return model
  }

  // Finding: the model of a shipped app has such a step, which Apple's framework infers.
  @Test(
    "integers become numbers of a floating-point type without a mapping model, unless one would be rounded",
    arguments: [
      (NSAttributeType.integer64AttributeType, NSAttributeType.doubleAttributeType, 1 << 53),
      (.integer64AttributeType, .floatAttributeType, 1 << 24),
      (.integer32AttributeType, .floatAttributeType, 1 << 24),
    ] as [(NSAttributeType, NSAttributeType, Int)], [StoreKind.sqlite, .xml, .binary])
  func inferredFloats(_ test: (from: NSAttributeType, to: NSAttributeType, highest: Int), _ kind: StoreKind)
    throws
  {
    let (first, second) = (Self.version(test.from), Self.version(test.to))
    let inference = MappingInference(from: first, to: second)
    #expect(inference.refusals.isEmpty)
    #expect(
      inference.conditions.map(\.description) == [
        "The 'amount' of every Item must be a number that a value of type \(test.to.editorName) can be without rounding."
      ])
    let models = try TemporaryFolder()
    let program = try SourceModel.write([first, second], in: models)
    // Even ones are exact beyond the limit.
    let fitting: [Int] = [0, -7, test.highest, -test.highest, test.highest + 2]
    let folder = try TemporaryFolder()
    let url: URL = try Self.store(first, kind, folder, fitting.map { $0 as NSNumber })
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps[0].problems == [])
    try plan.run()
    let values: [Double] = try Versions.using(second, kind, url) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        .compactMap { ($0.value(forKey: "amount") as? NSNumber)?.doubleValue }
    }
    #expect(values.sorted() == fitting.map(Double.init).sorted())

    let other = try TemporaryFolder()
    let refused: URL = try Self.store(first, kind, other, [1, NSNumber(value: test.highest + 1)])
    let doubtful = try MigrationPlan(forStoreAt: refused, to: program)
    #expect(
      doubtful.steps[0].problems.first?.hasPrefix(
        "1 object(s) of Item have a value of amount that is rounded, or")
        == true, "\(doubtful.steps[0].problems)")
    let error = errorThrown { try doubtful.run() }
    for word in ["amount", "\(test.highest + 1)", "would keep \(test.highest)"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(word): \(error as Any)")
    }
    #expect(
      try Versions.using(first, kind, refused) {
        try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      } == 2)
  }

  struct Number: Sendable, CustomTestStringConvertible {
    let from: NSAttributeType
    let to: NSAttributeType
    let fits: [Double]
    let tooLarge: [Double]
    var testDescription: String { "\(from.rawValue) to \(to.rawValue)" }
  }

  static let numbers: [Number] = [
    Number(
      from: .integer64AttributeType, to: .integer16AttributeType, fits: [32767, -32768],
      tooLarge: [32768, -32769, 4_294_967_296]),
    Number(
      from: .integer64AttributeType, to: .integer32AttributeType, fits: [2_147_483_647, -2_147_483_648],
      tooLarge: [2_147_483_648, -2_147_483_649]),
    Number(
      from: .doubleAttributeType, to: .integer16AttributeType, fits: [32767.9, -32768.9],
      tooLarge: [32768, 1e300]),
    Number(
      from: .doubleAttributeType, to: .integer64AttributeType, fits: [9e18], tooLarge: [9.3e18, -1e300]),
    Number(from: .decimalAttributeType, to: .integer32AttributeType, fits: [7], tooLarge: [3e9]),
    Number(from: .doubleAttributeType, to: .floatAttributeType, fits: [1e38, .infinity], tooLarge: [1e39]),
  ]

  @Test(
    "a number that is too large for its new type ends the migration, which names it", arguments: numbers,
    [StoreKind.sqlite, .xml])
  func tooLarge(_ number: Number, _ kind: StoreKind) throws {
    let (first, second) = (Self.version(number.from), Self.version(number.to))
    let models = try TemporaryFolder()
    let program = try SourceModel.write([first, second], in: models)
    let mapping: NSMappingModel = Self.mapping("$source.amount")
    func given(_ value: Double) -> NSNumber {
      switch number.from {
      case .doubleAttributeType: NSNumber(value: value)
      case .decimalAttributeType: NSDecimalNumber(value: value)
      default: NSNumber(value: Int64(value))
      }
    }
    for value in number.tooLarge {
      let folder = try TemporaryFolder()
      let url: URL = try Self.store(first, kind, folder, [1, given(value)])
      let plan = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
      // A Float's limits are those of few programs.
      if number.to != .floatAttributeType {
        #expect(plan.steps[0].problems.first?.hasPrefix("1 object(s) of Item have a value of amount") == true)
      }
      let error = errorThrown { try plan.run() }
      #expect(error?.code == NSMigrationError)
      for word in ["ItemToItem", "amount", "Item/p", "Item.amount takes"] {
        #expect(error?.localizedDescription.contains(word) == true, "\(word): \(error as Any)")
      }
      #expect(
        try Versions.using(first, kind, url) {
          try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        } == 2)
    }
    let folder = try TemporaryFolder()
    let url: URL = try Self.store(first, kind, folder, number.fits.map(given))
    let plan = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
    #expect(plan.steps[0].problems == [])
    try plan.run()
    #expect(
      try Versions.using(second, kind, url) {
        try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
      }
        == number.fits.count)
  }

  @Test(
    "numbers with more digits than a double has are copied with all of them",
    arguments: [NSAttributeType.integer64AttributeType, .decimalAttributeType],
    [StoreKind.sqlite, .xml, .binary])
  func exact(_ from: NSAttributeType, _ kind: StoreKind) throws {
    let digits: [String] =
      from == .decimalAttributeType
      ? ["12345678901234567890.123", "-0.1234567890123456789012345678901234567", "9007199254740993"]
      : ["9007199254740993", "-9223372036854775808", "9223372036854775807"]
    func number(_ text: String) -> NSNumber {
      from == .decimalAttributeType ? NSDecimalNumber(string: text) : NSNumber(value: Int64(text) ?? 0)
    }
    let (first, second) = (
      Self.version(from) { $0.attributesByName["amount"]?.userInfo = [ClarusExactDecimalsKey: true] },
      Self.version(.decimalAttributeType) {
        $0.properties.append(World.attribute("more", .stringAttributeType))
      }
    )
    let models = try TemporaryFolder()
    let program = try SourceModel.write([first, second], in: models)
    // The last one is what is inferred for an attribute that becomes required.
    for mapping in [
      nil, Self.mapping("$source.amount"), Self.mapping("TERNARY($source.amount == nil, 7, $source.amount)"),
    ] {
      let folder = try TemporaryFolder()
      let url: URL = try Self.store(first, kind, folder, digits.map(number))
      try MigrationPlan(forStoreAt: url, to: program, mapping: mapping).run()
      let found: [String] = try Versions.using(second, kind, url) {
        try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
          .map { "\(($0.value(forKey: "amount") as? NSDecimalNumber)?.decimalValue ?? 0)" }
      }
      #expect(found.sorted() == digits.sorted(), "\(mapping == nil ? "inferred" : "mapped")")
    }
  }

  @Test("a number that an expression or a policy makes too large ends the migration too")
  func computed() throws {
    let (first, second) = (
      Self.version(.integer16AttributeType),
      Self.version(.integer16AttributeType) { $0.versionHashModifier = "2" }
    )
    let byPolicy: NSMappingModel = Self.mapping("$source.amount")
    byPolicy.entityMappings?[0].entityMigrationPolicyClassName = NSStringFromClass(OverflowingPolicy.self)
    for mapping in [Self.mapping("$source.amount * 1000"), byPolicy] {
      let folder = try TemporaryFolder()
      let url: URL = try Self.store(first, .sqlite, folder, [300])
      let plan = try MigrationPlan(forStoreAt: url, to: second, mapping: mapping)
      let error = errorThrown { try plan.run() }
      #expect(error?.localizedDescription.contains("amount") == true, "\(error as Any)")
      #expect(error?.localizedDescription.contains("32767") == true, "\(error as Any)")
    }
  }

  struct Constraint: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let names: [String]
    /// Of the new attribute `code`.
    let standard: String?
    /// Items with the names a, a, b; otherwise a, b, c.
    let isRepeated: Bool
    let isProblem: Bool
  }

  static let constraints: [Constraint] = [
    Constraint(
      testDescription: "a new attribute with a default value", names: ["code"], standard: "x",
      isRepeated: false, isProblem: true),
    Constraint(
      testDescription: "a new attribute without a value", names: ["code"], standard: nil, isRepeated: true,
      isProblem: false),
    Constraint(
      testDescription: "a new attribute and one whose values repeat", names: ["name", "code"],
      standard: "x", isRepeated: true, isProblem: true),
    Constraint(
      testDescription: "a new attribute and one whose values differ", names: ["name", "code"],
      standard: "x", isRepeated: false, isProblem: false),
    Constraint(
      testDescription: "a new attribute without a value, and one whose values repeat",
      names: ["name", "code"], standard: nil, isRepeated: true, isProblem: false),
  ]

  /// How a store gets its constraint: by statements, by an inferred copy, by one with a mapping model.
  enum Way: CaseIterable, Sendable {
    case inPlace, xml, binary, mapped

    var kind: StoreKind {
      switch self {
      case .inPlace, .mapped: .sqlite
      case .xml: .xml
      case .binary: .binary
      }
    }
  }

  @Test("a plan counts the values that a new constraint forbids", arguments: constraints, Way.allCases)
  func constraint(_ constraint: Constraint, _ way: Way) throws {
    try check(constraint, way, hasSubentity: false)
    try check(constraint, way, hasSubentity: true)
  }

  private func check(_ constraint: Constraint, _ way: Way, hasSubentity: Bool) throws {
    func version(_ change: (NSEntityDescription) -> Void) -> NSManagedObjectModel {
      let model: NSManagedObjectModel = Self.version(.integer16AttributeType, change)
      if hasSubentity {
        let special = World.entity("Special", [World.attribute("remark", .stringAttributeType)])
        special.managedObjectClassName = nil
        model.entities[0].subentities = [special]
        model.entities.append(special)
      }
      return model
    }
    let first: NSManagedObjectModel = version { _ in }
    let second: NSManagedObjectModel = version { item in
      let code = World.attribute("code", .stringAttributeType)
      code.defaultValue = constraint.standard
      item.properties.append(code)
      item.uniquenessConstraints = [constraint.names]
    }
    let folder = try TemporaryFolder()
    let url: URL = folder.file("store.\(way.kind.rawValue)")
    try Versions.using(first, way.kind, url) { context in
      let names: [String] = constraint.isRepeated ? ["a", "a", "b"] : ["a", "b", "c"]
      for (number, name) in names.enumerated() {
        _ = Versions.make(hasSubentity && number == 1 ? "Special" : "Item", ["name": name], context)
      }
      try context.save()
    }
    let mapping: NSMappingModel? =
      way == .mapped ? try .inferredMappingModel(forSourceModel: first, destinationModel: second) : nil
    // A store that carries no model finds it beside the program's.
    for (name, model) in [("Shop 1", first), ("Shop 2", second)] {
      let version: URL = folder.file("Shop.xcdatamodeld/\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try model.sourceData().write(to: version.appendingPathComponent("contents"))
    }
    let program: NSManagedObjectModel = try .load(
      contentsOf: folder.file("Shop.xcdatamodeld/Shop 2.xcdatamodel")
    ).model
    let plan = try MigrationPlan(forStoreAt: url, to: program, mapping: mapping)
    #expect((plan.steps[0].statements != nil) == (way == .inPlace))
    #expect(plan.steps[0].problems.isEmpty == !constraint.isProblem, "\(plan)")
    let error = errorThrown { try plan.run() }
    #expect((error != nil) == constraint.isProblem, "\(error as Any)")
    guard constraint.isProblem else { return }
    #expect(
      plan.steps[0].problems.first?.contains("Item, but 1 value occurs more than once.") == true, "\(plan)")
    #expect(error?.localizedDescription.contains("code") == true, "\(error as Any)")
  }

  @Test("constraints are not counted for objects without a value, and not where a policy makes the values")
  func keptConstraints() throws {
    func version(_ constraints: [[String]], _ modifier: String) -> NSManagedObjectModel {
      Self.version(.integer16AttributeType) { item in
        item.uniquenessConstraints = constraints
        item.versionHashModifier = modifier
      }
    }
    let folder = try TemporaryFolder()
    let url: URL = try Self.store(version([], "1"), .sqlite, folder, [1, 1])
    let mapping: NSMappingModel = Self.mapping("$source.amount")
    func problems(_ model: NSManagedObjectModel) throws -> [String] {
      try MigrationPlan(forStoreAt: url, to: model, mapping: mapping).steps[0].problems
    }
    #expect(try problems(version([["amount"]], "2")).count == 1)
    // The mapping gives the name no value, so that the constraint is for no object.
    #expect(try problems(version([["amount", "name"]], "2")).isEmpty)
    mapping.entityMappings?[0].entityMigrationPolicyClassName = NSStringFromClass(OverflowingPolicy.self)
    #expect(try problems(version([["amount"]], "2")).isEmpty)
  }

  @Test(
    "a policy that changes the source is an error that names it",
    arguments: ["deleted", "changed", "inserted"])
  func meddling(_ deed: String) throws {
    let folder = try TemporaryFolder()
    let (first, second) = (
      Self.version(.integer16AttributeType),
      Self.version(.integer16AttributeType) { $0.versionHashModifier = "2" }
    )
    let url: URL = try Self.store(first, .sqlite, folder, [1, 2])
    let mapping: NSMappingModel = Self.mapping("$source.amount")
    mapping.entityMappings?[0].entityMigrationPolicyClassName = NSStringFromClass(MeddlingPolicy.self)
    let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
    manager.userInfo = ["deed": deed]
    let error = errorThrown {
      try manager.migrateStore(
        from: url, type: .sqlite, mapping: mapping, to: folder.file("new.sqlite"), type: .sqlite)
    }
    for word in ["MeddlingPolicy", "has \(deed) the source object", "Item/"] {
      #expect(error?.localizedDescription.contains(word) == true, "\(error as Any)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.sqlite").path))
  }

  @Test("a child of a manager's context stops the program with the way out")
  func child() async {
    await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let parent = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).parent = parent
    }
  }
}
