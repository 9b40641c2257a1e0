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

  public override init() {
    super.init()
  }

  // Entities have no such properties, and so do models' archives. A derived attribute has the same parts.

  open override func encode(with coder: NSCoder) {
    DescriptionCoding.encode(name, of: nil, label: label, with: coder) { entity in
      let attribute = NSDerivedAttributeDescription()
      super.copyContents(into: attribute)
      attribute.attributeType = expressionResultType
      attribute.derivationExpression = expression
      entity.properties = [attribute]
    }
  }

  public required init?(coder: NSCoder) {
    super.init()
    guard let origin = DescriptionCoding.origin(coder),
      let attribute = DescriptionCoding.property(NSDerivedAttributeDescription.self, at: origin, coder)
    else { return nil }
    attribute.copyContents(into: self)
    expressionResultType = attribute.attributeType
    expression = attribute.derivationExpression
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
