/// What an element of a model's source may have.
///
/// The one list of the format: the reader reports what is not in it, and everything that writes sources
/// orders attributes and children by it. Its order is that of Xcode's editor, in which all attributes of real
/// files stand, but for `userDefinedModelVersionIdentifier`: editors before Xcode 8 wrote it first.
package struct ModelSourceSchema: Sendable {
  /// In the order of the editor.
  package let attributes: [String]
  /// In the order of the editor.
  package let children: [String]

  private init(_ attributes: [String], children: [String] = []) {
    self.attributes = attributes
    self.children = children
  }

  /// Where an attribute stands; those that are unknown stand last.
  package func place(ofAttribute name: String) -> Int { attributes.firstIndex(of: name) ?? attributes.count }

  /// Where a child element stands; those that are unknown stand last.
  package func place(ofChild name: String) -> Int { children.firstIndex(of: name) ?? children.count }

  /// By the element's name.
  package static let elements: [String: ModelSourceSchema] = [
    "model": ModelSourceSchema(
      [
        "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "sourceLanguage", "usedWithSwiftData", "usedWithCloudKit", "userDefinedModelVersionIdentifier",
        "macOSVersion", "iOSVersion",
      ],
      // `elements` is the diagram's layout.
      children: ["entity", "fetchRequest", "configuration", "composite", "elements"]),
    "entity": ModelSourceSchema(
      [
        "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier",
        // Belongs to Sync Services, which no longer exist.
        "syncable",
        "codeGenerationType",
      ],
      children: [
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes",
        "uniquenessConstraints", "userInfo",
      ]),
    "attribute": ModelSourceSchema(
      [
        "name", "optional", "transient", "attributeType", "minDateTimeInterval", "minValueString",
        "defaultDateTimeInterval", "valueTransformerName", "maxDateTimeInterval", "maxValueString",
        "defaultValueString", "usesScalarValueType", "allowsExternalBinaryDataStorage",
        "allowsCloudEncryption", "composite", "derived", "derivationExpression", "preserveAfterDeletion",
        "regularExpressionString", "customClassName", "elementID", "indexed", "spotlightIndexingEnabled",
        "storedInTruthFile", "versionHashModifier", "syncable",
      ], children: ["userInfo"]),
    "relationship": ModelSourceSchema(
      [
        "name", "optional", "transient", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
        "destinationEntity", "inverseName", "inverseEntity", "elementID", "indexed",
        "spotlightIndexingEnabled", "storedInTruthFile", "versionHashModifier", "syncable",
      ], children: ["userInfo"]),
    "fetchedProperty": ModelSourceSchema(
      [
        "name", "optional", "transient", "elementID", "indexed", "spotlightIndexingEnabled",
        "storedInTruthFile", "versionHashModifier", "syncable",
      ], children: ["fetchRequest", "userInfo"]),
    // The editor leaves out an "s" here and there, so both spellings occur.
    "fetchRequest": ModelSourceSchema([
      "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
      "includesSubentities", "includePropertyValues", "includesPropertyValues", "includesPendingChanges",
      "includePendingChanges", "returnObjectsAsFaults", "returnsObjectsAsFaults", "returnDistinctResults",
      "returnsDistinctResults",
    ]),
    "fetchIndex": ModelSourceSchema(["name", "partialIndexPredicate"], children: ["fetchIndexElement"]),
    "fetchIndexElement": ModelSourceSchema(["property", "expression", "expressionType", "type", "order"]),
    "compoundIndexes": ModelSourceSchema([], children: ["compoundIndex"]),
    "compoundIndex": ModelSourceSchema([], children: ["index"]),
    "index": ModelSourceSchema(["value"]),
    "uniquenessConstraints": ModelSourceSchema([], children: ["uniquenessConstraint"]),
    "uniquenessConstraint": ModelSourceSchema([], children: ["constraint"]),
    "constraint": ModelSourceSchema(["value"]),
    "userInfo": ModelSourceSchema([], children: ["entry"]),
    "entry": ModelSourceSchema(["key", "value"]),
    "configuration": ModelSourceSchema(["name", "usedWithCloudKit"], children: ["memberEntity"]),
    "memberEntity": ModelSourceSchema(["name"]),
    "composite": ModelSourceSchema(["name"], children: ["attribute"]),
    "elements": ModelSourceSchema([], children: ["element"]),
    "element": ModelSourceSchema(["name", "positionX", "positionY", "width", "height"]),
  ]

  /// The value of an attribute as the editor writes it.
  package static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n": result += "&#10;"
      case "\r": result += "&#13;"
      case "\t": result += "&#9;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
