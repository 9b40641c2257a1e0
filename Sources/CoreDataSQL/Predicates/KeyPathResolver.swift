import CoreDataPredicates
import CoreDataStorage

/// Walks key paths over the model: to-one steps become places, an attribute ends the path, a to-many interrupts it.
struct KeyPathResolver {
  let schema: StoreSchema

  static func components(_ path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// Resolves `components` from `place`. `path` is the whole path, for messages.
  func resolve(_ components: ArraySlice<String>, from place: ObjectPlace, path: String) throws -> Operand {
    var place: ObjectPlace = place
    var rest: ArraySlice<String> = components
    while let name = rest.first {
      rest = rest.dropFirst()
      if isIdentity(name, of: place) { continue }
      let entity: EntityLayout = schema.layout.entities[place.entity]
      guard let slot = entity.slotByName[name] else { throw unknown(name, in: entity, path: path) }
      switch schema.storage(of: place.entity, slot: slot) {
      case .attribute(let column):
        if column.kind == .string, rest == ["length"] {
          return .value(.function(.length, [place.column(column.name)]), .integer)
        }
        guard rest.isEmpty else {
          throw StoreError.unknownKeyPath(
            path, entity: entity.name,
            advice:
              "'\(name)' is an attribute, so the path ends there; remove '.\(rest.joined(separator: "."))'")
        }
        let value: SQLExpression = place.column(column.name)
        return .value(value, ValueType(column))
      case .toOne(let columns):
        guard let destination = entity.slots[slot].destination else {
          throw notStored(entity.slots[slot], entity: entity, path: path)
        }
        place = try target(of: place, slot: slot, columns: columns, destination: destination)
      case .toMany:
        return .members(ManyPath(owner: place, slot: slot, rest: rest))
      case .none:
        throw notStored(entity.slots[slot], entity: entity, path: path)
      }
    }
    return .object(place)
  }

  /// `SELF` and `objectID` name the object itself, unless the model has a property of that name.
  private func isIdentity(_ name: String, of place: ObjectPlace) -> Bool {
    guard name == "self" || name == "SELF" || name == "objectID" else { return false }
    return schema.layout.entities[place.entity].slotByName[name] == nil
  }

  private func target(
    of place: ObjectPlace, slot: Int, columns: ToOneColumns, destination: Int
  ) throws -> ObjectPlace {
    let owner: String? = place.alias
    let table: TableSchema = try schema.table(of: destination)
    return place.frame.step(from: place, slot: slot) {
      ObjectPlace(
        entity: destination, table: table, key: .column(owner, columns.key), canBeMissing: true,
        joinKind: .left, frame: place.frame)
    }
  }

  private func notStored(_ slot: PropertySlot, entity: EntityLayout, path: String) -> StoreError {
    let (reason, advice): (String, String) =
      switch slot.role {
      case .fetched: ("'\(slot.name)' is a fetched property", "repeat its predicate here")
      case .composite:
        ("'\(slot.name)' is a composite attribute, which stores don't keep yet", "use plain attributes")
      case .transient, .stored, .toMany:
        (
          "'\(slot.name)' of entity '\(entity.name)' is transient: it lives in memory, not in the store",
          "fetch without it and filter the objects, or make it persistent or derived"
        )
      }
    return .unsupported(part: path, reason: reason, advice: advice)
  }

  private func unknown(_ name: String, in entity: EntityLayout, path: String) -> StoreError {
    if name.hasPrefix("@") {
      return .unsupported(
        part: path, reason: "the collection operator '\(name)' follows no to-many relationship",
        advice: "put it after a to-many relationship, as in 'items.@count'")
    }
    let children: [String] = entity.family.dropFirst()
      .filter { schema.layout.entities[$0].slotByName[name] != nil }
      .map { schema.layout.entities[$0].name }
    let advice: String =
      if let child = children.first {
        "'\(name)' belongs to its sub-entity '\(child)'; fetch that entity"
      } else {
        NearestNames.advice(for: name, among: entity.slotByName.keys)
      }
    return .unknownKeyPath(path, entity: entity.name, advice: advice)
  }
}
