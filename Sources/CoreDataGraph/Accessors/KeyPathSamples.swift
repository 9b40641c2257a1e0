import CoreDataModel
import CoreDataPredicates
import Foundation

/// The sample values of one run. Runs continue as long as values are returned unchanged, so the unusual ones
/// (zero, negative numbers, text with spaces around it) reach only getters that return their value unchanged.
struct KeyPathSamples {
  /// The type of the key path's value, without optionals.
  let wanted: Any.Type
  private let round: Int
  /// A raw value for which the wanted type has a case.
  private let raw: PredicateValue?

  private static let integers: [Int64] = [101, 53, 0, -53]
  private static let doubles: [Double] = [101.5, 53.25, 0, -53.25]
  private static let texts: [String] = ["aB", "bA", " aB c"]

  /// The samples of each run; nil if no sample can be made for a type with raw values.
  static func rounds(for wanted: Any.Type) -> [KeyPathSamples]? {
    if let type = wanted as? any RawRepresentable.Type {
      let raws: [PredicateValue] = Array(rawValues(of: type).prefix(4))
      return raws.isEmpty
        ? nil
        : raws.indices.map { KeyPathSamples(wanted: wanted, round: $0, raw: raws[$0]) }
    }
    let isUnsigned: Bool = (wanted as? any FixedWidthInteger.Type).map { !$0.isSigned } ?? false
    return (0..<(isUnsigned ? 3 : 4)).map { KeyPathSamples(wanted: wanted, round: $0, raw: nil) }
  }

  /// The value for an accessor of this type; nil if no sample can be made.
  func value<Value>() -> Value? {
    if let raw = raw?.anyValue {
      if let raw = raw as? Value { return raw }
      if let number = raw as? any BinaryInteger, Value.self == Int64.self { return Int64(number) as? Value }
    }
    return sample(of: Value.self) as? Value
  }

  /// A case of an enumeration.
  func rawRepresentable<Value: RawRepresentable>() -> Value? {
    let own: Any? = raw.flatMap { Self.raw($0.anyValue, as: Value.RawValue.self) }
    if let own = own as? Value.RawValue, let value = Value(rawValue: own) { return value }
    return Self.rawValues(of: Value.self).first.flatMap { Self.raw($0.anyValue, as: Value.RawValue.self) }
      .flatMap { $0 as? Value.RawValue }.flatMap { Value(rawValue: $0) }
  }

  /// A raw value in exactly that type.
  private static func raw(_ value: Any?, as type: Any.Type) -> Any? {
    guard let number = value as? any BinaryInteger, let type = type as? any FixedWidthInteger.Type else {
      return value
    }
    return exactly(Int(number), type)
  }

  /// The value for key-value coding, of the key path's type or of a given one: numbers as `NSNumber`.
  func keyValue(of attribute: NSAttributeType?) -> Any? {
    let type: Any.Type = attribute?.valueType ?? wanted
    let value: Any? = raw.flatMap { isCompatible($0.anyValue, type) ? $0.anyValue : nil } ?? sample(of: type)
    switch value {
    case let flag as Bool where type == Bool.self: return NSNumber(value: flag)
    case let number as any BinaryInteger: return NSNumber(value: Int64(number))
    case let number as any BinaryFloatingPoint: return NSNumber(value: Double(number))
    default: return value
    }
  }

  /// Whether a raw value of the wanted type can be the value of a property of another type.
  private func isCompatible(_ raw: Any?, _ type: Any.Type) -> Bool {
    if type == wanted { return true }
    return type is any FixedWidthInteger.Type
      ? raw is any BinaryInteger : type == String.self && raw is String
  }

