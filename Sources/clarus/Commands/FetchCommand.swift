import ArgumentParser
import CoreDataModel
import CoreDataPredicates
import CoreDataSQLite
import CoreDataStorage
import Foundation

/// `clarus fetch`: the rows of an entity.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Prints the rows of an entity.",
    discussion: """
      Rows of sub-entities are included. The columns are the object's id and the entity's stored properties; --columns picks \
      others, to-many relationships (their number of members) and properties of sub-entities included.

      EXAMPLES
        clarus fetch Shop.sqlite Item --limit 10
        clarus fetch Shop.sqlite Item --where 'price > 10 AND category.name BEGINSWITH[c] "f"' \\
          --sort price:desc --sort name
        clarus fetch Shop.sqlite Item --where 'due < CAST("2026-12-01T00:00:00Z", "NSDate")' --sql
        clarus fetch Shop.sqlite Category --columns name,items --format csv > categories.csv

      FORMATS
        table  for people: long text is cut, control characters are escaped, data shows its size
        json   an array of objects, each with "objectID" and its own entity's stored properties: nil is null, dates are \
      ISO 8601 with microseconds, data is base64, a decimal of more than 15 digits is a string, a to-one relationship is \
      the URI of its target; to-many relationships are left out unless named in --columns (then: the number of members)
        csv    RFC 4180, first line the names; nil is empty
      With --sql the statement, its values and the database's plan come before a table, and on standard error with json \
      and csv.
      """)

  @OptionGroup var options: StoreOptions

  @Argument(help: "The entity's name.")
  var entity: String

  // A predicate may begin with a minus sign.
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp("A predicate, as for NSPredicate(format:).", valueName: "predicate"))
  var predicate: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "A key path to sort by, ascending unless :desc follows. May be repeated.", valueName: "key[:desc]"))
  var sort: [String] = []

  @Option(name: .long, help: ArgumentHelp("At most so many rows.", valueName: "n"))
  var limit: Int?

  @Option(name: .long, help: ArgumentHelp("Skip so many rows.", valueName: "n"))
  var offset: Int = 0

  @Option(name: .long, help: ArgumentHelp("The properties to print, separated by commas.", valueName: "a,b"))
  var columns: String?

  @Option(name: .long, help: ArgumentHelp("table, json or csv.", valueName: "format"))
  var format: OutputFormat?

  @Flag(name: .long, help: "Print the SQL statement, its values and its plan.")
  var sql = false

  @Flag(name: .long, help: "The same as --format json.")
  var json = false

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
    if offset < 0 { throw ValidationError("--offset must not be negative.") }
    if json, let format, format != .json {
      throw ValidationError("--json and --format \(format.rawValue) contradict each other.")
    }
  }

  func run() throws {
    let store = try OpenStore(path: options.store, modelPath: options.model, needsModel: true)
    let engine: SQLiteEngine = try store.open()
    defer { try? engine.close() }
    let layout: ModelLayout = engine.layout
    guard let entity = layout.byName[entity] else {
      throw CommandFailure(
        "\(options.store): There is no entity \"\(self.entity)\". "
          + NearestNames.advice(for: self.entity, among: layout.byName.keys))
    }
    let plan: FetchPlan = try makePlan(entity)
    let format: OutputFormat = json ? .json : format ?? .table
    let columns: [RowColumn]? = try columns.map { try Self.columns($0, entity, layout) }
    let output = StandardOutput()
    if sql { try writeStatement(engine.explain(plan), format, output) }
    let writer = RowWriter(engine: engine, entity: entity, columns: columns, format: format, output: output)
    try writer.write(plan)
    try output.flush()
  }

  private static func columns(
    _ list: String, _ entity: EntityLayout, _ layout: ModelLayout
  ) throws -> [RowColumn] {
    try list.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let name: String = part.trimmingCharacters(in: .whitespaces)
      if name.isEmpty { throw CommandFailure("--columns \"\(list)\" has an empty name.") }
      return try RowColumn(property: name, of: entity, in: layout)
    }
  }

  // MARK: Plan

  private func makePlan(_ entity: EntityLayout) throws -> FetchPlan {
    var plan = FetchPlan(entity: entity)
    plan.limit = limit ?? 0
    plan.offset = offset
    plan.order = try sort.map(Self.order)
    if let predicate {
      let parsed: NSPredicate = try NSPredicate(parsing: predicate, arguments: [])
      let node: PredicateNode = parsed.predicateNode()
      let errors: [PredicateProblem] = node.errors(for: entity.entity)
      if !errors.isEmpty { throw CommandFailure("--where: " + Self.sentence(errors)) }
      // Such a predicate runs, and nothing in its rows would tell what is wrong.
      for problem in parsed.problems(for: entity.entity) where problem.kind == .neverEqual {
        writeToStandardError(ErrorText.oneLine("clarus: --where: \(problem.description)"))
      }
      plan.predicate = node
    }
    return plan
  }

  /// All problems in one line, numbered when there are several.
  private static func sentence(_ problems: [PredicateProblem]) -> String {
    guard problems.count > 1 else { return problems.first?.description ?? "" }
    return zip(1..., problems).map { "(\($0)) \($1)" }.joined(separator: " ")
  }

  private static func order(_ term: String) throws -> FetchOrder {
    let parts: [Substring] = term.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, parts.count <= 2 else {
      throw CommandFailure("--sort \"\(term)\" is no key; write key, key:asc or key:desc.")
    }
    switch parts.count == 2 ? parts[1].lowercased() : "asc" {
    case "asc": return FetchOrder(keyPath: String(key), ascending: true)
    case "desc": return FetchOrder(keyPath: String(key), ascending: false)
    default: throw CommandFailure("--sort \"\(term)\": after the colon comes asc or desc.")
    }
  }

  // MARK: SQL

  private func writeStatement(
    _ statement: ExplainedStatement?, _ format: OutputFormat, _ output: StandardOutput
  ) throws {
    guard let statement else { return }
    var lines: [String] = [statement.sql]
    if !statement.bindings.isEmpty { lines.append("values: " + statement.bindings.joined(separator: ", ")) }
    lines += statement.queryPlan.map { "plan: \($0)" }
    for line in lines.map(DisplayWidth.escaped) {
      if format == .table { try output.writeLine(line) } else { writeToStandardError(line) }
    }
    if format == .table { try output.writeLine() }
  }
}
