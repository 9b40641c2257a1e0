import CoreData

// Further methods of EOUtilities, the predecessor of MTCDUtilities.

extension MTCDUtilities {
  /// A new object of an entity. It is saved with the context's next save.
  ///
  /// - Throws: ``EasyFetchError`` for an entity that the model does not have, or that is abstract.
  public static func insertObject(
    forEntityNamed entityName: String, in context: NSManagedObjectContext
  ) throws -> NSManagedObject {
    let entity: NSEntityDescription = try context.entity(named: entityName)
    if entity.isAbstract {
      let concrete: [String] = entity.concreteDescendants.compactMap(\.name)
      throw EasyFetchError(
        .notInsertable,
        "The entity \(entityName) is abstract, so there are no objects of it. \(listed("Its sub-entities", concrete))"
      )
    }
    return NSEntityDescription.insertNewObject(forEntityName: entityName, into: context)
  }

  /// The one object whose key equals a value, or a new one with that value. Two contexts that do this at the
  /// same time both insert one: give the entity a uniqueness constraint where that can happen.
  ///
  /// - Throws: ``MTTooManyEntitiesReturnedException`` where there are several; ``EasyFetchError`` for a key
  ///   path, which a new object can't be given.
  public static func findOrCreateObject(
    forEntityNamed entityName: String, matchingKey key: String, andValue value: Any?,
    in context: NSManagedObjectContext
  ) throws -> NSManagedObject {
    try findOrCreateObject(forEntityNamed: entityName, matchingKeysAndValues: [key: value], in: context)
  }

  /// The one object whose keys equal all the values of a dictionary, or a new one with those values; see
  /// ``findOrCreateObject(forEntityNamed:matchingKey:andValue:in:)``.
  public static func findOrCreateObject(
    forEntityNamed entityName: String, matchingKeysAndValues pairs: [String: Any?],
    in context: NSManagedObjectContext
  ) throws -> NSManagedObject {
    let known: [String: NSPropertyDescription] = try context.entity(named: entityName).propertiesByName
    for key in pairs.keys.sorted() where known[key] == nil {
      throw EasyFetchError(
        .unknownKey,
        "The entity \(entityName) has no property '\(key)' that a new object could be given. "
          + listed("Its properties", known.keys))
    }
    if let found = try object(forEntityNamed: entityName, matchingKeysAndValues: pairs, in: context) {
      return found
    }
    let made: NSManagedObject = try insertObject(forEntityNamed: entityName, in: context)
    for (key, value) in pairs.sorted(by: { $0.key < $1.key }) {
      made.setValue(value is NSNull ? nil : value, forKey: key)
    }
    return made
  }

  /// The objects that match a fetch request template of the model, with values for its `$variables`; `NSNull`
  /// stands for no value.
  public static func objects(
    forFetchRequestTemplate name: String, bindings: [String: Any] = [:], in context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    let model: NSManagedObjectModel = try context.model()
    guard let template = model.fetchRequestTemplate(forName: name),
      let request = template.copy() as? NSFetchRequest<any NSFetchRequestResult>
    else {
      throw EasyFetchError(
        .unknownTemplate,
        "The model has no fetch request template '\(name)'. "
          + listed("Its templates", model.fetchRequestTemplatesByName.keys))
    }
    request.predicate = request.predicate?.withSubstitutionVariables(bindings)
    request.resultType = .managedObjectResultType
    return try context.fetch(request).compactMap { $0 as? NSManagedObject }
  }

  /// The object of a URI from `objectID.uriRepresentation()`; nil where its row is deleted.
  ///
  /// - Throws: ``EasyFetchError`` for a URI that identifies no object, or belongs to a store that the
  ///   coordinator does not have.
  public static func object(forURI uri: URL, in context: NSManagedObjectContext) throws -> NSManagedObject? {
    _ = try context.model()
    guard uri.scheme == "x-coredata",
      let id = context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri)
    else {
      throw EasyFetchError(
        .unknownObject,
        "\(uri) stands for no object of the coordinator's stores. Take it from objectID.uriRepresentation() of a saved object, and "
          + "open the store that has the object.")
    }
    do {
      return try context.existingObject(with: id)
    } catch let error as NSError
      where error.domain == NSCocoaErrorDomain && error.code == NSManagedObjectReferentialIntegrityError
    {
      return nil
    }
  }
}

extension NSEntityDescription {
  fileprivate var concreteDescendants: [NSEntityDescription] {
    subentities.flatMap { ($0.isAbstract ? [] : [$0]) + $0.concreteDescendants }
  }
}
