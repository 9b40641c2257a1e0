import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

extension MigrationPlan.Step {
  /// `counts`: the store, if it is the source of this step; `found`: what in it stands in the way of copying.
  init(
    _ step: MigrationStep, counts: StoreInspection?, _ planned: PlannedMigration?, _ found: [String],
    known: KnownModels
  ) {
    self.step = step
    statements = planned?.steps.map {
      MigrationPlan.Statement(explanation: $0.explanation, sql: $0.statement, rows: $0.rows.map(Int.init))
    }
    problems =
      planned?.problems.map { "\($0.text) \($0.advice)" } ?? Self.problems(of: step) + found
    conditions = step.difference.map { MappingInference($0).conditions.map(\.description) } ?? []
    source = Self.name(step.source, known)
    destination = Self.name(step.destination, known)
    isInferred = step.isInferred
    let mapped: [MigrationPlan.Entity] = (step.mapping.entityMappings ?? []).map { mapping in
      MigrationPlan.Entity(
        mapping, step, objects: mapping.sourceEntityName.flatMap { name in counts?.rows(of: name) })
    }
    let used = Set(mapped.compactMap(\.source))
    let removed: [MigrationPlan.Entity] = step.source.entities.compactMap { entity in
      guard let name = entity.name, !used.contains(name), !entity.isAbstract else { return nil }
      return MigrationPlan.Entity(
        kind: .removed, source: name, destination: nil, objects: counts?.rows(of: name), policy: nil,
        changes: [])
    }
    entities = mapped + removed
  }

  /// The copy that a store carries has no file: then that of the same version of the program.
  private static func name(_ model: NSManagedObjectModel, _ known: KnownModels) -> String {
    let identifiers: [String] = model.versionIdentifiers.compactMap { $0 as? String }.filter { !$0.isEmpty }
    if !identifiers.isEmpty { return identifiers.sorted().joined(separator: ", ") }
    if let file = model.file ?? known.model(checksum: model.versionChecksum)?.file {
      let version: URL = file.lastPathComponent == "contents" ? file.deletingLastPathComponent() : file
      return version.deletingPathExtension().lastPathComponent
    }
    return "version " + String(model.versionChecksum.prefix(8))
  }

  /// Why the entity mappings of a mapping model can't be used, such as a policy that does not exist.
  private static func problems(of step: MigrationStep) -> [String] {
    if step.isInferred { return [] }
    return (step.mapping.entityMappings ?? []).compactMap { mapping in
      if mapping.mappingType == .removeEntityMappingType { return nil }
      do {
        _ = try PreparedMapping(mapping, from: step.source, to: step.destination)
        return nil
      } catch { return MigrationFailure.text(of: error) }
    }
  }

  /// What is dropped unless a policy of the program copies it.
  var leftToPolicies: [String] {
    entities.flatMap { entity -> [String] in
      guard let policy = entity.policy, let source = entity.source else { return [] }
      return entity.changes.filter { $0.hasSuffix(" is dropped") }.map {
        "\(source).\($0), unless \(policy) copies it."
      }
    }
  }

  /// The elements of composite attributes that the destination does not have.
  private var lostElements: [String] {
    (step.difference?.entities ?? []).flatMap { entity -> [String] in
      guard let name = entity.source?.name, entity.source?.isAbstract == false else { return [] }
      return entity.properties.flatMap { property -> [String] in
        guard let old = property.storedSource else { return [] }
        return Self.lost(property.elements).map { "\(name).\(old.name).\($0)" }
      }
    }
  }

  private static func lost(_ elements: [ElementDifference]) -> [String] {
    elements.flatMap { element -> [String] in
      guard let source = element.source else { return [] }
      if element.destination == nil { return [source.name] }
      return lost(element.elements).map { "\(source.name).\($0)" }
    }
  }

  var losses: [String] {
    let omissions: [String] = step.difference.map { MappingInference($0).omissions } ?? []
    return omissions + lostElements
      + entities.flatMap { entity -> [String] in
        guard let source = entity.source else { return [] }
        if entity.destination == nil {
          return entity.objects == 0
            ? [] : ["\(entity.objects.map { "\($0) " } ?? "the ")objects of \(source)"]
        }
        return entity.lostProperties(step).map { "\(source).\($0)" }
      }
  }
}

