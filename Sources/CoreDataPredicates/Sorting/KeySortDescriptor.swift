import Foundation

/// A sort descriptor by key, which Foundation's class can't be on Linux. `NSSortDescriptor(key:ascending:)` returns it.
final class KeySortDescriptor: NSSortDescriptor {
  let term: SortTerm
  private let customComparator: Comparator?
  private let reader: KeyPathReader

  init(term: SortTerm, comparator: Comparator? = nil) {
    self.term = term
    customComparator = comparator
    reader = KeyPathReader(term.key ?? "")
    super.init(
      keyPath: \NSObject.self, ascending: term.ascending, comparator: comparator ?? { _, _ in .orderedSame })
  }

  required init?(coder: NSCoder) {
    nil
  }

  /// Nothing when a comparator of the program's own decides, which SQL can't run.
  var sqlTerm: SortTerm? { customComparator == nil ? term : nil }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      return try compareThrowing(object1, object2)
    } catch {
      fatalError("\(error)")
    }
  }

  func compareThrowing(_ left: Any, _ right: Any) throws -> ComparisonResult {
    let (a, b): (Any?, Any?) = (try reader.read(left), try reader.read(right))
    guard let customComparator else {
      return try term.order(PredicateValue(normalizing: a), PredicateValue(normalizing: b))
    }
    let result: ComparisonResult = customComparator(a ?? NSNull(), b ?? NSNull())
    return term.ascending ? result : NumberComparison.reversed(result)
  }

  override var reversedSortDescriptor: Any {
    KeySortDescriptor(
      term: SortTerm(key: term.key, ascending: !term.ascending, comparison: term.comparison),
      comparator: customComparator)
  }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    return self === other || (term == other.term && customComparator == nil && other.customComparator == nil)
  }

  override var hash: Int { term.hashValue }
  override var description: String {
    "(\(term.key ?? "self"), \(term.ascending ? "ascending" : "descending"), \(term.comparison.selectorName))"
  }
}

/// A sort descriptor by key path whose values are not `Comparable`, optional ones above all.
final class KeyPathSortDescriptor: NSSortDescriptor {
  private let path: AnyKeyPath

  init<Root, Value>(path: KeyPath<Root, Value>, ascending: Bool) {
    self.path = path
    super.init(keyPath: path, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  private init(path: AnyKeyPath, ascending: Bool) {
    self.path = path
    super.init(keyPath: \NSObject.self, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  required init?(coder: NSCoder) {
    nil
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
    try SortTerm(key: KeyPathNames.name(of: path), ascending: ascending).order(
      PredicateValue(normalizing: left[keyPath: path]), PredicateValue(normalizing: right[keyPath: path]))
  }

  override var reversedSortDescriptor: Any { KeyPathSortDescriptor(path: path, ascending: !ascending) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeyPathSortDescriptor else { return false }
    return path == other.path && ascending == other.ascending
  }

  override var hash: Int { path.hashValue }
}
