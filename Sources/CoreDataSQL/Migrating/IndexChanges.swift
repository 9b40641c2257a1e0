import CoreDataModel
import CoreDataStorage

/// Indexes and R-trees: one that has the definition it is to have stays, also under a former name, as Apple's
/// migrations leave it; the others are dropped and made.
struct IndexChanges {
  private(set) var dropping: [MigrationStep] = []
  private(set) var creating: [MigrationStep] = []
  private(set) var obstacles: [String] = []
  /// Constraints that were not enforced before, or whose values change.
  private(set) var constraints: [Constraint] = []
  /// The triggers of all R-trees.
  private(set) var treeTriggers: [SchemaTree] = []

  struct Constraint {
    var table: String
    var columns: [String]
    var entity: String
    var properties: [String]

    /// nil for an index that is no constraint.
    init?(_ index: AppleCreation.NamedIndex) {
      guard let constraint = index.constraint, case .index(let tree) = index.trees[0] else { return nil }
      (table, columns) = (tree.table, tree.columns.compactMap(\.value.columnName))
      (entity, properties) = (constraint.entity, constraint.properties)
    }
  }

  init(_ planner: MigrationPlanner) {
    let wanted: [AppleCreation.NamedIndex] = AppleCreation(planner.new).namedIndexes()
    let stores = StoreTables(planner)
    changeIndexes(planner, stores, wanted.filter { $0.rTree == nil })
    changeTrees(planner, stores, wanted.filter { $0.rTree != nil })
  }

  private mutating func changeIndexes(
    _ planner: MigrationPlanner, _ stores: StoreTables, _ wanted: [AppleCreation.NamedIndex]
  ) {
    var open: [AppleCreation.NamedIndex] = wanted
    var kept: [(name: String, index: AppleCreation.NamedIndex)] = []
    func definition(_ index: AppleCreation.NamedIndex) -> SQLTokens {
      SQLTokens(index: SQLRenderer.text(index.trees[0], dialect: SQLiteDialect()))
    }
    for object in planner.facts.objects where object.kind == .index {
      guard let sql = object.sql, let state = stores[object.table] else { continue }
      let isOwn: Bool = AppleNames.isIndex(DatabaseNames.fold(object.name))
      switch state {
      case .consumed:
        // Dropped with its table.
        if !isOwn { refuse(object) }
      case .kept(let name, let columns, let dropped):
        var tokens = SQLTokens(index: sql)
        if !isOwn, dropped.contains(where: tokens.mentions) { refuse(object) }
        if !isOwn { continue }
        tokens = tokens.renaming(columns, table: name)
        if let place = open.firstIndex(where: { definition($0) == tokens }) {
          kept.append((object.name, open.remove(at: place)))
        } else {
          dropping.append(MigrationStep(.dropIndex(object.name), "remove index \(object.name)"))
        }
      }
    }
    // A former name may be the one that another index is to have.
    while let place = kept.firstIndex(where: { former in
      open.contains { DatabaseNames.fold($0.name) == DatabaseNames.fold(former.name) }
    }) {
      let former = kept.remove(at: place)
      dropping.append(MigrationStep(.dropIndex(former.name), "remove index \(former.name)"))
      open.append(former.index)
    }
    for index in wanted where open.contains(where: { $0.name == index.name }) {
      creating.append(
        MigrationStep(.create(index.trees[0]), "make index \(index.name)", constraint: index.constraint))
      if let constraint = Constraint(index) { constraints.append(constraint) }
    }
    for (_, index) in kept {
      guard let constraint = Constraint(index),
        planner.writes(constraint.columns, of: constraint.table)
      else { continue }
      constraints.append(constraint)
    }
  }

  private mutating func changeTrees(
    _ planner: MigrationPlanner, _ stores: StoreTables, _ wanted: [AppleCreation.NamedIndex]
  ) {
    var open: [AppleCreation.NamedIndex] = wanted
    let trees: [MigrationFacts.Object] = planner.facts.objects.filter {
      $0.isVirtualTable && AppleNames.isTree(DatabaseNames.fold($0.name))
    }
    for tree in trees {
      let same: Int? = open.firstIndex { index in
        guard let made = index.rTree, DatabaseNames.fold(made.name) == DatabaseNames.fold(tree.name) else {
          return false
        }
        let text: String = SQLRenderer.text(index.trees[0], dialect: SQLiteDialect())
        return SQLTokens(text) == SQLTokens(tree.sql ?? "") && planner.keepsValues(of: made)
      }
      if let same {
        open.remove(at: same)
      } else {
        dropping.append(MigrationStep(.dropTable(tree.name), "remove R-tree \(tree.name)"))
      }
    }
    for index in wanted {
      treeTriggers += index.trees.dropFirst()
      guard let tree = index.rTree, open.contains(where: { $0.name == index.name }) else { continue }
      creating.append(MigrationStep(.create(index.trees[0]), "make R-tree \(index.name)"))
      creating.append(MigrationStep(tree.filling, "fill R-tree \(index.name)"))
    }
  }

