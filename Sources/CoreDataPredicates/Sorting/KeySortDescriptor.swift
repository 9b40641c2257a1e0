import Foundation

/// A sort descriptor by key, which Foundation's class can't be on Linux. `NSSortDescriptor(key:ascending:)`
/// returns it.
final class KeySortDescriptor: NSSortDescriptor, NSSecureCoding {
  let term: SortTerm
  let permission: EvaluationPermission?
  private let customComparator: Comparator?
  /// A method of the program's own that compares.
  private let customSelector: Selector?
  private let reader: KeyPathReader

  convenience init(
    key: String?, ascending: Bool, selector: Selector?, permission: EvaluationPermission? = nil
  ) {
    let comparison: StringComparison? = StringComparison(selectorName: selector?.description ?? "compare:")
    self.init(
      term: SortTerm(key: key, ascending: ascending, comparison: comparison ?? .plain),
      selector: comparison == nil ? selector : nil, permission: permission)
  }

  /// Decoded: not to be used before it is allowed.
  convenience init(_ content: SortDescriptorArchiveForm.Content) {
    self.init(
      key: content.key, ascending: content.ascending, selector: content.selector,
      permission: EvaluationPermission())
  }

  init(
    term: SortTerm, comparator: Comparator? = nil, selector: Selector? = nil,
    permission: EvaluationPermission? = nil
  ) {
    self.term = term
    self.permission = permission
    customComparator = comparator
    customSelector = selector
    reader = KeyPathReader(term.key ?? "")
    super.init(
      keyPath: \NSObject.self, ascending: term.ascending, comparator: comparator ?? { _, _ in .orderedSame })
  }

  static var supportsSecureCoding: Bool { true }

  convenience init?(coder: NSCoder) {
    guard let content = CoderArchive.sortDescriptor(coder) else { return nil }
    self.init(content)
  }

  func encode(with coder: NSCoder) {
    CoderArchive.encode(self, with: coder)
  }

  /// Nothing when a comparator of the program's own decides, which SQL can't run.
  var sqlTerm: SortTerm? { customComparator == nil && customSelector == nil ? term : nil }

  /// The method that compares, nil with a comparator.
  var method: Selector? {
    customComparator == nil ? customSelector ?? Selector(term.comparison.selectorName) : nil
  }

  override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
    do {
      return try compareThrowing(object1, object2)
    } catch {
      fatalError("\(error)")
    }
  }

  func compareThrowing(_ left: Any, _ right: Any) throws -> ComparisonResult {
    if permission != nil { try checkEvaluationAllowed() }
    let (a, b): (Any?, Any?) = (try reader.read(left), try reader.read(right))
    let result: ComparisonResult
    if let customComparator {
      result = customComparator(a ?? NSNull(), b ?? NSNull())
    } else if let customSelector {
      result = try PredicateFunctions.order(
        PredicateValue(normalizing: a), PredicateValue(normalizing: b), by: customSelector)
    } else {
      return try term.order(PredicateValue(normalizing: a), PredicateValue(normalizing: b))
    }
    return term.ascending ? result : NumberComparison.reversed(result)
  }

  override var reversedSortDescriptor: Any {
    KeySortDescriptor(
      term: SortTerm(key: term.key, ascending: !term.ascending, comparison: term.comparison),
      comparator: customComparator, selector: customSelector,
      permission: permission.map(EvaluationPermission.init(partOf:)))
  }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeySortDescriptor else { return false }
    if self === other { return true }
    return term == other.term && customSelector == other.customSelector && customComparator == nil
      && other.customComparator == nil
  }

  override var hash: Int { term.hashValue }
  override var description: String {
    "(\(term.key ?? "self"), \(term.ascending ? "ascending" : "descending"), \(method?.description ?? "comparator"))"
  }
}

/// A sort descriptor by key path whose values are not `Comparable`, optional ones above all.
///
/// Managed objects are compared by what they hold under the property's name, as stores compare them: a getter
/// may make something else of it, or insist that there is a value.
final class KeyPathSortDescriptor: NSSortDescriptor {
  private let path: AnyKeyPath
  private let term: SortTerm
  private let stored = InlineCache<StoredProperty>()

  init<Root, Value>(path: KeyPath<Root, Value>, ascending: Bool) {
    self.path = path
    term = SortTerm(key: KeyPathNames.describe(path), ascending: ascending)
    super.init(keyPath: path, ascending: ascending, comparator: { _, _ in .orderedSame })
  }

  private init(path: AnyKeyPath, ascending: Bool) {
    self.path = path
    term = SortTerm(key: KeyPathNames.describe(path), ascending: ascending)
    super.init(keyPath: \NSObject.self, ascending: ascending, comparator: { _, _ in .orderedSame })
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
    let stored: StoredProperty = stored.entry(where: { _ in true }, else: { StoredProperty(path) })
    return try term.order(value(of: left, stored), value(of: right, stored))
  }

  private func value(of object: Any, _ stored: StoredProperty) throws -> PredicateValue {
    try stored.value(of: object) ?? PredicateConversion.constant(object[keyPath: path] as Any)
  }

  override var reversedSortDescriptor: Any { KeyPathSortDescriptor(path: path, ascending: !ascending) }

  override func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? KeyPathSortDescriptor else { return false }
    return path == other.path && ascending == other.ascending
  }

  override var hash: Int { path.hashValue }
}
