import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The report of `clarus info --entity` about one entity: its description in the model, the columns of its
/// properties, and examples of their values.
struct EntityReport {
  private struct Row {
    var name: String
    var place: ColumnPlace?
    /// The number of own rows that have a value; nil if that isn't counted.
    var values: Int?
    var sample: OutputValue
  }

  private let entity: EntityLayout
  /// Own rows, and those of sub-entities too.
  private let counts: (own: Int, all: Int)
  private let rows: [Row]
  private let ids: ObjectIDs

  init(_ entity: EntityLayout, engine: any StoreEngine) throws {
    self.entity = entity
    ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
    var plan = FetchPlan(entity: entity)
    let all: Int = try engine.count(plan)
    plan.includesSubentities = false
    counts = (try engine.count(plan), all)
    let places: [String: ColumnPlace] = Dictionary(
      try engine.columnPlaces(of: entity).map { ($0.property, $0) }, uniquingKeysWith: { first, _ in first })
    let stored: [PropertySlot] = entity.slots.filter { slot in
      if case .stored = slot.role { true } else { false }
    }
    let values: [Int] = try Self.valueCounts(of: stored, plan, engine)
    var rows: [Row] = []
    for (slot, count) in zip(stored, values) {
      rows.append(
        Row(
          name: slot.name, place: places[slot.name], values: count,
          sample: count == 0 ? .none : try Self.sample(of: slot, plan, engine)))
    }
    for slot in entity.slots where slot.role == .toMany {
      rows.append(Row(name: slot.name, place: places[slot.name], values: nil, sample: .none))
    }
    self.rows = rows.sorted { $0.name < $1.name }
  }

  private static func valueCounts(
    of slots: [PropertySlot], _ rows: FetchPlan, _ engine: any StoreEngine
  ) throws -> [Int] {
    if slots.isEmpty { return [] }
    let columns: [ProjectionColumn] = slots.map { slot in
      ProjectionColumn(
        name: slot.name, expression: .function(target: nil, name: "count:", arguments: [.keyPath(slot.name)]))
    }
    let table: ProjectedRows = try engine.fetch(ProjectionPlan(rows: rows, columns: columns))
    return slots.indices.map { column in
      if table.count > 0, case .integer(let count) = table[0, column] { Int(count) } else { 0 }
    }
  }

  /// The value of the first row that has one.
  private static func sample(
    of slot: PropertySlot, _ rows: FetchPlan, _ engine: any StoreEngine
  ) throws -> OutputValue {
    guard case .stored(let kind, _) = slot.role else { return .none }
    var rows: FetchPlan = rows
    rows.predicate = .comparison(
      ComparisonNode(left: .keyPath(slot.name), right: .constant(.null), comparison: .notEqualTo))
    var plan = ProjectionPlan(
      rows: rows, columns: [ProjectionColumn(name: slot.name, expression: .keyPath(slot.name))])
    plan.limit = 1
    let table: ProjectedRows = try engine.fetch(plan)
    return table.count == 0 ? .none : OutputValue(table[0, 0], kind)
  }

  // MARK: JSON

  var json: JSONText {
    let start: [(String, JSONText)] = [
      ("name", .string(entity.name)), ("count", .integer(Int64(counts.own))),
      ("countWithSubentities", .integer(Int64(counts.all))),
    ]
    return .object(
      start + EntityFacts(entity: entity.entity).json + [("properties", .array(rows.map(json)))])
  }

  private func json(_ row: Row) -> JSONText {
    var entries: [(String, JSONText)] = [
      ("name", .string(row.name)), ("table", .optional(row.place?.table)),
      ("columns", .strings(row.place?.columns ?? [])),
      ("values", row.values.map { .integer(Int64($0)) } ?? .null),
      ("sample", ValuePrinter(ids: ids).json(row.sample)),
    ]
    if let content = Self.content(row.sample) { entries.append(("sampleContent", .string(content))) }
    return .object(entries)
  }

  /// The content of sample data: `keyed archive of NSDictionary`.
  private static func content(_ sample: OutputValue) -> String? {
    guard case .value(.data(let data), _) = sample, let (form, tree) = DataTreeReader.read(data) else {
      return nil
    }
    let kind: String? =
      switch tree {
      case .instance(let name, _): name
      case .list(let name, _): name
      case .dictionary: "dictionary"
      case .value(let value): value.kindName
      case .note: nil
      }
    return kind.map { "\(form.rawValue): \($0)" } ?? form.rawValue
  }

  // MARK: Text

  func write(to output: StandardOutput) throws {
    try EntityFacts(entity: entity.entity).write(count: counts.own, to: output)
    if counts.all != counts.own {
      try output.writeLine("  with sub-entities: \(Counted.text(counts.all, "row", "rows"))")
    }
    try output.writeLine()
    var table = TextTable(
      [
        .init(title: "Property"), .init(title: "Table"), .init(title: "Columns"),
        .init(title: "Values", alignment: .right), .init(title: "Sample"),
      ], indent: "  ")
    for row in rows {
      let content: String = Self.content(row.sample).map { " \($0)" } ?? ""
      try table.add(
        [
          row.name, row.place?.table ?? "", row.place?.columns.joined(separator: ", ") ?? "",
          row.values.map(String.init) ?? "", ValuePrinter(ids: ids).cell(row.sample) + content,
        ], to: output)
    }
    try table.finish(output)
  }
}
