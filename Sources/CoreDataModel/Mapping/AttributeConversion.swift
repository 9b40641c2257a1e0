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

  /// Whether both are types of numbers, and this holds some values of the other one without rounding: Apple's
  /// framework infers the change, and rounds or cuts off what does not fit.
  package func holdsSomeValues(of other: NSAttributeType) -> Bool {
    Self.numbers.contains(self) && Self.numbers.contains(other) && !holdsEveryValue(of: other)
  }

  private static let numbers: Set<NSAttributeType> = [
    .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
    .doubleAttributeType, .floatAttributeType,
  ]

  /// The whole numbers that the type has all of, without a gap; nil for types of other values than numbers.
  package var wholeNumbers: ClosedRange<Int64>? {
    switch self {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    case .integer64AttributeType, .decimalAttributeType: .min ... .max
    case .floatAttributeType: -(1 << 24)...(1 << 24)
    case .doubleAttributeType: -(1 << 53)...(1 << 53)
    default: nil
    }
  }

  /// Whether its values are whole numbers.
  package var isInteger: Bool {
    [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType].contains(self)
  }
}