  private mutating func refuse(_ object: MigrationFacts.Object) {
    obstacles.append(
      "Table \(object.table) has an index, \(object.name), that is not of the store's model, and the table "
        + "changes.")
  }
}

extension MigrationPlanner {
  /// Whether the contents of an R-tree stay right.
  fileprivate func keepsValues(of tree: RTree) -> Bool {
    kept(tree.table)?.keepsValues(of: tree.columns) ?? false
  }

  /// Whether rows that stay in their table get other values in one of its columns.
  fileprivate func writes(_ columns: [String], of table: String) -> Bool {
    kept(table)?.updates.flatMap(\.assignments).contains { columns.contains($0.column) } ?? false
  }

  private func kept(_ table: String) -> TableChange.KeptTable? {
    tables.first { $0.table.name == table }?.kept
  }
}

extension SQLTokens {
  /// An index's definition after columns and their table got other names.
  func renaming(_ columns: [String: String], table: String) -> SQLTokens {
    var result: SQLTokens = renaming(columns)
    if let on = tokens.firstIndex(of: .word("ON")), on + 1 < tokens.count {
      result.tokens[on + 1] = .word(DatabaseNames.fold(table))
    }
    return result
  }
}

extension SQLExpression {
  fileprivate var columnName: String? {
    if case .column(_, let name) = self { return name }
    return nil
  }
}

extension RTree {
  /// The statements that fill a tree anew which lacks rows.
  package var renewal: [String] {
    [.rows(.delete(DeleteStatement(from: name, where: .truth(true)))), filling].map(\.text)
  }

  /// All rows that belong into the tree.
  var filling: MigrationTree {
    let trees: [SchemaTree] = triggerTrees()
    guard case .trigger(let trigger)? = trees.first, case .insert(let insert)? = trigger.body.first else {
      return .copy(into: name, [], SelectStatement(source: .nothing), ignoresDuplicates: false)
    }
    let values: [SQLExpression] = insert.values.map { value in
      if case .column(_, let column) = value { return .column(nil, column) }
      return value
    }
    var select = SelectStatement(columns: values, source: .table(table, alias: nil))
    if let numbers { select.condition = TableChange.isOf(numbers) }
    return .copy(into: name, insert.columns, select, ignoresDuplicates: false)
  }
}

/// What becomes of the tables of the store, by their old names.
struct StoreTables {
  enum State {
    /// Filled into another one, or removed.
    case consumed
    /// The new name; old columns, folded, by their new names; the columns that are dropped.
    case kept(String, columns: [String: String], dropped: [String])
  }

  private var states: [String: State] = [:]
  /// New names of tables whose rows and columns stay as they are, except for new columns.
  private var quiet: Set<String> = []
  private var oldNames: Set<String> = []

  init(_ planner: MigrationPlanner) {
    for name in planner.old.tables.map(\.name) + planner.old.joinTables.map(\.name) {
      states[DatabaseNames.fold(name)] = .consumed
      oldNames.insert(DatabaseNames.fold(name))
    }
    func renames(_ names: [(String, String)]) -> [String: String] {
      Dictionary(
        names.map { (DatabaseNames.fold($0.0), $0.1) }, uniquingKeysWith: { first, _ in first })
    }
    for change in planner.tables {
      guard let kept = change.kept else { continue }
      let name: String = planner.old.tables[kept.position].name
      states[DatabaseNames.fold(name)] = .kept(
        change.table.name, columns: renames(kept.names.map { ($0.key, $0.value) }),
        dropped: kept.formerDropped)
      if kept.isQuiet, kept.renames.isEmpty, kept.dropped.isEmpty,
        DatabaseNames.fold(name) == DatabaseNames.fold(change.table.name)
      {
        quiet.insert(DatabaseNames.fold(name))
      }
    }
    for change in planner.joins {
      guard let kept = change.kept else { continue }
      states[DatabaseNames.fold(kept.name)] = .kept(
        change.join.name, columns: renames(change.renames.map { ($0.from, $0.to) }), dropped: [])
      if DatabaseNames.fold(kept.name) == DatabaseNames.fold(change.join.name), !change.losesRows {
        quiet.insert(DatabaseNames.fold(kept.name))
      }
    }
  }

  subscript(table: String) -> State? { states[DatabaseNames.fold(table)] }

  /// Whether a table, by its new name, is an old one whose rows, columns and name stay.
  func isQuiet(_ table: String) -> Bool { quiet.contains(DatabaseNames.fold(table)) }

  /// The old tables that a definition mentions and that do not stay as they are.
  func changed(in definition: SQLTokens) -> [String] {
    oldNames.subtracting(quiet).filter { definition.mentions($0) }.sorted()
  }
}
