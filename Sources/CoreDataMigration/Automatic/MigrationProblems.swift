import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// What in a store's contents will stop a step that copies object by object, as far as it can be told without
/// migrating: each problem a sentence with its cure. An XML or binary file is read for it only if there is
/// something to count.
struct MigrationProblems {
  private let step: MigrationStep
  private let store: OutdatedStore
  private let contents: SurveyedContents

  init(_ step: MigrationStep, of store: OutdatedStore, _ contents: SurveyedContents) {
    (self.step, self.store, self.contents) = (step, store, contents)
  }

  /// A number of the source that the mapping copies to an attribute of a narrower type.
  private struct Narrowing {
    let source: NSEntityDescription
    let key: String
    let destination: String
    let attribute: NSAttributeDescription
  }

  /// What ends the migration, and what does not but loses values.
  func found() throws -> (problems: [String], doubts: [String]) {
    let mappings: [PreparedMapping] = PreparedMapping.plain(of: step)
    var (own, doubts): ([String], [String]) = ([], [])
    if let inference = step.inference {
      own = try unmet(inference.conditions, mappings)
    } else {
      let computed = try ExpressionProblems(step, mappings, contents).found()
      own = try narrowedNumbers(mappings) + computed.problems
      doubts = computed.doubts
    }
    let problems: [String] =
      try own + sharedObjects(mappings)
      + RepeatedValues(step, mappings, contents).problems().map(Self.sentence)
      + RefusedValues(step, mappings, contents).problems() + unreachableRows() + misreadValues()
      + unreadableFiles()
    return (problems, doubts)
  }

  private static func sentence(_ problem: MigrationProblem) -> String { "\(problem.text) \(problem.advice)" }

  // MARK: Conditions of inferred steps

  /// The conditions that the objects don't meet; uniqueness apart. Cost: a statement for each.
  private func unmet(_ conditions: [MappingInference.Condition], _ mappings: [PreparedMapping]) throws
    -> [String]
  {
    try conditions.compactMap { condition -> String? in
      let own: [PreparedMapping] = mappings.filter { prepared in
        guard let entity = step.destination.entitiesByName[condition.entity] else { return false }
        return prepared.destination?.isKindOf(entity: entity) == true
      }
      func count(_ property: String) throws -> Int {
        try own.reduce(0) { try $0 + lacking(property, $1, mappings) }
      }
      switch condition.kind {
      case .isUnique: return nil
      case .isExact(let attribute, let type):
        let count: Int = try own.reduce(0) { try $0 + inexact(attribute, as: type, $1) }
        return count == 0
          ? nil
          : "\(count) object(s) of \(condition.entity) have a value of \(attribute) that is rounded, or not taken. "
            + "\(condition) Change them with the version that the store has, or provide a mapping model."
      case .hasValue(let property):
        let count: Int = try count(property)
        return count == 0
          ? nil
          : Self.sentence(
            .missingValues(entity: condition.entity, property: property, count: Int64(count)))
      case .hasCount(let relationship, _, _):
        let count: Int = try count(relationship)
        return count == 0
          ? nil
          : "\(count) object(s) of \(condition.entity) have another number of \(relationship). \(condition) "
            + "Change them with the version that the store has"
            + (step.isDown ? "." : ", or the limits in the new one.")
      case .hasNoObjects:
        let former: String? = step.inference?.difference.entities
          .first { $0.destination?.name == condition.entity }?.source?.name
        let count: Int = try former.map { try contents.count($0, NSPredicate(value: true)) } ?? 0
        return count == 0
          ? nil : Self.sentence(.abstractRows(entity: condition.entity, count: Int64(count)))
      }
    }
  }

