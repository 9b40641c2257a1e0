/// The test of an object's class, `object isKindOfClass: Class`; casts of Swift predicates are converted to
/// it.
package enum ClassTest {
  package static let selector: String = "isKindOfClass:"

  /// Whether the comparison is the test in the form that engines get, which rows decide and no code of the
  /// program.
  static func isTestOfRows(_ node: ComparisonNode) -> Bool {
    guard node.selector == selector, case .constant(.object(let type)) = node.right else { return false }
    return type.value is any ObjectFamily
  }
}

/// Represents a class in the plans that engines get, where its objects are rows.
package protocol ObjectFamily: Sendable {
  func contains(_ object: Any) -> Bool
}
