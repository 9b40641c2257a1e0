import CoreDataPredicates
import CoreDataStorage

/// A fetch between plan and statement. The first stage, resolving the entity, is its initialiser.
struct FetchDraft {
  let plan: FetchPlan
  let schema: StoreSchema
  let frame: SelectFrame
  /// The rows fetched.
  let root: JoinedObject
  var columns: [SQLExpression] = []
  var condition: SQLExpression = .truth(true)
  var order: [SQLOrderTerm] = []
  var limitValue: SQLExpression?
  var offsetValue: SQLExpression?
  /// Counts the rows of the finished select instead of returning them.
  var countsRows: Bool = false
  /// Follows the parameters of the plan's shape; nil if the statement is not kept.
  let trace: ConstantTrace?

  init(resolving plan: FetchPlan, in schema: StoreSchema, trace: ConstantTrace? = nil) throws {
    self.plan = plan
    self.trace = trace
    self.schema = schema
    let table: TableSchema = try schema.table(of: plan.entity.index)
    frame = SelectFrame(aliases: AliasSource())
    let alias: String = frame.aliases.make()
    frame.source = .table(table.name, alias: alias)
    root = JoinedObject(entity: plan.entity.index, table: table, alias: alias, frame: frame)
  }
}