  /// How many objects of a mapping have a number that the new type of an attribute rounds or does not take.
  /// Cost: a look at every object; of integers a statement first, which mostly finds nothing to look at.
  private func inexact(_ path: String, as type: NSAttributeType, _ mapping: PreparedMapping) throws -> Int {
    guard let source = mapping.source, let entity = source.name,
      let value = mapping.attributes.first(where: { $0.path == path })
    else { return 0 }
    if let key = value.key, source.attributesByName[key]?.attributeType.isInteger == true,
      let all = type.wholeNumbers
    {
      let others = NSPredicate(
        format: "%K > %@ OR %K < %@", key, all.upperBound as NSNumber, key, all.lowerBound as NSNumber)
      if try contents.count(entity, others) == 0 { return 0 }
    }
    var count: Int = 0
    try contents.forEachObject(of: entity) { object in
      let variables: NSMutableDictionary = [MigrationKey.source: object]
      let found: Any? = try mapping.evaluate(value, variables, object)
      // The run's own check.
      do {
        try mapping.requireAccepted(found is NSNull ? nil : found, of: value, object)
      } catch is MigrationFailure {
        count += 1
      }
    }
    return count
  }

  /// How many objects of a mapping will have no value of a property that is required, or another number of
  /// members than a relationship allows.
  private func lacking(_ property: String, _ mapping: PreparedMapping, _ all: [PreparedMapping]) throws -> Int
  {
    guard let source = mapping.source, let entity = source.name else { return 0 }
    let relationship: NSRelationshipDescription? = mapping.destination?.relationshipsByName[property]
    if let key = mapping.sourceKey(of: property) {
      guard let relationship, let old = source.relationshipsByName[key] else {
        return try contents.count(entity, NSPredicate(format: "%K == nil", key))
      }
      return try RefusedValues.predicate(refusing: MemberCounts(of: relationship), of: old)
        .map { try contents.count(entity, $0) } ?? 0
    }
    guard let relationship else { return try contents.count(entity, NSPredicate(value: true)) }
    return try lacking(relationship, ofObjectsOf: entity, all)
  }

  /// The same of a new relationship, whose members come from its other side if that is not new.
  private func lacking(
    _ relationship: NSRelationshipDescription, ofObjectsOf entity: String, _ all: [PreparedMapping]
  ) throws -> Int {
    var numbers: [NSManagedObjectID: Int] = [:]
    if let inverse = relationship.inverseRelationship, let owner = relationship.destinationEntity {
      for mapping in all where mapping.destination?.isKindOf(entity: owner) == true {
        guard let former = mapping.source?.name, let key = mapping.sourceKey(of: inverse.name) else {
          continue
        }
        try contents.countReferences(of: former, by: key, in: &numbers)
      }
    }
    let allowed = MemberCounts(of: relationship)
    return try contents.ids(of: entity).count { id in
      let number: Int = numbers[id] ?? 0
      return !allowed.allow(relationship.isToMany ? number : min(1, number))
    }
  }

  // MARK: Inverses

  /// Objects that several others have, where the new inverse takes one of them. Cost: reads the objects of
  /// relationships that get an inverse to one; nothing if there are none.
  private func sharedObjects(_ mappings: [PreparedMapping]) throws -> [String] {
    var seen: Set<ObjectIdentifier> = []
    return try mappings.flatMap { $0.relationships }.compactMap { value -> String? in
      guard let new = value.property as? NSRelationshipDescription, let inverse = new.inverseRelationship,
        !inverse.isToMany, let owner = inverse.destinationEntity,
        seen.insert(ObjectIdentifier(inverse)).inserted
      else { return nil }
      var numbers: [NSManagedObjectID: Int] = [:]
      var key: String = ""
      for mapping in mappings where mapping.destination?.isKindOf(entity: owner) == true {
        guard let entity = mapping.source, let found = mapping.sourceKey(of: new.name),
          let old = entity.relationshipsByName[found], old.inverseRelationship?.isToMany != false
        else { continue }
        key = found
        try contents.countReferences(of: entity.name ?? "", by: found, in: &numbers)
      }
      let count: Int = numbers.values.count { $0 > 1 }
      if count == 0 { return nil }
      let (target, place): (String, String) = (
        inverse.entity.name ?? "", "\(inverse.entity.name ?? "").\(inverse.name)"
      )
      return
        "\(count) object(s) of \(target) are at the end of \(key) of several objects of \(owner.name ?? ""), and the new "
        + "inverse \(place) takes one. Change them with the version that the store has, or make \(place) to-many."
    }
  }

