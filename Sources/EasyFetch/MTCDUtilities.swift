import CoreData

/// Common fetches in one line each, after MacTech's class of this name. ``NSManagedObjectContext``'s own
/// methods of this module filter by anything; these match keys with values.
///
/// Keys and values may come from users: a key is looked up in the model, and neither is ever parsed. All
/// methods run on the context's queue. They throw an ``EasyFetchError`` that lists the existing names for an
/// entity, key or template that the model does not have, and Core Data's errors.
public enum MTCDUtilities {
  /// All objects of an entity and its sub-entities.
  public static func objects(
    forEntityNamed entityName: String, in context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    try context.fetchObjects(forEntityName: entityName)
  }

  /// The objects whose key, or key path, equals a value; nil matches objects without one.
  public static func objects(
    forEntityNamed entityName: String, matchingKey key: String, andValue value: Any?,
    in context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    let entity: NSEntityDescription = try context.entity(named: entityName)
    return try context.fetchObjects(of: entity, [], .equality(key, value, of: entity))
  }

  /// The one object whose key equals a value; nil where there is none.
  ///
  /// - Throws: ``MTTooManyEntitiesReturnedException`` where there are several.
  public static func object(
    forEntityNamed entityName: String, matchingKey key: String, andValue value: Any?,
    in context: NSManagedObjectContext
  ) throws -> NSManagedObject? {
    try object(
      forEntityNamed: entityName, matchingKeysAndValues: [key: value], in: context)
  }

  /// The objects whose keys equal all the values of a dictionary, or any of them. For an empty dictionary all
  /// objects match all of its values, and none matches any of them.
  public static func objects(
    forEntityNamed entityName: String, matchingKeysAndValues pairs: [String: Any?], usingOR: Bool,
    in context: NSManagedObjectContext
  ) throws -> [NSManagedObject] {
    let entity: NSEntityDescription = try context.entity(named: entityName)
    if pairs.isEmpty { return usingOR ? [] : try context.fetchObjects(of: entity, [], nil) }
    return try context.fetchObjects(of: entity, [], matching(pairs, usingOR: usingOR, entity))
  }

  /// The one object whose keys equal all the values of a dictionary; nil where there is none.
  ///
  /// - Throws: ``MTTooManyEntitiesReturnedException`` where there are several.
  public static func object(
    forEntityNamed entityName: String, matchingKeysAndValues pairs: [String: Any?],
    in context: NSManagedObjectContext
  ) throws -> NSManagedObject? {
    let entity: NSEntityDescription = try context.entity(named: entityName)
    let predicate: NSPredicate? = pairs.isEmpty ? nil : try matching(pairs, usingOR: false, entity)
    let request: NSFetchRequest<NSManagedObject> = try context.request(for: entity, [], predicate)
    // A second one shows that there are several; then only their number is needed.
    request.fetchLimit = 2
    let found: [NSManagedObject] = try context.fetch(request)
    if found.count < 2 { return found.first }
    request.fetchLimit = 0
    let criteria: String = pairs.sorted { $0.key < $1.key }.map {
      "\($0.key) == \($0.value.map { "\($0)" } ?? "nil")"
    }.joined(separator: " AND ")
    throw MTTooManyEntitiesReturnedException(
      entityName: entityName, criteria: criteria.isEmpty ? "no condition" : criteria,
      count: try context.count(for: request))
  }

  /// In the order of the keys, so that the same keys make the same statement.
  private static func matching(
    _ pairs: [String: Any?], usingOR: Bool, _ entity: NSEntityDescription
  ) throws -> NSPredicate {
    let parts: [NSPredicate] = try pairs.sorted { $0.key < $1.key }.map {
      try .equality($0.key, $0.value, of: entity)
    }
    return usingOR
      ? NSCompoundPredicate(orPredicateWithSubpredicates: parts)
      : NSCompoundPredicate(andPredicateWithSubpredicates: parts)
  }
}
