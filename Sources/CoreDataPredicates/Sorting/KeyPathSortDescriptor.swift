import Foundation

/// A sort descriptor by key path whose values are not `Comparable`, mainly optional ones.
///
/// Managed objects are compared by their values under the property's name, as stores compare them: a getter
/// may transform the value, or require one.
final class KeyPathSortDescriptor: NSSortDescriptor {
  private let path: AnyKeyPath
  private let comparison: any ObjectComparison

  init<Root, Value>(path: KeyPath<Root, Value>, ascending: Bool) {
    self.path = path
    comparison = Self.comparison(path, ascending)
    super.init(keyPath: path, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  private init(path: AnyKeyPath, ascending: Bool) {
    self.path = path
    comparison = Self.comparison(path, ascending)
    super.init(keyPath: \NSObject.self, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  private static func comparison(_ path: AnyKeyPath, _ ascending: Bool) -> any ObjectComparison {
    Evaluator.factory.comparison(
      by: path, SortTerm(key: KeyPathNames.describe(path), ascending: ascending))
  }

  override var keyPath: AnyKeyPath { path }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      return try compareThrowing(object1, object2)
    } catch {
      fatalError("\(error)")
    }
  }

  func compareThrowing(_ left: Any, _ right: Any) throws -> ComparisonResult {
    try comparison.compare(left, right)
  }

  override var reversedSortDescriptor: Any { KeyPathSortDescriptor(path: path, ascending: !ascending) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeyPathSortDescriptor else { return false }
    return path == other.path && ascending == other.ascending
  }

  override var hash: Int { path.hashValue }
}
