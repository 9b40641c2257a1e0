import Foundation

/// A sort descriptor as a value, with the data that SQL needs.
package struct SortTerm: Hashable, Sendable {
  /// A dotted path, nil for the objects themselves.
  package var key: String?
  package var ascending: Bool
  package var comparison: StringComparison

  package init(key: String?, ascending: Bool, comparison: StringComparison = .plain) {
    // In any capitalisation it is the object, as in a format's key path.
    self.key = key?.lowercased() == "self" ? "self" : key
    self.ascending = ascending
    self.comparison = comparison
  }
}
