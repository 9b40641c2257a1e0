import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage

/// Statements of the engine that depend on the schema only, made once.
struct EngineStatements: Sendable {
  /// By entity index: the statements that read rows of the family by their keys; nil for entities that are
  /// not in the store.
  let rows: [RowsByKey?]
  /// By entity index: the statements that run beside the row's own when an object is deleted.
  let deletions: [DeletionText]
  /// By the table's position.
  let locks: [RowLocks]
  /// How rows are written, by kind of write: a later save of the same slots makes no text again.
  private let binders: Guarded<[RowWrite: RowBinder]> = Guarded([:])
  /// By entity index, then slot: how to-many relationships are written, for those written so far.
  private let toManys: Guarded<[[Int: ToManyStatements]]>
  /// By entity index: names of the R-tree indexes that no trigger updates when rows of the table change.
  let unguardedTrees: [[String]]
  /// Derived attributes for which the file has no trigger, as `Entity.attribute`.
  let unguardedDerived: [String]

  /// A kind of write to the rows of an entity.
  enum RowWrite: Hashable, Sendable {
    case insert(entity: Int)
    case update(entity: Int, SlotSet)
    case delete(entity: Int)
  }

  /// More sets of changed slots than a program has. The limit keeps sets that depend on data from piling up.
  private static let mostBinders: Int = 512

  /// Statements that find the row that a save is about to change, and the keys of new rows.
  struct RowLocks: Sendable {
    let find: String
    let check: String
    let giveVersion: String
    let highestKey: String

    init(_ table: TableSchema) {
      let statements = RowStatements(table)
      (find, check, giveVersion) = (statements.find, statements.check, statements.giveVersion)
      highestKey = AppleBookkeeping.highestKey(of: table)
    }
  }

  struct RowsByKey: Sendable {
    let columns: RowColumns
    private let statements: RowStatements
    private let one: String
    /// By the number of keys.
    private let texts: Guarded<[Int: String]> = Guarded([:])

    init(_ statements: RowStatements, _ columns: RowColumns) {
      self.statements = statements
      self.columns = columns
      one = statements.rows(columns.names, count: 1)
    }

    func text(keys: Int) -> String {
      if keys == 1 { return one }
      return texts.withLock { texts in
        if let known = texts[keys] { return known }
        let text: String = statements.rows(columns.names, count: keys)
        texts[keys] = text
        return text
      }
    }
  }

  struct DeletionText: Sendable {
    /// Each has the deleted key as its only parameter.
    var cleanups: [String] = []
    /// Reads the tagged columns, whose files are removed with the row; nil if there are none.
    var tagged: String?
    var taggedCount: Int = 0
  }

  init(schema: StoreSchema, unguardedTrees trees: [String], triggers: Set<String>) {
    var rows: [RowsByKey?] = []
    var deletions: [DeletionText] = []
    var unguarded: [[String]] = []
    for entity in schema.layout.entities {
      guard let position = schema.tablePosition[entity.index] else {
        rows.append(nil)
        deletions.append(DeletionText())
        unguarded.append([])
        continue
      }
      let statements = RowStatements(schema.tables[position])
      rows.append(RowsByKey(statements, schema.rowColumns(of: entity)))
      deletions.append(Self.deletion(of: entity, schema: schema, statements))
      let family: ClosedRange<Int> = schema.layout.entities[entity.rootIndex].family
      unguarded.append(
        trees.filter { tree in family.contains { RTree.isTree(tree, of: schema.layout.entities[$0].name) } })
    }
    self.rows = rows
    self.deletions = deletions
    locks = schema.tables.map(RowLocks.init)
    toManys = Guarded(Array(repeating: [:], count: schema.layout.entities.count))
    unguardedTrees = unguarded
    unguardedDerived = Self.unguardedDerived(schema, triggers)
  }

  /// The statement for a write, and how rows are bound to it.
  func binder(_ write: RowWrite, _ compiler: SaveCompiler) throws -> RowBinder {
    try binders.withLock { known in
      if let binder = known[write] { return binder }
      let entities: [EntityLayout] = compiler.schema.layout.entities
      let statement: WriteStatement =
        switch write {
        case .insert(let entity): try compiler.insert(entities[entity])
        case .update(let entity, let slots): try compiler.update(entities[entity], changed: slots)
        case .delete(let entity): try compiler.delete(entities[entity])
        }
      let binder = try RowBinder(statement, compiler.schema.encoding)
      if known.count >= Self.mostBinders { known.removeAll() }
      known[write] = binder
      return binder
    }
  }

  /// How a to-many relationship is written.
  func toMany(of entity: Int, slot: Int, _ compiler: SaveCompiler) throws -> ToManyStatements {
    try toManys.withLock { known in
      if let statements = known[entity][slot] { return statements }
      let statements: ToManyStatements = try compiler.toMany(
        of: compiler.schema.layout.entities[entity], slot: slot)
      known[entity][slot] = statements
      return statements
    }
  }

  private static func unguardedDerived(_ schema: StoreSchema, _ triggers: Set<String>) -> [String] {
    schema.layout.entities.filter { schema.tablePosition[$0.index] != nil }.flatMap { entity in
      entity.slots.filter { slot in
        slot.isDerived && slot.declaringEntity == entity.index
          && !DerivationTriggers.isGuarded(slot.name, of: entity.name, by: triggers)
      }.map { "\(entity.name).\($0.name)" }
    }
  }

  private static func deletion(of entity: EntityLayout, schema: StoreSchema, _ statements: RowStatements)
    -> DeletionText
  {
    var result = DeletionText()
    var tagged: [String] = []
    for number in entity.slots.indices {
      switch schema.storage(of: entity.index, slot: number) {
      case .attribute(let column): if column.isTagged { tagged.append(column.name) }
      case .toMany:
        result.cleanups += (try? SaveCompiler(schema: schema).toMany(of: entity, slot: number).clear) ?? []
      case .none, .toOne: break
      }
    }
    if !tagged.isEmpty {
      result.tagged = statements.beginnings(of: tagged, length: ExternalData.longestReferenceInBytes)
      result.taggedCount = tagged.count
    }
    return result
  }

  /// How many keys a statement with a list of keys has: few different sizes, so that statements stay
  /// prepared.
  static func listSize(for count: Int) -> Int {
    switch count {
    case ...1: 1
    case ...16: 16
    case ...128: 128
    default: 1000
    }
  }
}
