import CoreDataPredicates
import CoreDataStorage

/// The rows of a fetch with the chosen columns.
///
/// The ids come first, in order (sixteen bytes a row), then the values by the thousand rows, a projection for
/// each entity among them, so that millions of rows need little memory. A row that is deleted meanwhile is
/// omitted.
struct RowPages {
  let engine: any StoreEngine
  /// nil: each row has those of its own entity.
  let columns: [OutputColumn]?
  /// Whether to-many relationships show their members, not how many there are.
  let listsMembers: Bool

  private static let pageSize: Int = 1000

  func forEach(
    _ plan: FetchPlan, _ body: ([(name: String, value: OutputValue)]) throws -> Void
  ) throws {
    let ids: [RowID] = try engine.fetchIDs(plan)
    var start: Int = 0
    while start < ids.count {
      let page: ArraySlice<RowID> = ids[start..<min(start + Self.pageSize, ids.count)]
      start += Self.pageSize
      let records: [RowID: [(name: String, value: OutputValue)]] = try self.records(page)
      for id in page { if let record = records[id] { try body(record) } }
    }
  }

  private func records(
    _ ids: some Sequence<RowID>
  ) throws -> [RowID: [(name: String, value: OutputValue)]] {
    var records: [RowID: [(name: String, value: OutputValue)]] = [:]
    let idsByEntity: [Int32: [RowID]] = Dictionary(grouping: ids, by: \.entity)
    for (index, ids) in idsByEntity.sorted(by: { $0.key < $1.key }) {
      let entity: EntityLayout = engine.layout.entities[Int(index)]
      let columns: [OutputColumn] =
        try columns
        ?? OutputColumn.standard(of: entity, in: engine.layout, withMembers: listsMembers)
      let table: ProjectedRows = try engine.fetch(plan(columns, ids, entity))
      var values: [[OutputValue]] = []
      for (place, column) in columns.enumerated() {
        values.append(try self.values(column.ends[entity.index], table, column: place + 1))
      }
      for row in 0..<table.count {
        guard case .id(let id) = OutputValue(table[row, 0], nil) else { continue }
        records[id] = columns.indices.map { (columns[$0].name, values[$0][row]) }
      }
    }
    return records
  }

  /// A projection of the rows' ids and of the values of each column.
  private func plan(_ columns: [OutputColumn], _ ids: [RowID], _ entity: EntityLayout) -> ProjectionPlan {
    var rows = FetchPlan(entity: entity)
    rows.includesSubentities = false
    rows.predicate = ObjectReference.isAmong(ids)
    let read: [ProjectionColumn] = columns.map { column in
      let expression: ExpressionNode =
        switch column.ends[entity.index] {
        case .object(let expression, _), .value(let expression, _), .computed(let expression, _): expression
        case .members(let owner, _, _, let path): listsMembers ? owner : .keyPath("\(path).@count")
        case nil: .constant(.null)
        }
      return ProjectionColumn(name: column.name, expression: expression)
    }
    return ProjectionPlan(
      rows: rows, columns: [ProjectionColumn(name: PathEnd.objectIDName, expression: .evaluatedObject)] + read
    )
  }

  private func values(_ end: PathEnd?, _ table: ProjectedRows, column: Int) throws -> [OutputValue] {
    let kind: ColumnKind? =
      switch end {
      case .value(_, let kind): kind
      case .computed(_, let kind): kind
      case .object, .members, nil: nil
      }
    let values: [OutputValue] = (0..<table.count).map { OutputValue(table[$0, column], kind) }
    guard listsMembers, case .members(_, let entity, let slot, _) = end else { return values }
    let owners: [RowID] = Array(
      Set(values.compactMap { if case .id(let id) = $0 { id } else { nil } }))
    let lists: [[RowID]] = try engine.members(of: entity, slot: slot, owners: owners)
    let membersByOwner: [RowID: [RowID]] = Dictionary(uniqueKeysWithValues: zip(owners, lists))
    return values.map { value in
      guard case .id(let id) = value, let members = membersByOwner[id] else { return .none }
      return .ids(members)
    }
  }
}
