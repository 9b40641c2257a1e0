import CoreDataModel
import Foundation

/// What the objects of a file tell of the model that they were written with: the names and types of what they
/// have. Names are compared without case (`XMLStoreNames.caseless`), as XML stores write them. An attribute
/// that is nil in all objects is not there, nor is an entity without objects.
package struct StoreStructure: Sendable, Equatable {
  package struct Entity: Sendable, Equatable {
    /// By the name without case: the type as the file calls it.
    package var attributes: [String: String] = [:]
    package var relationships: [String: Relationship] = [:]
  }

  package struct Relationship: Sendable, Equatable {
    /// The most objects that it takes; 0 if there is no limit.
    package var limit: Int
    package var destination: String
  }

  /// By the name without case.
  package var entities: [String: Entity] = [:]

  package init() {}

  mutating func note(attribute: String, _ type: String, of entity: String) {
    let name: String = XMLStoreNames.caseless(attribute)
    entities[XMLStoreNames.caseless(entity), default: Entity()].attributes[name] = type.lowercased()
  }

  /// `counts`: the fewest and the most objects, as in `0/1`.
  mutating func note(relationship: String, _ counts: String, to destination: String, of entity: String) {
    let limit: Int = counts.split(separator: "/").last.flatMap { Int($0) } ?? 0
    let name: String = XMLStoreNames.caseless(relationship)
    entities[XMLStoreNames.caseless(entity), default: Entity()].relationships[name] =
      Relationship(limit: limit, destination: XMLStoreNames.caseless(destination))
  }

  /// How many of the stored properties of a model the objects have, of the entities that occur.
  package func occurring(in layout: ModelLayout) -> (count: Int, total: Int) {
    var (count, total): (Int, Int) = (0, 0)
    for entity in layout.entities where !entity.isAbstract {
      guard let own = entities[XMLStoreNames.caseless(entity.name)] else { continue }
      for slot in entity.slots {
        switch slot.role {
        case .stored, .toMany: break
        case .transient, .fetched, .composite: continue
        }
        total += 1
        let name: String = XMLStoreNames.caseless(slot.name)
        if own.attributes[name] != nil || own.relationships[name] != nil { count += 1 }
      }
    }
    return (count, total)
  }

  /// What of an entity's objects a model has no place for, a clause each; none if they can be read with it.
  package func misfits(of name: String, _ layout: ModelLayout) -> [String] {
    let key: String = XMLStoreNames.caseless(name)
    guard let own = entities[key] else { return [] }
    guard
      let entity = layout.entities.first(where: { XMLStoreNames.caseless($0.name) == key && !$0.isAbstract })
    else { return ["it has no objects of \(name)"] }
    let slots: [String: PropertySlot] = Dictionary(
      entity.slots.map { (XMLStoreNames.caseless($0.name), $0) }, uniquingKeysWith: { first, _ in first })
    var clauses: [String] = []
    for (key, type) in own.attributes.sorted(by: { $0.key < $1.key }) {
      let place: String = "\(entity.name).\(slots[key]?.name ?? key)"
      switch slots[key]?.role {
      case .stored(let kind, _)? where kind != .toOne:
        let expected: String = XMLStoreValue.typeName(kind)
        if type != expected { clauses.append("\(place) is \(expected), and \(type) in the store") }
      case .transient?: continue
      default: clauses.append("it has no attribute \(place)")
      }
    }
    for (key, found) in own.relationships.sorted(by: { $0.key < $1.key }) {
      let place: String = "\(entity.name).\(slots[key]?.name ?? key)"
      guard let slot = slots[key], let relationship = slot.relationship else {
        clauses.append("it has no relationship \(place)")
        continue
      }
      let destination: String = relationship.destinationEntity?.name ?? ""
      if XMLStoreNames.caseless(destination) != found.destination {
        clauses.append("\(place) leads to \(destination), and to \(found.destination) in the store")
      } else if !slot.isToMany, found.limit != 1 {
        clauses.append("\(place) is to one, and to many in the store")
      }
    }
    return clauses
  }
}

extension StoreEngineKind {
  package func structure(at url: URL, options: StoreOpeningOptions) throws -> StoreStructure? { nil }

  package func misfits(
    of layout: ModelLayout, entities: Set<String>, at url: URL, options: StoreOpeningOptions
  ) throws -> [String]? { nil }
}
