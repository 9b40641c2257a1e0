import CoreData

// One line for a fetch by entity name. The form depends on filter and sort order.
//
//                        all                       predicate                     format, arguments
//     unsorted           (forEntityName:)          (…with:)                      (…predicateWithFormat:_:)
//     sort descriptors   (…sortWith:)              (…sortWith:with:)             (…sortWith:predicateWithFormat:_:)
//     one key            (…sortByKey:ascending:)   (…sortByKey:ascending:with:)  (…sortByKey:ascending:predicateWithFormat:_:)

/// All nine methods fetch on the context's queue and load nothing but what the fetch itself loads. They throw
/// an ``EasyFetchError`` for an entity or a sort key that the model does not have, and the errors of the
/// fetch.
///
/// Pass text from users as an argument of a format (`"name == %@", text`) or in a predicate. Inserted into
/// the format itself it would be parsed as a part of it.
extension NSManagedObjectContext {
  /// All objects of an entity and its sub-entities, in the store's order.
  public func fetchObjects(forEntityName entityName: String) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), [], nil)
  }

  /// All objects of an entity, sorted.
  public func fetchObjects(
    forEntityName entityName: String, sortWith sortDescriptors: [NSSortDescriptor]
  ) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), sortDescriptors, nil)
  }

  /// All objects of an entity, sorted by one key or key path.
  public func fetchObjects(
    forEntityName entityName: String, sortByKey key: String, ascending: Bool
  ) throws -> [NSManagedObject] {
    try fetchObjects(
      of: entity(named: entityName), [NSSortDescriptor(key: key, ascending: ascending)], nil)
  }

  /// The objects of an entity for which a predicate holds, in the store's order.
  public func fetchObjects(
    forEntityName entityName: String, with predicate: NSPredicate
  ) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), [], predicate)
  }

  /// The objects of an entity for which a format with its arguments holds, in the store's order:
  ///
  ///     try context.fetchObjects(
  ///       forEntityName: "Employee", predicateWithFormat: "(lastName LIKE[c] 'Worsley') AND (salary > %@)", 50_000)
  public func fetchObjects(
    forEntityName entityName: String, predicateWithFormat format: String, _ arguments: Any?...
  ) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), [], .parsed(format, arguments))
  }

  /// The objects of an entity for which a predicate holds, sorted.
  public func fetchObjects(
    forEntityName entityName: String, sortWith sortDescriptors: [NSSortDescriptor],
    with predicate: NSPredicate
  ) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), sortDescriptors, predicate)
  }

  /// The objects of an entity for which a predicate holds, sorted by one key or key path.
  public func fetchObjects(
    forEntityName entityName: String, sortByKey key: String, ascending: Bool, with predicate: NSPredicate
  ) throws -> [NSManagedObject] {
    try fetchObjects(
      of: entity(named: entityName), [NSSortDescriptor(key: key, ascending: ascending)], predicate)
  }

  /// The objects of an entity for which a format with its arguments holds, sorted.
  public func fetchObjects(
    forEntityName entityName: String, sortWith sortDescriptors: [NSSortDescriptor],
    predicateWithFormat format: String, _ arguments: Any?...
  ) throws -> [NSManagedObject] {
    try fetchObjects(of: entity(named: entityName), sortDescriptors, .parsed(format, arguments))
  }

  /// The objects of an entity for which a format with its arguments holds, sorted by one key or key path.
  public func fetchObjects(
    forEntityName entityName: String, sortByKey key: String, ascending: Bool,
    predicateWithFormat format: String, _ arguments: Any?...
  ) throws -> [NSManagedObject] {
    try fetchObjects(
      of: entity(named: entityName), [NSSortDescriptor(key: key, ascending: ascending)],
      .parsed(format, arguments))
  }
}

extension NSManagedObjectContext {
  func fetchObjects(
    of entity: NSEntityDescription, _ sortDescriptors: [NSSortDescriptor], _ predicate: NSPredicate?
  ) throws -> [NSManagedObject] {
    try fetch(request(for: entity, sortDescriptors, predicate))
  }

  func request<Object: NSManagedObject>(
    for entity: NSEntityDescription, _ sortDescriptors: [NSSortDescriptor], _ predicate: NSPredicate?
  ) throws -> NSFetchRequest<Object> {
    for key in sortDescriptors.compactMap(\.key) { try entity.check(keyPath: key) }
    let request = NSFetchRequest<Object>()
    request.entity = entity
    request.predicate = predicate
    if !sortDescriptors.isEmpty { request.sortDescriptors = sortDescriptors }
    return request
  }
}
