import CoreDataModel
import CoreDataPredicates
import Foundation

// Constraints, indexes, fetch requests and configurations.
extension ModelLint {
  /// The stored value that a constraint names: a property, or an element of a composite attribute by its
  /// path.
  private static func property(_ name: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
    if let property = entity.propertiesByName[name] { return property }
    let path: [String] = name.split(separator: ".").map(String.init)
    guard path.count > 1, var found: NSPropertyDescription = entity.propertiesByName[path[0]] else {
      return nil
    }
    for name in path.dropFirst() {
      let elements: [NSAttributeDescription] = (found as? NSCompositeAttributeDescription)?.elements ?? []
      guard let element = elements.first(where: { $0.name == name }) else { return nil }
      found = element
    }
    return found
  }

  mutating func checkConstraints(_ entity: NSEntityDescription) {
    for constraint in entity.uniquenessConstraintNames {
      let label = constraint.joined(separator: ", ")
      if constraint.isEmpty {
        report(.constraint, entity, nil, "a uniqueness constraint names no attribute")
      }
      for name in constraint {
        switch Self.property(name, of: entity) {
        case nil:
          report(
            .constraint, entity, name,
            "the uniqueness constraint (\(label)) names '\(name)', which the entity doesn't have")
        case let attribute as NSAttributeDescription
        where !attribute.isTransient && !(attribute is NSCompositeAttributeDescription):
          if attribute.isOptional {
            report(
              .optionalConstraint, entity, name,
              "the uniqueness constraint (\(label)) allows any number of objects in which it is nil; clear Optional"
            )
          }
        case let relationship as NSRelationshipDescription where !relationship.isToMany: break
        default:
          report(
            .constraint, entity, name,
            "the uniqueness constraint (\(label)) needs stored attributes or to-one relationships")
        }
      }
    }
  }

  mutating func checkIndexes(_ entity: NSEntityDescription) {
    let properties = entity.propertiesByName
    var names: Set<String> = []
    for index in entity.indexes {
      if !names.insert(index.name).inserted {
        report(.index, entity, index.name, "there are two indexes of this name")
      }
      if index.elements.isEmpty { report(.emptyIndex, entity, index.name, "the index has no elements") }
      for element in index.elements where element.storedProperty == nil {
        guard let name = element.propertyName, !["self", "entity"].contains(name) else { continue }
        if properties[name] == nil {
          report(.index, entity, index.name, "the index names '\(name)', which the entity doesn't have")
        } else if properties[name]?.isTransient == true {
          report(.index, entity, index.name, "the index names '\(name)', which is not stored")
        }
      }
      checkTexts(of: index, entity)
    }
    for name in entity.compoundIndexNames.joined() where properties[name] == nil {
      report(.index, entity, name, "a compound index names '\(name)', which the entity doesn't have")
    }
  }

  /// The condition of an index and the expressions of its columns, which read stored values of one row.
  private mutating func checkTexts(of index: NSFetchIndexDescription, _ entity: NSEntityDescription) {
    var found: [(text: String, problems: [PredicateProblem])] = []
    if let condition = index.partialIndexPredicate {
      var check = PredicateCheck(entity)
      check.check(condition.structureNode())
      found.append(("its condition", check.problems))
    }
    for column in index.elements.compactMap(\.expressionDescription?.expression) {
      var check = PredicateCheck(entity)
      _ = check.example(of: column.expressionNode())
      found.append(("its expression '\(column)'", check.problems))
    }
    for (text, problems) in found {
      for problem in problems where problem.kind == .notStored {
        report(
          .index, entity, index.name,
          "\(text) reads '\(problem.keyPath ?? problem.part)', which is not stored")
      }
      for problem in problems where problem.kind != .notStored {
        report(
          problem.severity == .error ? .index : .doubtfulIndex, entity, index.name,
          "\(text) doesn't fit: \(problem)")
      }
    }
  }

  mutating func checkTemplates() {
    for (name, template) in model.templates.sorted(by: { $0.key < $1.key }) {
      check(template, entity: nil, part: name)
    }
  }

