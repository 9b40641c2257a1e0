import CoreData

/// Makes values for attributes: of every type, different from each other as far as the type allows, within
/// the bounds that the model states.
struct ValueGenerator {
  var random: SeededNumbers
  /// The number of the next value. Values of different numbers are different, where the type has as many.
  private var number: Int = 0

  init(_ random: SeededNumbers) { self.random = random }

  /// What a value is to be like.
  struct Form {
    /// Whether no other object of the entity may have it.
    var isUnique: Bool = false
    /// Whether binary data is to be so long that a store keeps it in a file of its own.
    var isLarge: Bool = false
    /// The validation predicates of later versions.
    var predicates: [NSPredicate] = []
  }

  /// nil if no value was found that satisfies the model.
  mutating func value(of attribute: NSAttributeDescription, _ form: Form) -> Any? {
    if let composite = attribute as? NSCompositeAttributeDescription {
      var values: [String: Any] = [:]
      for element in composite.elements {
        values[element.name] = value(of: element, Form(isUnique: form.isUnique))
      }
      return values
    }
    let limits = ValueLimits(attribute.validationPredicates + form.predicates)
    for attempt in 0..<40 {
      number += 1
      guard let made = candidate(attribute, limits, form, attempt) else { return nil }
      if limits.allow(made) { return made }
    }
    if !form.isUnique, let standard = attribute.defaultValue, limits.allow(standard) { return standard }
    return nil
  }

  private mutating func candidate(
    _ attribute: NSAttributeDescription, _ limits: ValueLimits, _ form: Form, _ attempt: Int
  ) -> Any? {
    switch attribute.attributeType {
    case .integer16AttributeType: integer(Int(Int16.min)...Int(Int16.max), limits, form, attempt)
    case .integer32AttributeType: integer(Int(Int32.min)...Int(Int32.max), limits, form, attempt)
    // Sums of a few of them do not overflow.
    case .integer64AttributeType: integer(-(1 << 58)...(1 << 58), limits, form, attempt)
    case .booleanAttributeType: NSNumber(value: number % 2 == 0)
    case .floatAttributeType: NSNumber(value: Float(real(limits)))
    case .doubleAttributeType: NSNumber(value: real(limits))
    case .decimalAttributeType:
      NSDecimalNumber(string: String(format: "%.2f", limits.bounded(Double(number) + 0.25, step: 0.25)))
    case .stringAttributeType: text(limits, attempt)
    case .dateAttributeType:
      // Long after a bound that excludes it.
      Date(
        timeIntervalSinceReferenceDate: limits.bounded(600_000_000 + Double(number) * 1000.5, step: 1000.5))
    case .binaryDataAttributeType: data(isLarge: form.isLarge)
    case .UUIDAttributeType: uuid()
    case .URIAttributeType: URL(string: "https://example.com/\(number)/a%20b?c=d#e")
    case .transformableAttributeType: transformable(attribute)
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: nil
    }
  }

  private mutating func integer(
    _ range: ClosedRange<Int>, _ limits: ValueLimits, _ form: Form, _ attempt: Int
  ) -> NSNumber {
    var made: Int = number
    if !form.isUnique, attempt == 0 {
      // Every fourth value is at the end of what the type holds.
      switch random.next() % 8 {
      case 0: made = range.upperBound
      case 1: made = range.lowerBound
      default: break
      }
    }
    let bounded: Double = limits.bounded(Double(made), step: 1)
    if bounded != Double(made) { made = Int(exactly: bounded.rounded(.up)) ?? made }
    return NSNumber(value: min(max(made, range.lowerBound), range.upperBound))
  }

  /// With a fraction that binary numbers of any length have.
  private func real(_ limits: ValueLimits) -> Double { limits.bounded(Double(number) + 0.25, step: 0.25) }

  private mutating func text(_ limits: ValueLimits, _ attempt: Int) -> String {
    if let pattern = limits.pattern { return PatternText(pattern).make(&random) }
    // What needs care in SQL, in XML and in comparisons.
    let endings: [String] = [" Zoë's “x” & <y>", "", " ß𝄞", " %_\\\n\t2", "-ÅÅ\u{301}"]
    var made: String = "\(number)" + (attempt < 5 ? endings[(number + attempt) % endings.count] : "")
    let length: Int = (made as NSString).length
    if length < limits.leastLength {
      made = String(repeating: "x", count: limits.leastLength - length) + made
    }
    while (made as NSString).length > max(0, limits.mostLength), !made.isEmpty { made.removeLast() }
    return made
  }

  private mutating func data(isLarge: Bool) -> Data {
    var bytes: [UInt8] = []
    for _ in 0..<(isLarge ? 25_000 : 2) { withUnsafeBytes(of: random.next()) { bytes += $0 } }
    return Data(bytes)
  }

  private mutating func uuid() -> UUID {
    let (high, low) = (random.next(), random.next())
    var bytes: [UInt8] = withUnsafeBytes(of: (high, low)) { Array($0) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return NSUUID(uuidBytes: bytes) as UUID
  }

  /// A property list, which the default transformers keep; nil where the attribute wants other objects.
  private func transformable(_ attribute: NSAttributeDescription) -> Any? {
    let known: [String] = [
      "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
      "NSUnarchiveFromData",
    ]
    guard known.contains(attribute.valueTransformerName ?? "") else { return nil }
    let array: NSArray = [NSNumber(value: number), "two"]
    let pairs: NSDictionary = ["number": NSNumber(value: number), "list": ["a", "b"] as NSArray]
    let type: String = attribute.attributeValueClassName ?? ""
    switch type {
    case "", "NSObject": return number % 2 == 0 ? array : pairs
    case "NSArray", "NSMutableArray", "Array": return array
    case "NSDictionary", "NSMutableDictionary", "Dictionary": return pairs
    case "NSSet": return NSSet(array: ["\(number)"])
    case "NSString", "String": return "\(number)" as NSString
    case "NSNumber": return NSNumber(value: number)
    case "NSDate", "Date": return NSDate(timeIntervalSinceReferenceDate: Double(number))
    case "NSData", "Data": return NSData(data: Data([1, 2, UInt8(truncatingIfNeeded: number)]))
    default:
      // As Swift writes them: [UInt32], [String: Int].
      guard type.hasPrefix("[") else { return nil }
      return type.contains(":") ? nil : type.contains("Int") ? [NSNumber(value: number)] as NSArray : nil
    }
  }
}
