import CoreDataEvaluation
import CoreDataPredicates

extension InMemoryEngine {
  package func fetch(_ plan: ProjectionPlan) throws -> ProjectedRows {
    let state: InMemoryState = try snapshot()
    try ProjectionCheck(plan, state.schema.layout).run()
    let source = InMemoryRowProxy.Source(state, givesTransformed: true)
    let evaluation = try ProjectionEvaluation(plan.mapConstants { InMemoryRowProxy.bind($0, to: source) })
    var rows: FetchPlan = plan.rows
    (rows.order, rows.limit, rows.offset) = ([], 0, 0)
    let found: [RowRef] = try InMemoryQuery(rows, state).run()
    var table: ProjectedRows = try evaluation.run(
      found.lazy.map { InMemoryRowProxy(row: $0, source: source) as Any })
    table.mapValues { value in
      guard case .object(let box) = value, let proxy = box.value as? InMemoryRowProxy else { return value }
      return .object(ObjectBox(ObjectReference(id: proxy.id)))
    }
    StoreTally.note(rows: table.count)
    return table
  }

  package func explain(_ plan: ProjectionPlan) throws -> ExplainedStatement? {
    let state: InMemoryState = try snapshot()
    try ProjectionCheck(plan, state.schema.layout).run()
    _ = try DividedProjection(plan)
    return nil
  }
}

extension InMemoryRowProxy: KeyedObject {
  var primaryKey: Int64 { id.key }
}
