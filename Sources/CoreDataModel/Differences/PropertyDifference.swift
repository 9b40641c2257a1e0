import CoreDataArchives
import CoreDataPredicates
import Foundation

/// A property of an entity in both versions of a model, or in one of them.
public struct PropertyDifference: Sendable {
  /// The property in the source; nil for an added one.
  public let source: NSPropertyDescription?

  /// The property in the destination; nil for a removed one.
  public let destination: NSPropertyDescription?

  /// The changes, none for a property that is the same in both.
  public let changes: [ModelChange]

  /// Whether the same is said of the entity from which the property is inherited.
  public let isRepeated: Bool

  /// Whether it is a relationship to another destination, and none of the objects at its former end becomes
  /// one of that: they are left out.
  public let isCutOff: Bool

  /// Of composite attributes: their elements; none if it is no composite attribute in both.
  package let elements: [ElementDifference]

  /// The name in the destination, or in the source if it is only there.
  public var name: String { (destination ?? source)?.name ?? "" }

  /// The property of the source that holds the values: nil if the destination's values are new, and if they
  /// are not stored in one of both versions, computed by the store, of another kind, or left out.
  public var storedSource: NSPropertyDescription? {
    guard let source, let destination, !isCutOff, Self.isStored(source), Self.isStored(destination),
      !(destination is NSDerivedAttributeDescription), Self.areOfOneKind(source, destination)
    else { return nil }
    return source
  }

  /// Whether stores keep values of the property.
  package static func isStored(_ property: NSPropertyDescription) -> Bool {
    !property.isTransient && (property is NSAttributeDescription || property is NSRelationshipDescription)
  }

  /// Whether both are attributes, with elements or without, or both relationships.
  package static func areOfOneKind(_ left: NSPropertyDescription, _ right: NSPropertyDescription) -> Bool {
    left is NSAttributeDescription == right is NSAttributeDescription
      && left is NSRelationshipDescription == right is NSRelationshipDescription
      && left is NSCompositeAttributeDescription == right is NSCompositeAttributeDescription
  }
}

/// Compares a property with its former version.
struct PropertyComparison {
  /// The entities of the source by those of the destination.
  let entities: EntityPairs
  let elements: [ElementDifference]
  private(set) var list: ChangeList

  static func changes(
    _ old: NSPropertyDescription?, _ new: NSPropertyDescription?, of entity: String, _ entities: EntityPairs,
    _ elements: [ElementDifference]
  ) -> [ModelChange] {
    let name: String = (new ?? old)?.name ?? ""
    var comparison = PropertyComparison(
      entities: entities, elements: elements, list: ChangeList("\(entity).\(name)"))
    comparison.compare(old, new)
    return comparison.list.changes
  }

