import ArgumentParser
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// `clarus fetch`: the rows of an entity, or values computed over them.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Prints the rows of an entity, or groups and sums of them.",
    discussion: """
      Rows of sub-entities are included. The columns are the object's id and the entity's stored properties; --columns picks \
      others: key paths over to-one relationships, to-many relationships (their number of members, or with --members their \
      ids), @count, @sum, @avg, @min and @max over to-many relationships, and properties of sub-entities.

      EXAMPLES
        clarus fetch Shop.sqlite Item --limit 10
        clarus fetch Shop.sqlite Item --id p42 --id p43
        clarus fetch Shop.sqlite Item --where 'price > 10 AND category.name BEGINSWITH[c] "f"' \\
          --sort price:desc --sort name
        clarus fetch Shop.sqlite Item --where 'category == "Category/p3" AND due < "2026-12-01"'
        clarus fetch Shop.sqlite Item --where 'due > now - 7d' --sql
        clarus fetch Shop.sqlite Item --columns title,category.name,tags --members
        clarus fetch Shop.sqlite Category --columns name,items.@count,items.@max.price
        clarus fetch Shop.sqlite Item --group-by category.name --count --sum price --sort count:desc
        clarus fetch Shop.sqlite Item --group-by category.name --avg price --having 'count > 2 AND avg(price) < 10'
        clarus fetch Shop.sqlite Item --distinct --columns category.name
        clarus fetch Shop.sqlite Category --columns name,items --format csv > categories.csv

      PREDICATES
        As for NSPredicate(format:). Besides, objects compare with ids ("Item/p42", "p42", or the URI), dates with days and \
      moments in UTC ("2026-12-01", "2026-12-01T09:30:00Z"), and now and today() take offsets: now - 7d, today() - 1mon \
      (\(RelativeDates.units)). In --having the names are those of the columns (count, sum(price), what is grouped by), and sum, \
      avg, min, max and count of other attributes.

      FORMATS
        table  for people: long text is cut, control characters are escaped, data shows its size
        json   an array of objects, each with "objectID" and its own entity's stored properties: nil is null, dates are \
      ISO 8601 with microseconds, data is base64, a decimal of more than 15 digits is a string, a to-one relationship is \
      the URI of its target; to-many relationships are left out unless named in --columns (then: the number of members) or \
      asked for by --members (then: an array of URIs)
        csv    RFC 4180, first line the names; nil is empty
      With --sql the statement, its values and the database's plan come before a table, and on standard error with json \
      and csv.
      """)

  @OptionGroup var options: StoreOptions

  @Argument(help: "The entity's name.")
  var entity: String

  @Option(
    name: .customLong("id"), parsing: .singleValue,
    help: ArgumentHelp(
      "The row with this id: 42, p42, Item/p42 or the URI. May be repeated.", valueName: "id"))
  var idTexts: [String] = []

  // A predicate may begin with a minus sign.
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("A predicate, as for NSPredicate(format:); see PREDICATES.", valueName: "predicate"))
  var predicate: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "A key path or, of groups, a column such as count or sum(price) to sort by, ascending unless :desc follows. May be repeated.",
      valueName: "key[:desc]"))
  var sort: [String] = []

  @Option(name: .long, help: ArgumentHelp("At most so many rows.", valueName: "n"))
  var limit: Int?

  @Option(name: .long, help: ArgumentHelp("Skip so many rows.", valueName: "n"))
  var offset: Int = 0

  @Option(name: .long, help: ArgumentHelp("The key paths to print, separated by commas.", valueName: "a,b.c"))
  var columns: String?

  @Flag(name: .long, help: "Show the ids of the members of to-many relationships, not their number.")
  var members = false

  @OptionGroup(title: "Groups") var grouping: GroupingOptions

  @OptionGroup var formatting: FormatOptions<RowFormat>

  @Flag(name: .long, help: "Print the SQL statement, its values and its plan.")
  var sql = false

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    if offset < 0 { throw ValidationError("--offset must not be negative.") }
    if let columns, let objection = NameList.objection("--columns", columns) {
      throw ValidationError(objection)
    }
    for text in idTexts where ObjectIDText(text) == nil {
      throw ValidationError("--id \"\(text)\" is no id; \(ObjectIDText.forms).")
    }
    for term in sort { _ = try SortTerm(term) }
    try grouping.check(columns: columns, members: members)
  }

  func run() throws {
    let store = try OpenStore(
      path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true)
    let engine: any StoreEngine = try store.open()
    defer { try? engine.close() }
    let entity: EntityLayout = try store.entity(self.entity, in: engine.layout)
    let now = Date()
    let rows: FetchPlan = try rows(of: entity, engine, store, now)
    let output = StandardOutput()
    if grouping.makesTable {
      try writeTable(rows, engine, output, now)
    } else {
      try writeRows(rows, engine, output)
    }
    try output.flush()
  }

  private var chosenFormat: RowFormat { formatting.chosen }

  /// The rows with the given ids, among those that satisfy the predicate.
  private func rows(
    of entity: EntityLayout, _ engine: any StoreEngine, _ store: OpenStore, _ now: Date
  ) throws -> FetchPlan {
    let ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
    var plan = FetchPlan(entity: entity)
    var conditions: [PredicateNode] = []
    if !idTexts.isEmpty {
      let wanted: [RowID] = try naming("--id") {
        try idTexts.compactMap(ObjectIDText.init).map { try ids.row($0, of: entity) }
      }
      conditions.append(ObjectReference.isAmong(wanted))
      plan.predicate = conditions[0]
      let present: Set<Int64> = Set(try engine.fetchIDs(plan).map(\.key))
      let missing: [String] = zip(idTexts, wanted).filter { !present.contains($1.key) }.map(\.0)
      if !missing.isEmpty {
        throw CommandFailure(
          "--id: \(store.path): There is no \(entity.name) with the id \(missing.joined(separator: ", ")).")
      }
    }
    if let predicate {
      let clause = try WhereClause(predicate, of: entity, ids: ids, now: now)
      for remark in clause.remarks { writeToStandardError("clarus: " + ErrorText.oneLine(remark)) }
      conditions.append(clause.node)
    }
    plan.predicate = conditions.count > 1 ? .compound(.and, conditions) : conditions.first
    return plan
  }

  private func writeRows(_ rows: FetchPlan, _ engine: any StoreEngine, _ output: StandardOutput) throws {
    var plan: FetchPlan = rows
    plan.order = try naming("--sort") { try sort.map { try SortTerm($0).order(of: rows.entity) } }
    plan.limit = limit ?? 0
    plan.offset = offset
    let layout: ModelLayout = engine.layout
    let chosen: [OutputColumn]? = try columns.map { columns in
      try naming("--columns") { try OutputColumn.list(columns, of: rows.entity, in: layout) }
    }
    let standard: [OutputColumn] = try OutputColumn.standard(
      of: rows.entity, in: layout, withMembers: members)
    if sql { try StatementText(engine.explain(plan)).write(chosenFormat, output) }
    var writer = RecordWriter(
      (chosen ?? standard).map { ($0.name, $0.isNumeric(listsMembers: members)) }, format: chosenFormat,
      printer: printer(engine), output: output)
    // Without `--columns` a JSON object shows the properties of its own entity, which may be more than the
    // fetched entity's.
    let pages = RowPages(
      engine: engine, columns: chosen ?? (chosenFormat == .json ? nil : standard), listsMembers: members)
    try writer.begin()
    try pages.forEach(plan) { try writer.write($0) }
    try writer.end()
  }

  private func writeTable(
    _ rows: FetchPlan, _ engine: any StoreEngine, _ output: StandardOutput, _ now: Date
  ) throws {
    let groups: GroupedRows = try grouping.table(of: rows.entity, in: engine.layout, columns: columns)
    var plan: ProjectionPlan = try groups.plan(
      rows: rows, order: try sort.map { (try SortTerm($0).key, try SortTerm($0).ascending) },
      limit: limit ?? 0,
      offset: offset)
    if let having = grouping.having {
      let ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
      plan.having = try HavingClause(having, now: now).reading(rows.entity, ids, groups)
    }
    if sql { try StatementText(engine.explain(plan)).write(chosenFormat, output) }
    let table: ProjectedRows = try engine.fetch(plan)
    var writer = RecordWriter(groups.titles, format: chosenFormat, printer: printer(engine), output: output)
    try writer.begin()
    for row in 0..<table.count { try writer.write(groups.record(table.row(row))) }
    try writer.end()
  }

  private func printer(_ engine: any StoreEngine) -> ValuePrinter {
    ValuePrinter(ids: ObjectIDs(layout: engine.layout, storeUUID: engine.identifier))
  }
}
