import CoreDataModel
import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage
import Foundation

/// All objects of a store as JSON or CSV. Rows are read by the page.
struct StoreExport {
  let engine: any StoreEngine
  let entities: [EntityLayout]
  let progress: ProgressLine
  private let ids: ObjectIDs

  init(_ engine: any StoreEngine, entities: [EntityLayout], progress: ProgressLine) {
    self.engine = engine
    self.entities = entities
    self.progress = progress
    ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
  }

  /// A property with a value in each object.
  private struct Column {
    var name: String
    var slot: Int
    var place: (kind: ColumnKind, word: Int)?
  }

  /// A to-many relationship whose inverse is a to-one, and that has no order, is told by its members.
  private func columns(of entity: EntityLayout) -> [Column] {
    entity.slots.enumerated().compactMap { number, slot in
      switch slot.role {
      case .stored(let kind, let word): return Column(name: slot.name, slot: number, place: (kind, word))
      case .toMany:
        guard let relationship = slot.relationship else { return nil }
        let isTold: Bool = relationship.inverseRelationship.map { !$0.isToMany } ?? false
        return isTold && !relationship.isOrdered ? nil : Column(name: slot.name, slot: number, place: nil)
      case .transient, .fetched, .composite: return nil
      }
    }
  }

  private func forEachObject(
    of entity: EntityLayout, _ columns: [Column], _ body: (RowRef, [Int: [RowID]]) throws -> Void
  ) throws {
    let scan = try RowScan(entity, in: engine)
    try scan.forEachPage { page in
      let keys: ArraySlice<Int64> = scan.keys[page]
      var members: [Int64: [Int: [RowID]]] = [:]
      for column in columns where column.place == nil {
        for (key, list) in zip(keys, try scan.members(page, slot: column.slot)) {
          members[key, default: [:]][column.slot] = list
        }
      }
      for row in try scan.rows(page) { try body(row, members[row.key] ?? [:]) }
      try progress.advance(by: page.count)
    }
  }

  // MARK: JSON

  /// The document of the page on the command line: one object a line.
  func writeJSON(to output: StandardOutput, uuid: String, type: String) throws {
    let head: JSONText = .object([
      ("format", .integer(1)), ("type", .string(type)), ("uuid", .string(uuid)),
    ])
    try output.write("{\n  \"clarus\": \(head.compact),\n  \"entities\": {")
    for (place, entity) in entities.enumerated() {
      try output.write(
        (place == 0 ? "\n    " : ",\n    ") + "\(quoted(entity.name)): \(types(of: entity).compact)")
    }
    try output.write("\n  },\n  \"objects\": [")
    var count: Int = 0
    for entity in entities {
      let columns: [Column] = columns(of: entity)
      try forEachObject(of: entity, columns) { row, members in
        var entries: [(String, JSONText)] = [("$id", .string(ids.short(row.id)))]
        for column in columns { entries.append((column.name, json(column, row, members))) }
        try output.write((count == 0 ? "\n    " : ",\n    ") + JSONText.object(entries).compact)
        count += 1
      }
    }
    try output.writeLine(count == 0 ? "]\n}" : "\n  ]\n}")
  }

  private func quoted(_ text: String) -> String { JSONText.string(text).compact }

  private func types(of entity: EntityLayout) -> JSONText {
    var properties: [(String, JSONText)] = []
    for column in columns(of: entity) {
      let slot: PropertySlot = entity.slots[column.slot]
      if let relationship = slot.relationship {
        let destination: String = slot.destination.map { engine.layout.entities[$0].name } ?? "?"
        let form: String = relationship.isToMany ? relationship.isOrdered ? ", ordered" : ", many" : ""
        properties.append((column.name, .string("→ \(destination)\(form)")))
      } else {
        properties.append((column.name, .string(slot.attribute?.attributeType.editorName ?? "")))
      }
    }
    return .object([
      ("superentity", .optional(entity.entity.superentity?.name)), ("properties", .object(properties)),
    ])
  }

  private func json(_ column: Column, _ row: RowRef, _ members: [Int: [RowID]]) -> JSONText {
    guard let (kind, word) = column.place else {
      return .strings((members[column.slot] ?? []).map(ids.short))
    }
    guard row.hasValue(word) else { return .null }
    switch kind {
    case .toOne: return .string(ids.short(row.target(word)))
    case .date: return Self.date(row.double(word))
    case .uri, .string: return .string(row.string(word))
    case .decimal: return ValuePrinter.json(decimal: row.string(word))
    default: return ValuePrinter(ids: ids).json(.value(kind.predicateValue(row, word), kind))
    }
  }

  /// A date that the text does not keep to the last bit is the number of seconds since 2001.
  private static func date(_ seconds: Double) -> JSONText {
    let text: String = DateText.full(secondsSince2001: seconds)
    return DateText.date(text)?.timeIntervalSinceReferenceDate == seconds ? .string(text) : .double(seconds)
  }

  // MARK: SQL

  func writeSQL(to output: StandardOutput) throws {
    let sql = PortableSQL { seconds in
      // The form that databases read: no T and no Z.
      DateText.full(secondsSince2001: seconds).replacing("T", with: " ").replacing("Z", with: "")
    }
    for entity in entities {
      try output.writeLine(sql.table(of: entity))
      try forEachObject(of: entity, []) { row, _ in
        try output.writeLine(safe(sql.insertion(of: row, entity), output))
      }
      for (number, slot) in entity.slots.enumerated() where PortableSQL.hasPairs(slot, of: entity) {
        try output.writeLine(sql.pairTable(of: slot, entity))
        let scan = try RowScan(entity, in: engine)
        try scan.forEachPage { page in
          for (owner, members) in zip(scan.ids(page), try scan.members(page, slot: number)) {
            for (place, member) in members.enumerated() {
              try output.writeLine(sql.insertion(of: member, at: place, owner: owner, slot, entity))
            }
          }
          try progress.advance(by: 0)
        }
      }
    }
  }

  // MARK: CSV

  func writeCSV(of entity: EntityLayout, to output: StandardOutput) throws {
    let columns: [Column] = columns(of: entity)
    try output.write(CSVText.line(["$id"] + columns.map(\.name)))
    try forEachObject(of: entity, columns) { row, members in
      let fields: [String] = columns.map { safe(field($0, row, members), output) }
      try output.write(([ids.short(row.id)] + fields).joined(separator: ",") + "\r\n")
    }
  }

  /// On a terminal characters that move the cursor are escaped; in a file text is as it is.
  private func safe(_ text: String, _ output: StandardOutput) -> String {
    output.isTerminal ? DisplayWidth.escaped(text) : text
  }

  /// A field with its quotation marks. nil is nothing, and the empty text `""`.
  private func field(_ column: Column, _ row: RowRef, _ members: [Int: [RowID]]) -> String {
    switch json(column, row, members) {
    case .null: ""
    case .array(let ids):
      ids.compactMap { if case .string(let id) = $0 { id } else { nil } }.joined(separator: " ")
    case .string(let text): text.isEmpty ? "\"\"" : CSVText.field(text)
    case .bool(let flag): flag ? "true" : "false"
    case let other: CSVText.field(other.compact.trimmingCharacters(in: ["\""]))
    }
  }
}
