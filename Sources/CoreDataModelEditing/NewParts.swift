import CoreDataModel
import Foundation

// Entities and properties as Xcode's editor writes new ones.

package struct NewEntity: Sendable {
  package var name: String
  package var parent: String?
  package var isAbstract: Bool = false
  /// The name of the entity, unless given.
  package var className: String?
  /// `class`, `category`, or nil for classes by hand.
  package var codeGeneration: String? = "class"

  package init(name: String) { self.name = name }

  var element: SourceElement {
    SourceElement(
      "entity",
      [
        ("name", name), ("representedClassName", className ?? name), ("isAbstract", isAbstract ? "YES" : nil),
        ("parentEntity", parent), ("syncable", "YES"), ("codeGenerationType", codeGeneration),
      ])
  }
}

package struct NewAttribute: Sendable {
  package var name: String
  package var type: NSAttributeType
  package var isOptional: Bool = true
  package var isTransient: Bool = false
  /// As text; of dates as ISO 8601 or seconds since 2001.
  package var defaultValue: String?
  package var minimum: String?
  package var maximum: String?
  package var pattern: String?
  package var valueTransformer: String?
  package var allowsExternalStorage: Bool = false
  package var isIndexed: Bool = false
  package var isUnique: Bool = false
  /// The name that it had in earlier versions.
  package var renamingIdentifier: String?

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
    for (setting, types) in settings where !types.contains(type) {
      let names: String = Self.typesByName.filter { types.contains($0.type) }.map(\.name).prefix(types.count)
        .joined(separator: ", ")
      throw failure(
        "'\(name)' is of type \(type.editorName), which can't have \(setting); only these have: \(names).")
    }
    let isDate: Bool = type == .dateAttributeType
    let (least, most, initial) = try (
      isDate ? Self.seconds(minimum, failure) : minimum, isDate ? Self.seconds(maximum, failure) : maximum,
      isDate ? Self.seconds(defaultValue, failure) : defaultValue ?? standardDefault
    )
    return SourceElement(
      "attribute",
      [
        ("name", name), ("optional", isOptional ? "YES" : nil), ("transient", isTransient ? "YES" : nil),
        ("attributeType", type.editorName), ("minDateTimeInterval", isDate ? least : nil),
        ("minValueString", isDate ? nil : least), ("defaultDateTimeInterval", isDate ? initial : nil),
        ("valueTransformerName", valueTransformer ?? standardTransformer),
        ("maxDateTimeInterval", isDate ? most : nil), ("maxValueString", isDate ? nil : most),
        ("defaultValueString", isDate ? nil : initial), ("usesScalarValueType", scalar),
        ("allowsExternalBinaryDataStorage", allowsExternalStorage ? "YES" : nil),
        ("regularExpressionString", pattern), ("elementID", renamingIdentifier),
      ])
  }

  /// What was given of that which only some types have, with these types.
  private var settings: [(setting: String, types: Set<NSAttributeType>)] {
    let numbers: Set<NSAttributeType> = [
      .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType,
    ]
    let bounded: Set<NSAttributeType> = numbers.union([.stringAttributeType, .dateAttributeType])
    let all: [(String, Bool, Set<NSAttributeType>)] = [
      (
        "a default value", defaultValue != nil,
        bounded.union([.booleanAttributeType, .UUIDAttributeType, .URIAttributeType])
      ),
      ("a minimum", minimum != nil, bounded), ("a maximum", maximum != nil, bounded),
      ("a pattern", pattern != nil, [.stringAttributeType]),
      ("a value transformer", valueTransformer != nil, [.transformableAttributeType]),
      (
        "external storage", allowsExternalStorage, [.binaryDataAttributeType, .transformableAttributeType]
      ),
    ]
    return all.filter(\.1).map { ($0.0, $0.2) }
  }

  /// The editor's, and for a Boolean that has to have a value NO.
  private var standardDefault: String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "0"
    case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: "0.0"
    case .booleanAttributeType: isOptional ? nil : "NO"
    default: nil
    }
  }

  private var standardTransformer: String? {
    type == .transformableAttributeType ? "NSSecureUnarchiveFromData" : nil
  }

  private var scalar: String? {
    switch type {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "YES"
    case .dateAttributeType, .UUIDAttributeType: "NO"
    default: nil
    }
  }

  private static func seconds(_ text: String?, _ failure: (String) -> ModelFileError) throws -> String? {
    guard let text else { return nil }
    if Double(text)?.isFinite == true { return text }
    let format = ISO8601DateFormatter()
    for options: ISO8601DateFormatter.Options in [.withFullDate, .withInternetDateTime] {
      format.formatOptions = options
      // A day with something behind it is no day.
      if let date = format.date(from: text), options != .withFullDate || text.utf8.count == 10 {
        return "\(Int64(date.timeIntervalSinceReferenceDate))"
      }
    }
    throw failure(
      "'\(text)' is no date: write 2026-12-01, 2026-12-01T09:30:00Z, or the seconds since 2001.")
  }
}

package struct NewRelationship: Sendable {
  /// What each side of a pair has.
  package struct Side: Sendable {
    package var name: String
    package var isToMany: Bool = false
    package var isOrdered: Bool = false
    package var isOptional: Bool = true
    package var minimum: Int?
    package var maximum: Int?
    package var rule: NSDeleteRule = .nullifyDeleteRule

    package init(name: String) { self.name = name }
  }

  package var destination: String
  package var side: Side
  package var inverse: Side?

  package var name: String { side.name }

  package init(_ side: Side, to destination: String, inverse: Side? = nil) {
    self.side = side
    self.destination = destination
    self.inverse = inverse
  }

  var element: SourceElement { Self.element(side, to: destination, inverse: inverse?.name) }

  /// Of the inverse, which leads to `entity`.
  func element(of inverse: Side, to entity: String) -> SourceElement {
    Self.element(inverse, to: entity, inverse: name)
  }

  private static func element(_ side: Side, to destination: String, inverse: String?) -> SourceElement {
    SourceElement(
      "relationship",
      [
        ("name", side.name), ("optional", side.isOptional ? "YES" : nil),
        ("toMany", side.isToMany ? "YES" : nil), ("minCount", side.minimum.map { "\($0)" }),
        ("maxCount", side.isToMany ? side.maximum.map { "\($0)" } : "1"),
        ("deletionRule", side.rule.editorName), ("ordered", side.isOrdered ? "YES" : nil),
        ("destinationEntity", destination), ("inverseName", inverse),
        ("inverseEntity", inverse == nil ? nil : destination),
      ])
  }
}

extension SourceElement {
  /// An element without content as the editor writes it; attributes without a value are left out.
  init(_ name: String, _ attributes: [(String, String?)]) {
    self.init(
      name: name, attributes: attributes.compactMap { key, value in value.map { SourceAttribute(key, $0) } },
      startEnd: "/>", content: [], end: "")
  }
}
