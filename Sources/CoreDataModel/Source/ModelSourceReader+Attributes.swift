import CoreDataPredicates
import Foundation

// Converts the texts of an attribute element to typed values: defaults, bounds and patterns, as Apple's
// compiler does.

extension ModelSourceReader {
  func readAttribute(
    _ element: ModelXMLElement, of entity: NSEntityDescription, within outer: [String] = []
  ) throws -> NSAttributeDescription {
    note(element)
    let type = try attributeType(of: element)
    let isDerived = try bool("derived", of: element) ?? false
    let attribute: NSAttributeDescription =
      if isDerived {
        NSDerivedAttributeDescription()
      } else if type == .compositeAttributeType {
        NSCompositeAttributeDescription()
      } else {
        NSAttributeDescription()
      }
    try readCommon(element, into: attribute)
    attribute.attributeType = type
    attribute.valueTransformerName = nonEmpty("valueTransformerName", of: element)
    if type == .transformableAttributeType {
      attribute.explicitValueClassName = nonEmpty("customClassName", of: element)
    }
    attribute.allowsExternalBinaryDataStorage =
      try bool("allowsExternalBinaryDataStorage", of: element) ?? false
    attribute.preservesValueInHistoryOnDeletion = try bool("preserveAfterDeletion", of: element) ?? false
    attribute.allowsCloudEncryption = try bool("allowsCloudEncryption", of: element) ?? false
    attribute.usesScalarValueType = try bool("usesScalarValueType", of: element)
    attribute.defaultValue = try defaultValue(of: element, type)
    try readValidation(element, into: attribute)
    if let composite = attribute as? NSCompositeAttributeDescription {
      try readElements(element, into: composite, of: entity, within: outer)
    }
    if let derived = attribute as? NSDerivedAttributeDescription,
      let text = nonEmpty("derivationExpression", of: element)
    {
      do {
        derived.derivationExpression = try NSExpression(parsing: text, arguments: [])
      } catch let failure {
        throw error(element, "The derivation of attribute '\(attribute.name)' can't be read: \(failure)")
      }
    }
    return attribute
  }

  /// A missing type means Undefined, which only transient attributes may have.
  private func attributeType(of element: ModelXMLElement) throws -> NSAttributeType {
    guard let text = nonEmpty("attributeType", of: element) else { return .undefinedAttributeType }
    guard let type = NSAttributeType(editorName: text) else {
      throw error(
        element,
        "Attribute '\(element.attributes["name"] ?? "")' has the type '\(text)'; the types are "
          + NSAttributeType.allCases.map(\.editorName).joined(separator: ", ") + ".")
    }
    return type
  }

  private static let mostCompositeElements: Int = 20_000

  private func readElements(
    _ element: ModelXMLElement, into composite: NSCompositeAttributeDescription,
    of entity: NSEntityDescription,
    within outer: [String]
  ) throws {
    let name = try required("composite", of: element)
    guard let definition = composites[name] else {
      throw error(
        element,
        "Attribute '\(composite.name)' is made of the composite '\(name)', which is not in the model.")
    }
    guard !outer.contains(name) else {
      throw error(element, "Composite '\(name)' contains itself by way of \(outer.joined(separator: ", ")).")
    }
    guard outer.count < 16 else { throw error(element, "Composites nest deeper than 16.") }
    // Ten in each of ten levels are more than any memory holds.
    compositeElementCount += definition.children("attribute").count
    guard compositeElementCount <= Self.mostCompositeElements else {
      throw error(
        element,
        "The composite attributes of the model have more than \(Self.mostCompositeElements) elements, with those of the composites "
          + "within composites; nest fewer.")
    }
    composite.elements = try definition.children("attribute").map {
      try readAttribute($0, of: entity, within: outer + [name])
    }
  }

  // MARK: Values

  private func defaultValue(of element: ModelXMLElement, _ type: NSAttributeType) throws -> Any? {
    if type == .dateAttributeType {
      // The text beside it is the editor's own rendering.
      return try seconds("defaultDateTimeInterval", of: element)
    }
    guard let text = element.attributes["defaultValueString"] else { return nil }
    return try value(text, type, of: element, "default value")
  }

  /// The value of a text, as Apple's compiler would store it.
  private func value(_ text: String, _ type: NSAttributeType, of element: ModelXMLElement, _ what: String)
    throws -> Any?
  {
    func bad(_ expected: String) -> ModelFileError {
      error(
        element,
        "The \(what) '\(text)' of attribute '\(element.attributes["name"] ?? "")' (\(type.editorName)) is no \(expected)."
      )
    }
    switch type {
    case .integer16AttributeType:
      return NSNumber(value: try integer(text, Int64(Int16.min), Int64(Int16.max), bad))
    case .integer32AttributeType:
      return NSNumber(value: try integer(text, Int64(Int32.min), Int64(Int32.max), bad))
    case .integer64AttributeType: return NSNumber(value: try integer(text, .min, .max, bad))
    case .doubleAttributeType, .floatAttributeType:
      guard let value = Double(text) else { throw bad("number") }
      return NSNumber(value: value)
    case .decimalAttributeType:
      // Foundation reads what comes before anything else: 1 of '1,5'.
      guard Self.isNumber(text),
        let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
      else {
        throw bad(
          "decimal number of up to 38 digits\(text.contains(",") ? ", which has a point, not a comma" : "")")
      }
      return NSDecimalNumber(decimal: value)
    case .booleanAttributeType:
      switch text {
      case "YES", "true", "1": return NSNumber(value: true)
      case "NO", "false", "0": return NSNumber(value: false)
      default: throw bad("YES or NO")
      }
    case .stringAttributeType: return text
    case .UUIDAttributeType:
      guard let value = UUID(uuidString: text) else { throw bad("UUID") }
      return value
    case .URIAttributeType:
      guard let value = URL(string: text) else { throw bad("URI") }
      return value
    default:
      if !text.isEmpty {
        warn(element, "an attribute of type \(type.editorName) can't have a \(what); '\(text)' is ignored")
      }
      return nil
    }
  }