  // MARK: Values

  private func misreadValues() throws -> [String] { try contents.misreadValue().map { [$0] } ?? [] }

  /// Rows that no fetch shows would vanish.
  private func unreachableRows() throws -> [String] {
    if store.type != NSSQLiteStoreType { return [] }
    return try contents.unreachableRows().map { Self.sentence(of: $0, in: store.url) }
  }

  static func sentence(of rows: UnreachableRows, in store: URL) -> String {
    "\(rows.keys.count) row(s) in the table of \(rows.entity) \(rows.reason) (keys \(rows.shownKeys())). They would not be "
      + "copied. Correct or delete them, or migrate a copy without them: `clarus check \(store.path) --repair OUT` makes one."
  }

  /// An object is read with all its values, those that the mapping leaves out too.
  private func unreadableFiles() throws -> [String] {
    if store.type != NSSQLiteStoreType { return [] }
    return try contents.fileProblems().map { problem in
      "\(problem.count) object(s): \(problem.message) Bring the file back, or set the value to nil with the version that the "
        + "store has: an object is copied with all its values or not at all."
    }
  }

  /// Numbers that their new attribute does not take. Cost: a statement for each attribute that gets a
  /// narrower type, and none if there is none.
  private func narrowedNumbers(_ mappings: [PreparedMapping]) throws -> [String] {
    try mappings.flatMap(narrowings).compactMap { narrowing -> String? in
      let bits: Int = Self.bits(narrowing.attribute.attributeType)
      let limit: Double = Double(sign: .plus, exponent: bits - 1, significand: 1)
      let entity: String = narrowing.source.name ?? ""
      // What is cut off after the point is left out of the comparison.
      let tooLarge = NSPredicate(
        format: bits < 64 ? "%K >= %@ OR %K <= %@" : "%K >= %@ OR %K < %@", narrowing.key,
        NSNumber(value: limit), narrowing.key, NSNumber(value: bits < 64 ? -limit - 1 : -limit))
      let count: Int = try contents.count(entity, tooLarge)
      if count == 0 { return nil }
      return "\(count) object(s) of \(entity) have a value of \(narrowing.key) that "
        + "\(narrowing.destination).\(narrowing.attribute.name), of type "
        + "\(narrowing.attribute.attributeType.editorName), does not take. Change them with the version that the store has, give the "
        + "attribute a wider type, or compute a smaller value in the mapping."
    }
  }

  private func narrowings(_ prepared: PreparedMapping) -> [Narrowing] {
    guard let source = prepared.source, let destination = prepared.destination else { return [] }
    return prepared.attributes.compactMap { value in
      guard let key = value.key, let old = source.attributesByName[key],
        let new = value.property as? NSAttributeDescription,
        old.attributeType.isNumber, Self.bits(new.attributeType) > 0,
        !new.attributeType.holdsEveryValue(of: old.attributeType)
      else { return nil }
      return Narrowing(source: source, key: key, destination: destination.name ?? "", attribute: new)
    }
  }

  /// The size of integers; 0 for other types.
  private static func bits(_ type: NSAttributeType) -> Int {
    switch type {
    case .integer16AttributeType: 16
    case .integer32AttributeType: 32
    case .integer64AttributeType: 64
    default: 0
    }
  }
}

extension PreparedMapping {
  /// The mappings of a step that make an object of each one of the source, by their expressions alone: a
  /// policy of the program, or a source expression that leaves objects out, may treat some apart.
  static func plain(of step: MigrationStep) -> [PreparedMapping] {
    (step.mapping.entityMappings ?? []).compactMap { mapping in
      guard mapping.mappingType != .removeEntityMappingType,
        let prepared = try? PreparedMapping(mapping, from: step.source, to: step.destination),
        type(of: prepared.policy) == NSEntityMigrationPolicy.self, prepared.source != nil, mapping.takesAll
      else { return nil }
      return prepared
    }
  }
}

extension NSEntityMapping {
  fileprivate var takesAll: Bool {
    sourceExpression.map { $0.description.contains("\"TRUEPREDICATE\"") } ?? true
  }
}
