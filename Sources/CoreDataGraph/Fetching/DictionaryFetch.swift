import CoreDataEvaluation
import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A fetch that returns dictionaries, resolved: columns, groups, and the conditions on groups.
///
/// The store computes the rows, which do not include unsaved changes, as Apple's documentation states. Three
/// kinds of request are evaluated here instead, over the objects of a separate context: those over several
/// stores, those sorted by a comparator of the program, and those with a predicate that the store can't
/// evaluate.
struct DictionaryFetch {
  let request: FetchParameters
  let context: NSManagedObjectContext
  private let scope: ResolvedFetch
  let columns: [DictionaryColumn]
  private let groups: [DictionaryColumn]
  private let having: PredicateNode?
  /// nil if a comparator sorts.
  private let order: [ProjectionOrder]?

  init(_ request: FetchParameters, context: NSManagedObjectContext) throws {
    let stored: FetchParameters = request.copy()
    stored.includesPendingChanges = false
    self.request = stored
    self.context = context
    scope = try ResolvedFetch(stored, context: context)
    let runtime: EntityRuntime = scope.runtime
    groups = try request.propertiesToGroupBy.flatMap {
      try DictionaryColumn.make($0, in: runtime, of: "propertiesToGroupBy")
    }
    if !request.propertiesToFetch.isEmpty {
      columns = try request.propertiesToFetch.flatMap {
        try DictionaryColumn.make($0, in: runtime, of: "propertiesToFetch")
      }
    } else if !groups.isEmpty {
      columns = groups
    } else {
      columns = runtime.storedAttributeSlots.map { DictionaryColumn.element(of: $0, in: runtime) }
    }
    let names = ColumnNames(columns: columns, groups: groups.map(\.expression))
    try request.havingPredicate?.checkEvaluationAllowed()
    having = request.havingPredicate.map { names.resolve($0.predicateNode()) }
    order = DictionaryFetch.order(request, names, runtime)
    try DictionaryFetch.check(columns.map(\.expression) + groups.map(\.expression), having)
  }

  /// Rejects casts of constant text that can't be parsed: they would be nil in every row.
  private static func check(_ expressions: [ExpressionNode], _ having: PredicateNode?) throws {
    var problems: [PredicateProblem] = []
    func note(_ expression: ExpressionNode) {
      if let problem = PredicateProblem(unreadableCast: expression), !problems.contains(problem) {
        problems.append(problem)
      }
    }
    for expression in expressions { expression.forEachExpression(note) }
    having?.forEachExpression(note)
    if !problems.isEmpty { throw GraphError.predicate(problems) }
  }

  /// The order in terms of the result's rows. A name is the entity's property, or else the column of that
  /// name; for groups, the key that is grouped by or else the column.
  private static func order(
    _ request: FetchParameters, _ names: ColumnNames, _ runtime: EntityRuntime
  ) -> [ProjectionOrder]? {
    request.storeOrder?.map { term in
      let path: ExpressionNode = DictionaryColumn.path(term.keyPath, in: runtime)
      let first: Substring = term.keyPath.prefix { $0 != "." }
      let isProperty: Bool = runtime.layout.slotByName[String(first)] != nil
      let expression: ExpressionNode = isProperty && !request.isGrouped ? path : names.resolve(path)
      return ProjectionOrder(expression, ascending: term.ascending, comparison: term.comparison)
    }
  }

  /// The projection for one store, with order and limits.
  func plan(for store: NSPersistentStore) throws -> ProjectionPlan {
    try plan(rows: request.plan(scope.runtime, predicate: scope.predicate, store: store)).mapConstants {
      FetchParameters.close($0, store: store)
    }
  }

