import CoreDataPredicates
import CoreDataStorage

/// Compiles fetch plans to statements, in stages, one in each file:
///
///     resolve   which table, under which alias                          ZITEM t0
///     qualify   predicate and entity numbers → one condition            t0.ZDUE >= ? AND t0.Z_ENT = ?
///     order     terms with their collations                             ORDER BY t0.ZTITLE COLLATE …
///     limit     both bound                                              LIMIT ? OFFSET ?
///     columns   what the fetch returns: rows, ids or a count            t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZTITLE
///     join      the tables that paths needed                            LEFT JOIN ZUSER t1 ON t1.Z_PK = t0.ZOWNER
///
/// Every stage changes one `FetchDraft`. The renderer makes the text at the end. Cost: linear in the
/// predicate.
///
/// Throws `StoreError.unsupported` or `.unknownKeyPath` for a part of the plan that SQL can't express,
/// `PredicateError` for an invalid constant such as a malformed regular expression.
package struct FetchCompiler: Sendable {
  package let schema: StoreSchema
  var dialect: any SQLDialect { schema.dialect }

  package init(schema: StoreSchema) { self.schema = schema }

  /// Whole rows; `RowStatement.columns` defines how to read them.
  package func rows(_ plan: FetchPlan) throws -> RowStatement {
    RowStatement(statement: try statement(plan, .rows), columns: rowColumns(plan))
  }

  /// Primary key and entity number, in this order.
  package func ids(_ plan: FetchPlan) throws -> CompiledStatement { try statement(plan, .ids) }

  /// One row with one number.
  package func count(_ plan: FetchPlan) throws -> CompiledStatement { try statement(plan, .count) }

  /// How the rows of a plan are read.
  package func rowColumns(_ plan: FetchPlan) -> RowColumns {
    schema.rowColumns(of: plan.entity, includesSubentities: plan.includesSubentities)
  }

  package func statement(_ plan: FetchPlan, _ result: FetchResult) throws -> CompiledStatement {
    try statement(plan, result, trace: nil)
  }

  /// The statement, and what is needed to use it for other constants of the plan's shape; nil if it is valid
  /// for these constants only.
  package func shaped(_ plan: FetchPlan, _ result: FetchResult, _ shape: FetchShape) throws -> (
    statement: CompiledStatement, shaped: ShapedStatement?
  ) {
    let trace = ConstantTrace(plan.predicate, parameters: shape.parameters)
    let statement: CompiledStatement
    do {
      statement = try self.statement(plan, result, trace: trace)
    } catch {
      // The message should be about the predicate, not about its shape.
      return (try self.statement(plan, result), nil)
    }
    return (statement, ShapedStatement(statement, trace, shape, schema.encoding))
  }

  private func statement(_ plan: FetchPlan, _ result: FetchResult, trace: ConstantTrace?) throws
    -> CompiledStatement
  {
    var plan: FetchPlan = plan
    // Counted rows need no order.
    if result == .count { plan.order = [] }
    var draft = try FetchDraft(resolving: plan, in: schema, trace: trace)
    try draft.qualify()
    try draft.sort()
    draft.limit()
    switch result {
    case .rows: draft.selectRows(rowColumns(plan))
    case .ids: draft.selectIDs()
    case .count: draft.selectCount()
    }
    return SQLRenderer.statement(draft.assembled(), dialect: dialect)
  }
}
