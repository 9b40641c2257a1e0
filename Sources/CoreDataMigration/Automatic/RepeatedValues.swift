import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Finds values that new uniqueness constraints forbid, in what a step that copies object by object will
/// make.
///
/// Of each constraint that an entity of the destination has and its former entities do not:
///
///     constraint (name, code) of Item, code is new with the default value "x"
///     Item → Item         name, "x"
///     Special → Special   name, "x"       one set of values for the whole hierarchy
///
/// A mapping that computes a value is left out, and one with a policy of the program. Cost: reads the values
/// of the constraint of all objects, and holds each once.
struct RepeatedValues {
  private let step: MigrationStep
  private let mappings: [PreparedMapping]
  private let contents: SurveyedContents

  /// Where a value of a new object comes from.
  private enum Origin {
    /// A property of the source object; `whenNil` is the default value of a required attribute.
    case key(String, whenNil: PredicateValue)
    case constant(PredicateValue)
  }

  private struct Part {
    let source: NSEntityDescription
    let origins: [Origin]
  }

  /// `mappings`: those without policies of the program.
  init(_ step: MigrationStep, _ mappings: [PreparedMapping], _ contents: SurveyedContents) {
    (self.step, self.mappings, self.contents) = (step, mappings, contents)
  }

  func problems() throws -> [MigrationProblem] {
    try step.destination.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap { entity in
      try entity.uniquenessConstraintNames.compactMap { names in
        let parts: [Part] = mappings.compactMap { part($0, names, of: entity) }
        if parts.isEmpty || parts.allSatisfy({ isUnique($0) }) && haveOneOrigin(parts) { return nil }
        let count: Int = try repeated(parts)
        if count == 0 { return nil }
        return .duplicates(entity: entity.name ?? "", properties: names, count: Int64(count))
      }
    }
  }

  /// nil if the mapping makes no objects under the constraint, or none with values in all its properties.
  private func part(_ mapping: PreparedMapping, _ names: [String], of entity: NSEntityDescription) -> Part? {
    guard let source = mapping.source, let destination = mapping.destination,
      destination.isKindOf(entity: entity)
    else { return nil }
    var origins: [Origin] = []
    for name in names {
      guard let origin = origin(of: name, mapping, source, destination) else { return nil }
      origins.append(origin)
    }
    return Part(source: source, origins: origins)
  }

  private func origin(
    of name: String, _ mapping: PreparedMapping, _ source: NSEntityDescription,
    _ destination: NSEntityDescription
  ) -> Origin? {
    let attribute: NSAttributeDescription? = destination.attributesByName[name]
    let standard = PredicateValue(normalizing: attribute?.defaultValue)
    if mapping.hasValue(of: name) {
      guard let key = mapping.copiedKey(of: name), source.propertiesByName[key]?.isTransient == false,
        (source.propertiesByName[key] as? NSRelationshipDescription)?.isToMany != true
      else { return nil }
      return .key(key, whenNil: attribute?.isOptional == false ? standard : .null)
    }
    return attribute == nil || standard == .null ? nil : .constant(standard)
  }

  /// Whether the source's own constraints say that the values are different.
  private func isUnique(_ part: Part) -> Bool {
    let keys = Set(
      part.origins.compactMap { if case .key(let key, .null) = $0 { key } else { String?.none } })
    var entity: NSEntityDescription? = part.source
    while let current = entity {
      if current.uniquenessConstraintNames.contains(where: { Set($0).isSubset(of: keys) }) { return true }
      entity = current.superentity
    }
    return false
  }

  /// Whether the parts are of one entity of the source with its sub-entities, each mapped once, so that a
  /// constraint of that entity held for all of them.
  private func haveOneOrigin(_ parts: [Part]) -> Bool {
    guard Set(parts.map { $0.source.name ?? "" }).count == parts.count else { return false }
    return parts.contains { part in parts.allSatisfy { $0.source.isKindOf(entity: part.source) } }
      || parts.count == 1
  }

  // MARK: Counting

  /// The number of values that occur more than once. nil is no value's double.
  private func repeated(_ parts: [Part]) throws -> Int {
    var seen: Set<[UniqueValue]> = []
    var repeated: Set<[UniqueValue]> = []
    for part in parts {
      var keys: [String] = []
      for case .key(let key, _) in part.origins where !keys.contains(key) { keys.append(key) }
      try contents.forEachObject(of: part.source.name ?? "", reading: keys) { values in
        var all: [UniqueValue] = []
        for origin in part.origins {
          let value: PredicateValue =
            switch origin {
            case .constant(let value): value
            case .key(let key, let whenNil):
              values[key].map { PredicateValue(normalizing: $0) }.flatMap { $0 == .null ? nil : $0 }
                ?? whenNil
            }
          if value == .null { return }
          all.append(UniqueValue(value))
        }
        if !seen.insert(all).inserted { repeated.insert(all) }
      }
    }
    return repeated.count
  }

  /// A value as stores compare it: texts by their bytes.
  private enum UniqueValue: Hashable {
    case text([UInt8])
    case other(PredicateValue)

    init(_ value: PredicateValue) {
      if case .string(let text) = value { self = .text(Array(text.utf8)) } else { self = .other(value) }
    }
  }
}
