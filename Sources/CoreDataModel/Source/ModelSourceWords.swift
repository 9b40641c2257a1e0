/// The attributes and elements of model files. A keyword that is in none of these sets is reported when a
/// model is read.
enum ModelSourceWords {
  static let model: Set<String> = [
    "type", "documentVersion", "userDefinedModelVersionIdentifier", "lastSavedToolsVersion", "systemVersion",
    "minimumToolsVersion", "sourceLanguage", "macOSVersion", "iOSVersion", "name", "usedWithSwiftData",
    "usedWithCloudKit",
  ]
  /// `elements` is the diagram's layout.
  static let modelChildren: Set<String> = [
    "entity", "fetchRequest", "configuration", "composite", "elements",
  ]
  /// `syncable` belongs to Sync Services, which no longer exist.
  static let entity: Set<String> = [
    "name", "representedClassName", "parentEntity", "isAbstract", "codeGenerationType", "elementID",
    "versionHashModifier", "syncable",
  ]
  static let entityChildren: Set<String> = [
    "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
    "userInfo",
  ]
  static let property: Set<String> = [
    "name", "optional", "transient", "indexed", "spotlightIndexingEnabled", "storedInTruthFile", "elementID",
    "versionHashModifier", "syncable",
  ]
  static let attribute: Set<String> = property.union([
    "attributeType", "usesScalarValueType", "defaultValueString", "defaultDateTimeInterval", "minValueString",
    "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString",
    "valueTransformerName",
    "customClassName", "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "composite", "derived",
    "derivationExpression", "allowsCloudEncryption",
  ])
  static let relationship: Set<String> = property.union([
    "destinationEntity", "deletionRule", "inverseName", "inverseEntity", "toMany", "minCount", "maxCount",
    "ordered",
  ])
  static let fetchedProperty: Set<String> = property
  static let fetchIndexElement: Set<String> = [
    "property", "expression", "expressionType", "type", "order",
  ]
  static let fetchRequest: Set<String> = [
    "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "includeSubentities",
    "includesSubentities",
    "includePropertyValues", "includesPropertyValues", "includePendingChanges", "includesPendingChanges",
    "returnObjectsAsFaults", "returnsObjectsAsFaults", "returnDistinctResults", "returnsDistinctResults",
    "resultType",
  ]
}
