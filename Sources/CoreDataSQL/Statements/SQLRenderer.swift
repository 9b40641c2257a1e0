/// Renders trees to text: the last step of every compilation, and the only one that concatenates SQL.
package struct SQLRenderer {
  let dialect: any SQLDialect
  /// Writes values into the text instead of binding them: for definitions, where nothing can be bound.
  let inlinesValues: Bool
  /// Whether the text is a trigger's, which a store's file keeps. Apple's triggers have `AS` before an alias
  /// and `NOT NULL` for `IS NOT NULL`.
  var isTrigger: Bool = false
  var sql: String = ""
  private(set) var bindings: [SQLValue] = []
  private var places: [ConstantPlace] = []

  init(dialect: any SQLDialect, inlinesValues: Bool = false) {
    self.dialect = dialect
    self.inlinesValues = inlinesValues
  }

  package static func statement(_ select: SelectStatement, dialect: any SQLDialect) -> CompiledStatement {
    var renderer = SQLRenderer(dialect: dialect)
    renderer.write(select)
    var statement = CompiledStatement(sql: renderer.sql, bindings: renderer.bindings)
    statement.places = renderer.places
    return statement
  }

  package static func statement(_ tree: RowTree, dialect: any SQLDialect) -> CompiledStatement {
    var renderer = SQLRenderer(dialect: dialect)
    renderer.write(tree)
    return CompiledStatement(sql: renderer.sql, bindings: renderer.bindings)
  }

  /// The text of a statement whose values are all parameters.
  package static func text(_ tree: RowTree, dialect: any SQLDialect) -> String {
    statement(tree, dialect: dialect).sql
  }

  /// A condition alone with its values written out.
  static func inline(_ expression: SQLExpression, dialect: any SQLDialect) -> String {
    var renderer = SQLRenderer(dialect: dialect, inlinesValues: true)
    renderer.write(expression, inside: .loosest)
    return renderer.sql
  }

  /// The text of a statement with its values written out.
  package static func inlineText(_ tree: RowTree, dialect: any SQLDialect) -> String {
    var renderer = SQLRenderer(dialect: dialect, inlinesValues: true)
    renderer.write(tree)
    return renderer.sql
  }

  package static func text(_ tree: SchemaTree, dialect: any SQLDialect) -> String {
    var renderer = SQLRenderer(dialect: dialect, inlinesValues: true)
    renderer.write(tree)
    return renderer.sql
  }

  // MARK: Statements

  mutating func write(_ select: SelectStatement) {
    sql += select.isDistinct ? "SELECT DISTINCT " : "SELECT "
    list(select.columns)
    if select.source != .nothing { sql += " FROM " }
    switch select.source {
    case .nothing: break
    case .table(let name, let alias):
      sql += dialect.table(name)
      write(alias: alias)
    case .select(let inner, let alias):
      sql += "("
      write(inner)
      sql += ")"
      write(alias: alias ?? dialect.selectAlias)
    case .function(let name, let arguments): call(name, arguments)
    }
    for join in select.joins {
      sql += " \(join.kind.rawValue) \(dialect.table(join.table))"
      write(alias: join.alias)
      sql += " ON "
      write(join.condition, inside: .loosest)
    }
    if select.condition != .truth(true) {
      sql += " WHERE "
      write(select.condition, inside: .loosest)
    }
    if !select.groups.isEmpty {
      sql += " GROUP BY "
      list(select.groups)
    }
    if select.having != .truth(true) {
      sql += " HAVING "
      write(select.having, inside: .loosest)
    }
    for other in select.union {
      sql += select.keepsDuplicates ? " UNION ALL " : " UNION "
      write(other)
    }
    for (index, term) in select.order.enumerated() {
      sql += index == 0 ? " ORDER BY " : ", "
      write(term.expression, inside: .loosest)
      if let collation = term.collation { sql += " COLLATE \(dialect.name(collation))" }
      if !term.ascending { sql += " DESC" }
      if let nulls = dialect.nullOrder(ascending: term.ascending) { sql += " \(nulls)" }
    }
    writeLimit(select)
  }

  private mutating func write(alias: String?) {
    guard let alias else { return }
    sql += isTrigger ? " AS " : " "
    sql += alias
  }

  private mutating func writeLimit(_ select: SelectStatement) {
    // Rendered separately, so that a dialect can put them in its own order; both are plain values.
    func text(_ expression: SQLExpression?, _ renderer: inout SQLRenderer) -> String? {
      guard let expression else { return nil }
      let before: String = renderer.sql
      renderer.sql = ""
      renderer.write(expression, inside: .loosest)
      defer { renderer.sql = before }
      return renderer.sql
    }
    let limit: String? = text(select.limit, &self)
    let offset: String? = text(select.offset, &self)
    sql += dialect.limit(limit, offset: offset)
  }

  mutating func list(_ expressions: [SQLExpression]) {
    for (index, expression) in expressions.enumerated() {
      if index > 0 { sql += ", " }
      write(expression, inside: .loosest)
    }
  }

  /// Binds the value of a parameter of the statement's shape.
  mutating func bind(_ value: SQLValue, use: Int) {
    places.append(ConstantPlace(binding: bindings.count, use: use))
    bind(value)
  }

  mutating func bind(_ value: SQLValue) {
    if inlinesValues {
      sql += dialect.literal(value)
    } else {
      bindings.append(value)
      sql += dialect.placeholder(bindings.count)
    }
  }
}
