import CoreDataPredicates
import Foundation

/// Writes a model as the `contents` file of an `.xcdatamodel`, in the order and the form of Xcode's editor.
///
/// What models have and the format does not is an error that names it; what the editor has and models don't
/// (the places of entities in the diagram, whether Sync Services may see a property) is not written.
struct ModelSourceWriter {
  private var lines: [String] = []
  private let model: NSManagedObjectModel
  /// The composites, by name.
  private var composites: [(name: String, elements: [NSAttributeDescription])] = []
  /// Those of the entity that is written.
  private var indexes: IndexPlan?

  static func write(_ model: NSManagedObjectModel) throws -> Data {
    var writer = ModelSourceWriter(model)
    try writer.write()
    return Data(writer.lines.joined(separator: "\n").utf8)
  }

  private init(_ model: NSManagedObjectModel) {
    self.model = model
  }

  // MARK: Elements

  /// The attributes of an element by name; without a value one is left out.
  private typealias Attributes = [String: String?]

  /// The attributes in the order of the format.
  private static func tag(_ name: String, _ attributes: Attributes) -> String {
    name
      + (ModelSourceSchema.elements[name]?.attributes ?? []).compactMap { key in
        attributes[key].flatMap { $0 }.map { " \(key)=\"\(ModelSourceSchema.escaped($0))\"" }
      }.joined()
  }

  /// An element, and what `body` writes into it.
  private mutating func element(
    _ name: String, _ depth: Int, _ attributes: Attributes,
    _ body: (inout ModelSourceWriter) throws -> Void
  ) rethrows {
    let indent = String(repeating: "    ", count: depth)
    let place: Int = lines.count
    lines.append(indent + "<" + Self.tag(name, attributes) + ">")
    try body(&self)
    if lines.count == place + 1 {
      lines[place] = indent + "<" + Self.tag(name, attributes) + "/>"
    } else {
      lines.append(indent + "</\(name)>")
    }
  }

  private mutating func element(_ name: String, _ depth: Int, _ attributes: Attributes) {
    element(name, depth, attributes) { _ in }
  }

  private static func yes(_ flag: Bool) -> String? { flag ? "YES" : nil }

  private static func failure(_ reason: String) -> ModelFileError {
    ModelFileError(file: "model source", reason: reason)
  }

  // MARK: The model

  private mutating func write() throws {
    lines.append(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)
    guard model.versionIdentifiers.count <= 1 else {
      throw Self.failure("The model has several version identifiers, and its source has one: set one.")
    }
    let identifier: String =
      try model.versionIdentifiers.first.map { identifier in
        guard let text = identifier as? String else {
          throw Self.failure("The version identifier \(identifier) is no text: set a text.")
        }
        return text
      } ?? ""
    try element(
      "model", 0,
      [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0",
        "lastSavedToolsVersion": "22758", "systemVersion": "23F79", "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift", "userDefinedModelVersionIdentifier": identifier,
      ]
    ) { writer in
      for entity in writer.model.storedEntities { try writer.write(entity) }
      for (name, request) in writer.model.templates.sorted(by: { $0.key < $1.key }) {
        try writer.write(request, named: name, 1)
      }
      for (name, members) in writer.model.entityNamesByConfiguration.sorted(by: { $0.key < $1.key }) {
        writer.element("configuration", 1, ["name": name]) { writer in
          for member in members { writer.element("memberEntity", 2, ["name": member]) }
        }
      }
      // Those of composites within composites are added meanwhile.
      var place: Int = 0
      while place < writer.composites.count {
        let composite = writer.composites[place]
        try writer.element("composite", 1, ["name": composite.name]) { writer in
          for attribute in composite.elements { try writer.write(attribute, 2) }
        }
        place += 1
      }
    }
  }

