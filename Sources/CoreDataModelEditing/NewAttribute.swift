import CoreDataModel
import Foundation

/// An attribute as Xcode's editor writes a new one.
package struct NewAttribute: Sendable {
  package var name: String
  package var type: NSAttributeType
  /// What is other than the editor has it.
  package var settings = PropertySettings()

  package init(name: String, type: NSAttributeType) {
    self.name = name
    self.type = type
  }

  /// The types by the names of the editor, and by those of Swift.
  package static let typesByName: [(name: String, type: NSAttributeType)] = [
    ("String", .stringAttributeType), ("Integer 16", .integer16AttributeType),
    ("Integer 32", .integer32AttributeType), ("Integer 64", .integer64AttributeType),
    ("Double", .doubleAttributeType), ("Float", .floatAttributeType), ("Decimal", .decimalAttributeType),
    ("Boolean", .booleanAttributeType), ("Date", .dateAttributeType), ("Binary", .binaryDataAttributeType),
    ("UUID", .UUIDAttributeType), ("URI", .URIAttributeType), ("Transformable", .transformableAttributeType),
    ("Int16", .integer16AttributeType), ("Int32", .integer32AttributeType),
    ("Int64", .integer64AttributeType),
    ("Int", .integer64AttributeType), ("Bool", .booleanAttributeType), ("Data", .binaryDataAttributeType),
    ("URL", .URIAttributeType),
  ]

  package static func type(named name: String) -> NSAttributeType? {
    typesByName.first { $0.name.lowercased() == name.lowercased() }?.type
  }

  func element(_ failure: (String) -> ModelFileError) throws -> SourceElement {
    var element = SourceElement(
      "attribute", [("name", name), ("optional", "YES"), ("attributeType", type.editorName)])
    let kind = AttributeKind(type)
    element.set("valueTransformerName", kind.standardTransformer)
    element.set("usesScalarValueType", kind.standardScalar)
    try settings.apply(to: &element, failure)
    if settings.defaultValue == .asItIs, !excludesZero {
      element.set("defaultValueString", kind.standardDefault(isOptional: element["optional"] == "YES"))
    }
    return element
  }

  /// Whether the limits leave out the default value that the editor gives numbers.
  private var excludesZero: Bool {
    let (minimum, maximum) = (
      settings.minimum.value.flatMap(Double.init), settings.maximum.value.flatMap(Double.init)
    )
    return minimum.map { $0 > 0 } == true || maximum.map { $0 < 0 } == true
  }
}

/// What an attribute of a type may have, and what the editor gives it.
struct AttributeKind {
  let type: NSAttributeType

  init(_ type: NSAttributeType) { self.type = type }

  private static let numbers: Set<NSAttributeType> = [
    .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
    .floatAttributeType, .decimalAttributeType,
  ]

  static let bounded: Set<NSAttributeType> = numbers.union([.stringAttributeType, .dateAttributeType])
  static let withDefault: Set<NSAttributeType> =
    bounded.union([.booleanAttributeType, .UUIDAttributeType, .URIAttributeType])
  static let transformed: Set<NSAttributeType> = [.transformableAttributeType]
  static let external: Set<NSAttributeType> = [.binaryDataAttributeType, .transformableAttributeType]

  /// Whether a default value or a bound of one means the same as one of the other: those of a text are
  /// lengths.
  func hasValues(of other: AttributeKind) -> Bool {
    type == other.type || (Self.numbers.contains(type) && Self.numbers.contains(other.type))
  }

  var isInteger: Bool {
    [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType].contains(type)
  }

  /// The editor's, and for a Boolean that has to have a value NO.
  func standardDefault(isOptional: Bool) -> String? {
    if isInteger { return "0" }
    return switch type {
    case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: "0.0"
    case .booleanAttributeType: isOptional ? nil : "NO"
    default: nil
    }
  }

  var standardTransformer: String? {
    type == .transformableAttributeType ? "NSSecureUnarchiveFromData" : nil
  }

  var standardScalar: String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "YES"
    case .dateAttributeType, .UUIDAttributeType: "NO"
    default: nil
    }
  }
}
