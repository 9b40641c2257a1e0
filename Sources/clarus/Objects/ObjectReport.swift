import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The output of `clarus show` for one object.
struct ObjectReport {
  struct Attribute {
    var name: String
    var type: String
    var value: OutputValue
    var content: (form: DataTreeReader.Form, tree: DataTree)?
  }

  struct Relationship {
    var name: String
    var destination: String
    var isToMany: Bool
    var isOrdered: Bool
    /// All of them.
    var count: Int
    /// Those that are shown.
    var members: [RowID]
  }

  let id: RowID
  let entity: EntityLayout
  private(set) var attributes: [Attribute] = []
  private(set) var relationships: [Relationship] = []
  private var labels: [RowID: String] = [:]
  private let ids: ObjectIDs

  /// nil: there is no such row. `id` may name a superentity.
  init?(_ id: RowID, engine: any StoreEngine, mostMembers: Int) throws {
    var plan = FetchPlan(entity: engine.layout.entities[Int(id.entity)])
    plan.predicate = ObjectReference.isAmong([id])
    guard let found = try engine.fetchIDs(plan).first else { return nil }
    self.id = found
    entity = engine.layout.entities[Int(found.entity)]
    ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
    plan = FetchPlan(entity: entity)
    plan.predicate = ObjectReference.isAmong([found])
    let slots: [PropertySlot] = entity.slots.filter { slot in
      if case .stored = slot.role { true } else { false }
    }
    let table: ProjectedRows = try engine.fetch(
      ProjectionPlan(
        rows: plan, columns: slots.map { ProjectionColumn(name: $0.name, expression: .keyPath($0.name)) }))
    guard slots.isEmpty || table.count == 1 else { return nil }
    for (column, slot) in slots.enumerated() { add(slot, table[0, column], engine.layout) }
    for (number, slot) in entity.slots.enumerated() where slot.role == .toMany {
      let members: [RowID] = try engine.members(of: entity, slot: number, owners: [found]).first ?? []
      addRelationship(slot, members, engine.layout, mostMembers)
    }
    attributes.sort { $0.name < $1.name }
    relationships.sort { $0.name < $1.name }
    labels = try ObjectLabels(engine: engine).labels(Set(relationships.flatMap(\.members) + [found]))
  }

  private mutating func add(_ slot: PropertySlot, _ value: PredicateValue, _ layout: ModelLayout) {
    guard case .stored(let kind, _) = slot.role else { return }
    let shown = OutputValue(value, kind)
    if slot.isToOne {
      if case .id(let target) = shown {
        addRelationship(slot, [target], layout, 1)
      } else {
        addRelationship(slot, [], layout, 1)
      }
      return
    }
    var attribute = Attribute(
      name: slot.name, type: slot.attribute?.attributeType.editorName ?? "", value: shown, content: nil)
    if case .data(let data) = value { attribute.content = DataTreeReader.read(data) }
    attributes.append(attribute)
  }

  private mutating func addRelationship(
    _ slot: PropertySlot, _ members: [RowID], _ layout: ModelLayout, _ most: Int
  ) {
    relationships.append(
      Relationship(
        name: slot.name, destination: slot.destination.map { layout.entities[$0].name } ?? "?",
        isToMany: slot.isToMany, isOrdered: slot.relationship?.isOrdered ?? false, count: members.count,
        members: Array(members.prefix(most))))
  }

  // MARK: JSON

  var json: JSONText {
    .object([
      ("objectID", .string(ids.uri(id))), ("entity", .string(entity.name)), ("label", .optional(labels[id])),
      ("attributes", .array(attributes.map(json))), ("relationships", .array(relationships.map(json))),
    ])
  }

  private func json(_ attribute: Attribute) -> JSONText {
    var entries: [(String, JSONText)] = [
      ("name", .string(attribute.name)), ("type", .string(attribute.type)),
      ("value", ValuePrinter(ids: ids).json(attribute.value)),
    ]
    if let content = attribute.content {
      entries += [("form", .string(content.form.rawValue)), ("content", TreeText.json(content.tree))]
    }
    return .object(entries)
  }

  private func json(_ relationship: Relationship) -> JSONText {
    .object([
      ("name", .string(relationship.name)), ("destination", .string(relationship.destination)),
      ("toMany", .bool(relationship.isToMany)), ("ordered", .bool(relationship.isOrdered)),
      ("count", .integer(Int64(relationship.count))),
      (
        "objects",
        .array(
          relationship.members.map {
            .object([("objectID", .string(ids.uri($0))), ("label", .optional(labels[$0]))])
          })
      ),
    ])
  }

  // MARK: Text

  func write(to output: StandardOutput) throws {
    let heading: String = ids.short(id) + (labels[id].map { "  " + $0 } ?? "")
    try output.writeLine(line(heading))
    let width: Int = (attributes.map(\.name) + relationships.map(\.name)).map(DisplayWidth.of).max() ?? 0
    func title(_ name: String) -> String {
      let safe: String = DisplayWidth.escaped(name)
      return "  " + safe + String(repeating: " ", count: max(0, width - DisplayWidth.of(safe))) + "  "
    }
    for attribute in attributes {
      var text: String = ValuePrinter(ids: ids).cell(attribute.value)
      if let content = attribute.content { text += " \(content.form.rawValue)" }
      try output.writeLine(Self.trimmed(title(attribute.name) + line(text)))
      guard let content = attribute.content else { continue }
      for text in TreeText(content.tree, indent: width + 6).lines { try output.writeLine(text) }
    }
    for relationship in relationships {
      if !relationship.isToMany {
        try output.writeLine(
          Self.trimmed(title(relationship.name) + line(relationship.members.first.map(words) ?? "")))
        continue
      }
      try output.writeLine(
        title(relationship.name) + line("\(relationship.count) × \(relationship.destination)"))
      for member in relationship.members {
        try output.writeLine(String(repeating: " ", count: width + 6) + line(words(member)))
      }
      if relationship.count > relationship.members.count {
        try output.writeLine(
          String(repeating: " ", count: width + 6)
            + "… and \(relationship.count - relationship.members.count) more")
      }
    }
  }

  private func words(_ id: RowID) -> String { ids.short(id) + (labels[id].map { "  " + $0 } ?? "") }

  private func line(_ text: String) -> String {
    DisplayWidth.truncated(DisplayWidth.escaped(text), to: 100)
  }

  private static func trimmed(_ line: String) -> String {
    String(line.reversed().drop { $0 == " " }.reversed())
  }
}
