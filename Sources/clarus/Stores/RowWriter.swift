import CoreDataSQLite
import CoreDataStorage

/// Writes the rows of a fetch as they are read.
///
/// The ids come first, in order (sixteen bytes a row), then the rows by the thousand, so that a table of millions needs
/// little memory. A row that vanishes in between is left out.
struct RowWriter {
  let engine: SQLiteEngine
  let entity: EntityLayout
  /// nil: the standard ones.
  let columns: [RowColumn]?
  let format: OutputFormat
  let output: StandardOutput

  private static let pageSize: Int = 1000

  private var printer: RowPrinter { RowPrinter(layout: engine.layout, storeUUID: engine.identifier) }

  func write(_ plan: FetchPlan) throws {
    switch format {
    case .table: try writeTable(plan)
    case .csv: try writeCSV(plan)
    case .json: try writeJSON(plan)
    }
  }

  private func writeTable(_ plan: FetchPlan) throws {
    let columns: [RowColumn] = columns ?? RowColumn.standard(of: entity)
    var table = TextTable(
      columns.map { .init(title: $0.name, alignment: $0.isNumeric(in: engine.layout) ? .right : .left) })
    var count: Int = 0
    try forEachPage(plan, columns) { rows, counts in
      for (place, row) in rows.enumerated() {
        count += 1
        try table.add(
          columns.indices.map { printer.cell(row, columns[$0], memberCount: counts[$0]?[place]) }, to: output)
      }
    }
    try table.finish(output)
    try output.writeLine(count == 1 ? "1 row" : "\(count) rows")
  }

  private func writeCSV(_ plan: FetchPlan) throws {
    let columns: [RowColumn] = columns ?? RowColumn.standard(of: entity)
    try output.write(CSVText.line(columns.map(\.name)))
    try forEachPage(plan, columns) { rows, counts in
      for (place, row) in rows.enumerated() {
        try output.write(
          CSVText.line(
            columns.indices.map { printer.field(row, columns[$0], memberCount: counts[$0]?[place]) }))
      }
    }
  }

  private func writeJSON(_ plan: FetchPlan) throws {
    // Without a choice an object shows what its own entity has, which may be more than the fetched entity's.
    let standard: [Int: [RowColumn]] = Dictionary(
      uniqueKeysWithValues: entity.family.map { ($0, RowColumn.standard(of: engine.layout.entities[$0])) })
    var isFirst = true
    try output.write("[")
    try forEachPage(plan, columns ?? []) { rows, counts in
      for (place, row) in rows.enumerated() {
        let shown: [RowColumn] = columns ?? standard[row.entity] ?? [.objectID]
        let object: JSONText = .object(
          shown.indices.map { number in
            let memberCount: Int? = columns == nil ? nil : counts[number]?[place]
            return (shown[number].name, printer.json(row, shown[number], memberCount: memberCount))
          })
        try output.write((isFirst ? "\n  " : ",\n  ") + object.compact)
        isFirst = false
      }
    }
    try output.writeLine(isFirst ? "]" : "\n]")
  }

  /// Hands over the rows page by page; `counts` has for each to-many column (by its place) the members of each row.
  private func forEachPage(
    _ plan: FetchPlan, _ columns: [RowColumn], _ body: ([RowRef], [Int: [Int]]) throws -> Void
  ) throws {
    let ids: [RowID] = try engine.fetchIDs(plan)
    var start: Int = 0
    while start < ids.count {
      let page: ArraySlice<RowID> = ids[start..<min(start + Self.pageSize, ids.count)]
      start += Self.pageSize
      var rowByKey: [Int64: RowRef] = [:]
      try engine.rows(of: entity, keys: page.map(\.key)).forEach { rowByKey[$0.key] = $0 }
      let rows: [RowRef] = page.compactMap { rowByKey[$0.key] }
      try body(rows, try memberCounts(rows, columns))
    }
  }

  private func memberCounts(_ rows: [RowRef], _ columns: [RowColumn]) throws -> [Int: [Int]] {
    var result: [Int: [Int]] = [:]
    for (number, column) in columns.enumerated() {
      // A sub-entity's relationship exists for some rows only; each entity asks for its own.
      var counts: [Int] = Array(repeating: 0, count: rows.count)
      var placesByEntity: [Int: [Int]] = [:]
      for (place, row) in rows.enumerated() {
        if column.slot(in: engine.layout.entities[row.entity])?.role == .toMany {
          placesByEntity[row.entity, default: []].append(place)
        }
      }
      if placesByEntity.isEmpty { continue }
      for (index, places) in placesByEntity.sorted(by: { $0.key < $1.key }) {
        let entity: EntityLayout = engine.layout.entities[index]
        guard let slot = column.slotNumber(in: entity) else { continue }
        let members: [[RowID]] = try engine.members(
          of: entity, slot: slot, owners: places.map { rows[$0].id })
        for (place, list) in zip(places, members) { counts[place] = list.count }
      }
      result[number] = counts
    }
    return result
  }
}
