import CoreDataPredicates
import Foundation

/// A key path of a managed class, and how to read the objects' values under its name.
package final class StoredProperty: Hashable, Sendable {
  private let path: AnyKeyPath & Sendable
  /// nil if the path has no name, or belongs to no managed class.
  private let reader: KeyPathReader?

  package init(_ path: AnyKeyPath) {
    // Key paths are immutable; those of subscripts hold arguments that were hashed and compared wherever the
    // path was used.
    self.path = unsafeBitCast(path, to: (AnyKeyPath & Sendable).self)
    let isManaged: Bool = type(of: path).rootType is any KeyPathRecording.Type
    reader = isManaged ? KeyPathNames.name(of: path).map { KeyPathReader($0) } : nil
  }

  /// What the object holds; nil where only the getter has it.
  ///
  /// - Throws: what key-value coding throws.
  package func value(of object: Any) throws -> PredicateValue? {
    try reader.map { PredicateValue(normalizing: try $0.read(object)) }
  }

  package static func == (left: StoredProperty, right: StoredProperty) -> Bool { left.path == right.path }
  package func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// The value by which a managed object is sorted.
package struct StoredSortKey: Comparable {
  private let value: PredicateValue

  package init(_ value: PredicateValue) { self.value = value }

  /// nil first. Plain values of one property always have an order.
  private func order(_ other: StoredSortKey) -> ComparisonResult {
    (try? SortTerm(key: nil, ascending: true).order(value, other.value)) ?? .orderedSame
  }

  package static func < (left: StoredSortKey, right: StoredSortKey) -> Bool {
    left.order(right) == .orderedAscending
  }

  package static func == (left: StoredSortKey, right: StoredSortKey) -> Bool {
    left.order(right) == .orderedSame
  }
}
