import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

extension ModelLint {
  /// Words that a property's name needs backticks for.
  private static let swiftWords: Set<String> = [
    "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func",
    "guard", "if", "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
    "private", "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript",
    "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while", "Any",
    "Protocol", "Self", "Type",
  ]

  mutating func check(_ property: NSPropertyDescription, of entity: NSEntityDescription) {
    let name = property.name
    checkIgnoredCodes(property.userInfo, entity, name)
    checkSettings(property.userInfo, entity, name)
    if name.isEmpty {
      report(.propertyName, entity, nil, "a property has no name; give it one")
    } else if ObjectMemberNames.refused.contains(name) {
      report(
        .reservedName, entity, name,
        "every managed object has something of this name already; rename the property")
    } else if ObjectMemberNames.inSwift.contains(name) {
      report(
        .noAccessor, entity, name,
        "every managed object has a member of this name in Swift, so that generated classes have no accessor for it; "
          + "rename the property")
    } else if !Self.isIdentifier(name) {
      report(
        .propertyName, entity, name,
        "a property's name starts with a letter and has letters, digits and underscores only")
    } else if FormatWords.areReserved(name) {
      let meaning: String = name.lowercased() == "self" ? "the object itself" : "a word of the language"
      report(
        .predicateWord, entity, name,
        "in predicates \(name) is \(meaning), so the property has to be written #\(name) there; rename the property"
      )
    }
    if Self.swiftWords.contains(name) {
      report(
        .swiftWord, entity, name,
        "\(name) is a word of Swift, so code has to write `\(name)`; rename the property")
    }
    switch property {
    case let attribute as NSAttributeDescription: check(attribute, of: entity)
    case let relationship as NSRelationshipDescription: check(relationship, of: entity)
    case let fetched as NSFetchedPropertyDescription:
      guard let request = fetched.fetchRequest else {
        report(.fetchRequest, entity, name, "the fetched property has no fetch request")
        break
      }
      check(request, entity: entity, part: name)
    default:
      report(
        .propertyKind, entity, name,
        "a \(type(of: property)) can't be stored; use an attribute or a relationship")
    }
  }

  private mutating func check(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    let name = attribute.name
    let type = attribute.attributeType
    if type == .undefinedAttributeType, !attribute.isTransient {
      report(.attributeType, entity, name, "an attribute without type must be transient; give it a type")
    }
    if type == .objectIDAttributeType {
      report(.attributeType, entity, name, "object ids can't be stored as an attribute; use a relationship")
    }
    if attribute.allowsExternalBinaryDataStorage, type != .binaryDataAttributeType,
      type != .transformableAttributeType
    {
      report(
        .settingWithoutEffect, entity, name,
        "only binary data can be stored in external files; the setting has no effect")
    }
    if type == .transformableAttributeType, !attribute.isTransient {
      checkTransformer(attribute, of: entity)
    }
    if let derived = attribute as? NSDerivedAttributeDescription {
      do throws(DerivationProblem) {
        _ = try Derivation.of(derived, in: entity)
      } catch {
        report(.derivation, entity, name, error.message)
      }
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      checkElements(composite, path: name, of: entity)
    }
    checkPattern(attribute, of: entity)
    checkDefault(attribute, of: entity)
    checkBounds(attribute, of: entity)
    checkOptional(attribute, of: entity)
  }

  private mutating func checkTransformer(
    _ attribute: NSAttributeDescription, of entity: NSEntityDescription
  ) {
    switch attribute.valueTransformerName {
    case nil:
      report(
        .noTransformer, entity, attribute.name,
        "it has no value transformer; set NSSecureUnarchiveFromDataTransformer or one of your own")
    case let name? where ["NSUnarchiveFromData", "NSKeyedUnarchiveFromData"].contains(name):
      report(
        .insecureTransformer, entity, attribute.name,
        "\(name) makes objects of any class that the stored bytes name; set NSSecureUnarchiveFromDataTransformer, "
          + "which reads the same values")
    default: break
    }
  }

  private mutating func checkElements(
    _ composite: NSCompositeAttributeDescription, path: String, of entity: NSEntityDescription
  ) {
    if composite.elements.isEmpty {
      report(.composite, entity, path, "the composite attribute has no elements")
    }
    var seen: Set<String> = []
    for element in composite.elements {
      let path = "\(path).\(element.name)"
      if !seen.insert(element.name.uppercased()).inserted {
        report(.composite, entity, path, "there are two elements of this name, case ignored; rename one")
      }
      if !Self.isIdentifier(element.name) {
        report(
          .composite, entity, path,
          "an element's name starts with a letter and has letters, digits and underscores only")
      }
      if element is NSDerivedAttributeDescription {
        report(.composite, entity, path, "an element of a composite attribute can't be derived")
      } else if element.isTransient || element.attributeType == .undefinedAttributeType
        || element.attributeType == .objectIDAttributeType
      {
        report(.composite, entity, path, "an element needs a type that is stored, and can't be transient")
      }
      if let inner = element as? NSCompositeAttributeDescription {
        checkElements(inner, path: path, of: entity)
      }
    }
  }

  // MARK: Values

