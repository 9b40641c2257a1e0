import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A fetch over dictionaries: every row is looked at.
struct DictionaryQuery {
  private let plan: FetchPlan
  private let store: DictionaryRows
  private let state: DictionaryRows.State

  init(_ plan: FetchPlan, _ store: DictionaryRows, _ state: DictionaryRows.State) {
    self.plan = plan
    self.store = store
    self.state = state
  }

  private func object(_ row: RowRef) -> DictionaryObject {
    DictionaryObject(id: row.id, row: row, store: store, state: state)
  }

  private func bind(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .object(let box):
      guard let reference = box.value as? ObjectReference else { return value }
      let row: RowRef? = reference.id.flatMap { state.rows[store.node($0)] }
      return .object(
        ObjectBox(
          DictionaryObject(
            id: row?.id ?? reference.id ?? RowID(entity: -1, key: .min), row: row, store: store, state: state)
        ))
    case .array(let members): return .array(members.map(bind))
    case .set(let members): return .set(Set(members.map(bind)))
    default: return value
    }
  }

  func run() throws -> [RowRef] {
    let paths = KeyPathCheck(layout: store.layout, entity: plan.entity)
    if let part = plan.predicate?.firstProgramCode {
      throw StoreError.unsupported(
        part: part, reason: "it is code of the program", advice: "Fetch through a context.")
    }
    for path in plan.predicate?.keyPaths ?? [] { try paths.check(path) }
    for term in plan.order where try paths.check(term.keyPath) && !term.keyPath.contains("@") {
      throw StoreError.invalid(
        part: "sort by \(term.keyPath)", reason: "to-many key not allowed here",
        advice: "Sort by the members' @count.")
    }
    let family: ClosedRange<Int> =
      plan.includesSubentities ? plan.entity.family : plan.entity.index...plan.entity.index
    var rows: [RowRef] = state.rows.values.filter { family.contains($0.entity) }.sorted { $0.key < $1.key }
    if let predicate = plan.predicate {
      let program = PredicateProgram(predicate.mapConstants(bind))
      rows = try rows.filter { try program.evaluate(object($0)) }
    }
    if !plan.order.isEmpty { rows = try sort(rows) }
    rows = Array(rows.dropFirst(plan.offset))
    return plan.limit > 0 ? Array(rows.prefix(plan.limit)) : rows
  }

  private func sort(_ rows: [RowRef]) throws -> [RowRef] {
    let terms: [SortTerm] = plan.order.map {
      SortTerm(key: $0.keyPath, ascending: $0.ascending, comparison: $0.comparison)
    }
    let programs: [ExpressionProgram] = plan.order.map { ExpressionProgram(.keyPath($0.keyPath)) }
    let values: [[PredicateValue]] = try rows.map { row in
      try programs.map { program in
        let value: PredicateValue = try program.value(object(row))
        if case .object(let box) = value, let target = box.value as? DictionaryObject {
          return .integer(target.id.key)
        }
        if case .url(let url) = value { return .string(url.absoluteString) }
        return value
      }
    }
    return try rows.indices.sorted { left, right in
      for (number, term) in terms.enumerated() {
        let result: ComparisonResult = try term.order(values[left][number], values[right][number])
        if result != .orderedSame { return result == .orderedAscending }
      }
      return left < right
    }.map { rows[$0] }
  }

  func run(_ projection: ProjectionPlan) throws -> ProjectedRows {
    try ProjectionCheck(projection, store.layout).run()
    let evaluation = try ProjectionEvaluation(projection.mapConstants(bind))
    var rows: FetchPlan = projection.rows
    (rows.order, rows.limit, rows.offset) = ([], 0, 0)
    var table: ProjectedRows = try evaluation.run(
      DictionaryQuery(rows, store, state).run().map { object($0) as Any })
    table.mapValues { value in
      guard case .object(let box) = value, let object = box.value as? DictionaryObject else { return value }
      return .object(ObjectBox(ObjectReference(id: object.id)))
    }
    return table
  }

  static func value(_ name: String, _ row: RowRef, _ entity: EntityLayout) -> PredicateValue {
    guard case .stored(let kind, let word) = entity.slot(named: name)?.role, row.hasValue(word) else {
      return .null
    }
    return kind.predicateValue(row, word)
  }
}

/// A row as predicates see it.
final class DictionaryObject: NSObject, KeyValueReadable, ModelledObject, StoredRow, KeyedObject {
  let id: RowID
  private let row: RowRef?
  private let store: DictionaryRows
  private let state: DictionaryRows.State

  init(id: RowID, row: RowRef?, store: DictionaryRows, state: DictionaryRows.State) {
    self.id = id
    self.row = row
    self.store = store
    self.state = state
  }

  var primaryKey: Int64 { id.key }
  private var layout: EntityLayout? { row.map { store.layout.entities[$0.entity] } }

  override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? DictionaryObject else { return false }
    return id == other.id && id.entity >= 0
  }
  override var hash: Int { id.hashValue }

  func hasProperty(named name: String) -> Bool { layout?.slotByName[name] != nil }

  func readValue(forKey key: String) throws -> Any? {
    guard let row, let layout else { return nil }
    guard let number = layout.slotByName[key] else {
      if key == "objectID" { return self }
      if key == "entity" { return layout.entity }
      throw StoreError.unknownKeyPath(
        key, entity: layout.name, advice: NearestNames.advice(for: key, among: layout.slotByName.keys))
    }
    let slot: PropertySlot = layout.slots[number]
    switch slot.role {
    case .stored(let kind, let word):
      guard row.hasValue(word) else { return nil }
      return kind == .toOne ? object(row.target(word)) : kind.predicateValue(row, word)
    case .toMany:
      let members: [DictionaryObject] = store.members(of: id, number, state).map(object)
      return slot.relationship?.isOrdered == true ? NSOrderedSet(array: members) : NSSet(array: members)
    case .composite, .transient, .fetched:
      throw StoreError.unsupported(
        part: "\(layout.name).\(slot.name)", reason: "a dictionary does not hold it",
        advice: "Fetch through a context.")
    }
  }

  private func object(_ id: RowID) -> DictionaryObject {
    let row: RowRef? = state.rows[store.node(id)]
    return DictionaryObject(id: row?.id ?? id, row: row, store: store, state: state)
  }
}
