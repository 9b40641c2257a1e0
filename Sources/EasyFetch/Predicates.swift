import CoreData

extension NSPredicate {
  /// A predicate from a format and arguments of any kind. Arguments are values, never parsed; nil stands for
  /// no value.
  static func parsed(_ format: String, _ arguments: [Any?]) throws -> NSPredicate {
    #if canImport(CoreDataPredicates)
      // Clarus throws an error for a wrong format; Apple's framework raises an exception.
      return try NSPredicate(parsing: format, arguments: arguments)
    #else
      return NSPredicate(format: format, argumentArray: arguments.map { $0 ?? NSNull() })
    #endif
  }

  /// A key of an entity equals a value; nil and `NSNull` stand for no value.
  static func equality(_ key: String, _ value: Any?, of entity: NSEntityDescription) throws -> NSPredicate {
    try entity.check(keyPath: key)
    guard let value, !(value is NSNull) else { return try parsed("%K == nil", [key]) }
    return try parsed("%K == %@", [key, value])
  }
}
