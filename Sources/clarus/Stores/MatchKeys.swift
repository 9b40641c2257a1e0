import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

/// The attributes by which objects are recognised: `Entity=a,b`, or `unique` for the uniqueness constraints
/// of the model.
enum MatchKeys {
  /// By name of entity. Sub-entities have the attributes of their super-entity. With `also` both models must
  /// have the attributes.
  static func read(_ terms: [String], _ layout: ModelLayout, also other: ModelLayout? = nil) throws
    -> [String: [String]]
  {
    var keys: [String: [String]] = [:]
    if terms.contains("unique") {
      for entity in layout.entities {
        if let names = unique(entity) { keys[entity.name] = names }
      }
      if keys.isEmpty {
        throw CommandFailure("No entity has a uniqueness constraint of attributes; write Entity=attribute.")
      }
    }
    for term in terms where term != "unique" {
      let parts: [Substring] = term.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else {
        throw CommandFailure("\"\(term)\" is neither Entity=attribute,attribute nor unique.")
      }
      let names: [String] = NameList.names(String(parts[1]))
      for layout in [layout, other].compactMap({ $0 }) {
        let entity: EntityLayout = try self.entity(String(parts[0]), layout)
        for name in names { try check(name, of: entity) }
      }
      let entity: EntityLayout = try self.entity(String(parts[0]), layout)
      for index in entity.family { keys[layout.entities[index].name] = names }
    }
    return keys
  }

  private static func entity(_ name: String, _ layout: ModelLayout) throws -> EntityLayout {
    guard let entity = layout.byName[name] else {
      throw CommandFailure(
        "There is no entity \"\(name)\". \(NearestNames.advice(for: name, among: layout.byName.keys))")
    }
    return entity
  }

  private static func check(_ name: String, of entity: EntityLayout) throws {
    if isAttribute(name, of: entity) { return }
    let names: [String] = entity.slots.map(\.name).filter { isAttribute($0, of: entity) }
    throw CommandFailure(
      "\(entity.name) has no stored attribute \"\(name)\". \(NearestNames.advice(for: name, among: names))")
  }

  static func isAttribute(_ name: String, of entity: EntityLayout) -> Bool {
    guard let slot = entity.slot(named: name), case .stored(let kind, _) = slot.role else { return false }
    return kind != .toOne
  }

  /// The attributes of the first uniqueness constraint of an entity, or of its super-entities, that is made
  /// of attributes.
  static func unique(_ entity: EntityLayout) -> [String]? {
    var description: NSEntityDescription? = entity.entity
    while let current = description {
      let found: [String]? = current.uniquenessConstraintNames.first { names in
        !names.isEmpty && names.allSatisfy { isAttribute($0, of: entity) }
      }
      if let found { return found }
      description = current.superentity
    }
    return nil
  }
}
