import CoreDataArchives
import CoreDataPredicates
import Foundation

extension ModelArchiveWriter {
  private static let propertyClasses = ["NSPropertyDescription", "NSObject"]

  /// Writes a property of `entity`: the one that declares it, or in a cache one that inherits it; nil for a
  /// property without entity.
  mutating func write(
    _ property: NSPropertyDescription, of entity: NSEntityDescription?, at index: Int
  ) throws {
    var fields = try commonFields(property, of: entity)
    let classes: [String]
    switch property {
    case let property as NSDerivedAttributeDescription:
      classes = ["NSDerivedAttributeDescription", "NSAttributeDescription"]
      try addAttributeFields(property, to: &fields)
      try addDerivationFields(property, to: &fields)
    case let property as NSCompositeAttributeDescription:
      classes = ["NSCompositeAttributeDescription", "NSAttributeDescription"]
      try addAttributeFields(property, to: &fields)
      var elements: [PlistNode] = []
      for element in property.elements {
        let place = archive.reserve()
        try write(element, of: nil, at: place)
        elements.append(.uid(place))
      }
      fields["NSElements"] = archive.array(elements)
    case let property as NSAttributeDescription:
      classes = ["NSAttributeDescription"]
      try addAttributeFields(property, to: &fields)
    case let property as NSRelationshipDescription:
      classes = ["NSRelationshipDescription"]
      addRelationshipFields(property, to: &fields)
    case let property as NSFetchedPropertyDescription:
      classes = ["NSFetchedPropertyDescription"]
      fields["NSIsTransient"] = .boolean(true)
      fields["NSIsReadOnly"] = .boolean(true)
      if let request = property.fetchRequest {
        fields["NSFetchRequest"] = try write(request, label: property.label)
        fields["_NSFetchRequestEntityName"] = archive.string(request.entityName)
      }
    case let property as NSExpressionDescription:
      classes = ["NSExpressionDescription"]
      fields["NSIsReadOnly"] = .boolean(true)
      fields["NSEntity"] = KeyedArchiveWriter.null
      fields["NSExpressionType"] = .integer(Int64(property.expressionResultType.rawValue))
      let writer = PredicateArchiveWriter(label: property.label, isForModels: true)
      fields["NSExpression"] =
        try property.expression.map { try writer.write($0.expressionNode(), to: &archive) }
        ?? KeyedArchiveWriter.null
    default:
      throw ModelFileError(
        file: "model archive",
        reason: "\(property.label) is a \(type(of: property)), which a stored entity can't have.")
    }
    fields["_P"] = .integer(PropertyFlags(of: Set(fields.keys)).rawValue)
    archive.fill(index, classes + Self.propertyClasses, fields)
  }

  private mutating func commonFields(
    _ property: NSPropertyDescription, of entity: NSEntityDescription?
  ) throws -> [String: PlistNode] {
    var fields: [String: PlistNode] = [
      "NSPropertyName": archive.string(property.name),
      "NSRenamingIdentifier": archive.string(property.renamingIdentifier),
    ]
    if let entity { fields["NSEntity"] = reference(to: entity) }
    if property.isOptional { fields["NSIsOptional"] = .boolean(true) }
    if property.isTransient { fields["NSIsTransient"] = .boolean(true) }
    if property.isIndexed { fields["NSIsIndexed"] = .boolean(true) }
    if property.isIndexedBySpotlight { fields["NSIndexedBySpotlight"] = .boolean(true) }
    if let modifier = property.versionHashModifier {
      fields["NSVersionHashModifier"] = archive.string(modifier)
    }
    if let info = property.userInfo, !info.isEmpty {
      fields["NSUserInfo"] = try archive.value(info, of: property.label)
    }
    if !property.validationPredicates.isEmpty {
      let writer = PredicateArchiveWriter(label: property.label, isForModels: true)
      let rules = try property.validationPredicates.map { try writer.write($0, to: &archive) }
      fields["NSValidationPredicates"] = archive.array(rules, mutable: true)
      let warnings = try property.validationWarnings.map { try archive.value($0, of: property.label) }
      fields["NSValidationWarnings"] = archive.array(warnings, mutable: true)
    }
    return fields
  }

  private mutating func addAttributeFields(
    _ attribute: NSAttributeDescription, to fields: inout [String: PlistNode]
  ) throws {
    fields["NSAttributeType"] = .integer(Int64(attribute.attributeType.rawValue))
    fields["NSAttributeValueClassName"] = archive.string(attribute.attributeValueClassName)
    fields["NSDefaultValue"] = try archive.value(attribute.defaultValue, of: attribute.label)
    fields["NSValueTransformerName"] = archive.string(attribute.valueTransformerName)
    var flags = 0
    if attribute.allowsExternalBinaryDataStorage { flags |= ModelArchiveKeys.externalStorageFlag }
    if attribute.preservesValueInHistoryOnDeletion { flags |= ModelArchiveKeys.keptInHistoryFlag }
    fields["NSFlagsKey"] = .integer(Int64(flags))
    if attribute.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
  }

  private mutating func addDerivationFields(
    _ attribute: NSDerivedAttributeDescription, to fields: inout [String: PlistNode]
  ) throws {
    fields["NSIsReadOnly"] = .boolean(true)
    let writer = PredicateArchiveWriter(label: attribute.label, isForModels: true)
    if let expression = attribute.derivationExpression {
      fields["NSDerivationExpression"] = try writer.write(expression.expressionNode(), to: &archive)
    }
    fields["NSFilteringPredicate"] = try writer.write(attribute.filteringPredicate, to: &archive)
  }

  private mutating func addRelationshipFields(
    _ relationship: NSRelationshipDescription, to fields: inout [String: PlistNode]
  ) {
    fields["NSDestinationEntity"] = reference(to: relationship.destinationEntity)
    fields["_NSDestinationEntityName"] = archive.string(relationship.destinationEntityName)
    fields["NSInverseRelationship"] = inverse(of: relationship)
    fields["_NSInverseRelationshipName"] = archive.string(relationship.inverseRelationshipName)
    fields["NSMinCount"] = .integer(Int64(relationship.minCount))
    fields["NSMaxCount"] = .integer(Int64(relationship.maxCount))
    fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
    if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
  }
}