extension MigrationPlan.Entity {
  fileprivate init(_ mapping: NSEntityMapping, _ step: MigrationStep, objects: Int?) {
    source = mapping.sourceEntityName
    destination = mapping.destinationEntityName
    policy = mapping.entityMigrationPolicyClassName.flatMap { $0 == "NSEntityMigrationPolicy" ? nil : $0 }
    let from: NSEntityDescription? = source.flatMap { step.source.entitiesByName[$0] }
    let to: NSEntityDescription? = destination.flatMap { step.destination.entitiesByName[$0] }
    kind =
      switch mapping.mappingType {
      case .addEntityMappingType: .added
      case .removeEntityMappingType: .removed
      case .copyEntityMappingType: .copied
      case .customEntityMappingType: .custom
      case .transformEntityMappingType, .undefinedEntityMappingType:
        policy == nil ? (from == nil ? .added : to == nil ? .removed : .transformed) : .custom
      }
    self.objects = from == nil ? nil : objects
    changes = from.flatMap { from in to.map { Self.changes(mapping, from, $0) } } ?? []
  }

  /// The properties whose values come from elsewhere than the property of the same name.
  private static func changes(
    _ mapping: NSEntityMapping, _ source: NSEntityDescription, _ destination: NSEntityDescription
  ) -> [String] {
    let all: [NSPropertyMapping] = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
    let read: Set<String> = keys(of: mapping)
    var lines: [String] = []
    for property in all {
      guard let name = property.name else { continue }
      guard let expression = property.valueExpression else {
        if source.propertiesByName[name] == nil {
          let value: Any? = destination.attributesByName[name]?.defaultValue
          lines.append("\(name) is new: \(value.map { "\($0)" } ?? "no value")")
        }
        continue
      }
      let keys: Set<String> = expression.expressionNode().keysOfSource
      if keys == [name] { continue }
      lines.append(keys.count == 1 ? "\(name) from \(keys.first ?? "")" : "\(name) = \(expression)")
    }
    for name in source.propertiesByName.keys.sorted() where !read.contains(name) {
      if source.propertiesByName[name]?.isTransient == true { continue }
      // The store derives it again.
      if source.propertiesByName[name] is NSDerivedAttributeDescription,
        destination.propertiesByName[name] is NSDerivedAttributeDescription
      {
        continue
      }
      lines.append("\(name) is dropped")
    }
    return lines
  }

  /// The keys of the source object that the mapping's expressions read.
  private static func keys(of mapping: NSEntityMapping) -> Set<String> {
    ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []))
      .reduce(into: []) { $0.formUnion($1.valueExpression?.expressionNode().keysOfSource ?? []) }
  }

  fileprivate func lostProperties(_ step: MigrationStep) -> [String] {
    // A policy of the program may read anything.
    if policy != nil { return [] }
    return changes.compactMap { line in
      line.hasSuffix(" is dropped") ? String(line.dropLast(" is dropped".count)) : nil
    }
  }
}

extension ExpressionNode {
  /// The first keys of the paths that start at `$source`.
  fileprivate var keysOfSource: Set<String> {
    var found: Set<String> = []
    collectKeys(into: &found)
    return found
  }

  private func collectKeys(into found: inout Set<String>) {
    switch self {
    case .path(.variable(MigrationKey.source), let path):
      found.insert(String(path.prefix { $0 != "." }))
    case .path(let target, _): target.collectKeys(into: &found)
    case .function(let target, _, let arguments):
      target?.collectKeys(into: &found)
      for argument in arguments { argument.collectKeys(into: &found) }
    case .aggregate(let members): for member in members { member.collectKeys(into: &found) }
    case .conditional(_, let first, let second), .set(_, let first, let second):
      first.collectKeys(into: &found)
      second.collectKeys(into: &found)
    case .subquery(let collection, _, _): collection.collectKeys(into: &found)
    default: break
    }
  }
}