  /// Whether the whole text is a number: digits with a sign, a point and an exponent as far as they are
  /// wanted.
  private static func isNumber(_ text: String) -> Bool {
    var rest: Substring = text[...]
    func dropDigits() -> Int {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      return digits.count
    }
    func dropFirst(of characters: String) -> Bool {
      guard let first = rest.first, characters.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    _ = dropFirst(of: "+-")
    var digits: Int = dropDigits()
    if dropFirst(of: ".") { digits += dropDigits() }
    if digits == 0 { return false }
    if dropFirst(of: "eE") {
      _ = dropFirst(of: "+-")
      if dropDigits() == 0 { return false }
    }
    return rest.isEmpty
  }

  private func integer(_ text: String, _ low: Int64, _ high: Int64, _ bad: (String) -> ModelFileError) throws
    -> Int64
  {
    // Editors have written "0.0" for integers, and "NO" where a Boolean was made an integer later.
    let flags: [String: Int64] = ["YES": 1, "NO": 0]
    guard let value = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0) }) ?? flags[text] else {
      throw bad("whole number")
    }
    guard low...high ~= value else { throw bad("number from \(low) to \(high)") }
    return value
  }

  private func seconds(_ name: String, of element: ModelXMLElement) throws -> Date? {
    guard let text = nonEmpty(name, of: element) else { return nil }
    guard let seconds = Double(text), seconds.isFinite else {
      throw error(element, "\(name)=\"\(text)\" of <\(element.name)> is no number of seconds since 2001.")
    }
    return Date(timeIntervalSinceReferenceDate: seconds)
  }

  // MARK: Validation

  /// Bounds become predicates, with the code of the validation error that a violation reports.
  private func readValidation(_ element: ModelXMLElement, into attribute: NSAttributeDescription) throws {
    var rules: [NSPredicate] = []
    var codes: [Any] = []
    func add(
      _ left: ExpressionNode, _ comparison: ComparisonOperator, _ value: PredicateValue,
      _ code: ValidationCode
    ) {
      rules.append(
        makePredicate(
          .comparison(ComparisonNode(left: left, right: .constant(value), comparison: comparison))))
      codes.append(NSNumber(value: code.rawValue))
    }
    let type = attribute.attributeType
    switch type {
    case .stringAttributeType:
      if let bound = try length("minValueString", of: element) {
        add(.keyPath("length"), .greaterThanOrEqualTo, .integer(bound), .stringTooShort)
      }
      if let bound = try length("maxValueString", of: element) {
        add(.keyPath("length"), .lessThanOrEqualTo, .integer(bound), .stringTooLong)
      }
      if let pattern = nonEmpty("regularExpressionString", of: element) {
        add(.evaluatedObject, .matches, .string(pattern), .stringPatternMatching)
      }
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
      .doubleAttributeType, .floatAttributeType:
      if let bound = try bound("minValueString", of: element, type) {
        add(.evaluatedObject, .greaterThanOrEqualTo, bound, .numberTooSmall)
      }
      if let bound = try bound("maxValueString", of: element, type) {
        add(.evaluatedObject, .lessThanOrEqualTo, bound, .numberTooLarge)
      }
    case .dateAttributeType:
      if let bound = try seconds("minDateTimeInterval", of: element) {
        add(.evaluatedObject, .greaterThanOrEqualTo, .date(bound), .dateTooSoon)
      }
      if let bound = try seconds("maxDateTimeInterval", of: element) {
        add(.evaluatedObject, .lessThanOrEqualTo, .date(bound), .dateTooLate)
      }
    default:
      for name in ["minValueString", "maxValueString", "regularExpressionString"] {
        guard nonEmpty(name, of: element) != nil else { continue }
        warn(element, "an attribute of type \(type.editorName) can't have \(name); it is ignored")
      }
    }
    attribute.setValidation(rules, warnings: codes)
  }

  private func length(_ name: String, of element: ModelXMLElement) throws -> Int64? {
    guard let text = nonEmpty(name, of: element) else { return nil }
    guard let value = Int64(text), value >= 0 else {
      throw error(element, "\(name)=\"\(text)\" of a string attribute is no length; use a whole number.")
    }
    return value
  }

  private func bound(_ name: String, of element: ModelXMLElement, _ type: NSAttributeType) throws
    -> PredicateValue?
  {
    guard let text = nonEmpty(name, of: element) else { return nil }
    // Real models bound an Integer 16 by numbers beyond its range, which is harmless.
    let wide: NSAttributeType =
      type == .integer16AttributeType || type == .integer32AttributeType ? .integer64AttributeType : type
    guard let value = try value(text, wide, of: element, "bound") else { return nil }
    if let value = value as? NSDecimalNumber { return .decimal(value.decimalValue) }
    return PredicateValue(constant: value)
  }
}

/// The codes of validation errors that the warnings of a model name.
private enum ValidationCode: Int {
  case numberTooLarge = 1610
  case numberTooSmall = 1620
  case dateTooLate = 1630
  case dateTooSoon = 1640
  case stringTooLong = 1660
  case stringTooShort = 1670
  case stringPatternMatching = 1680
}
