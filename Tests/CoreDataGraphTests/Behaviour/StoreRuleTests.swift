import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

extension Behaviour {
  /// Coordinators, containers, version hashes.
  @Suite struct Stores {
    @Test(.rule("STORE-1", "NSManagedObjectModel"), arguments: StoreKind.allCases)
    func `a copy of a model in use can be changed`(kind: StoreKind) throws {
      let stack = try Stack(kind, model: Witness.model)
      let copy = stack.coordinator.managedObjectModel.copy() as! NSManagedObjectModel
      copy.entitiesByName["Witness"]?.name = "Other"
      #expect(copy.entitiesByName["Other"] != nil)
      #expect(stack.coordinator.managedObjectModel.entitiesByName["Witness"] != nil)
    }

    @Test(.rule("STORE-4", "NSPersistentStoreCoordinator.setMetadata(_:for:)"))
    func `type and UUID are always in the metadata, and a UUID that is given is kept`() throws {
      let stack = try Stack(.sqlite, model: Witness.model)
      let file: URL = stack.folder.file("World.sqlite")
      func stored() throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file)
      }
      let uuid: String = stack.store.identifier
      stack.coordinator.setMetadata(["mine": 1], for: stack.store)
      try stack.run { context in
        _ = Witness("a", context)
        try context.save()
      }
      #expect(try stored()["mine"] as? Int == 1 && stored()[NSStoreUUIDKey] as? String == uuid)
      #expect(try stored()[NSStoreTypeKey] as? String == NSSQLiteStoreType)
      let given: String = UUID().uuidString
      stack.coordinator.setMetadata(["mine": 2, NSStoreUUIDKey: given], for: stack.store)
      try stack.run { context in
        _ = Witness("b", context)
        try context.save()
      }
      #expect(try stored()[NSStoreUUIDKey] as? String == given)
    }

    @Test(.rule("MIG-2", "NSMigratePersistentStoresAutomaticallyOption"))
    func `a store that the model can use is never migrated`() throws {
      let stack = try Stack(.sqlite, model: Witness.model)
      let file: URL = stack.folder.file("World.sqlite")
      try stack.run { context in
        _ = Witness("a", context)
        try context.save()
      }
      try stack.coordinator.remove(stack.store)
      let before = try Data(contentsOf: file)
      let model = Witness.model.copy() as! NSManagedObjectModel
      let entity = try #require(model.entitiesByName["Witness"])
      entity.userInfo = ["for": "the program only"]
      entity.versionHashModifier = nil
      model.versionIdentifiers = ["2"]
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let store: NSPersistentStore = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file,
        options: [
          NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ])
      #expect(store.identifier == stack.store.identifier)
      try coordinator.remove(store)
      // The first hundred bytes count changes and openings for writing.
      #expect(try Data(contentsOf: file).dropFirst(100) == before.dropFirst(100))
    }

    @Test(.rule("STORE-11", "NSPersistentContainer"))
    func
      `a container's name is that of its file, which is migrated and opened at once unless told otherwise`()
      throws
    {
      let container = NSPersistentContainer(name: "Shop", managedObjectModel: Witness.model)
      let description: NSPersistentStoreDescription = try #require(
        container.persistentStoreDescriptions.first)
      #expect(container.persistentStoreDescriptions.count == 1 && container.name == "Shop")
      #expect(
        description.url == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Shop.sqlite"))
      #expect(description.type == NSSQLiteStoreType && !description.shouldAddStoreAsynchronously)
      #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
      #expect(!description.isReadOnly && description.configuration == nil)
    }

    @Test(.rule("STORE-12", "NSPersistentContainer.loadPersistentStores(completionHandler:)"))
    func `every store is reported once, and one that fails does not stop the others`() throws {
      let folder = try TemporaryFolder()
      let container = NSPersistentContainer(name: "Shop", managedObjectModel: Witness.model)
      try Data("no database, but long enough to be looked at closely".utf8).write(
        to: folder.file("broken.sqlite"))
      container.persistentStoreDescriptions = ["one", "broken", "two"].map {
        NSPersistentStoreDescription(url: folder.file("\($0).sqlite"))
      }
      var told: [String] = []
      container.loadPersistentStores { description, error in
        told.append("\(description.url?.lastPathComponent ?? "") \(error == nil)")
      }
      #expect(told == ["one.sqlite true", "broken.sqlite false", "two.sqlite true"])
      #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    // MARK: Version hashes

    private typealias Change = (name: String, change: (NSManagedObjectModel) -> Void)

    private static func hashes(_ change: (NSManagedObjectModel) -> Void) -> [String: Data] {
      let model = Witness.model.copy() as! NSManagedObjectModel
      change(model)
      return model.entityVersionHashesByName
    }

    private static func property(_ model: NSManagedObjectModel, _ name: String) -> NSPropertyDescription? {
      model.entitiesByName["Witness"]?.propertiesByName[name]
    }

    @Test(.rule("HASH-1", "NSEntityDescription.versionHash, NSPropertyDescription.versionHash"))
    func `what is stored, and how, makes the version hash`() {
      let changes: [Change] = [
        ("entity's name", { $0.entitiesByName["Witness"]?.name = "Other" }),
        ("abstract", { $0.entitiesByName["Witness"]?.isAbstract = true }),
        ("entity's modifier", { $0.entitiesByName["Witness"]?.versionHashModifier = "2" }),
        ("property's name", { Self.property($0, "name")?.name = "title" }),
        ("optional", { Self.property($0, "name")?.isOptional = false }),
        ("transient", { Self.property($0, "name")?.isTransient = true }),
        ("property's modifier", { Self.property($0, "name")?.versionHashModifier = "2" }),
        (
          "type",
          { (Self.property($0, "name") as? NSAttributeDescription)?.attributeType = .integer16AttributeType }
        ),
        ("count", { (Self.property($0, "boss") as? NSRelationshipDescription)?.maxCount = 2 }),
        ("constraint", { $0.entitiesByName["Witness"]?.uniquenessConstraints = [["name"]] }),
      ]
      let plain: [String: Data] = Self.hashes { _ in }
      for (name, change) in changes { #expect(Self.hashes(change) != plain, "\(name)") }
    }

    @Test(.rule("HASH-2", "NSEntityDescription.versionHash"))
    func `what only the program sees does not`() {
      let changes: [Change] = [
        ("class", { $0.entitiesByName["Witness"]?.managedObjectClassName = "NSManagedObject" }),
        ("default", { (Self.property($0, "number") as? NSAttributeDescription)?.defaultValue = 3 }),
        (
          "validation",
          {
            Self.property($0, "name")?.setValidationPredicates(
              [NSPredicate(format: "length > 1")], withValidationWarnings: ["x"])
          }
        ),
        ("user info", { $0.entitiesByName["Witness"]?.userInfo = ["a": "b"] }),
        ("entity's old name", { $0.entitiesByName["Witness"]?.renamingIdentifier = "Old" }),
        ("property's old name", { Self.property($0, "name")?.renamingIdentifier = "old" }),
      ]
      let plain: [String: Data] = Self.hashes { _ in }
      for (name, change) in changes { #expect(Self.hashes(change) == plain, "\(name)") }
    }

    @Test(.rule("HASH-3", "NSManagedObjectModel.isConfiguration(withName:compatibleWithStoreMetadata:)"))
    func `a store is compatible when the hashes of the configuration's entities are the same`() throws {
      let stack = try Stack(.sqlite, model: Witness.model)
      let metadata: [String: Any] = stack.coordinator.metadata(for: stack.store)
      #expect(Witness.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      let other = Witness.model.copy() as! NSManagedObjectModel
      other.versionIdentifiers = ["another"]
      #expect(other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata), "only informative")
      other.entities.append(World.entity("New", [World.attribute("name", .stringAttributeType)]))
      #expect(!other.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
      other.setEntities(other.entities.filter { $0.name == "Witness" }, forConfigurationName: "Old")
      #expect(other.isConfiguration(withName: "Old", compatibleWithStoreMetadata: metadata))
    }

    @Test(.rule("HASH-4", "observed"))
    func `equal models have equal hashes, in every process and after a file`() throws {
      let model = Witness.model.copy() as! NSManagedObjectModel
      #expect(model.entityVersionHashesByName == Witness.model.entityVersionHashesByName)
      let stack = try Stack(.sqlite, model: Witness.model)
      let stored: [String: Any] = stack.coordinator.metadata(for: stack.store)
      #expect(stored[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName)
    }
  }
}
