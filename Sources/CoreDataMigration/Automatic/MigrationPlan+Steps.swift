import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

extension MigrationPlan.Step {
  /// `counts` and `contents`: the store, if it is the source of this step; `found`: what in it stands in the
  /// way of copying; `trial`: nil if the copy is not to be tried.
  init(
    _ step: MigrationStep, _ counts: StoreInspection?, _ contents: SurveyedContents?,
    _ choice: InPlaceStep.Choice, _ found: [String], _ trial: MigrationDryRun?, known: KnownModels
  ) {
    self.step = step
    let planned: PlannedMigration? = choice.step?.planned
    reasonsForCopy = choice.reasonsForCopy
    statements = planned?.steps.map {
      MigrationPlan.Statement(explanation: $0.explanation, sql: $0.statement, rows: $0.rows.map(Int.init))
    }
    let gaps: [RequiredValues.Gap] = RequiredValues.gaps(in: step)
    let counted: [String] =
      (planned?.problems.map { "\($0.text) \($0.advice)" }).map { found + $0 }
      ?? step.lacking.map { Self.problem($0, isDown: step.isDown) } + Self.problems(of: step) + found
      + gaps.compactMap { gap in
        if gap.mapping.programPolicyName != nil { return nil }
        let objects: Int? = gap.mapping.sourceEntityName.flatMap { name in counts?.rows(of: name) }
        return objects == 0 ? nil : gap.problem(objects: objects)
      }
    (problems, dryRun) = planned == nil ? Self.tried(trial, counts, counted) : (counted, nil)
    conditions = step.inference?.conditions.map(\.description) ?? []
    source = known.title(of: step.source)
    destination = known.title(of: step.destination)
    isInferred = step.isInferred
    mappingFile = step.mapping.file
    let mapped: [MigrationPlan.Entity] = (step.mapping.entityMappings ?? []).map { mapping in
      MigrationPlan.Entity(
        mapping, step, isInPlace: planned != nil,
        objects: mapping.sourceEntityName.flatMap { name in counts?.rows(of: name) })
    }
    let used = Set(mapped.compactMap(\.source))
    let removed: [MigrationPlan.Entity] = step.source.entities.compactMap { entity in
      guard let name = entity.name, !used.contains(name), !entity.isAbstract else { return nil }
      return MigrationPlan.Entity(
        kind: .removed, source: name, destination: nil, objects: counts?.rows(of: name), policy: nil,
        changes: [], dropped: [])
    }
    entities = mapped + removed
    losses = Self.losses(of: step, mapped + removed) { entity, path in
      counts?.rows(of: entity) != 0 && contents?.hasValue(entity, path) ?? true
    }
  }

  /// The problems, with that of the dry run if there is none before it.
  private static func tried(_ trial: MigrationDryRun?, _ file: StoreInspection?, _ problems: [String])
    -> ([String], MigrationPlan.DryRun)
  {
    if !problems.isEmpty { return (problems, .omitted(reason: "there are problems without it.")) }
    guard let file else { return (problems, .omitted(reason: "the step before makes its objects.")) }
    guard let trial else { return (problems, .omitted(reason: "the plan was to have none.")) }
    if let obstacle = trial.obstacle(file) { return (problems, .omitted(reason: "\(obstacle).")) }
    return trial.problem().map { ([$0], .failed) } ?? (problems, .passed)
  }

  /// What no object has a value of, and what may give one.
  private static func problem(_ refusal: MappingInference.Refusal, isDown: Bool) -> String {
    isDown
      ? refusal.description
      : "\(refusal.reason) Give it a default value, make it optional, or give it a value in a mapping model."
  }

  /// Whether values of required attributes are missing, so that the step can't be run.
  package var isUnfinished: Bool { !step.lacking.isEmpty }

  /// The attributes whose values are missing.
  package var lackingValues: [(entity: String, attribute: String)] {
    step.lacking.map { ($0.entity, $0.property ?? "") }
  }

  /// Whether the step leads back to an earlier version, which is not to be changed.
  package var isDown: Bool { step.isDown }

  package var sourceModel: NSManagedObjectModel { step.source }

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

  /// What the step is done by, in words.
  package var mappingTitle: String {
    if isInferred { return "an inferred mapping model" }
    return mappingFile.map { "the mapping model \($0.path)" } ?? "a mapping model"
  }

  /// What is dropped unless a policy of the program copies it, and what is required and only a policy sets.
  var leftToPolicies: [String] {
    entities.flatMap { entity -> [String] in
      guard let policy = entity.policy, let source = entity.source else { return [] }
      return entity.dropped.map { "\(source).\($0) is dropped, unless \(policy) copies it." }
    }
      + RequiredValues.gaps(in: step).compactMap { gap in
        gap.mapping.programPolicyName.map { gap.warning(policy: $0) }
      }
  }

