import CoreDataArchives
import CoreDataPredicates
import Foundation

/// Compares descriptions by content and names each difference, which explains a failed round trip. Other
/// entities and inverses are compared by name, which keeps cyclic graphs finite.
package enum ModelComparison {
  package static func differences(_ left: NSManagedObjectModel, _ right: NSManagedObjectModel) -> [String] {
    var list = DifferenceList(path: "model")
    list.compare(
      "entities", left.storedEntities.compactMap(\.name).sorted(),
      right.storedEntities.compactMap(\.name).sorted())
    list.compare(
      "configurations", left.entityNamesByConfiguration.mapValues(Set.init),
      right.entityNamesByConfiguration.mapValues(Set.init))
    list.compare("version identifiers", left.versionIdentifiers, right.versionIdentifiers)
    // Words of a file beside the model's are no part of it.
    list.compare("localization", left.setLocalization, right.setLocalization)
    list.compare("template names", left.templates.keys.sorted(), right.templates.keys.sorted())
    for (name, template) in left.templates.sorted(by: { $0.key < $1.key }) {
      guard let other = right.templates[name] else { continue }
      list.add(under: "template '\(name)'", differences(template, other))
    }
    let byName = right.entitiesByName
    for entity in left.storedEntities {
      guard let other = byName[entity.name ?? ""] else { continue }
      list.found += differences(entity, other)
    }
    return list.found
  }

  package static func differences(_ left: NSEntityDescription, _ right: NSEntityDescription) -> [String] {
    var list = DifferenceList(path: "entity '\(left.name ?? "")'")
    list.compare("name", left.name, right.name)
    list.compare("class", left.managedObjectClassName, right.managedObjectClassName)
    list.compare("abstract", left.isAbstract, right.isAbstract)
    list.compare("parent", left.superentity?.name, right.superentity?.name)
    list.compare(
      "sub-entities", left.storedSubentities.compactMap(\.name).sorted(),
      right.storedSubentities.compactMap(\.name).sorted())
    list.compare("constraints", left.uniquenessConstraintNames, right.uniquenessConstraintNames)
    list.compare("compound indexes", left.compoundIndexNames, right.compoundIndexNames)
    list.compare("renaming identifier", left.renamingIdentifier, right.renamingIdentifier)
    list.compare("hash modifier", left.versionHashModifier, right.versionHashModifier)
    list.compareValues("user info", left.userInfo ?? [:], right.userInfo ?? [:])
    list.compare(
      "properties", left.ownProperties.map(\.name).sorted(), right.ownProperties.map(\.name).sorted())
    let byName = Dictionary(
      right.ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for property in left.ownProperties {
      guard let other = byName[property.name] else { continue }
      list.found += differences(property, other)
    }
    list.compare("indexes", left.indexes.map(\.name).sorted(), right.indexes.map(\.name).sorted())
    for index in left.indexes {
      guard let other = right.indexes.first(where: { $0.name == index.name }) else { continue }
      list.add(under: "entity '\(left.name ?? "")'", differences(index, other))
    }
    return list.found
  }

  package static func differences(_ left: NSFetchIndexDescription, _ right: NSFetchIndexDescription)
    -> [String]
  {
    var list = DifferenceList(path: "index '\(left.name)'")
    list.compare("name", left.name, right.name)
    list.compare("elements", left.elements, right.elements)
    list.compare("predicate", text(left.partialIndexPredicate), text(right.partialIndexPredicate))
    return list.found
  }

  package static func differences(_ left: NSPropertyDescription, _ right: NSPropertyDescription) -> [String] {
    var list = DifferenceList(path: left.label)
    list.compare("kind", "\(Swift.type(of: left))", "\(Swift.type(of: right))")
    list.compare("name", left.name, right.name)
    list.compare("optional", left.isOptional, right.isOptional)
    list.compare("transient", left.isTransient, right.isTransient)
    list.compare("indexed", left.isIndexed, right.isIndexed)
    list.compare("Spotlight", left.isIndexedBySpotlight, right.isIndexedBySpotlight)
    list.compare("external record", left.isStoredInExternalRecord, right.isStoredInExternalRecord)
    list.compare("hash modifier", left.versionHashModifier, right.versionHashModifier)
    list.compare("renaming identifier", left.renamingIdentifier, right.renamingIdentifier)
    list.compareValues("user info", left.userInfo ?? [:], right.userInfo ?? [:])
    list.compare(
      "validation", left.validationPredicates.map { text($0) }, right.validationPredicates.map { text($0) })
    list.compare(
      "validation warnings", left.validationWarnings.map { "\($0)" }, right.validationWarnings.map { "\($0)" }
    )
    if let left = left as? NSAttributeDescription, let right = right as? NSAttributeDescription {
      compareAttributes(left, right, into: &list)
    }
    if let left = left as? NSRelationshipDescription, let right = right as? NSRelationshipDescription {
      list.compare("destination", left.destinationEntityName, right.destinationEntityName)
      list.compare("inverse", left.inverseRelationshipName, right.inverseRelationshipName)
      list.compare("minimum count", left.minCount, right.minCount)
      list.compare("maximum count", left.maxCount, right.maxCount)
      list.compare("delete rule", left.deleteRule, right.deleteRule)
      list.compare("ordered", left.isOrdered, right.isOrdered)
    }
    if let left = left as? NSFetchedPropertyDescription, let right = right as? NSFetchedPropertyDescription {
      switch (left.fetchRequest, right.fetchRequest) {
      case (nil, nil): break
      case (let left?, let right?): list.add(under: list.path, differences(left, right))
      default: list.found.append("\(list.path): only one has a fetch request")
      }
    }
    if let left = left as? NSExpressionDescription, let right = right as? NSExpressionDescription {
      list.compare("result type", left.expressionResultType, right.expressionResultType)
      list.compare("expression", left.expression?.expressionNode(), right.expression?.expressionNode())
    }
    return list.found
  }

  private static func compareAttributes(
    _ left: NSAttributeDescription, _ right: NSAttributeDescription, into list: inout DifferenceList
  ) {
    list.compare("type", left.attributeType, right.attributeType)
    list.compare("value class", left.attributeValueClassName, right.attributeValueClassName)
    list.compareValues("default", left.defaultValue, right.defaultValue)
    list.compare("transformer", left.valueTransformerName, right.valueTransformerName)
    list.compare(
      "external storage", left.allowsExternalBinaryDataStorage, right.allowsExternalBinaryDataStorage)
    list.compare(
      "kept in history", left.preservesValueInHistoryOnDeletion, right.preservesValueInHistoryOnDeletion)
    list.compare("cloud encryption", left.allowsCloudEncryption, right.allowsCloudEncryption)
    if let left = left as? NSCompositeAttributeDescription,
      let right = right as? NSCompositeAttributeDescription
    {
      list.compare("elements", left.elements.map(\.name), right.elements.map(\.name))
      for (element, other) in zip(left.elements, right.elements) {
        list.add(under: list.path, differences(element, other))
      }
    }
  }

  package static func differences(_ left: any AnyFetchRequest, _ right: any AnyFetchRequest) -> [String] {
    var list = DifferenceList(path: "fetch request")
    list.compare("entity", left.entityName, right.entityName)
    list.compare("predicate", text(left.predicate), text(right.predicate))
    list.compare("sort descriptors", left.sortDescriptors ?? [], right.sortDescriptors ?? [])
    list.compare("limit", left.fetchLimit, right.fetchLimit)
    list.compare("offset", left.fetchOffset, right.fetchOffset)
    list.compare("batch size", left.fetchBatchSize, right.fetchBatchSize)
    list.compare("result type", left.resultType, right.resultType)
    list.compare("sub-entities", left.includesSubentities, right.includesSubentities)
    list.compare("property values", left.includesPropertyValues, right.includesPropertyValues)
    list.compare("faults", left.returnsObjectsAsFaults, right.returnsObjectsAsFaults)
    list.compare("pending changes", left.includesPendingChanges, right.includesPendingChanges)
    list.compare("distinct", left.returnsDistinctResults, right.returnsDistinctResults)
    list.compare("refresh", left.shouldRefreshRefetchedObjects, right.shouldRefreshRefetchedObjects)
    list.compare("columns", names(left.propertiesToFetch), names(right.propertiesToFetch))
    list.compare("groups", names(left.propertiesToGroupBy), names(right.propertiesToGroupBy))
    list.compare("having", text(left.havingPredicate), text(right.havingPredicate))
    list.compare(
      "prefetching", left.relationshipKeyPathsForPrefetching ?? [],
      right.relationshipKeyPathsForPrefetching ?? [])
    return list.found
  }

  private static func names(_ properties: [Any]?) -> [String] {
    (properties ?? []).map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
  }

  static func text(_ predicate: NSPredicate?) -> String? {
    predicate.map { $0.formatText }
  }
}

struct DifferenceList {
  var path: String
  var found: [String] = []

  mutating func compare<T: Equatable>(_ what: String, _ left: T?, _ right: T?) {
    if left != right {
      found.append(
        "\(path): \(what) is \(left.map { "\($0)" } ?? "nothing") here, "
          + "\(right.map { "\($0)" } ?? "nothing") there")
    }
  }

  /// Compares property-list values. Decimals are compared as `Decimal`, because hashing or bridging an
  /// `NSDecimalNumber` is broken in Linux Foundation.
  mutating func compareValues(_ what: String, _ left: Any?, _ right: Any?) {
    if !PlistValue.areEqual(left, right) {
      found.append(
        "\(path): \(what) is \(left.map { "\($0)" } ?? "nil") here, \(right.map { "\($0)" } ?? "nil") there")
    }
  }

  mutating func add(under path: String, _ more: [String]) {
    found += more.map { "\(path): \($0)" }
  }
}
