import CoreDataModel
import CoreDataPredicates
import Foundation

/// The description of an entity, as JSON and as tables, for `info` and `model show`.
struct EntityFacts {
  let entity: NSEntityDescription

  var name: String { entity.name ?? "" }

  private var attributes: [NSAttributeDescription] {
    entity.properties.compactMap { $0 as? NSAttributeDescription }.sorted { $0.name < $1.name }
  }

  private var relationships: [NSRelationshipDescription] {
    entity.properties.compactMap { $0 as? NSRelationshipDescription }.sorted { $0.name < $1.name }
  }

  private var fetchedProperties: [NSFetchedPropertyDescription] {
    entity.properties.compactMap { $0 as? NSFetchedPropertyDescription }.sorted { $0.name < $1.name }
  }

  // MARK: JSON

  /// The keys after `name` (and `count`).
  var json: [(String, JSONText)] {
    [
      ("abstract", .bool(entity.isAbstract)),
      ("superentity", .optional(entity.superentity?.name)),
      ("subentities", .strings(entity.subentities.compactMap(\.name).sorted())),
      ("class", .string(entity.managedObjectClassName)),
      ("attributes", .array(attributes.map(json))),
      ("relationships", .array(relationships.map(json))),
      ("fetchedProperties", .array(fetchedProperties.map(json))),
      ("uniquenessConstraints", .array(entity.uniquenessConstraintNames.map { .strings($0) })),
      ("indexes", .array(entity.indexes.map(json))),
      ("renamingIdentifier", .optional(entity.renamingIdentifier)),
      ("versionHashModifier", .optional(entity.versionHashModifier)),
      ("userInfo", PropertyListJSON.object(entity.userInfo)),
      ("versionHash", .string(Self.hex(entity.versionHash))),
    ]
  }

  private func json(_ attribute: NSAttributeDescription) -> JSONText {
    var entries: [(String, JSONText)] = [
      ("name", .string(attribute.name)),
      ("type", .string(attribute.attributeType.editorName)),
      ("optional", .bool(attribute.isOptional)),
      ("transient", .bool(attribute.isTransient)),
    ]
    if attribute.entity !== entity { entries.append(("inheritedFrom", .optional(attribute.entity?.name))) }
    if let value = attribute.defaultValue { entries.append(("default", PropertyListJSON.value(value))) }
    if let derived = attribute as? NSDerivedAttributeDescription {
      entries.append(("derivation", .optional(derived.derivationExpression.map { $0.description })))
    }
    entries += AttributeRule.json(AttributeRule.all(of: attribute))
    if let name = attribute.valueTransformerName { entries.append(("valueTransformer", .string(name))) }
    if attribute.attributeType == .transformableAttributeType {
      entries.append(("valueClass", .optional(attribute.attributeValueClassName)))
    }
    if attribute.allowsExternalBinaryDataStorage { entries.append(("externalStorage", .bool(true))) }
    if attribute.preservesValueInHistoryOnDeletion { entries.append(("preservedAfterDeletion", .bool(true))) }
    appendCommon(attribute, to: &entries)
    return .object(entries)
  }

  private func json(_ relationship: NSRelationshipDescription) -> JSONText {
    var entries: [(String, JSONText)] = [
      ("name", .string(relationship.name)),
      ("destination", .optional(relationship.destinationEntity?.name)),
      ("toMany", .bool(relationship.isToMany)),
      ("ordered", .bool(relationship.isOrdered)),
      ("inverse", .optional(relationship.inverseRelationship?.name)),
      ("deleteRule", .string(relationship.deleteRule.editorName)),
      ("minCount", .integer(Int64(relationship.minCount))),
      ("maxCount", .integer(Int64(relationship.maxCount))),
      ("optional", .bool(relationship.isOptional)),
      ("transient", .bool(relationship.isTransient)),
    ]
    if relationship.entity !== entity {
      entries.append(("inheritedFrom", .optional(relationship.entity?.name)))
    }
    appendCommon(relationship, to: &entries)
    return .object(entries)
  }

  private func json(_ property: NSFetchedPropertyDescription) -> JSONText {
    .object([
      ("name", .string(property.name)),
      ("destination", .optional(property.fetchRequest?.entityName)),
      ("predicate", .optional(property.fetchRequest?.predicate?.formatText)),
    ])
  }

