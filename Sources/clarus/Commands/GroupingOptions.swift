import ArgumentParser
import CoreDataStorage

/// The options of `clarus fetch` that make a table of computed values.
struct GroupingOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("A row for each combination of these values, separated by commas.", valueName: "a,b.c")
  )
  var groupBy: String?

  @Flag(name: .long, help: "The number of rows, of each group if there are groups.")
  var count = false

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("The sum of these numbers; --avg, --min and --max alike.", valueName: "a,b.c"))
  var sum: [String] = []

  @Option(name: .long, parsing: .singleValue, help: ArgumentHelp("Their average.", valueName: "a,b.c"))
  var avg: [String] = []

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("The smallest of these values.", valueName: "a,b.c"))
  var min: [String] = []

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp("The greatest of these values.", valueName: "a,b.c"))
  var max: [String] = []

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp(
      "Only groups that satisfy this, such as 'count > 2 AND sum(price) < 10'; see PREDICATES.",
      valueName: "predicate"))
  var having: String?

  @Flag(name: .long, help: "Each combination of the values in --columns once.")
  var distinct = false

  private var functionLists: [(name: String, paths: [String])] {
    [("sum", sum), ("avg", avg), ("min", min), ("max", max)]
  }

  private var functions: [(name: String, path: String?)] {
    (count ? [("count", nil)] : [])
      + functionLists.flatMap { name, lists in lists.flatMap(NameList.names).map { (name, $0) } }
  }

  var makesTable: Bool { groupBy != nil || distinct || !functions.isEmpty }

  func check(columns: String?, members: Bool) throws {
    if let groupBy, let objection = NameList.objection("--group-by", groupBy) {
      throw ValidationError(objection)
    }
    for (name, lists) in functionLists {
      let joined: String = lists.joined(separator: ",")
      if !lists.isEmpty, let objection = NameList.objection("--\(name)", joined) {
        throw ValidationError(objection)
      }
    }
    if having != nil, groupBy == nil {
      throw ValidationError("--having needs --group-by: it chooses among groups; --where chooses rows.")
    }
    if members, makesTable {
      throw ValidationError("--members needs rows; groups and distinct values have none.")
    }
    if distinct {
      if columns == nil { throw ValidationError("--distinct needs --columns: which values?") }
      if groupBy != nil || !functions.isEmpty {
        throw ValidationError(
          "--distinct and groups contradict each other; --group-by gives each combination once.")
      }
    } else if makesTable, columns != nil {
      throw ValidationError("--columns and groups contradict each other; name the values in --group-by.")
    }
  }

  func table(of entity: EntityLayout, in layout: ModelLayout, columns: String?) throws -> GroupedRows {
    if distinct, let columns {
      return try naming("--columns") {
        try GroupedRows(distinct: NameList.names(columns), of: entity, in: layout)
      }
    }
    return try GroupedRows(
      of: entity, in: layout, groups: groupBy.map(NameList.names) ?? [], functions: functions)
  }
}
