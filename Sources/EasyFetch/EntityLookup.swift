import CoreData

// Names are looked up in the context's model first: Core Data itself raises an exception for an unknown name,
// or uses any model of the process that has the class.

extension NSManagedObjectContext {
  /// The model of the context's coordinator, which a child context has from its parent.
  func model() throws -> NSManagedObjectModel {
    if let coordinator = persistentStoreCoordinator { return coordinator.managedObjectModel }
    throw EasyFetchError(
      .noModel,
      "The context has no persistent store coordinator, so there is no model to look entities up in. Set its "
        + "persistentStoreCoordinator or its parent, or take a context from a container.")
  }

  func entity(named name: String) throws -> NSEntityDescription {
    let model: NSManagedObjectModel = try model()
    if let entity = model.entitiesByName[name] { return entity }
    throw EasyFetchError(
      .unknownEntity,
      "The model has no entity '\(name)'. \(listed("Its entities", model.entitiesByName.keys))")
  }

  /// The entity that names a class, or the one of the class's name where it names none.
  func entity(of type: NSManagedObject.Type) throws -> NSEntityDescription {
    let fullName: String = NSStringFromClass(type)
    let name: String = lastComponent(fullName)
    let entities: [NSEntityDescription] = try model().entities
    let exact: [NSEntityDescription] = entities.filter { $0.managedObjectClassName == fullName }
    // Models name classes with their module, without it, or with a dot in its place.
    let named: [NSEntityDescription] =
      exact.isEmpty ? entities.filter { lastComponent($0.managedObjectClassName ?? "") == name } : exact
    if let entity = named.count == 1 ? named[0] : named.first(where: { $0.name == name }) { return entity }
    if named.isEmpty, let entity = entities.first(where: { $0.name == name }) { return entity }
    let classes: [String] = entities.map { "\($0.name ?? "") (\($0.managedObjectClassName ?? ""))" }
    throw EasyFetchError(
      .unknownEntity,
      named.isEmpty
        ? "The model has no entity of class \(fullName). \(listed("Its entities and their classes", classes))"
        : "Several entities of the model are of class \(fullName): "
          + "\(named.compactMap(\.name).sorted().joined(separator: ", ")). Name one: fetchObjects(forEntityName:)."
    )
  }
}

extension NSEntityDescription {
  /// Throws where a key path contains a name that the model does not have. Operators, elements of composite
  /// attributes and keys after a fetched property are left to the fetch.
  func check(keyPath: String) throws {
    if ["self", "SELF", "objectID", "entity"].contains(keyPath) { return }
    var entity: NSEntityDescription = self
    var parts: ArraySlice<Substring> = keyPath.split(separator: ".", omittingEmptySubsequences: false)[...]
    while let key = parts.popFirst(), !key.hasPrefix("@") {
      switch entity.propertiesByName[String(key)] {
      case let relationship as NSRelationshipDescription:
        guard let destination = relationship.destinationEntity else { return }
        entity = destination
      case is NSCompositeAttributeDescription, is NSFetchedPropertyDescription: return
      case .some:
        if parts.isEmpty { return }
        throw EasyFetchError(
          .unknownKey,
          "The key path '\(keyPath)' goes on behind '\(key)', which is an attribute of entity \(entity.name ?? "")."
        )
      case nil:
        throw EasyFetchError(
          .unknownKey,
          "The entity \(entity.name ?? "") has no property '\(key)'\(key == keyPath ? "" : ", which the key path '\(keyPath)' names"). "
            + listed("Its properties", entity.propertiesByName.keys))
      }
    }
  }
}

/// The existing names, in order: "Its entities: Author, Book."
func listed(_ what: String, _ names: some Sequence<String>) -> String {
  let sorted: [String] = names.sorted()
  return sorted.isEmpty ? "\(what): none." : "\(what): \(sorted.joined(separator: ", "))."
}

private func lastComponent(_ className: String) -> String {
  className.split(separator: ".").last.map(String.init) ?? ""
}
