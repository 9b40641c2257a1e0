import CoreDataModel
import CoreDataPredicates

/// What a picture of a model shows: a box for each entity and a line for each pair of relationships that are
/// each other's inverse, for each relationship without one, and from each entity to its parent.
package struct Diagram: Sendable {
  /// A property in its box.
  package struct Row: Sendable {
    package enum Kind: Sendable { case attribute, element, relationship, fetchedProperty }
    package var kind: Kind
    package var name: String
    /// Its type or destination.
    package var type: String
    /// The rule for deletions, of a relationship.
    package var rule: String = ""
    /// Whether it is part of a uniqueness constraint.
    package var isUnique: Bool = false
    package var isTransient: Bool = false
  }

  package struct Box: Sendable {
    package var name: String
    package var isAbstract: Bool
    package var rows: [Row]
  }

  package enum Kind: Sendable, Equatable {
    /// From an entity to its parent.
    case inheritance
    /// `backIsToMany` is nil where there is no inverse.
    case relationship(isToMany: Bool, backIsToMany: Bool?)
  }

  /// An end is a row of a box, or with nil the box as a whole.
  package struct Line: Sendable {
    package var kind: Kind
    package var from: (box: Int, row: Int?)
    package var to: (box: Int, row: Int?)

    /// Whether `to` is to stand left of `from`: parents stand left of children, owners of what they own.
    var isTurned: Bool {
      switch kind {
      case .inheritance: true
      case .relationship(let isToMany, let backIsToMany): !isToMany && backIsToMany == true
      }
    }
  }

  package private(set) var boxes: [Box] = []
  package private(set) var lines: [Line] = []

  /// Of a model, in the order of names.
  ///
  /// - Parameters:
  ///   - entities: the names of those that are shown, or nil for all. A relationship to another one is a row
  ///     without a line.
  ///   - showsAttributes: whether attributes and fetched properties are listed.
  package init(_ model: NSManagedObjectModel, entities: Set<String>? = nil, showsAttributes: Bool = true) {
    let shown: [NSEntityDescription] = model.storedEntities
      .filter { entities?.contains($0.name ?? "") ?? true }
      .sorted { Self.isBefore($0.name ?? "", $1.name ?? "") }
    var boxNumbers: [ObjectIdentifier: Int] = [:]
    // Of relationships.
    var places: [ObjectIdentifier: (box: Int, row: Int?)] = [:]
    var relationships: [NSRelationshipDescription] = []
    for (number, entity) in shown.enumerated() {
      boxNumbers[ObjectIdentifier(entity)] = number
      let unique = Set(entity.uniquenessConstraintNames.flatMap { $0 })
      let own: [NSPropertyDescription] = entity.ownProperties.sorted { Self.isBefore($0.name, $1.name) }
      var rows: [Row] = []
      if showsAttributes {
        for case let attribute as NSAttributeDescription in own {
          rows += Self.rows(attribute, isUnique: unique.contains(attribute.name))
        }
      }
      for case let relationship as NSRelationshipDescription in own {
        places[ObjectIdentifier(relationship)] = (number, rows.count)
        relationships.append(relationship)
        rows.append(Self.row(relationship, isUnique: unique.contains(relationship.name)))
      }
      if showsAttributes {
        for case let property as NSFetchedPropertyDescription in own {
          rows.append(
            Row(
              kind: .fetchedProperty, name: DrawnText.shown(property.name),
              type: DrawnText.shown("fetched \(property.fetchRequest?.entityName ?? "")"),
              isTransient: property.isTransient))
        }
      }
      boxes.append(
        Box(name: DrawnText.shown(entity.name ?? ""), isAbstract: entity.isAbstract, rows: rows))
    }
    for (number, entity) in shown.enumerated() {
      guard let parent = entity.superentity, let other = boxNumbers[ObjectIdentifier(parent)] else {
        continue
      }
      lines.append(Line(kind: .inheritance, from: (number, nil), to: (other, nil)))
    }
    var drawn: Set<ObjectIdentifier> = []
    for relationship in relationships where !drawn.contains(ObjectIdentifier(relationship)) {
      drawn.insert(ObjectIdentifier(relationship))
      guard let from = places[ObjectIdentifier(relationship)] else { continue }
      if let inverse = relationship.inverseRelationship, inverse.inverseRelationship === relationship,
        let to = places[ObjectIdentifier(inverse)]
      {
        drawn.insert(ObjectIdentifier(inverse))
        lines.append(
          Line(
            kind: .relationship(isToMany: relationship.isToMany, backIsToMany: inverse.isToMany),
            from: from, to: to))
      } else if let destination = relationship.destinationEntity,
        let other = boxNumbers[ObjectIdentifier(destination)]
      {
        lines.append(
          Line(
            kind: .relationship(isToMany: relationship.isToMany, backIsToMany: nil), from: from,
            to: (other, nil)))
      }
    }
  }

  /// The order of names: the same on every machine.
  private static func isBefore(_ left: String, _ right: String) -> Bool {
    let (one, other) = (left.lowercased(), right.lowercased())
    return one == other
      ? left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
      : one.unicodeScalars.lexicographicallyPrecedes(other.unicodeScalars)
  }

  // MARK: Rows

  private static func rows(_ attribute: NSAttributeDescription, isUnique: Bool, depth: Int = 0) -> [Row] {
    var type: String =
      attribute.attributeType == .undefinedAttributeType ? "undefined" : attribute.attributeType.editorName
    if attribute is NSDerivedAttributeDescription { type = "derived \(type)" }
    if attribute.isOptional { type += "?" }
    let row = Row(
      kind: depth == 0 ? .attribute : .element, name: DrawnText.shown(attribute.name), type: type,
      isUnique: isUnique, isTransient: attribute.isTransient)
    // Composites may be made of composites; the picture has one step.
    guard depth == 0, let composite = attribute as? NSCompositeAttributeDescription else { return [row] }
    return [row]
      + composite.elements.flatMap { rows($0, isUnique: false, depth: 1) }
  }

  private static func row(_ relationship: NSRelationshipDescription, isUnique: Bool) -> Row {
    let rule: String =
      switch relationship.deleteRule {
      case .noActionDeleteRule: "no action"
      case .nullifyDeleteRule: "nullify"
      case .cascadeDeleteRule: "cascade"
      case .denyDeleteRule: "deny"
      }
    let ordered: String = relationship.isOrdered && relationship.isToMany ? ", ordered" : ""
    return Row(
      kind: .relationship, name: DrawnText.shown(relationship.name),
      type: DrawnText.shown(relationship.destinationEntityName ?? "?") + " " + cardinality(relationship)
        + ordered,
      rule: rule, isUnique: isUnique, isTransient: relationship.isTransient)
  }

  /// `0..1`, `1`, `0..*`, `1..*`, `2..5`.
  private static func cardinality(_ relationship: NSRelationshipDescription) -> String {
    let most: String =
      relationship.isToMany ? (relationship.maxCount == 0 ? "*" : "\(relationship.maxCount)") : "1"
    // A to-one relationship that is required is of one, whatever its minimum says.
    let least: Int =
      relationship.isOptional
      ? (relationship.isToMany ? relationship.minCount : 0)
      : max(relationship.isToMany ? 0 : 1, relationship.minCount)
    return "\(least)" == most ? most : "\(least)..\(most)"
  }
}
