import Foundation

/// The keys of archived models, by class. A key that is in none of these sets is reported when a model is
/// read.
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
  /// A column that an expression computes.
  static let expression: Set<String> = property.union(["NSExpression", "NSExpressionType"])
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

/// `_P` of a property: its kind, and the keys that its archive does *not* have. In Apple's archives every bit
/// agrees with the keys beside it, and a reader that uses a bit skips the key, so no bit may mark an existing
/// key as absent.
struct PropertyFlags: OptionSet {
  let rawValue: Int64

  static let always = PropertyFlags(rawValue: 0x01)
  static let optional = PropertyFlags(rawValue: 0x02)
  static let readOnly = PropertyFlags(rawValue: 0x04)
  static let transient = PropertyFlags(rawValue: 0x08)
  static let spotlight = PropertyFlags(rawValue: 0x100)
  static let ordered = PropertyFlags(rawValue: 0x400)
  static let cloudEncrypted = PropertyFlags(rawValue: 0x800)

  /// Key → the bit that is set where the key is missing.
  static let absent: [(key: String, flag: PropertyFlags)] = [
    ("NSValidationPredicates", PropertyFlags(rawValue: 0x10)),
    ("NSValidationWarnings", PropertyFlags(rawValue: 0x20)),
    ("NSUserInfo", PropertyFlags(rawValue: 0x40)),
    ("NSVersionHashModifier", PropertyFlags(rawValue: 0x80)),
  ]
  /// Key → the bit that is set where the key exists.
  static let present: [(key: String, flag: PropertyFlags)] = [
    ("NSIsOptional", optional), ("NSIsReadOnly", readOnly), ("NSIsTransient", transient),
    ("NSIndexedBySpotlight", spotlight), ("NSIsOrdered", ordered),
    ("NSAllowsCloudEncryption", cloudEncrypted),
  ]

  init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  /// The flags for these keys.
  init(of keys: Set<String>) {
    self = .always
    for (key, flag) in Self.absent where !keys.contains(key) { insert(flag) }
    for (key, flag) in Self.present where keys.contains(key) { insert(flag) }
  }
}

/// `NSFetchRequestFlags`. Apple archives a request with default settings as 30; that shows the four bits that
/// are on by default. Which of them is which, and the other two, follow the order of the properties:
/// inferred, not proven.
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
