import CoreDataArchives
import CoreDataPredicates
import Foundation

extension ModelArchiveReader {
  func readProperty(_ record: KeyedArchive.Record, of entity: String, depth: Int = 0) throws
    -> NSPropertyDescription
  {
    guard depth < 16 else {
      throw PlistError("composite attributes of entity '\(entity)' nest deeper than 16")
    }
    guard let name = try string(record, "NSPropertyName"), !name.isEmpty else {
      throw PlistError("entity '\(entity)' has a property without a name")
    }
    let label = "'\(name)' of entity '\(entity)'"
    let property: NSPropertyDescription
    let known: Set<String>
    switch record.className {
    case "NSDerivedAttributeDescription":
      let derived = NSDerivedAttributeDescription()
      try readDerivation(record, into: derived, label: label)
      (property, known) = (derived, ModelArchiveKeys.derivedAttribute)
    case "NSCompositeAttributeDescription":
      let composite = NSCompositeAttributeDescription()
      try readElements(record, into: composite, of: entity, depth: depth)
      (property, known) = (composite, ModelArchiveKeys.compositeAttribute)
    case "NSRelationshipDescription":
      (property, known) = (NSRelationshipDescription(), ModelArchiveKeys.relationship)
    case "NSFetchedPropertyDescription":
      (property, known) = (NSFetchedPropertyDescription(), ModelArchiveKeys.fetchedProperty)
    case "NSAttributeDescription":
      (property, known) = (NSAttributeDescription(), ModelArchiveKeys.attribute)
    default:
      throw PlistError("\(label) is a \(record.className), which is no kind of property")
    }
    property.name = name
    note(record, known: known, label)
    property.isOptional = bool(record, "NSIsOptional")
    property.storedIsTransient = bool(record, "NSIsTransient")
    property.isIndexed = bool(record, "NSIsIndexed")
    property.isIndexedBySpotlight = bool(record, "NSIndexedBySpotlight")
    property.isStoredInExternalRecord = bool(record, "NSIsStoredInTruthFile")
    property.versionHashModifier = try string(record, "NSVersionHashModifier")
    property.storedRenamingIdentifier = try renamingIdentifier(record, name: name)
    property.userInfo = try userInfo(record)
    try readValidation(record, into: property, label: label)
    if let attribute = property as? NSAttributeDescription {
      try readAttribute(record, into: attribute, label: label)
    } else if let relationship = property as? NSRelationshipDescription {
      try readRelationship(record, into: relationship, label: label)
    }
    return property
  }

  private func readAttribute(
    _ record: KeyedArchive.Record, into attribute: NSAttributeDescription, label: String
  ) throws {
    let code = try integer(record, "NSAttributeType", label) ?? 0
    guard code >= 0, let type = NSAttributeType(rawValue: UInt(code)) else {
      throw PlistError("\(label) has the unknown attribute type \(code)")
    }
    attribute.attributeType = type
    if let name = try string(record, "NSAttributeValueClassName"), name != type.valueClassName {
      attribute.explicitValueClassName = name
    }
    attribute.defaultValue = try values.value(record.fields["NSDefaultValue"])
    attribute.valueTransformerName = try string(record, "NSValueTransformerName")
    let flags = try integer(record, "NSFlagsKey", label) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & ModelArchiveKeys.externalStorageFlag != 0
    attribute.preservesValueInHistoryOnDeletion = flags & ModelArchiveKeys.keptInHistoryFlag != 0
    attribute.allowsCloudEncryption = bool(record, "NSAllowsCloudEncryption")
    let unknown = flags & ~(ModelArchiveKeys.externalStorageFlag | ModelArchiveKeys.keptInHistoryFlag)
    if unknown != 0 { warn("\(label) has unknown bits in its flags: \(unknown)") }
  }

  private func readElements(
    _ record: KeyedArchive.Record, into composite: NSCompositeAttributeDescription, of entity: String,
    depth: Int
  ) throws {
    guard let node = record.fields["NSElements"] ?? record.fields["NSCompositeElements"],
      let index = try archive.index(node), let list = try archive.record(at: index)
    else { return }
    let members: [PlistNode]
    if list.isKind(of: "NSDictionary") {
      members = try archive.pairs(list).map(\.value)
    } else if case .array(let elements) = try archive.resolve(list.fields["NS.objects"]) {
      members = elements
    } else {
      throw PlistError("a composite attribute of entity '\(entity)' has no list of elements")
    }
    composite.elements = try members.map { member in
      guard let index = try archive.index(member), let element = try archive.record(at: index),
        let attribute = try readProperty(element, of: entity, depth: depth + 1) as? NSAttributeDescription
      else {
        throw PlistError("a composite attribute of entity '\(entity)' has an element that is no attribute")
      }
      return attribute
    }
  }

  private func readRelationship(
    _ record: KeyedArchive.Record, into relationship: NSRelationshipDescription, label: String
  ) throws {
    relationship.minCount = try integer(record, "NSMinCount", label) ?? 0
    relationship.maxCount = try integer(record, "NSMaxCount", label) ?? 0
    relationship.isOrdered = bool(record, "NSIsOrdered")
    let code = try integer(record, "NSDeleteRule", label) ?? 1
    guard code >= 0, let rule = NSDeleteRule(rawValue: UInt(code)) else {
      throw PlistError("\(label) has the unknown delete rule \(code)")
    }
    relationship.deleteRule = rule
  }

  private func readValidation(
    _ record: KeyedArchive.Record, into property: NSPropertyDescription, label: String
  ) throws {
    guard let index = try archive.index(record.fields["NSValidationPredicates"]),
      let list = try archive.record(at: index),
      case .array(let members) = try archive.resolve(list.fields["NS.objects"])
    else { return }
    let rules = try members.map { try predicates.predicate($0, of: label) }
    let warnings = try values.value(record.fields["NSValidationWarnings"]) as? [Any] ?? []
    property.setValidation(rules, warnings: warnings)
  }

  private func readDerivation(
    _ record: KeyedArchive.Record, into attribute: NSDerivedAttributeDescription, label: String
  ) throws {
    if let node = record.fields["NSDerivationExpression"], try archive.index(node) != nil {
      attribute.derivationExpression = try predicates.expression(node, of: label)
    }
    if let node = record.fields["NSFilteringPredicate"], try archive.index(node) != nil {
      attribute.filteringPredicate = try predicates.predicate(node, of: label)
    }
  }
}
