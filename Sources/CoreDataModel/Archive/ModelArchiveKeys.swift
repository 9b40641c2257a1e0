import Foundation

/// The keys of archived models, by class. A key that is in none of these sets is reported when a model is read.
enum ModelArchiveKeys {
  static let model: Set<String> = [
    "NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSConfigurations",
    "CDMCompilerToolVersion",
    "CDMCompilerXcodeVersion",
  ]
  static let entity: Set<String> = [
    "NSEntityName", "NSClassNameForEntity", "NSManagedObjectModel", "NSSuperentity", "NSSubentities",
    "NSProperties",
    "NSIsAbstract", "NSUserInfo", "NSVersionHashModifier", "NSRenamingIdentifier", "NSUniqueTuples",
    "NSFetchIndexDescriptions", "NSCompoundIndexes",
  ]
  static let property: Set<String> = [
    "NSPropertyName", "NSEntity", "NSRenamingIdentifier", "NSUserInfo", "NSVersionHashModifier",
    "NSIsOptional",
    "NSIsTransient", "NSIsReadOnly", "NSIsIndexed", "NSIndexedBySpotlight", "NSIsStoredInTruthFile",
    "NSValidationPredicates", "NSValidationWarnings", "_P",
  ]
  static let attribute: Set<String> = property.union([
    "NSAttributeType", "NSAttributeValueClassName", "NSDefaultValue", "NSValueTransformerName", "NSFlagsKey",
    "NSAllowsCloudEncryption",
  ])
  static let derivedAttribute: Set<String> = attribute.union([
    "NSDerivationExpression", "NSFilteringPredicate",
  ])
  static let compositeAttribute: Set<String> = attribute.union(["NSElements", "NSCompositeElements"])
  static let relationship: Set<String> = property.union([
    "NSDestinationEntity", "_NSDestinationEntityName", "NSInverseRelationship", "_NSInverseRelationshipName",
    "NSMinCount", "NSMaxCount", "NSDeleteRule", "NSIsOrdered",
  ])
  static let fetchedProperty: Set<String> = property.union(["NSFetchRequest", "_NSFetchRequestEntityName"])
  static let index: Set<String> = ["NSIndexName", "NSIndexElements", "NSEntity", "NSPartialIndexPredicate"]
  static let indexElement: Set<String> = [
    "NSPropertyName", "NSFetchIndexElementType", "NSAscending", "NSFetchIndexDescription",
    "NSIndexedProperty",
  ]
  static let fetchRequest: Set<String> = [
    "NSEntity", "NSPredicate", "NSSortDescriptors", "NSFetchLimit", "NSFetchOffset", "NSBatchSize",
    "NSResultType",
    "NSFetchRequestFlags", "NSHasFetchRequestFlags", "NSValuesToFetch", "NSValuesToGroupBy",
    "NSHavingPredicate",
    "NSRelationshipKeyPathsForPrefetching", "NSAllocationType",
  ]

  /// Bits of `NSFlagsKey`.
  static let externalStorageFlag = 4
  static let keptInHistoryFlag = 16
}

/// `NSFetchRequestFlags`. Apple archives a request with default settings as 30; that gives the four bits that are on by
/// default. Which of them is which, and the other two, follow the order of the properties: inferred, not proven.
struct FetchRequestFlags: OptionSet {
  var rawValue: Int

  static let distinct = FetchRequestFlags(rawValue: 1)
  static let subentities = FetchRequestFlags(rawValue: 2)
  static let propertyValues = FetchRequestFlags(rawValue: 4)
  static let faults = FetchRequestFlags(rawValue: 8)
  static let pendingChanges = FetchRequestFlags(rawValue: 16)
  static let refresh = FetchRequestFlags(rawValue: 32)

  init(rawValue: Int) {
    self.rawValue = rawValue
  }

  init(_ request: any AnyFetchRequest) {
    rawValue = 0
    if request.returnsDistinctResults { insert(.distinct) }
    if request.includesSubentities { insert(.subentities) }
    if request.includesPropertyValues { insert(.propertyValues) }
    if request.returnsObjectsAsFaults { insert(.faults) }
    if request.includesPendingChanges { insert(.pendingChanges) }
    if request.shouldRefreshRefetchedObjects { insert(.refresh) }
  }

  func apply(to request: any AnyFetchRequest) {
    request.returnsDistinctResults = contains(.distinct)
    request.includesSubentities = contains(.subentities)
    request.includesPropertyValues = contains(.propertyValues)
    request.returnsObjectsAsFaults = contains(.faults)
    request.includesPendingChanges = contains(.pendingChanges)
    request.shouldRefreshRefetchedObjects = contains(.refresh)
  }
}