  private func sample(of type: Any.Type) -> Any? {
    let double: Double = Self.doubles[round]
    if type == Bool.self { return round % 2 == 0 }
    if type is any FixedWidthInteger.Type { return Self.integers[round] }
    if type is any BinaryFloatingPoint.Type { return double }
    if type == String.self { return Self.texts[round % Self.texts.count] }
    if type == Date.self { return Date(timeIntervalSinceReferenceDate: double) }
    if type == Decimal.self { return Decimal(double) }
    if type == NSDecimalNumber.self { return NSDecimalNumber(decimal: Decimal(double)) }
    if type == NSNumber.self { return NSNumber(value: double) }
    if type == Data.self { return Data([1, 2, UInt8(round)]) }
    if type == UUID.self { return UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(round))) }
    if type == URL.self { return URL(string: "scheme://host/\(round)") }
    // Samples of Foundation's classes are made from the corresponding Swift values.
    if type == NSString.self { return sample(of: String.self) }
    if type == NSDate.self { return sample(of: Date.self) }
    if type == NSData.self { return sample(of: Data.self) }
    if type == NSUUID.self { return sample(of: UUID.self) }
    if type == NSURL.self { return sample(of: URL.self) }
    if let type = type as? any SampledCollection.Type { return type.holdingSample { member(of: $0) } }
    return nil
  }

  /// The same as a member of a collection, where a number must have exactly the declared type.
  private func member(of type: Any.Type) -> Any? {
    switch (sample(of: type), type) {
    case (let number as Int64, let type as any FixedWidthInteger.Type):
      Self.exactly(Int(number), type) ?? Self.exactly(Int(number.magnitude), type)
    case (let number as Double, let type as any BinaryFloatingPoint.Type): Self.rounded(number, type)
    case (let value, _): value
    }
  }

  private static func rounded<Number: BinaryFloatingPoint>(_ value: Double, _ type: Number.Type) -> Any {
    Number(value)
  }

  // MARK: Raw values

  /// Raw values that have a case: from the list of cases if the type has one, else by trying.
  private static func rawValues<Type: RawRepresentable>(of type: Type.Type) -> [PredicateValue] {
    let raws: [Any]
    if let listed = type as? any CaseIterable.Type {
      raws = cases(of: listed).compactMap { rawValue(of: $0) }
    } else if let number = Type.RawValue.self as? any FixedWidthInteger.Type {
      raws = (0..<128).compactMap { exactly($0, number) as? Type.RawValue }.filter {
        Type(rawValue: $0) != nil
      }
    } else {
      raws = texts.compactMap { $0 as? Type.RawValue }.filter { Type(rawValue: $0) != nil }
    }
    return raws.map { PredicateValue(normalizing: $0) }
  }

  private static func cases<Type: CaseIterable>(of type: Type.Type) -> [Any] {
    type.allCases.map { $0 as Any }
  }

  private static func exactly<Number: FixedWidthInteger>(_ value: Int, _ type: Number.Type) -> Any? {
    Number(exactly: value)
  }

  /// The raw value of a value that has one; any other value unchanged.
  static func rawValue(of value: Any?) -> Any? {
    guard let value = value as? any RawRepresentable else { return value }
    return raw(value)
  }

  private static func raw(_ value: some RawRepresentable) -> Any { value.rawValue }

  /// The type inside optionals.
  static func unwrapped(_ type: Any.Type) -> Any.Type {
    (type as? any OptionalType.Type).map { unwrapped($0.wrappedType) } ?? type
  }
}

/// Collections with one sample member, as transformable attributes hold them; nil if no sample of a member
/// can be made.
private protocol SampledCollection {
  static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any?
}

extension Array: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    (sample(Element.self) as? Element).map { [$0] }
  }
}

extension Set: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    (sample(Element.self) as? Element).map { [$0] as Set }
  }
}

extension Dictionary: SampledCollection {
  fileprivate static func holdingSample(_ sample: (Any.Type) -> Any?) -> Any? {
    guard let key = sample(Key.self) as? Key, let value = sample(Value.self) as? Value else { return nil }
    return [key: value]
  }
}

private protocol OptionalType {
  static var wrappedType: Any.Type { get }
}

extension Optional: OptionalType {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

extension NSAttributeType {
  /// The Swift type of the values; nil if the model does not define it.
  fileprivate var valueType: Any.Type? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: Int64.self
    case .decimalAttributeType: NSDecimalNumber.self
    case .doubleAttributeType, .floatAttributeType: Double.self
    case .stringAttributeType: String.self
    case .booleanAttributeType: Bool.self
    case .dateAttributeType: Date.self
    case .binaryDataAttributeType: Data.self
    case .UUIDAttributeType: UUID.self
    case .URIAttributeType: URL.self
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType,
      .compositeAttributeType:
      nil
    }
  }
}
