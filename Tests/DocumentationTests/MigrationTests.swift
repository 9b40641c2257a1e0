import CoreData
import Foundation
import Testing

// snippet policy
final class ShoutingPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let made = manager.destinationInstances(
      forEntityMappingName: mapping.name, sourceInstances: [source])
    for product in made {
      product.setValue((source.value(forKey: "name") as? String)?.uppercased(), forKey: "name")
    }
  }
}
// end

// snippet functions
final class PricePolicy: NSEntityMigrationPolicy {
  // Apple:  @objc(labelForName:price:) func label(name: String, price: Double) -> String
  override class var expressionFunctions: [PolicyFunction] {
    [
      PolicyFunction("labelForName:price:") { (policy: PricePolicy, name: String, price: Double) in
        policy.label(name: name, price: price)
      }
    ]
  }

  func label(name: String, price: Double) -> String { "\(name), \(price)" }
}
// end

@Suite struct MigrationTests {
  private let folder: URL = FileManager.default.temporaryDirectory
    .appendingPathComponent("clarus-migration-\(UUID().uuidString)")
  private var url: URL { folder.appendingPathComponent("Shop.sqlite") }

  private func model(withNote: Bool) -> NSManagedObjectModel {
    let product = NSEntityDescription()
    product.name = "Product"
    let names: [String] = withNote ? ["name", "note"] : ["name"]
    product.properties = names.map { name in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = .stringAttributeType
      attribute.isOptional = name == "name"
      if name == "note" { attribute.defaultValue = "none" }
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [product]
    return model
  }

  /// A closed store of the old version.
  private func makeStore() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try names(model(withNote: false)) { context in
      for name in ["axe", "bow"] {
        NSEntityDescription.insertNewObject(forEntityName: "Product", into: context)
          .setValue(name, forKey: "name")
      }
      try context.save()
    }
  }

  @discardableResult
  private func names(
    _ model: NSManagedObjectModel, at place: URL? = nil,
    _ body: (NSManagedObjectContext) throws -> Void = { _ in }
  ) throws -> [String] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: place ?? url)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try body(context)
      return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Product"))
        .map { "\($0.value(forKey: "name") ?? "")" }.sorted()
    }
  }

  @Test func `a store is migrated when it is added`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let newModel = model(withNote: true)
    // snippet automatic
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: newModel)
    try coordinator.addPersistentStore(
      type: .sqlite, at: url,
      options: [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ])
    // end
    #expect(try names(newModel) == ["axe", "bow"])
  }

  @Test func `a plan is printed and run`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let newModel = model(withNote: true)
    let backup = folder.appendingPathComponent("Backup.sqlite")
    // snippet plan
    let plan = try MigrationPlan(forStoreAt: url, to: newModel)
    print(plan)
    if plan.losses.isEmpty {
      try plan.run(verifies: true, keepingOriginalAt: backup)
    }
    // end
    #expect(try names(newModel) == ["axe", "bow"])
    #expect(try names(model(withNote: false), at: backup) == ["axe", "bow"])
  }

  @Test func `a policy of the program migrates`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (oldModel, newModel) = (model(withNote: false), model(withNote: true))
    let newURL = folder.appendingPathComponent("New.sqlite")
    // snippet mapping
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: oldModel, destinationModel: newModel)
    let product = mapping.entityMappingsByName["IEM_Transform_Product"]
    product?.attributeMappings?.first { $0.name == "note" }?.valueExpression =
      NSExpression(format: "$source.name")
    product?.entityMigrationPolicyClassName = NSStringFromClass(ShoutingPolicy.self)
    // end
    // snippet manager
    let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
    try manager.migrateStore(
      from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
    // end
    #expect(try names(newModel, at: newURL) == ["AXE", "BOW"])
  }

  @Test func `expressions call a policy, and progress is observed`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (oldModel, newModel) = (model(withNote: false), model(withNote: true))
    let newURL = folder.appendingPathComponent("New.sqlite")
    let mapping = try NSMappingModel.inferredMappingModel(
      forSourceModel: oldModel, destinationModel: newModel)
    let product = mapping.entityMappingsByName["IEM_Transform_Product"]
    // snippet expression
    product?.attributeMappings?.first { $0.name == "name" }?.valueExpression =
      NSExpression(format: #"FUNCTION($entityPolicy, "labelForName:price:", $source.name, 2.5)"#)
    product?.entityMigrationPolicyClassName = "PricePolicy"
    // end
    let manager = NSMigrationManager(sourceModel: oldModel, destinationModel: newModel)
    var parts: [Float] = []
    // snippet progress
    let observation = manager.observe(\.migrationProgress, options: [.new]) { _, change in
      parts.append(change.newValue ?? 0)
    }
    // end
    try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
    observation.invalidate()
    #expect(parts.last == 1)
    #expect(try names(newModel, at: newURL) == ["axe, 2.5", "bow, 2.5"])
  }

  @Test func `a store goes back to the version before`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let (oldModel, newModel): (NSManagedObjectModel, NSManagedObjectModel) = (
      model(withNote: false), model(withNote: true)
    )
    try MigrationPlan(forStoreAt: url, to: newModel).run()
    // snippet down
    let back = try MigrationPlan(forStoreAt: url, to: oldModel, isDown: true)
    try back.run()
    // end
    #expect(back.losses == ["Product.note"])
    #expect(try names(oldModel) == ["axe", "bow"])
  }

  @Test func `a mapping model over several versions`() throws {
    try makeStore()
    defer { try? FileManager.default.removeItem(at: folder) }
    let versions: [NSManagedObjectModel] = [
      model(withNote: false), model(withNote: true), model(withNote: true),
    ]
    // snippet squash
    let squash = MappingInference(ModelDifference(through: versions))
    try squash.mappingModel().archivedData().write(to: folder.appendingPathComponent("Shop1to3.cdm"))
    // end
    let mapping = try NSMappingModel.load(contentsOf: folder.appendingPathComponent("Shop1to3.cdm"))
    #expect(mapping.entityMappings?.count == 1)
  }
}
