import CoreData

/// The common set-up of all suites: a model in code, a container over one file.
enum BenchStore {
  static func entity(
    _ name: String, _ type: NSManagedObject.Type, _ attributes: KeyValuePairs<String, NSAttributeType>,
    optional: Bool = true
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = optional
      return attribute
    }
    return entity
  }

  /// A to-many relationship and its to-one inverse.
  static func pair(
    _ owner: NSEntityDescription, _ members: String, _ member: NSEntityDescription, _ inverse: String,
    deleteRule: NSDeleteRule = .nullifyDeleteRule
  ) {
    let many = NSRelationshipDescription()
    many.name = members
    many.destinationEntity = member
    many.maxCount = 0
    many.deleteRule = deleteRule
    let one = NSRelationshipDescription()
    one.name = inverse
    one.destinationEntity = owner
    one.maxCount = 1
    (many.inverseRelationship, one.inverseRelationship) = (one, many)
    owner.properties.append(many)
    member.properties.append(one)
  }

  static func open(_ url: URL, _ model: NSManagedObjectModel) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Benchmark", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static func close(_ container: NSPersistentContainer) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}
