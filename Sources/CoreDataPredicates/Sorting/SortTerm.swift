import Foundation

/// A sort descriptor as a value: what SQL needs of it.
package struct SortTerm: Hashable, Sendable {
  /// A dotted path, nil for the objects themselves.
  package var key: String?
  package var ascending: Bool
  package var comparison: StringComparison

  package init(key: String?, ascending: Bool, comparison: StringComparison = .plain) {
    // However it is written, it is the object: as a key path in a format is.
    self.key = key?.lowercased() == "self" ? "self" : key
    self.ascending = ascending
    self.comparison = comparison
  }
}