  private mutating func write(_ entity: NSEntityDescription) throws {
    guard let name = entity.name, !name.isEmpty else {
      throw Self.failure("An entity has no name: give it one.")
    }
    try element(
      "entity", 1,
      [
        "name": name, "representedClassName": entity.storedClassName,
        "isAbstract": Self.yes(entity.isAbstract), "parentEntity": entity.superentity?.name,
        "elementID": entity.storedRenamingIdentifier, "versionHashModifier": entity.versionHashModifier,
        "syncable": "YES", "codeGenerationType": entity.codeGenerationType,
      ]
    ) { writer in
      let own: [NSPropertyDescription] = entity.ownProperties
      let indexes = IndexPlan(entity)
      writer.indexes = indexes
      defer { writer.indexes = nil }
      for case let attribute as NSAttributeDescription in own { try writer.write(attribute, 2) }
      for case let relationship as NSRelationshipDescription in own { try writer.write(relationship) }
      for case let property as NSFetchedPropertyDescription in own { try writer.write(property) }
      for index in indexes.explicit { try writer.write(index) }
      writer.writeGroups(indexes.compounds, "compoundIndexes", "compoundIndex", "index")
      writer.writeGroups(
        entity.uniquenessConstraintNames, "uniquenessConstraints", "uniquenessConstraint", "constraint")
      try writer.writeUserInfo(entity.userInfo, 2, "entity '\(name)'")
    }
  }

  private mutating func writeGroups(_ groups: [[String]], _ list: String, _ group: String, _ value: String) {
    if groups.isEmpty { return }
    element(list, 2, [:]) { writer in
      for names in groups {
        writer.element(group, 3, [:]) { writer in
          for name in names { writer.element(value, 4, ["value": name]) }
        }
      }
    }
  }

  private mutating func writeUserInfo(_ info: [AnyHashable: Any]?, _ depth: Int, _ owner: String) throws {
    guard let info, !info.isEmpty else { return }
    let pairs: [(String, String)] = try info.map { key, value in
      guard let key = key as? String, let value = value as? String else {
        throw Self.failure(
          "The user info of \(owner) has '\(key)': \(value); the source of a model has texts only.")
      }
      return (key, value)
    }
    element("userInfo", depth, [:]) { writer in
      for (key, value) in pairs.sorted(by: { $0.0 < $1.0 }) {
        writer.element("entry", depth + 1, ["key": key, "value": value])
      }
    }
  }

  // MARK: Properties

  /// What every kind of property may have, and what only this kind has.
  private static func common(_ property: NSPropertyDescription, _ own: Attributes) -> Attributes {
    let attributes: Attributes = [
      "name": property.name, "optional": yes(property.isOptional),
      "elementID": property.storedRenamingIdentifier,
      "spotlightIndexingEnabled": yes(property.isIndexedBySpotlight),
      "storedInTruthFile": yes(property.isStoredInExternalRecord),
      "versionHashModifier": property.versionHashModifier,
    ]
    return attributes.merging(own) { $1 }
  }

  private mutating func write(_ attribute: NSAttributeDescription, _ depth: Int) throws {
    let type: NSAttributeType = attribute.attributeType
    var values: [String: String] = try bounds(of: attribute)
    if let standard = attribute.defaultValue {
      if let date = standard as? Date {
        values["defaultDateTimeInterval"] = Self.text(date.timeIntervalSinceReferenceDate)
      } else {
        values["defaultValueString"] = try Self.text(of: standard, attribute)
      }
    }
    var composite: String?
    if let attribute = attribute as? NSCompositeAttributeDescription { composite = name(of: attribute) }
    let derivation: String? = (attribute as? NSDerivedAttributeDescription)?.derivationExpression?.description
    if let predicate = (attribute as? NSDerivedAttributeDescription)?.filteringPredicate {
      throw Self.failure(
        "\(attribute.label) counts only what satisfies \(predicate.formatText), which a source can't say.")
    }
    try element(
      "attribute", depth,
      Self.common(
        attribute,
        [
          "transient": Self.yes(attribute.isTransient),
          "attributeType": type == .undefinedAttributeType ? nil : type.editorName,
          "minDateTimeInterval": values["minDateTimeInterval"], "minValueString": values["minValueString"],
          "defaultDateTimeInterval": values["defaultDateTimeInterval"],
          "valueTransformerName": attribute.valueTransformerName,
          "maxDateTimeInterval": values["maxDateTimeInterval"], "maxValueString": values["maxValueString"],
          "defaultValueString": values["defaultValueString"],
          "usesScalarValueType": attribute.usesScalarValueType.map { $0 ? "YES" : "NO" },
          "allowsExternalBinaryDataStorage": Self.yes(attribute.allowsExternalBinaryDataStorage),
          "allowsCloudEncryption": Self.yes(attribute.allowsCloudEncryption), "composite": composite,
          "derived": Self.yes(derivation != nil), "derivationExpression": derivation,
          "preserveAfterDeletion": Self.yes(attribute.preservesValueInHistoryOnDeletion),
          "regularExpressionString": values["regularExpressionString"],
          "customClassName": type == .transformableAttributeType ? attribute.explicitValueClassName : nil,
          "indexed": indexMark(of: attribute),
        ])
    ) { try $0.writeUserInfo(attribute.userInfo, depth + 1, attribute.label) }
  }

