import CoreDataEvaluation
import CoreDataPredicates
import Foundation

extension NSSortDescriptor {
  /// Sorts managed objects by a property. Text, numbers, dates, Booleans and UUIDs are compared as the
  /// objects hold them, nil first when ascending, as key-value coding reads them on Apple's systems: the
  /// getter is not called, so the order is the same as a store's, and a getter that requires a value does not
  /// stop the program. Other values are compared by their own type's `<`.
  public convenience init<Root: NSManagedObject, Value: Comparable>(
    keyPath: KeyPath<Root, Value>, ascending: Bool
  ) {
    guard NaturalOrder.isPlain(Value.self) else {
      self.init(comparing: keyPath, ascending: ascending)
      return
    }
    let path: KeyPath<Root, StoredSortKey> = \Root[sortedBy: SortedProperty(keyPath)]
    SortKeyOrigins.register(path, from: keyPath, .plain)
    self.init(comparing: path, ascending: ascending)
  }

  /// Foundation's initialiser, which the one above takes precedence over.
  private convenience init<Root, Value: Comparable>(comparing keyPath: KeyPath<Root, Value>, ascending: Bool)
  {
    self.init(keyPath: keyPath, ascending: ascending)
  }
}

/// The argument of a key path that sorts.
private struct SortedProperty: Hashable {
  let stored: StoredProperty
  let path: AnyKeyPath

  init(_ path: AnyKeyPath) {
    stored = StoredProperty(path)
    self.path = path
  }
}

extension NSManagedObject {
  fileprivate subscript(sortedBy property: SortedProperty) -> StoredSortKey {
    do {
      return StoredSortKey(
        try property.stored.value(of: self) ?? PredicateValue(normalizing: self[keyPath: property.path]))
    } catch {
      fatalError("\(error)")
    }
  }
}