  private mutating func compare(_ old: NSPropertyDescription?, _ new: NSPropertyDescription?) {
    guard let old, let new else {
      let isHashed: Bool = (old ?? new).map { !$0.isTransient } ?? false
      list.add(
        old == nil ? .added : .removed, old.map { _ in "there" }, new.map { _ in "there" }, isHashed: isHashed
      )
      return
    }
    let isHashed: Bool = !old.isTransient || !new.isTransient
    list.compare(
      old.name, new.name, isHashed: isHashed, { .renamed(from: $0, to: $1) }, { "named '\($0)'" })
    let kinds: (String, String) = (Self.kind(of: old), Self.kind(of: new))
    if kinds.0 != kinds.1 {
      list.add(
        .kindOfProperty(from: kinds.0, to: kinds.1), Self.type(of: old), Self.type(of: new),
        isHashed: isHashed)
      return
    }
    compareDeclaration(old, new, isHashed: isHashed)
    if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
      compareAttributes(old, new, isHashed: isHashed)
    }
    if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
      compareRelationships(old, new, isHashed: isHashed)
    }
    list.compare(
      old.isOptional, new.isOptional, isHashed: isHashed, { .optional(from: $0, to: $1) },
      { $0 ? "optional" : "required" })
    list.compare(
      old.isTransient, new.isTransient, isHashed: isHashed, { .transient(from: $0, to: $1) },
      { $0 ? "transient" : "stored" })
    list.compare(
      old.versionHashModifier, new.versionHashModifier, isHashed: isHashed,
      { .hashModifier(from: $0, to: $1) }, EntityComparison.modifier)
    compareRest(old, new)
  }

  /// The kind as `Kind.kindOfProperty` names it.
  private static func kind(of property: NSPropertyDescription) -> String {
    switch property {
    case is NSCompositeAttributeDescription: "composite attribute"
    case is NSAttributeDescription: "attribute"
    case is NSRelationshipDescription: "relationship"
    case is NSFetchedPropertyDescription: "fetched property"
    default: "property"
    }
  }

  private static func type(of property: NSPropertyDescription) -> String {
    switch property {
    case let attribute as NSAttributeDescription: attribute.attributeType.editorName
    case let relationship as NSRelationshipDescription: arity(relationship.isToMany)
    default: "a \(kind(of: property))"
    }
  }

  private static func arity(_ isToMany: Bool) -> String {
    isToMany ? "a to-many relationship" : "a to-one relationship"
  }

  private mutating func compareDeclaration(
    _ old: NSPropertyDescription, _ new: NSPropertyDescription, isHashed: Bool
  ) {
    guard let before = old.declaringEntity, let after = new.declaringEntity,
      entities.source(of: after) !== before
    else { return }
    let names: (String, String) = (before.name ?? "", after.name ?? "")
    list.add(
      .declaringEntity(from: names.0, to: names.1), "declared by \(names.0)", "declared by \(names.1)",
      isHashed: isHashed)
  }

  // MARK: Attributes

  private mutating func compareAttributes(
    _ old: NSAttributeDescription, _ new: NSAttributeDescription, isHashed: Bool
  ) {
    list.compare(
      old.attributeType, new.attributeType, isHashed: isHashed, { .type(from: $0, to: $1) }, { $0.editorName }
    )
    list.compare(
      old.allowsExternalBinaryDataStorage, new.allowsExternalBinaryDataStorage, isHashed: isHashed,
      { .externalStorage(from: $0, to: $1) }, { $0 ? "kept in files if large" : "kept in its row" })
    list.compare(
      old.preservesValueInHistoryOnDeletion, new.preservesValueInHistoryOnDeletion, isHashed: isHashed,
      { .keptInHistory(from: $0, to: $1) }, { $0 ? "kept in history" : "not kept in history" })
    list.compare(
      Self.derivation(old), Self.derivation(new), isHashed: isHashed, { .derivation(from: $0, to: $1) },
      { $0.map { "derived from \($0)" } ?? "not derived" })
    if let old = old as? NSCompositeAttributeDescription, let new = new as? NSCompositeAttributeDescription {
      compareElements(old, new, isHashed: isHashed)
    }
  }

  private static func derivation(_ attribute: NSAttributeDescription) -> String? {
    (attribute as? NSDerivedAttributeDescription).map { derived in
      let expression: String = derived.derivationExpression?.description ?? "nothing"
      return ModelComparison.text(derived.filteringPredicate).map { "\(expression) where \($0)" }
        ?? expression
    }
  }

  private mutating func compareElements(
    _ old: NSCompositeAttributeDescription, _ new: NSCompositeAttributeDescription, isHashed: Bool
  ) {
    for element in elements {
      let name: String = element.name
      for change in Self.changes(
        element.source, element.destination, of: list.subject, entities, element.elements)
      {
        // A change of a nested element has its path already.
        let kind: ModelChange.Kind =
          if case .element(let path, let kind) = change.kind {
            .element(path: "\(name).\(path)", kind)
          } else {
            .element(path: name, change.kind)
          }
        list.append(
          ModelChange(
            kind: kind, subject: change.subject, before: change.before, after: change.after,
            changesVersionHash: isHashed && change.changesVersionHash))
      }
    }
    let names: ([String], [String]) = (old.elements.map(\.name), new.elements.map(\.name))
    if names.0 != names.1, Set(names.0) == Set(names.1) {
      list.compare(
        names.0, names.1, isHashed: isHashed, { .elementOrder(from: $0, to: $1) },
        { "made of \($0.joined(separator: ", "))" })
    }
  }

  // MARK: Relationships

  private mutating func compareRelationships(
    _ old: NSRelationshipDescription, _ new: NSRelationshipDescription, isHashed: Bool
  ) {
    list.compare(
      old.isToMany, new.isToMany, isHashed: isHashed, { .toMany(from: $0, to: $1) }, Self.arity)
    let target: NSEntityDescription? = new.destinationEntity.flatMap { entities.source(of: $0) }
    list.compare(
      old.destinationEntityName, new.destinationEntityName, isHashed: isHashed,
      {
        .destination(
          from: $0, to: $1, isRenaming: old.destinationEntity != nil && target === old.destinationEntity)
      },
      { "to \($0 ?? "nothing")" })
    let isRenamed: Bool =
      old.inverseRelationshipName != new.inverseRelationshipName
      && isRenaming(old.inverseRelationship, new.inverseRelationship)
    list.compare(
      old.inverseRelationshipName, new.inverseRelationshipName, isHashed: isHashed,
      { .inverse(from: $0, to: $1, isRenaming: isRenamed) },
      { $0.map { "the inverse of \($0)" } ?? "without inverse" })
    list.compare(
      old.isOrdered, new.isOrdered, isHashed: isHashed, { .ordered(from: $0, to: $1) },
      { $0 ? "ordered" : "not ordered" })
    list.compare(
      Self.counts(old), Self.counts(new), isHashed: isHashed, { .count(from: $0, to: $1) },
      { "for \($0.lowerBound) to \($0.upperBound == .max ? "any number of" : "\($0.upperBound)") objects" })
  }

  private func isRenaming(_ old: NSRelationshipDescription?, _ new: NSRelationshipDescription?) -> Bool {
    guard let old, let new, let entity = new.declaringEntity else { return false }
    return entities.source(of: entity) != nil
      && PropertyMatch.source(of: new, in: entity, entities) === old
  }

  private static func counts(_ relationship: NSRelationshipDescription) -> ClosedRange<Int> {
    let least: Int = max(0, relationship.minCount)
    // Real models have -1 as a maximum.
    return least...max(least, relationship.maxCount <= 0 ? .max : relationship.maxCount)
  }

  // MARK: What no store depends on

  private mutating func compareRest(_ old: NSPropertyDescription, _ new: NSPropertyDescription) {
    if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
      if !PlistValue.areEqual(old.defaultValue, new.defaultValue) {
        list.add(
          .defaultValue, Self.defaultText(old.defaultValue), Self.defaultText(new.defaultValue),
          isHashed: false)
      }
      if old.attributeType == new.attributeType {
        list.compare(
          old.attributeValueClassName, new.attributeValueClassName, isHashed: false,
          { .valueClass(from: $0, to: $1) }, { "of the class \($0 ?? "of its value")" })
      }
      list.compare(
        old.valueTransformerName, new.valueTransformerName, isHashed: false,
        { .transformer(from: $0, to: $1) }, { $0.map { "transformed by \($0)" } ?? "without a transformer" })
    }
    if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
      list.compare(
        old.deleteRule, new.deleteRule, isHashed: false, { .deleteRule(from: $0, to: $1) },
        { "of delete rule \($0.editorName)" })
    }
    let rules: ([String], [String]) = (Self.rules(old), Self.rules(new))
    if rules.0 != rules.1 {
      list.add(.validation, Self.validation(rules.0), Self.validation(rules.1), isHashed: false)
    }
    if let old = (old as? NSFetchedPropertyDescription)?.fetchRequest,
      let new = (new as? NSFetchedPropertyDescription)?.fetchRequest,
      !ModelComparison.differences(old, new).isEmpty
    {
      let words: (String, String) = (Self.words(old), Self.words(new))
      // They may differ in their limits and the like.
      let (before, after): (String, String) =
        words.0 == words.1 ? ("of one fetch request", "of another") : words
      list.add(.fetchRequest, before, after, isHashed: false)
    }
    list.compareUserInfo(old.userInfo, new.userInfo)
  }

  private static func words(_ request: any AnyFetchRequest) -> String {
    "a fetch of \(request.entityName ?? "nothing")"
      + (ModelComparison.text(request.predicate).map { " where \($0)" } ?? "")
  }

  private static func defaultText(_ value: Any?) -> String {
    switch value {
    case nil: "without default"
    case let data as Data: "of a default of \(data.count) bytes"
    case let text as String: "of the default '\(text)'"
    case let date as Date: "of the default \(DateWords.text(date))"
    case let value?: "of the default \(value)"
    }
  }

  private static func rules(_ property: NSPropertyDescription) -> [String] {
    property.validationPredicates.compactMap { ModelComparison.text($0) }
  }

  private static func validation(_ rules: [String]) -> String {
    rules.isEmpty
      ? "without validation" : "validated by \(rules.map(withDates).joined(separator: " and "))"
  }

  /// A rule with its dates as such, which its format has as seconds since 2001.
  private static func withDates(_ rule: String) -> String {
    rule.replacing(/CAST\((-?[0-9.]+), "NSDate"\)/) { match in
      Double(match.1).flatMap(DateWords.text(seconds:)) ?? String(match.0)
    }
  }
}