  private mutating func write(_ relationship: NSRelationshipDescription) throws {
    guard let destination = relationship.destinationEntityName else {
      throw Self.failure("\(relationship.label) has no destination: set its destinationEntity.")
    }
    let isToMany: Bool = relationship.maxCount != 1
    try element(
      "relationship", 2,
      Self.common(
        relationship,
        [
          "transient": Self.yes(relationship.isTransient), "toMany": Self.yes(isToMany),
          "minCount": relationship.minCount == 0 ? nil : "\(relationship.minCount)",
          "maxCount": relationship.maxCount == 0 ? nil : "\(relationship.maxCount)",
          "deletionRule": relationship.deleteRule.editorName, "ordered": Self.yes(relationship.isOrdered),
          "destinationEntity": destination, "inverseName": relationship.inverseRelationshipName,
          "inverseEntity": relationship.inverseRelationshipName == nil
            ? nil : relationship.inverseRelationship?.declaringEntity?.name ?? destination,
          "indexed": Self.yes(relationship.isIndexed),
        ])
    ) { try $0.writeUserInfo(relationship.userInfo, 3, relationship.label) }
  }

  private mutating func write(_ property: NSFetchedPropertyDescription) throws {
    try element("fetchedProperty", 2, Self.common(property, [:])) { writer in
      if let request = property.fetchRequest {
        try writer.write(request, named: "fetchedPropertyFetchRequest", 3)
      }
      try writer.writeUserInfo(property.userInfo, 3, property.label)
    }
  }

