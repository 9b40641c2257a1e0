/// The question for an object's class, `object isKindOfClass: Class`: what casts of Swift predicates become.
package enum ClassTest {
  package static let selector: String = "isKindOfClass:"

  /// Whether it is the question in the form that engines get, answered from rows and not by code
  /// of the program.
  static func isAskedOfRows(_ node: ComparisonNode) -> Bool {
    guard node.selector == selector, case .constant(.object(let type)) = node.right else { return false }
    return type.value is any ObjectFamily
  }
}

/// What stands for a class where its objects are rows: in the plans that engines get.
package protocol ObjectFamily: Sendable {
  func contains(_ object: Any) -> Bool
}