  private func plan(rows: FetchPlan) -> ProjectionPlan {
    func kept(_ expression: ExpressionNode) -> ExpressionNode {
      scope.comparesExactly ? expression : expression.comparingRounded(from: scope.runtime)
    }
    var plan = ProjectionPlan(
      rows: rows, columns: columns.map { ProjectionColumn(name: $0.name, expression: kept($0.expression)) })
    plan.groups = groups.map { kept($0.expression) }
    plan.having = scope.comparesExactly ? having : having?.comparingRounded(from: scope.runtime)
    plan.isDistinct = request.returnsDistinctResults
    if let order {
      plan.order = order.map {
        ProjectionOrder(kept($0.expression), ascending: $0.ascending, comparison: $0.comparison)
      }
      plan.limit = request.limit
      plan.offset = request.offset
    }
    return plan
  }

  func run() throws -> [NSDictionary] {
    if scope.stores.count == 1,
      let operations = try scope.stores[0].operations(for: scope.caller) as? IncrementalOperations
    {
      let plan: FetchPlan = try scope.plan(for: scope.stores[0])
      try checkOrder(plan)
      return try operations.dictionaries(plan)
    }
    if scope.stores.count == 1, order != nil || request.isGrouped {
      let store: NSPersistentStore = scope.stores[0]
      let table: ProjectedRows
      do {
        table = try context.tally.counting {
          try store.pinnedOperations(for: scope.caller).fetch(try plan(for: store))
        }
      } catch let error as StoreError {
        // A store that can't evaluate the whole predicate can't compute the projection.
        guard case .unsupported = error, try scope.splittingUnsupported()?.residual != nil else {
          throw error
        }
        return try runOverObjects()
      }
      return try sorted(dictionaries(table, isStored: true) { DictionaryFetch.id($0, in: store) })
    }
    return try runOverObjects()
  }

  /// Rejects keys to sort by that are neither properties nor columns: a program's store that sorts objects
  /// would stop at them.
  private func checkOrder(_ plan: FetchPlan) throws {
    let names = Set((columns + groups).map(\.name))
    let paths = KeyPathCheck(layout: scope.stores[0].runtime.layout, entity: plan.entity)
    for term in plan.order where !names.contains(term.keyPath) { try paths.check(term.keyPath) }
  }

  /// The number of dictionaries; without creating them if each represents a row.
  func count() throws -> Int {
    let plan: ProjectionPlan = plan(rows: FetchPlan(entity: scope.runtime.layout))
    if try request.returnsDistinctResults || DividedProjection(plan).isGrouped { return try run().count }
    let rows: FetchParameters = request.copy()
    rows.resultType = .managedObjectResultType
    rows.sortDescriptors = []
    return try context.countMatches(rows)
  }

  private static func id(_ box: ObjectBox, in store: NSPersistentStore) -> Any? {
    guard let id = (box.value as? ObjectReference)?.id else { return nil }
    return NSManagedObjectID(runtime: store.runtime.entities[Int(id.entity)], key: id.key, store: store)
  }

  /// Values must be those of the stores even if objects of the context are changed, so the objects belong to
  /// another context. Conditions and orders that are code of the program are called on that one's queue.
  private func runOverObjects() throws -> [NSDictionary] {
    let reader: NSManagedObjectContext = try context.makeReader()
    return try reader.performAndWait { try runOverObjects(of: reader) }
  }

  private func runOverObjects(of reader: NSManagedObjectContext) throws -> [NSDictionary] {
    let rows: FetchParameters = request.copy()
    rows.resultType = .managedObjectResultType
    (rows.limit, rows.offset, rows.propertiesToGroupBy, rows.havingPredicate) = (0, 0, [], nil)
    if order != nil || request.isGrouped { rows.sortDescriptors = [] }
    let objects: [NSManagedObject] = try reader.fetchObjects(rows)
    var plan: ProjectionPlan = plan(rows: FetchPlan(entity: scope.runtime.layout))
    if order == nil, !request.isGrouped { (plan.limit, plan.offset) = (request.limit, request.offset) }
    plan = plan.mapConstants { FetchParameters.bind($0, to: reader) }
    let table: ProjectedRows = try ProjectionEvaluation(plan).run(objects)
    return try sorted(
      dictionaries(table, isStored: false) { ($0.value as? NSManagedObject)?.objectID ?? $0.value })
  }