  private mutating func write(
    _ request: NSFetchRequest<any NSFetchRequestResult>, named name: String, _ depth: Int
  ) throws {
    let unsaid: String? =
      switch true {
      case !(request.sortDescriptors ?? []).isEmpty: "sort descriptors"
      case request.havingPredicate != nil: "a condition on groups"
      case !(request.propertiesToFetch ?? []).isEmpty, !(request.propertiesToGroupBy ?? []).isEmpty: "columns"
      case !(request.relationshipKeyPathsForPrefetching ?? []).isEmpty: "relationships to prefetch"
      case request.fetchOffset != 0: "an offset"
      default: nil
      }
    if let unsaid {
      throw Self.failure("The fetch request '\(name)' has \(unsaid), which a model's source can't say.")
    }
    element(
      "fetchRequest", depth,
      [
        "name": name, "entity": request.entityName,
        "predicateString": request.predicate?.formatText,
        "fetchLimit": request.fetchLimit == 0 ? nil : "\(request.fetchLimit)",
        "fetchBatchSize": request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)",
        "resultType": request.resultType.rawValue == 0 ? nil : "\(request.resultType.rawValue)",
        "includeSubentities": request.includesSubentities ? nil : "NO",
        "includePropertyValues": request.includesPropertyValues ? nil : "NO",
        "includesPendingChanges": request.includesPendingChanges ? nil : "NO",
        "returnObjectsAsFaults": request.returnsObjectsAsFaults ? nil : "NO",
        "returnDistinctResults": Self.yes(request.returnsDistinctResults),
      ])
  }

  // MARK: Composites

  /// The composite of these elements: named after the first attribute that is made of them.
  private mutating func name(of attribute: NSCompositeAttributeDescription) -> String {
    if let known = composites.first(where: { $0.elements == attribute.elements }) { return known.name }
    let stem: String = attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
    var name: String = stem
    var number: Int = 2
    while composites.contains(where: { $0.name == name }) {
      name = "\(stem)\(number)"
      number += 1
    }
    composites.append((name, attribute.elements))
    return name
  }

  // MARK: Indexes

  /// Elements of composites belong to no entity.
  private func indexMark(of attribute: NSAttributeDescription) -> String? {
    guard let indexes else { return Self.yes(attribute.isIndexed) }
    return indexes.mark(of: attribute)
  }

  /// How the indexes of an entity are said: as elements of their own, as compound indexes, or by a mark of
  /// their attribute. It is made once for an entity, since each of its attributes asks for its mark.
  private struct IndexPlan {
    /// Without those that stand for `indexed` and for compound indexes.
    let explicit: [NSFetchIndexDescription]
    let compounds: [[String]]
    /// The attributes that a fetch index over them alone marks anyway.
    private let implied: Set<String>
    private let names: Set<String>

    init(_ entity: NSEntityDescription) {
      let marked: [String: Bool] = Dictionary(
        entity.ownProperties.map { ($0.name, $0.isIndexed) }, uniquingKeysWith: { first, _ in first })
      let named: Set<[String]> = Set(entity.compoundIndexNames)
      explicit = entity.indexes.filter { index in
        guard let columns = Self.columns(index), index.partialIndexPredicate == nil,
          index.elements.allSatisfy(\.isAscending)
        else { return true }
        if index.name != columns.joined(separator: "_") { return true }
        if columns.count > 1 { return !named.contains(columns) }
        return columns.first.flatMap { marked[$0] } != true
      }
      let said: Set<[String]> = Set(explicit.compactMap(Self.columns))
      compounds = entity.compoundIndexNames.filter { !said.contains($0) }
      implied = Set(
        explicit.filter { $0.elements.count == 1 && $0.elements[0].isAscending }
          .compactMap { Self.columns($0)?.first })
      names = Set(entity.indexes.map(\.name))
    }

    private static func columns(_ index: NSFetchIndexDescription) -> [String]? {
      index.elements.allSatisfy { $0.collationType == .binary && $0.expressionDescription == nil }
        ? index.elements.compactMap(\.propertyName) : nil
    }

    /// A fetch index over the attribute alone marks it, and a marked attribute has an index of its name,
    /// unless NO is written.
    func mark(of attribute: NSAttributeDescription) -> String? {
      guard implied.contains(attribute.name) else { return attribute.isIndexed ? "YES" : nil }
      return attribute.isIndexed && names.contains(attribute.name) ? nil : "NO"
    }
  }

  private mutating func write(_ index: NSFetchIndexDescription) throws {
    element(
      "fetchIndex", 2,
      ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate?.formatText]
    ) { writer in
      for part in index.elements {
        let computed: NSExpressionDescription? = part.expressionDescription
        writer.element(
          "fetchIndexElement", 3,
          [
            "property": computed == nil ? part.propertyName : nil,
            "expression": computed?.expression?.description,
            "expressionType": computed.map { $0.expressionResultType.editorName },
            "type": part.collationType == .rTree ? "RTree" : "Binary",
            "order": part.isAscending ? "ascending" : "descending",
          ])
      }
    }
  }

  // MARK: Values

  private static func text(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
  }

  private static func text(of value: Any, _ attribute: NSAttributeDescription) throws -> String {
    switch (attribute.attributeType, value) {
    case (.booleanAttributeType, let flag as NSNumber): return flag.boolValue ? "YES" : "NO"
    case (.decimalAttributeType, let number as NSDecimalNumber):
      let text = "\(number.decimalValue)"
      return text.contains(".") ? text : text + ".0"
    case (.doubleAttributeType, let number as NSNumber), (.floatAttributeType, let number as NSNumber):
      return "\(number.doubleValue)"
    case (_, let number as NSNumber): return "\(number.int64Value)"
    case (_, let text as String): return text
    case (_, let id as UUID): return id.uuidString
    case (_, let url as URL): return url.absoluteString
    default:
      throw failure(
        "\(attribute.label) has the default value \(value), a \(type(of: value)), which a source can't say.")
    }
  }

  /// The bounds that the editor knows, out of the predicates that they are compiled to.
  private func bounds(of attribute: NSAttributeDescription) throws -> [String: String] {
    var result: [String: String] = [:]
    for predicate in attribute.validationPredicates {
      guard let comparison = predicate as? CoreDataPredicates.NSComparisonPredicate,
        comparison.rightExpression.expressionType == .constantValue,
        let name = Self.bound(of: comparison, attribute.attributeType),
        result[name] == nil
      else {
        throw Self.failure(
          "\(attribute.label) is validated by \(predicate.formatText), which a model's source can't say: bounds and "
            + "patterns are all that it has.")
      }
      switch comparison.rightExpression.constantValue {
      case let date as Date: result[name] = Self.text(date.timeIntervalSinceReferenceDate)
      case let number as NSDecimalNumber: result[name] = "\(number.decimalValue)"
      case let number as NSNumber:
        let isWhole: Bool =
          attribute.attributeType != .doubleAttributeType
          && attribute.attributeType != .floatAttributeType
        result[name] = isWhole ? "\(number.int64Value)" : "\(number.doubleValue)"
      case let text as String: result[name] = text
      default: throw Self.failure("\(attribute.label) is validated by \(predicate.formatText).")
      }
    }
    return result
  }

  private static func bound(of comparison: CoreDataPredicates.NSComparisonPredicate, _ type: NSAttributeType)
    -> String?
  {
    let left: CoreDataPredicates.NSExpression = comparison.leftExpression
    let isLength: Bool = left.expressionType == .keyPath && left.keyPath == "length"
    let isSelf: Bool = left.expressionType == .evaluatedObject
    guard type == .stringAttributeType ? isLength || isSelf : isSelf else { return nil }
    let kind: String = type == .dateAttributeType ? "DateTimeInterval" : "ValueString"
    return switch comparison.predicateOperatorType {
    case .greaterThanOrEqualTo where type != .stringAttributeType || isLength: "min\(kind)"
    case .lessThanOrEqualTo where type != .stringAttributeType || isLength: "max\(kind)"
    case .matches where type == .stringAttributeType && isSelf: "regularExpressionString"
    default: nil
    }
  }
}

