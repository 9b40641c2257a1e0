import CoreData

// The same by class:
//
//     let adults = try context.fetch(Person.self, where: "age >= %@", 18, sortedBy: "name", .descending("age"))
//     let ann = try context.first(Person.self, where: "name == %@", text)
//     if try context.exists(Person.self, where: "team == %@", team) { … }

/// Fetches by class, on the context's queue. The entity is looked up in the context's own model, by the class
/// that it names.
///
/// A format is a literal of the program, which the compiler enforces: other text can only be an argument, and
/// arguments are values, never parsed. The forms with a predicate accept one made elsewhere.
///
/// All throw an ``EasyFetchError`` for a class without entity in the context's model and for a sort key that
/// the entity does not have, and the errors of the fetch.
extension NSManagedObjectContext {
  /// All objects of a class, sorted; in the store's order without sort keys.
  public func fetch<Object: NSManagedObject>(
    _ type: Object.Type, sortedBy order: FetchOrder...
  ) throws -> [Object] {
    try fetch(request(for: type, nil, order))
  }

  /// The objects of a class for which a format with its arguments holds.
  public func fetch<Object: NSManagedObject>(
    _ type: Object.Type, where format: StaticString, _ arguments: Any?..., sortedBy order: FetchOrder...
  ) throws -> [Object] {
    try fetch(request(for: type, .parsed("\(format)", arguments), order))
  }

  /// The objects of a class for which a predicate holds.
  public func fetch<Object: NSManagedObject>(
    _ type: Object.Type, where predicate: NSPredicate, sortedBy order: FetchOrder...
  ) throws -> [Object] {
    try fetch(request(for: type, predicate, order))
  }

  /// The first object of a class; nil where there is none. No other is loaded.
  public func first<Object: NSManagedObject>(
    _ type: Object.Type, sortedBy order: FetchOrder...
  ) throws -> Object? {
    try first(request(for: type, nil, order))
  }

  /// The first object of a class for which a format with its arguments holds; nil where there is none.
  public func first<Object: NSManagedObject>(
    _ type: Object.Type, where format: StaticString, _ arguments: Any?..., sortedBy order: FetchOrder...
  ) throws -> Object? {
    try first(request(for: type, .parsed("\(format)", arguments), order))
  }

  /// The first object of a class for which a predicate holds; nil where there is none.
  public func first<Object: NSManagedObject>(
    _ type: Object.Type, where predicate: NSPredicate, sortedBy order: FetchOrder...
  ) throws -> Object? {
    try first(request(for: type, predicate, order))
  }

  /// How many objects of a class there are. None is loaded.
  public func count<Object: NSManagedObject>(_ type: Object.Type) throws -> Int {
    try count(for: request(for: type, nil, []))
  }

  /// For how many objects of a class a format with its arguments holds.
  public func count<Object: NSManagedObject>(
    _ type: Object.Type, where format: StaticString, _ arguments: Any?...
  ) throws -> Int {
    try count(for: request(for: type, .parsed("\(format)", arguments), []))
  }

  /// For how many objects of a class a predicate holds.
  public func count<Object: NSManagedObject>(
    _ type: Object.Type, where predicate: NSPredicate
  ) throws -> Int {
    try count(for: request(for: type, predicate, []))
  }

  /// Whether there is an object of a class. None is loaded.
  public func exists<Object: NSManagedObject>(_ type: Object.Type) throws -> Bool {
    try exists(request(for: type, nil, []))
  }

  /// Whether there is an object of a class for which a format with its arguments holds.
  public func exists<Object: NSManagedObject>(
    _ type: Object.Type, where format: StaticString, _ arguments: Any?...
  ) throws -> Bool {
    try exists(request(for: type, .parsed("\(format)", arguments), []))
  }

  /// Whether there is an object of a class for which a predicate holds.
  public func exists<Object: NSManagedObject>(
    _ type: Object.Type, where predicate: NSPredicate
  ) throws -> Bool {
    try exists(request(for: type, predicate, []))
  }
}

extension NSManagedObjectContext {
  private func request<Object: NSManagedObject>(
    for type: Object.Type, _ predicate: NSPredicate?, _ order: [FetchOrder]
  ) throws -> NSFetchRequest<Object> {
    try request(for: entity(of: type), order.map(\.descriptor), predicate)
  }

  private func first<Object: NSManagedObject>(_ request: NSFetchRequest<Object>) throws -> Object? {
    request.fetchLimit = 1
    return try fetch(request).first
  }

  private func exists<Object: NSManagedObject>(_ request: NSFetchRequest<Object>) throws -> Bool {
    request.fetchLimit = 1
    return try count(for: request) > 0
  }
}
