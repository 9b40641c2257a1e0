import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Groups, functions over rows, and distinct values: a projection that the store computes.
///
///     --group-by category.name --count --sum price     category.name │ count │ sum(price)
///     --distinct --columns title                       title
///
/// A column's title is its name in `--sort`.
struct GroupedRows {
  private struct Column {
    var title: String
    var expression: ExpressionNode
    var kind: ColumnKind?
    var isNumeric: Bool
  }

  private let entity: EntityLayout
  private let layout: ModelLayout
  private var columns: [Column] = []
  private var groups: [ExpressionNode] = []
  private var isDistinct = false

  /// - Parameters:
  ///   - groups: key paths.
  ///   - functions: names of functions, with the key paths they are applied to; `count` has none.
  init(
    of entity: EntityLayout, in layout: ModelLayout, groups: [String],
    functions: [(name: String, path: String?)]
  ) throws {
    self.entity = entity
    self.layout = layout
    for path in groups {
      let column: Column = try naming("--group-by") { try self.column(path) }
      self.groups.append(column.expression)
      columns.append(column)
    }
    for (name, path) in functions { columns.append(try function(name, path)) }
  }

  /// The different combinations of values.
  init(distinct paths: [String], of entity: EntityLayout, in layout: ModelLayout) throws {
    self.entity = entity
    self.layout = layout
    isDistinct = true
    columns = try paths.map(column)
  }

  var titles: [(title: String, isNumeric: Bool)] { columns.map { ($0.title, $0.isNumeric) } }

  /// - Parameter order: titles of columns; of distinct values other key paths too.
  func plan(
    rows: FetchPlan, order: [(title: String, ascending: Bool)], limit: Int, offset: Int
  ) throws -> ProjectionPlan {
    var plan = ProjectionPlan(
      rows: rows, columns: columns.map { ProjectionColumn(name: $0.title, expression: $0.expression) })
    plan.groups = groups
    plan.isDistinct = isDistinct
    plan.order = try order.map {
      ProjectionOrder(try expression(sortedBy: $0.title), ascending: $0.ascending)
    }
    // Groups without an order are sorted by their keys, and distinct values too.
    if isDistinct, order.isEmpty { plan.order = columns.map { ProjectionOrder($0.expression) } }
    plan.limit = limit
    plan.offset = offset
    return plan
  }

  func record(_ values: ArraySlice<PredicateValue>) -> [(name: String, value: OutputValue)] {
    zip(columns, values).map { ($0.title, OutputValue($1, $0.kind)) }
  }

  private func expression(sortedBy title: String) throws -> ExpressionNode {
    if let column = columns.first(where: { $0.title == title }) { return column.expression }
    if isDistinct { return try naming("--sort") { try column(title).expression } }
    throw CommandFailure(
      "--sort: Groups are sorted by their columns, and \(title) is none: \(columns.map(\.title).joined(separator: ", "))."
    )
  }

  /// A predicate about groups: its names are those of columns, or arguments of a function over the rows.
  func condition(_ predicate: PredicateNode) throws -> PredicateNode {
    switch predicate {
    case .constant, .block: return predicate
    case .compound(let kind, let members): return .compound(kind, try members.map(condition))
    case .comparison(var node):
      node.left = try condition(node.left)
      node.right = try condition(node.right)
      return .comparison(node)
    }
  }

  private func condition(_ expression: ExpressionNode) throws -> ExpressionNode {
    switch expression {
    case .keyPath(let path):
      if let column = columns.first(where: { $0.title == path }) { return column.expression }
      if path == "count", entity.slotByName[path] == nil { return try function(path, nil).expression }
      // An error in the name comes first.
      _ = try PathEnd(path, from: entity, in: layout)
      throw CommandFailure(
        "\(path) may differ within a group. Write sum(\(path)), avg(\(path)), min(\(path)), max(\(path)) or count(\(path)), "
          + "or one of the columns: \(columns.map(\.title).joined(separator: ", ")).")
    case .function(target: nil, let name, let arguments):
      if Self.functions.contains(name), arguments.count == 1, case .keyPath(let path) = arguments[0] {
        return .function(target: nil, name: name, arguments: [try column(path).expression])
      }
      return .function(target: nil, name: name, arguments: try arguments.map(condition))
    case .evaluatedObject, .path, .subquery, .fetch:
      if groups.contains(expression) { return expression }
      throw CommandFailure(
        "\(Printer.print(expression)) is a value of each row. Choose rows with --where; groups have the columns "
          + "\(columns.map(\.title).joined(separator: ", ")).")
    default: return try expression.mapChildren({ try condition($0) }, predicate: { try condition($0) })
    }
  }

  /// Their names in the predicate language.
  private static let functions: Set<String> = ["sum:", "average:", "min:", "max:", "count:"]

  private func column(_ path: String) throws -> Column {
    switch try PathEnd(path, from: entity, in: layout) {
    case .object(let expression, _):
      Column(title: path, expression: expression, kind: nil, isNumeric: false)
    case .value(let expression, let kind):
      Column(title: path, expression: expression, kind: kind, isNumeric: kind.isNumber)
    case .computed(let expression, let kind):
      Column(title: path, expression: expression, kind: kind, isNumeric: kind?.isNumber ?? true)
    case .members(_, _, _, let path):
      throw CommandFailure("\(path) has many members; group by a value, or by \(path).@count.")
    }
  }

  /// `sum(price)`: the function's name on the command line and in the predicate language.
  private func function(_ name: String, _ path: String?) throws -> Column {
    guard let path else {
      return Column(
        title: name, expression: .function(target: nil, name: "count:", arguments: [.evaluatedObject]),
        kind: .int64, isNumeric: true)
    }
    let argument: Column = try naming("--\(name)") { try column(path) }
    let keepsKind: Bool = name == "min" || name == "max"
    if !keepsKind, !argument.isNumeric {
      throw CommandFailure("--\(name): \(path) is no number; --min and --max take dates and strings too.")
    }
    return Column(
      title: "\(name)(\(path))",
      expression: .function(
        target: nil, name: name == "avg" ? "average:" : "\(name):", arguments: [argument.expression]),
      kind: keepsKind ? argument.kind : nil, isNumeric: argument.isNumeric)
  }
}