  /// `hasValue`: whether an object of an entity may have a value of a property, or of an element of one.
  private static func losses(
    of step: MigrationStep, _ entities: [MigrationPlan.Entity],
    hasValue: (_ entity: String, _ path: String) -> Bool
  ) -> [String] {
    let omissions: [String] = (step.inference?.omittedRelationships ?? []).filter { omission in
      guard let owner = step.source.entitiesByName[omission.entity] else { return true }
      return step.source.entities.contains {
        !$0.isAbstract && $0.isKindOf(entity: owner) && hasValue($0.name ?? "", omission.relationship)
      }
    }.map(\.sentence)
    return omissions
      + lostElements(step).filter(hasValue).map { "\($0.entity).\($0.path)" }
      + entities.flatMap { entity -> [String] in
        guard let source = entity.source else { return [] }
        if entity.destination == nil {
          return entity.objects == 0
            ? [] : ["\(entity.objects.map { "\($0) " } ?? "the ")objects of \(source)"]
        }
        // A policy of the program may read anything.
        if entity.policy != nil { return [] }
        return entity.dropped.filter { hasValue(source, $0) }.map { "\(source).\($0)" }
      }
  }

  /// The elements of composite attributes that the destination does not have.
  private static func lostElements(_ step: MigrationStep) -> [(entity: String, path: String)] {
    (step.inference?.difference.entities ?? []).flatMap { entity -> [(entity: String, path: String)] in
      guard let name = entity.source?.name, entity.source?.isAbstract == false else { return [] }
      return entity.properties.flatMap { property -> [(entity: String, path: String)] in
        guard let old = property.storedSource else { return [] }
        return lost(property.elements).map { (name, "\(old.name).\($0)") }
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
}

extension MigrationPlan.Entity {
  fileprivate init(_ mapping: NSEntityMapping, _ step: MigrationStep, isInPlace: Bool, objects: Int?) {
    source = mapping.sourceEntityName
    destination = mapping.destinationEntityName
    policy = mapping.programPolicyName
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
    guard let from, let to else {
      (changes, dropped) = ([], [])
      return
    }
    dropped = Self.dropped(mapping, from, to)
    changes = Self.changes(mapping, from, to, isInPlace: isInPlace) + dropped.map { "\($0) is dropped" }
  }

  /// The properties whose values come from elsewhere than the property of the same name.
  private static func changes(
    _ mapping: NSEntityMapping, _ source: NSEntityDescription, _ destination: NSEntityDescription,
    isInPlace: Bool
  ) -> [String] {
    let all: [NSPropertyMapping] = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
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
      if let path = expression.copiedPath {
        if path != name { lines.append("\(name) from \(path)") }
      } else {
        lines.append("\(name) = \(expression)")
      }
      if keys.count == 1, let old = keys.first.flatMap({ source.propertiesByName[$0] }),
        let new = destination.propertiesByName[name]
      {
        lines += forms(old, new, isInPlace: isInPlace)
      }
    }
    return lines
  }

  /// What becomes of a property beside its name, in words.
  private static func forms(_ old: NSPropertyDescription, _ new: NSPropertyDescription, isInPlace: Bool)
    -> [String]
  {
    var lines: [String] = []
    func add(_ words: String) { lines.append("\(new.name) becomes \(words)") }
    if !old.isOptional, new.isOptional { add("optional") }
    if old.isOptional, !new.isOptional {
      let value: Any? = (new as? NSAttributeDescription)?.defaultValue
      add("required" + (value.map { "; objects without a value get \($0)" } ?? ""))
    }
    if let old = old as? NSAttributeDescription, let new = new as? NSAttributeDescription {
      let (before, after): (String, String) = (old.attributeType.editorName, new.attributeType.editorName)
      if before != after { add("\(after), from \(before)") }
      if old.allowsExternalBinaryDataStorage != new.allowsExternalBinaryDataStorage {
        lines.append(
          new.allowsExternalBinaryDataStorage
            ? "large values of \(new.name) move to files\(isInPlace ? " when they are set next" : "")"
            : "large values of \(new.name) move into the store")
      }
    }
    if let old = old as? NSRelationshipDescription, let new = new as? NSRelationshipDescription {
      if old.isToMany != new.isToMany { add(new.isToMany ? "to-many" : "to-one") }
      if new.isToMany, old.isOrdered != new.isOrdered { add(new.isOrdered ? "ordered" : "unordered") }
    }
    return lines
  }

  /// The properties of the source that the mapping does not read.
  private static func dropped(
    _ mapping: NSEntityMapping, _ source: NSEntityDescription, _ destination: NSEntityDescription
  ) -> [String] {
    let read: Set<String> = keys(of: mapping)
    return source.propertiesByName.sorted { $0.key < $1.key }.compactMap { name, property in
      if read.contains(name) || property.isTransient { return nil }
      // The store derives it again.
      let isDerived: Bool =
        property is NSDerivedAttributeDescription
        && destination.propertiesByName[name] is NSDerivedAttributeDescription
      return isDerived ? nil : name
    }
  }

  /// The keys of the source object that the mapping's expressions read.
  private static func keys(of mapping: NSEntityMapping) -> Set<String> {
    ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []))
      .reduce(into: []) { $0.formUnion($1.valueExpression?.expressionNode().keysReadOfSource ?? []) }
  }
}
