import CoreDataPredicates
import Foundation

/// A column computed by an expression, for fetches that return dictionaries. Not part of a stored entity.
nonisolated open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyDescription: frozen before it is shared.

  /// The expression that computes the value; the evaluated object unless set.
  open var expression: CoreDataPredicates.NSExpression? { willSet { mayChange() } }

  /// The type of the computed value.
  open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { mayChange() } }

  /// The modern spelling of ``expressionResultType``.
  open var resultType: NSAttributeDescription.AttributeType {
    get { NSAttributeDescription.AttributeType(rawValue: expressionResultType.rawValue) }
    set {
      guard let known = NSAttributeType(rawValue: newValue.rawValue) else {
        preconditionFailure(
          "\(newValue.rawValue) is no attribute type; use one of AttributeType's constants.")
      }
      expressionResultType = known
    }
  }

  override func makeEmptyCopy() -> NSPropertyDescription {
    NSExpressionDescription()
  }

  override func copyContents(into other: NSPropertyDescription) {
    super.copyContents(into: other)
    guard let other = other as? NSExpressionDescription else { return }
    other.expression = expression
    other.expressionResultType = expressionResultType
  }
}
