import CoreDataPredicates
import Foundation

/// Compares objects by the values of a key path of names.
final class KeyComparison: ObjectComparison {
  private let term: SortTerm
  private let comparator: Comparator?
  private let selector: Selector?
  private let reader: KeyPathReader

  init(by term: SortTerm, comparator: Comparator?, selector: Selector?) {
    self.term = term
    self.comparator = comparator
    self.selector = selector
    reader = KeyPathReader(term.key ?? "")
  }

  func compare(_ left: Any, _ right: Any) throws -> ComparisonResult {
    let (a, b): (Any?, Any?) = (try reader.read(left), try reader.read(right))
    let result: ComparisonResult
    if let comparator {
      result = comparator(a ?? NSNull(), b ?? NSNull())
    } else if let selector {
      result = try PredicateFunctions.order(
        PredicateValue(normalizing: a), PredicateValue(normalizing: b), by: selector)
    } else {
      return try term.order(PredicateValue(normalizing: a), PredicateValue(normalizing: b))
    }
    return term.ascending ? result : NumberComparison.reversed(result)
  }
}

/// Compares objects by the values of a Swift key path; managed objects by what they hold under the property's
/// name.
final class KeyPathComparison: ObjectComparison {
  private let path: AnyKeyPath
  private let term: SortTerm
  private let stored = InlineCache<StoredProperty>()

  init(by path: AnyKeyPath, _ term: SortTerm) {
    self.path = path
    self.term = term
  }

  func compare(_ left: Any, _ right: Any) throws -> ComparisonResult {
    let stored: StoredProperty = stored.entry(where: { _ in true }, else: { StoredProperty(path) })
    return try term.order(value(of: left, stored), value(of: right, stored))
  }

  private func value(of object: Any, _ stored: StoredProperty) throws -> PredicateValue {
    try stored.value(of: object) ?? PredicateConversion.constant(object[keyPath: path] as Any)
  }
}