  private func dictionaries(
    _ table: ProjectedRows, isStored: Bool, object: (ObjectBox) -> Any?
  ) throws -> [NSDictionary] {
    try (0..<table.count).map { row in
      let values = NSMutableDictionary(capacity: columns.count)
      for (number, column) in columns.enumerated() {
        if let value = try column.value(table[row, number], object: object, isStored: isStored) {
          DictionaryFetch.put(
            value, into: values, at: column.nesting.isEmpty ? [column.name] : column.nesting[...])
        }
      }
      return values
    }
  }

  private static func put(_ value: Any, into values: NSMutableDictionary, at path: ArraySlice<String>) {
    guard let key = path.first else { return }
    var inner: [String: Any] = path.count > 1 ? values[key] as? [String: Any] ?? [:] : [:]
    values[key] = path.count > 1 ? nested(value, in: &inner, at: path.dropFirst()) : value
  }

  private static func nested(_ value: Any, in values: inout [String: Any], at path: ArraySlice<String>)
    -> [String: Any]
  {
    guard let key = path.first else { return values }
    var inner: [String: Any] = values[key] as? [String: Any] ?? [:]
    values[key] = path.count > 1 ? nested(value, in: &inner, at: path.dropFirst()) : value
    return values
  }

  /// Groups are sorted by their columns if a comparator sorts.
  private func sorted(_ dictionaries: [NSDictionary]) throws -> [NSDictionary] {
    guard order == nil, request.isGrouped else { return dictionaries }
    let byName: [NSSortDescriptor] = request.sortDescriptors.map { descriptor in
      descriptor.sortTerm.map(NSSortDescriptor.makeSortDescriptor) ?? descriptor
    }
    let sorted: [NSDictionary] = try dictionaries.sortedThrowing(using: byName)
    let rest: ArraySlice<NSDictionary> = sorted.dropFirst(request.offset)
    return Array(request.limit > 0 ? rest.prefix(request.limit) : rest)
  }
}

/// The meaning of names in `havingPredicate` and in an order: `$total` and `total` are the column of that
/// name.
private struct ColumnNames {
  private let expressions: [String: ExpressionNode]
  private let groups: [ExpressionNode]

  init(columns: [DictionaryColumn], groups: [ExpressionNode]) {
    expressions = Dictionary(columns.map { ($0.name, $0.expression) }, uniquingKeysWith: { $1 })
    self.groups = groups
  }

  func resolve(_ expression: ExpressionNode) -> ExpressionNode {
    // In group keys and arguments of aggregates, names are the entity's properties.
    if groups.contains(expression) || RowAggregate(expression) != nil { return expression }
    switch expression {
    case .variable(let name), .keyPath(let name): return expressions[name] ?? expression
    default: return expression.mapChildren({ resolve($0) }, predicate: { resolve($0) })
    }
  }

  func resolve(_ predicate: PredicateNode) -> PredicateNode {
    switch predicate {
    case .constant, .block: return predicate
    case .comparison(var node):
      node.left = resolve(node.left)
      node.right = resolve(node.right)
      return .comparison(node)
    case .compound(let kind, let members): return .compound(kind, members.map { resolve($0) })
    }
  }
}

extension NSManagedObject: KeyedObject {
  final package var primaryKey: Int64 { NSManagedObjectID.orderedKey(key) }
}

extension NSManagedObjectID: KeyedObject {
  final package var primaryKey: Int64 { Self.orderedKey(key) }

  /// Keys of new objects count downwards from -1; these objects follow all others, the first one first.
  fileprivate static func orderedKey(_ key: Int64) -> Int64 { key < 0 ? Int64.max / 2 - key : key }
}
