import CoreDataPredicates
import CoreDataStorage

/// Fetch plans to statements, in stages, one a file:
///
///     resolve   which table, under which alias                          ZITEM t0
///     qualify   predicate and entity numbers → one condition            t0.ZDUE >= ? AND t0.Z_ENT = ?
///     order     terms with their collations                             ORDER BY t0.ZTITLE COLLATE …
///     limit     both bound                                              LIMIT ? OFFSET ?
///     columns   what the caller asked for: rows, ids or a count         t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZTITLE
///     join      the tables that paths needed on the way                 LEFT JOIN ZUSER t1 ON t1.Z_PK = t0.ZOWNER
///
/// Every stage changes one `FetchDraft`. The text is made last, by the renderer. Cost: linear in the predicate.
///
/// Throws `StoreError.unsupported` or `.unknownKeyPath` for what the plan asks and SQL can't say, `PredicateError` for a
/// broken constant such as an invalid regular expression.
package struct FetchCompiler: Sendable {
  package let schema: StoreSchema
  package let dialect: any SQLDialect

  package init(schema: StoreSchema, dialect: any SQLDialect = SQLiteDialect()) {
    self.schema = schema
    self.dialect = dialect
  }

  /// Whole rows; `RowStatement.columns` says how to read them.
  package func rows(_ plan: FetchPlan) throws -> RowStatement {
    var draft: FetchDraft = try draft(plan)
    let columns: RowColumns = schema.rowColumns(
      of: plan.entity, includesSubentities: plan.includesSubentities)
    draft.selectRows(columns)
    return RowStatement(statement: render(draft), columns: columns)
  }

  /// Primary key and entity number, in this order.
  package func ids(_ plan: FetchPlan) throws -> CompiledStatement {
    var draft: FetchDraft = try draft(plan)
    draft.selectIDs()
    return render(draft)
  }

  /// One row with one number.
  package func count(_ plan: FetchPlan) throws -> CompiledStatement {
    var unordered: FetchPlan = plan
    unordered.order = []
    var draft: FetchDraft = try draft(unordered)
    draft.selectCount()
    return render(draft)
  }

  private func draft(_ plan: FetchPlan) throws -> FetchDraft {
    var draft = try FetchDraft(resolving: plan, in: schema)
    try draft.qualify()
    try draft.sort()
    draft.limit()
    return draft
  }

  private func render(_ draft: FetchDraft) -> CompiledStatement {
    SQLRenderer.statement(draft.assembled(), dialect: dialect)
  }
}
