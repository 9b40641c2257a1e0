import Foundation

/// Gives `NSSortDescriptor` the initialisers by key that Foundation marks unavailable on Linux; see
/// ``PredicateParsing``.
public protocol SortDescribing {}

extension NSSortDescriptor: SortDescribing {}

extension SortDescribing where Self: NSSortDescriptor {
  /// Sorts by a key path, nulls first when ascending; strings by code points.
  public init(key: String?, ascending: Bool) {
    self = Self.make(KeySortDescriptor(term: SortTerm(key: key, ascending: ascending)))
  }

  /// Sorts by a key path with a comparator. A missing value is passed as `NSNull`. Such a descriptor
  /// works in memory only.
  public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
    self = Self.make(
      KeySortDescriptor(term: SortTerm(key: key, ascending: ascending), comparator: comparator))
  }

  /// Sorts by a key path with a method that compares two values, by its name. The usual ones of strings
  /// (`localizedStandardCompare:`) are those of ``StringComparison`` and work in stores too; others
  /// are registered with ``PredicateFunctions``, return a `ComparisonResult`, and work in memory only.
  /// nil is `compare:`.
  public init(key: String?, ascending: Bool, selector: Selector?) {
    self = Self.make(KeySortDescriptor(key: key, ascending: ascending, selector: selector))
  }

  /// Sorts by a key path, strings by the given comparison.
  public init(key: String?, ascending: Bool, comparison: StringComparison) {
    self = Self.make(
      KeySortDescriptor(term: SortTerm(key: key, ascending: ascending, comparison: comparison)))
  }

  /// Sorts by a key path whose values need not be `Comparable`, such as optional ones; nulls first when
  /// ascending, values with a raw value by that.
  public init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
    self = Self.make(KeyPathSortDescriptor(path: keyPath, ascending: ascending))
  }

  static func make(_ descriptor: NSSortDescriptor) -> Self {
    guard let descriptor = descriptor as? Self else {
      fatalError("\(Self.self) can't be made from a key. Use NSSortDescriptor(key:ascending:).")
    }
    return descriptor
  }
}

extension NSSortDescriptor {
  /// The key path as text; for a descriptor made from a Swift key path the name of the property, nil if it
  /// has none.
  public var key: String? {
    if let descriptor = self as? KeySortDescriptor { return descriptor.term.key }
    return KeyPathNames.name(of: SortKeyOrigins.origin(of: keyPath).keyPath)
  }

  /// The method that compares; nil if a comparator does.
  public var selector: Selector? {
    if let descriptor = self as? KeySortDescriptor { return descriptor.method }
    return sortTerm.map { Selector($0.comparison.selectorName) }
  }

  /// How strings are ordered; nil if a comparator decides.
  public var stringComparison: StringComparison? { sortTerm?.comparison }

  /// The order of two objects.
  ///
  /// - Throws: ``PredicateError`` where `compare(_:to:)` stops the program: a key that an object doesn't
  ///   have, values without order.
  public func compareThrowing(_ object1: Any, to object2: Any) throws -> ComparisonResult {
    switch self {
    case let descriptor as KeySortDescriptor: try descriptor.compareThrowing(object1, object2)
    case let descriptor as KeyPathSortDescriptor: try descriptor.compareThrowing(object1, object2)
    default: compare(object1, to: object2)
    }
  }

  /// The data that SQL needs; nil if the order is defined by a comparator, a class or a type, or if the key
  /// path has no name.
  package var sortTerm: SortTerm? {
    switch self {
    case let descriptor as KeySortDescriptor: return descriptor.sqlTerm
    case is KeyPathSortDescriptor: break
    default:
      guard type(of: self) == NSSortDescriptor.self,
        NaturalOrder.isPlain(type(of: SortKeyOrigins.origin(of: keyPath).keyPath).valueType),
        NaturalOrder.isOwn(self)
      else { return nil }
    }
    return key.map { SortTerm(key: $0, ascending: ascending) }
  }

  package static func makeSortDescriptor(_ term: SortTerm) -> NSSortDescriptor {
    KeySortDescriptor(term: term)
  }
}
