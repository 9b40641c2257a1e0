extension NSAttributeType {
  /// Whether every value of the other type is one of this, with the same meaning and without rounding.
  package func holdsEveryValue(of other: NSAttributeType) -> Bool {
    if self == other { return true }
    let wider: Set<NSAttributeType> =
      switch other {
      case .booleanAttributeType:
        [
          .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
          .doubleAttributeType, .decimalAttributeType,
        ]
      // 24 bits of a Float hold 16, 53 of a Double 32, 38 digits of a Decimal 64.
      case .integer16AttributeType:
        [
          .integer32AttributeType, .integer64AttributeType, .floatAttributeType, .doubleAttributeType,
          .decimalAttributeType,
        ]
      case .integer32AttributeType: [.integer64AttributeType, .doubleAttributeType, .decimalAttributeType]
      case .integer64AttributeType: [.decimalAttributeType]
      case .floatAttributeType: [.doubleAttributeType]
      default: []
      }
    return wider.contains(self)
  }
}