  mutating func check(
    _ request: NSFetchRequest<any NSFetchRequestResult>, entity: NSEntityDescription?, part: String
  ) {
    guard let target = request.entity else {
      let name = request.entityName.map { "'\($0)'" } ?? "no entity"
      report(
        .fetchRequest, entity, part, "its fetch request asks for \(name), which is not in the model")
      return
    }
    let problems: [PredicateProblem] = PredicateCheck.problems(of: request, for: target, owner: entity)
    for problem in problems {
      report(
        problem.severity == .error ? .fetchRequest : .doubtfulFetchRequest, entity, part,
        "its fetch request doesn't fit: \(problem)")
    }
    if problems.isEmpty { checkIndex(for: request, of: target, entity: entity, part: part) }
  }

  // MARK: Indexes that requests want

  /// A request that reads every row because no condition of it is on a column with an index.
  private mutating func checkIndex(
    for request: NSFetchRequest<any NSFetchRequestResult>, of target: NSEntityDescription,
    entity: NSEntityDescription?, part: String
  ) {
    guard let predicate = request.predicate else { return }
    var wanted: [String] = []
    for comparison in Self.conjuncts(predicate) {
      guard let key = Self.selectiveKey(comparison) else { continue }
      // A to-one relationship has an index of its own.
      if target.relationshipsByName[key] != nil || Self.isIndexed(key, of: target) { return }
      // Half of all rows are no less work by an index.
      if let attribute = target.attributesByName[key], !attribute.isTransient,
        attribute.attributeType != .booleanAttributeType
      {
        wanted.append(key)
      }
    }
    guard let first = wanted.first else { return }
    report(
      .wantedIndex, entity, part,
      "it fetches \(target.name ?? "") by \(wanted.joined(separator: ", ")), which no index begins with, so every row "
        + "is read; add a fetch index on \(first)")
  }

  /// The conditions that must all hold; empty where there are alternatives.
  private static func conjuncts(_ predicate: NSPredicate) -> [CoreDataPredicates.NSComparisonPredicate] {
    switch predicate {
    case let comparison as CoreDataPredicates.NSComparisonPredicate: [comparison]
    case let compound as CoreDataPredicates.NSCompoundPredicate where compound.compoundPredicateType == .and:
      compound.subpredicates.flatMap { conjuncts($0) }
    default: []
    }
  }

  /// The attribute that a comparison looks values up of in an index, compared with something fixed.
  private static func selectiveKey(_ comparison: CoreDataPredicates.NSComparisonPredicate) -> String? {
    let left: CoreDataPredicates.NSExpression = comparison.leftExpression
    let right: CoreDataPredicates.NSExpression = comparison.rightExpression
    guard left.expressionType == .keyPath, comparison.comparisonPredicateModifier == .direct,
      right.expressionType != .keyPath, comparison.options.isEmpty
    else { return nil }
    return switch comparison.predicateOperatorType {
    case .equalTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .in, .between,
      .beginsWith:
      left.keyPath
    default: nil
    }
  }

  private static func isIndexed(_ key: String, of entity: NSEntityDescription) -> Bool {
    if entity.propertiesByName[key]?.isIndexed == true { return true }
    var current: NSEntityDescription? = entity
    while let owner = current {
      let leading: [String?] =
        owner.indexes.map { $0.elements.first?.propertyName } + owner.uniquenessConstraintNames.map(\.first)
        + owner.compoundIndexNames.map(\.first)
      if leading.contains(key) { return true }
      current = owner.superentity
    }
    return false
  }

  // MARK: Configurations

  mutating func checkConfigurations() {
    let configurationsByEntity = Dictionary(
      model.entityNamesByConfiguration.flatMap { name, members in members.map { ($0, [name]) } },
      uniquingKeysWith: { $0 + $1 })
    for entity in entities {
      for case let relationship as NSRelationshipDescription in entity.ownProperties.sorted(by: {
        $0.name < $1.name
      }) {
        guard let own = configurationsByEntity[entity.name ?? ""],
          let destination = relationship.destinationEntity,
          let others = configurationsByEntity[destination.name ?? ""], Set(own).isDisjoint(with: others)
        else { continue }
        report(
          .acrossConfigurations, entity, relationship.name,
          "it leads into another configuration, and relationships can't cross stores; use a fetched property")
      }
    }
  }
}
