import Foundation

/// A sort descriptor by key, which Foundation's class can't be on Linux. `NSSortDescriptor(key:ascending:)`
/// returns it.
final class KeySortDescriptor: NSSortDescriptor, NSSecureCoding {
  let term: SortTerm
  let permission: EvaluationPermission?
  private let customComparator: Comparator?
  /// A comparison method of the program.
  private let customSelector: Selector?
  private let comparison: any ObjectComparison

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
    comparison = Evaluator.factory.comparison(by: term, comparator: comparator, selector: selector)
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

  /// nil if a comparator or method of the program compares, which SQL can't run.
  var sqlTerm: SortTerm? { customComparator == nil && customSelector == nil ? term : nil }

  /// The method that compares; nil if a comparator does.
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
    return try comparison.compare(left, right)
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