  private mutating func checkDefault(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    guard let value = attribute.defaultValue else { return }
    let type = attribute.attributeType
    if let expected = Self.misfit(value, type) {
      report(.defaultType, entity, attribute.name, "its default value is no \(expected)")
      return
    }
    if let (lowest, highest) = Self.range(of: type), let number = value as? NSNumber,
      number.doubleValue < lowest || number.doubleValue > highest
    {
      report(
        .defaultRange, entity, attribute.name,
        "its default value \(number) does not fit into an \(type.editorName); choose a larger type or another value"
      )
      return
    }
    if let number = value as? NSNumber, let limit = Self.limit(of: type),
      !(number.doubleValue.magnitude <= limit)
    {
      report(
        .defaultRange, entity, attribute.name,
        number.doubleValue.isFinite
          ? "its default value \(number) does not fit into a \(type.editorName); choose Double or another value"
          : "its default value is \(number.doubleValue), which is no finite number; choose another value")
      return
    }
    // Attributes of these types can't be the operands of what the editor can say.
    if type == .transformableAttributeType || type == .undefinedAttributeType { return }
    for predicate in attribute.validationPredicates
    where (try? predicate.evaluateThrowing(with: value)) == false {
      report(
        .defaultInvalid, entity, attribute.name,
        "its default value \(Self.text(value)) is refused by its own validation (\(predicate.formatText)), so "
          + "objects can't be saved before it is set; change one of the two")
      return
    }
  }

  /// A pattern that is no regular expression: every save of a value would fail.
  private mutating func checkPattern(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    for predicate in attribute.validationPredicates {
      guard let comparison = predicate as? CoreDataPredicates.NSComparisonPredicate,
        comparison.predicateOperatorType == .matches,
        comparison.rightExpression.expressionType == .constantValue,
        let pattern = comparison.rightExpression.constantValue as? String,
        (try? RegularExpression(pattern, [])) == nil
      else { continue }
      report(
        .invalidPattern, entity, attribute.name,
        "its pattern \"\(pattern)\" is no regular expression, so no value can be saved; correct it, and write a backslash "
          + "before a bracket that is meant literally")
    }
  }

  private static func text(_ value: Any) -> String { value is String ? "\"\(value)\"" : "\(value)" }

  /// The type that a default value should have; nil if it has that type.
  private static func misfit(_ value: Any, _ type: NSAttributeType) -> String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType, .decimalAttributeType:
      value is NSNumber || value is Decimal ? nil : "number"
    case .stringAttributeType: value is String ? nil : "string"
    case .dateAttributeType: value is Date ? nil : "date"
    case .binaryDataAttributeType: value is Data ? nil : "data"
    case .UUIDAttributeType: value is UUID ? nil : "UUID"
    case .URIAttributeType: value is URL ? nil : "URL"
    default: nil
    }
  }

  /// What an integer can be; as doubles, which are exact for these.
  private static func range(of type: NSAttributeType) -> (Double, Double)? {
    switch type {
    case .integer16AttributeType: (Double(Int16.min), Double(Int16.max))
    case .integer32AttributeType: (Double(Int32.min), Double(Int32.max))
    default: nil
    }
  }

  /// The greatest magnitude of numbers that need not be whole.
  private static func limit(of type: NSAttributeType) -> Double? {
    switch type {
    case .doubleAttributeType, .decimalAttributeType: .greatestFiniteMagnitude
    case .floatAttributeType: Double(Float.greatestFiniteMagnitude)
    default: nil
    }
  }

  /// Bounds between which no value lies: nothing but nil could be saved.
  private mutating func checkBounds(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    var lowest: (value: NSObject, text: String)?
    var highest: (value: NSObject, text: String)?
    for predicate in attribute.validationPredicates {
      guard let comparison = predicate as? CoreDataPredicates.NSComparisonPredicate,
        comparison.rightExpression.expressionType == .constantValue,
        let bound = Self.comparable(comparison.rightExpression.constantValue)
      else { continue }
      if let number = bound as? NSNumber, !number.doubleValue.isFinite {
        report(
          .crossedBounds, entity, attribute.name,
          "its bound \(number.doubleValue) is no finite number; write another one, or leave it out")
        return
      }
      // A format has dates as seconds since 2001.
      let date: String? = (comparison.rightExpression.constantValue as? Date).map(DateWords.text)
      func text(_ format: String) -> String {
        date.map { "SELF \(format.contains(">") ? ">=" : "<=") \($0)" } ?? format
      }
      switch comparison.predicateOperatorType {
      case .greaterThanOrEqualTo, .greaterThan: lowest = (bound, text(predicate.formatText))
      case .lessThanOrEqualTo, .lessThan: highest = (bound, text(predicate.formatText))
      default: break
      }
    }
    guard let lowest, let highest, Self.isAbove(lowest.value, highest.value) else { return }
    report(
      .crossedBounds, entity, attribute.name,
      "no value is valid by both \(lowest.text) and \(highest.text); exchange or correct the bounds")
  }

  private static func comparable(_ value: Any?) -> NSObject? {
    switch value {
    case let number as NSNumber: number
    case let date as Date: NSNumber(value: date.timeIntervalSinceReferenceDate)
    default: nil
    }
  }

  private static func isAbove(_ left: NSObject, _ right: NSObject) -> Bool {
    guard let left = left as? NSNumber, let right = right as? NSNumber else { return false }
    return left.compare(right) == .orderedDescending
  }

  private mutating func checkOptional(_ attribute: NSAttributeDescription, of entity: NSEntityDescription) {
    guard attribute.isOptional, attribute.defaultValue == nil, !attribute.isTransient,
      !(attribute is NSDerivedAttributeDescription)
    else { return }
    switch attribute.attributeType {
    case .booleanAttributeType:
      report(
        .optionalBoolean, entity, attribute.name,
        "it is true, false or nil, and nil is neither in a predicate; give it a default value and clear Optional"
      )
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .dateAttributeType:
      guard attribute.usesScalarValueType == true else { return }
      report(
        .optionalScalar, entity, attribute.name,
        "it can be nil, which its scalar accessor reads as 0, while predicates don't; give it a default value and "
          + "clear Optional, or clear Use Scalar Type")
    default: break
    }
  }
}