extension NSManagedObjectModel {
  /// The model as the `contents` file of an `.xcdatamodel`, in the order and the form of Xcode's editor. It
  /// reads to an equal model with the same version hashes, but for what sources leave out or imply: the
  /// localization dictionary, which has files of its own, and that a fetch index over several attributes is
  /// a compound index too. Where an attribute has a fetch index of another name and none of its own name,
  /// `indexed="NO"` keeps it so; Apple's compiler adds one of the attribute's name. Whether the attribute is
  /// marked as indexed beside such an index makes no difference, and is not said.
  ///
  /// - Throws: ``ModelFileError`` for what the format can't say: predicates of validation other than bounds
  ///   and patterns, user info that is no text, fetch request templates with sort descriptors, control
  ///   characters, infinite dates, requests of entities that the model does not have. It names the part.
  ///
  /// Cost: what was written is read once.
  public func sourceData() throws -> Data {
    let data: Data = try ModelSourceWriter.write(self)
    try ModelSourceWriter.checkReading(data)
    return data
  }
}

extension ModelSourceWriter {
  /// A source that can't be read would be lost work for who opens it later: XML has no control characters,
  /// numbers no text for infinity, and models in code may refer to what they don't have.
  fileprivate static func checkReading(_ data: Data) throws {
    let warnings: [ModelWarning]
    do {
      warnings = try ModelSourceReader.read(data, file: "model source").warnings
    } catch let error as ModelFileError {
      let line: Substring =
        String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        .dropFirst((error.line ?? 1) - 1).first ?? ""
      throw failure(
        "A part of the model has no source that can be read: \(error.reason) In the source it would be "
          + "'\(line.trimmingCharacters(in: .whitespaces).prefix(200))'.")
    }
    if let warning = warnings.first { throw failure(warning.message) }
  }
}