  private func json(_ index: NSFetchIndexDescription) -> JSONText {
    .object([
      ("name", .string(index.name)),
      (
        "elements",
        .array(
          index.elements.map { element in
            .object([
              ("property", .optional(element.propertyName)), ("ascending", .bool(element.isAscending)),
              ("type", .string(element.collationType == .rTree ? "RTree" : "Binary")),
            ])
          })
      ),
    ])
  }

  private func appendCommon(_ property: NSPropertyDescription, to entries: inout [(String, JSONText)]) {
    if property.renamingIdentifier != property.name {
      entries.append(("renamingIdentifier", .optional(property.renamingIdentifier)))
    }
    if let modifier = property.versionHashModifier {
      entries.append(("versionHashModifier", .string(modifier)))
    }
    if let info = property.userInfo, !info.isEmpty {
      entries.append(("userInfo", PropertyListJSON.object(info)))
    }
  }

  static func hex(_ data: Data) -> String {
    data.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  // MARK: Tables

  /// A heading and one line a property. `count` is nil where there is no store.
  func write(count: Int?, to output: StandardOutput) throws {
    var heading: String = DisplayWidth.escaped(name)
    var remarks: [String] = []
    if let count { remarks.append(count == 1 ? "1 row" : "\(count) rows") }
    if entity.isAbstract { remarks.append("abstract") }
    if let parent = entity.superentity?.name { remarks.append("a kind of \(DisplayWidth.escaped(parent))") }
    if !remarks.isEmpty { heading += " (\(remarks.joined(separator: ", ")))" }
    try output.writeLine(heading)
    if entity.properties.isEmpty { return }
    var table = TextTable(
      [.init(title: "Property"), .init(title: "Type"), .init(title: "Remarks", widest: 400)], indent: "  ")
    for attribute in attributes { try table.add(cells(attribute), to: output) }
    for relationship in relationships { try table.add(cells(relationship), to: output) }
    for property in fetchedProperties {
      try table.add(
        [
          property.name, "fetched → \(property.fetchRequest?.entityName ?? "?")",
          property.fetchRequest?.predicate?.formatText ?? "",
        ], to: output)
    }
    try table.finish(output)
    for constraint in entity.uniquenessConstraintNames {
      try output.writeLine("  unique: " + DisplayWidth.escaped(constraint.joined(separator: ", ")))
    }
    for index in entity.indexes {
      try output.writeLine("  index " + DisplayWidth.escaped("\(index.name): \(index.contentInWords)"))
    }
  }

  private func cells(_ attribute: NSAttributeDescription) -> [String] {
    var remarks: [String] = []
    if !attribute.isOptional { remarks.append("required") }
    if attribute.isTransient { remarks.append("transient") }
    if let value = attribute.defaultValue {
      remarks.append("default \(PropertyListJSON.value(value).compact)")
    }
    if let derived = attribute as? NSDerivedAttributeDescription {
      remarks.append("derived \(derived.derivationExpression.map { $0.description } ?? "")")
    }
    remarks += AttributeRule.all(of: attribute).map(\.words)
    if let transformer = attribute.valueTransformerName { remarks.append("by \(transformer)") }
    if attribute.allowsExternalBinaryDataStorage { remarks.append("external storage") }
    return [attribute.name, attribute.attributeType.editorName, remarks.joined(separator: ", ")]
  }

  private func cells(_ relationship: NSRelationshipDescription) -> [String] {
    let arity: String =
      relationship.isToMany ? (relationship.isOrdered ? "to-many, ordered" : "to-many") : "to-one"
    var remarks: [String] = [arity]
    if !relationship.isOptional { remarks.append("required") }
    if relationship.isToMany, relationship.minCount > 0 {
      remarks.append("at least \(relationship.minCount)")
    }
    if relationship.isToMany, relationship.maxCount > 0 { remarks.append("at most \(relationship.maxCount)") }
    if relationship.isTransient { remarks.append("transient") }
    remarks.append(
      relationship.inverseRelationship.map { "inverse \($0.name)" } ?? "no inverse")
    remarks.append("on delete \(relationship.deleteRule.editorName)")
    return [
      relationship.name, "→ \(relationship.destinationEntity?.name ?? "?")", remarks.joined(separator: ", "),
    ]
  }
}
