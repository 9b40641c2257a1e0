import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Resolves key paths by the model. A to-one step leads to another place, a to-many step to its members, from
/// which the rest of the path is read; an attribute is a value, and values have keys of their own
/// (`name.length`).
struct KeyPathResolver {
  let schema: StoreSchema

  private func sql(_ node: SemanticNode) throws -> SQLExpression { try schema.dialect.rewrite(node) }

  static func components(_ path: String) -> [String] {
    path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The result of reading a path from an operand. `text` is the whole expression, for messages.
  func read(_ path: some Sequence<String>, from start: Operand, text: String) throws -> Operand {
    var rest: ArraySlice<String> = Array(path)[...]
    var current: Operand = start
    while var name = rest.first {
      rest = rest.dropFirst()
      // The name of a composite attribute's element is its path.
      while let next = rest.first, let path = element(next, of: name, in: current) {
        name = path
        rest = rest.dropFirst()
      }
      if name.hasPrefix("@") {
        let behind: ArraySlice<String> = rest
        return try current.mapBranches { try collect(name, $0, behind, text) }
      }
      current = try current.mapBranches { try step(name, from: $0, text) }
    }
    return current
  }

  /// The path that names an element, if the operand's entity has a composite attribute of that name.
  private func element(_ name: String, of composite: String, in operand: Operand) -> String? {
    let entity: Int
    switch operand {
    case .object(let place): entity = place.entity
    case .members(let members):
      guard case .object(let place) = members.element else { return nil }
      entity = place.entity
    default: return nil
    }
    let layout: EntityLayout = schema.layout.entities[entity]
    guard layout.slot(named: composite)?.role == .composite else { return nil }
    let path = "\(composite).\(name)"
    return layout.slotByName[path] == nil ? nil : path
  }

  // MARK: Steps

  private func step(_ name: String, from operand: Operand, _ text: String) throws -> Operand {
    switch operand {
    case .object(let place): return try step(name, from: place, text)
    case .value(let value, let type): return try scalarKey(name, of: value, type, text)
    case .members(let members): return .members(try step(name, from: members, text))
    case .list(let parts): return .list(try parts.map { try step(name, from: $0, text) })
    case .entity(let place): return try entityKey(name, of: place, text)
    case .constant(let value):
      if value.isNull { return operand }
      if case .object = value {
        throw StoreError.unsupported(
          part: text, reason: "a constant object's values are not in the statement",
          advice: "read the value first and put it into the predicate")
      }
      return .constant(
        PredicateValue(normalizing: try ExpressionProgram(.path(.constant(value), name)).value(nil)))
    case .choice: return try operand.mapBranches { try step(name, from: $0, text) }
    case .combined:
      throw StoreError.unsupported(
        part: text, reason: "a set of two sets has no keys in a statement",
        advice: "combine conditions instead")
    }
  }

  private func step(_ name: String, from place: JoinedObject, _ text: String) throws -> Operand {
    let entity: EntityLayout = schema.layout.entities[place.entity]
    guard let slot = entity.slotByName[name] else {
      if isIdentity(name) { return .object(place) }
      if name == "entity" { return .entity(place) }
      throw unknown(name, in: entity, path: text)
    }
    switch schema.storage(of: place.entity, slot: slot) {
    case .attribute(let column):
      let value: SQLExpression = schema.encoding.read(place.column(column.name), column.kind)
      return .value(value, ValueType(column))
    case .toOne(let columns):
      guard let destination = entity.slots[slot].destination else {
        throw notStored(entity.slots[slot], entity: entity, path: text)
      }
      return .object(try target(of: place, slot: slot, columns: columns, destination: destination))
    case .toMany: return .members(try members(slot, of: place, text))
    case .none: throw notStored(entity.slots[slot], entity: entity, path: text)
    }
  }

  /// The members of a relationship, in a new frame.
  private func members(_ slot: Int, of place: JoinedObject, _ text: String) throws -> Members {
    let frame = SelectFrame(aliases: place.frame.aliases)
    let entered: EnteredMembers = try enter(slot, of: place, in: frame, path: text)
    let isOrdered: Bool =
      schema.layout.entities[place.entity].slots[slot].relationship?.isOrdered ?? false
    return Members(
      frame: frame, outer: place.frame, conditions: [entered.link], element: .object(entered.member),
      isSet: !isOrdered,
      isMissing: place.canBeMissing ? .isNull(place.key) : nil,
      order: isOrdered ? entered.order.map { [$0, entered.member.key] } : nil)
  }

  /// The values of a key for all members; a further to-many relationship joins its members to the same rows.
  private func step(_ name: String, from members: Members, _ text: String) throws -> Members {
    var result: Members = members
    guard case .object(let place) = members.element else {
      result.element = try step(name, from: members.element, text)
      result.isUnique = false
      return result
    }
    let entity: EntityLayout = schema.layout.entities[place.entity]
    if let slot = entity.slotByName[name], case .toMany = schema.storage(of: place.entity, slot: slot) {
      guard members.isFlat else {
        throw StoreError.unsupported(
          part: text, reason: "the collections of a list's members stay apart",
          advice: "ask about them within the SUBQUERY")
      }
      // A member without a target on the path counts as one nil.
      let entered: EnteredMembers = try enter(
        slot, of: place, in: members.frame, joining: place.canBeMissing ? .left : .inner, path: text)
      result.conditions.append(entered.link)
      if place.canBeMissing {
        result.conditions.append(.disjunction([.isNotNull(entered.member.key), .isNull(place.key)]))
      }
      result.element = .object(entered.member)
      result.isUnique = false
      let isOrdered: Bool = entity.slots[slot].relationship?.isOrdered ?? false
      result.order =
        isOrdered
        ? entered.order.flatMap { key in members.order.map { $0 + [key, entered.member.key] } } : nil
      return result
    }
    result.element = try step(name, from: place, text)
    if case .object(let same) = result.element, same === place { return result }
    guard result.hasPlainElement else {
      throw StoreError.unsupported(
        part: text, reason: "'\(name)' is no value of a database",
        advice: "compare an attribute of the members")
    }
    result.isUnique = false
    return result
  }

  /// `SELF` and `objectID` name the object itself, unless the model has a property of that name.
  private func isIdentity(_ name: String) -> Bool {
    name == "self" || name == "SELF" || name == "objectID"
  }

  private func target(
    of place: JoinedObject, slot: Int, columns: ToOneColumns, destination: Int
  ) throws -> JoinedObject {
    let owner: String? = place.alias
    let table: TableSchema = try schema.table(of: destination)
    return place.frame.step(from: place, slot: slot) {
      JoinedObject(
        entity: destination, table: table, key: .column(owner, columns.key), canBeMissing: true,
        joinKind: .left, frame: place.frame)
    }
  }

  // MARK: Keys of values

  /// The keys that `ScalarKeys` reads from a value in memory.
  private func scalarKey(_ name: String, of value: SQLExpression, _ type: ValueType, _ text: String) throws
    -> Operand
  {
    try type.checkReadable(text)
    guard let kind = type.scalarKind, let result = ScalarKeys.kind(ofKey: name, of: kind) else {
      throw StoreError.invalid(
        part: text, reason: "\(type.name) has no key '\(name)'", advice: "End the path before it.")
    }
    switch (name, type) {
    case ("self", _): return .value(value, type)
    case ("length", .string): return .value(try sql(.function(.length, [value])), .integer)
    case ("lowercaseString", _): return .value(try sql(.function(.lowercase, [value])), .string)
    case ("uppercaseString", _): return .value(try sql(.function(.uppercase, [value])), .string)
    case ("absoluteString", .url): return .value(value, .string)
    case ("timeIntervalSinceReferenceDate", _):
      return .value(try schema.encoding.seconds(ofDate: value), .real)
    default:
      return .value(
        try sql(.function(.key, [value, .text(name), .integer(kind.rawValue)])), ValueType(result))
    }
  }

  /// The only key of an entity that SQL supports is its name.
  private func entityKey(_ name: String, of place: JoinedObject, _ text: String) throws -> Operand {
    guard name == "name" else {
      throw StoreError.unsupported(
        part: text, reason: "of an object's entity a database knows the name only",
        advice: "compare entity.name, or the entity itself")
    }
    let number: SQLExpression = place.entityNumber
    let family: [EntityLayout] = schema.layout.entities[place.entity].family.map {
      schema.layout.entities[$0]
    }
    let names: SQLExpression = family.reversed().reduce(.null) { otherwise, entity in
      .choice(
        when: .binary(.equal, number, .bound(.integer(Int64(schema.entityNumber(of: entity.index))))),
        then: .text(entity.name), otherwise: otherwise)
    }
    return .value(names, .string)
  }

  // MARK: Errors

  private func notStored(_ slot: PropertySlot, entity: EntityLayout, path: String) -> StoreError {
    switch slot.role {
    case .composite:
      // A comparison of whole dictionaries, or a key that is no element and reads as nil.
      return .unsupported(
        part: path,
        reason: "'\(slot.name)' is a composite attribute, and a statement knows its elements only",
        advice:
          "compare an element, such as \(slot.name).\(slot.elements.first.map { entity.slots[$0].property.name } ?? "name")"
      )
    case .fetched:
      return .unsupported(
        part: path, reason: "'\(slot.name)' is a fetched property", advice: "repeat its predicate here")
    case .transient, .stored, .toMany:
      return .unsupported(
        part: path,
        reason:
          "'\(slot.name)' of entity '\(entity.name)' is transient: it lives in memory, not in the store",
        advice: "fetch without it and filter the objects, or make it persistent or derived")
    }
  }

  private func unknown(_ name: String, in entity: EntityLayout, path: String) -> StoreError {
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

extension Members {
  /// Whether the element is an object or a value that SQL can compute with.
  fileprivate var hasPlainElement: Bool {
    switch element {
    case .object, .value: true
    default: false
    }
  }
}
