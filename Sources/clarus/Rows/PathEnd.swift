import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The end of a key path, by the model.
enum PathEnd {
  /// An object: `SELF`, or a to-one relationship.
  case object(ExpressionNode, EntityLayout)
  /// A stored value.
  case value(ExpressionNode, ColumnKind)
  /// The result of a collection operator over a to-many relationship; the kind where it is that of an
  /// attribute.
  case computed(ExpressionNode, ColumnKind?)
  /// A to-many relationship of the object that is the value of an expression.
  case members(owner: ExpressionNode, EntityLayout, slot: Int, path: String)

  /// Follows a path over to-one relationships, and with `crossesMany` over to-many ones too, as `ANY` does.
  init(_ path: String, from entity: EntityLayout, in layout: ModelLayout, crossesMany: Bool = false) throws {
    var current: EntityLayout = entity
    var walked: [String] = []
    var rest: ArraySlice<String> = Self.names(path, entity)
    var reached: ExpressionNode {
      walked.isEmpty ? .evaluatedObject : .keyPath(walked.joined(separator: "."))
    }
    while let name = rest.popFirst() {
      if rest.isEmpty, name == Self.objectIDName || name.lowercased() == "self" {
        self = .object(reached, current)
        return
      }
      guard let number = current.slotByName[name] else {
        throw Self.unknown(name, current, at: walked.isEmpty)
      }
      let slot: PropertySlot = current.slots[number]
      let destination: EntityLayout? = slot.destination.map { layout.entities[$0] }
      switch slot.role {
      case .stored(.toOne, _):
        walked.append(name)
        guard let destination else { throw CommandFailure("\(current.name).\(name) has no destination.") }
        current = destination
        rest = Self.names(rest.joined(separator: "."), current)
        if rest.isEmpty {
          self = .object(reached, current)
          return
        }
      case .stored(let kind, _):
        guard rest.isEmpty else {
          throw CommandFailure(
            "\(current.name).\(name) is a value, so \"\(path)\" leads nowhere. End the path there.")
        }
        walked.append(name)
        self = .value(reached, kind)
        return
      case .toMany:
        guard let next = rest.first else {
          self = .members(
            owner: reached, current, slot: number, path: (walked + [name]).joined(separator: "."))
          return
        }
        guard let destination else { throw CommandFailure("\(current.name).\(name) has no destination.") }
        if next.hasPrefix("@") {
          self = .computed(.keyPath(path), try Self.kind(of: rest, over: destination, in: layout))
          return
        }
        guard crossesMany else {
          throw CommandFailure(
            "\(current.name).\(name) has many members; write \(name).@count, \(name).@max.\(next), or \(name) with --members."
          )
        }
        walked.append(name)
        current = destination
        rest = Self.names(rest.joined(separator: "."), current)
      case .transient:
        throw CommandFailure("\(current.name).\(name) is not stored, so there is nothing to show.")
      case .fetched:
        throw CommandFailure("\(current.name).\(name) is a fetched property, so there is nothing to show.")
      case .composite:
        let names: String = slot.elements.map { current.slots[$0].name }.joined(separator: ", ")
        throw CommandFailure("\(current.name).\(name) is a composite attribute; name its elements: \(names).")
      }
    }
    self = .object(.evaluatedObject, entity)
  }

  /// The name of a row's own id in columns; no property can have this name.
  static let objectIDName: String = "objectID"

  /// A path's components; an element of a composite attribute is one.
  private static func names(_ path: String, _ entity: EntityLayout) -> ArraySlice<String> {
    if path.isEmpty { return [] }
    return entity.joinElements(path.split(separator: ".", omittingEmptySubsequences: false).map(String.init))[
      ...]
  }

  private static func kind(
    of operation: ArraySlice<String>, over entity: EntityLayout, in layout: ModelLayout
  ) throws -> ColumnKind? {
    let known: [String] = ["@count", "@sum", "@avg", "@min", "@max"]
    guard let name = operation.first, known.contains(name), (name == "@count") == (operation.count == 1)
    else {
      throw CommandFailure(
        "\"\(operation.joined(separator: "."))\" can't be computed; write @count, or @sum, @avg, @min or @max with an attribute."
      )
    }
    if name == "@count" { return .int64 }
    guard
      case .value(_, let kind) = try PathEnd(
        operation.dropFirst().joined(separator: "."), from: entity, in: layout)
    else { throw CommandFailure("\(name) needs an attribute: \(name).price") }
    return name == "@min" || name == "@max" ? kind : nil
  }

  /// A path whose first name no entity of a family has; nil where one does.
  static func unknown(_ path: String, amongAll family: [EntityLayout]) -> CommandFailure? {
    let name = String(path.prefix { $0 != "." })
    guard let entity = family.first, !family.contains(where: { $0.slotByName[name] != nil }) else {
      return nil
    }
    var seen: Set<String> = []
    let known: [String] = family.flatMap(names(of:)).filter { seen.insert($0).inserted } + [objectIDName]
    let whose: String = family.count > 1 ? " and its sub-entities have" : " has"
    return CommandFailure(
      "Entity \(entity.name)\(whose) no property \"\(name)\". " + NearestNames.advice(for: name, among: known)
    )
  }

  private static func names(of entity: EntityLayout) -> [String] {
    entity.slots.filter { $0.role != .fetched && $0.role != .transient }.map(\.name)
  }

  private static func unknown(_ name: String, _ entity: EntityLayout, at start: Bool) -> CommandFailure {
    let names: [String] = names(of: entity)
    return CommandFailure(
      "Entity \(entity.name) has no property \"\(name)\". "
        + NearestNames.advice(for: name, among: start ? names + [objectIDName] : names))
  }
}
