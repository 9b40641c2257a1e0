import Foundation

/// The order of the versions of a model by the numbers in their names.
package enum VersionNames {
  /// Whether a version comes before another one. Names with and without a space before the number are of one
  /// series: `ShopV2`, `ShopV 3`, `ShopV10`.
  package static func areInOrder(_ first: String, _ second: String) -> Bool {
    switch key(first).compare(key(second), options: .numeric) {
    case .orderedAscending: true
    case .orderedDescending: false
    case .orderedSame: first < second
    }
  }

  private static func key(_ name: String) -> String { name.filter { !$0.isWhitespace } }
}
