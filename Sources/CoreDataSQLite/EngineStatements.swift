import CoreDataPredicates
import CoreDataSQL
import CoreDataStorage

/// Statements of the engine that depend on the schema only, made once.
struct EngineStatements: Sendable {
  /// By entity index: the statements that read rows of the family by their keys; nil for entities that are
  /// not in the store.
  let rows: [RowsByKey?]
  /// How rows of an entity are deleted, for the selections needed so far.
  private let deletions: Guarded<[Deletion: DeletionText]> = Guarded([:])
  /// By entity index: how the tagged columns of a row are read that a save is about to change.
  private let beginnings: Guarded<[Int: [String: String]]> = Guarded([:])
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
  }

  private struct Deletion: Hashable {
    let entity: Int
    let keys: KeySelection
  }

  /// More sets of changed slots than a program has. The limit keeps sets that depend on data from piling up.
  private static let mostBinders: Int = 512

  /// Statements that find the row that a save is about to change, and the keys of new rows.
  struct RowLocks: Sendable {
    let find: String
    let check: String
    let setMissingVersion: String
    let highestKey: String

    init(_ table: TableSchema) {
      let statements = RowStatements(table)
      (find, check, setMissingVersion) = (statements.find, statements.check, statements.setMissingVersion)
      highestKey = AppleBookkeeping.highestKey(of: table)
    }
  }

  struct RowsByKey: Sendable {
    let columns: RowColumns
    private let statements: RowStatements
    private let one: String
    /// (first key, count): reads so many rows from a key on.
    let run: String
    private let knownReader: Guarded<RowReader?> = Guarded(nil)
    /// By the number of keys.
    private let texts: Guarded<[Int: String]> = Guarded([:])
    private let entityTexts: Guarded<[Int: String]> = Guarded([:])

    init(_ statements: RowStatements, _ columns: RowColumns) {
      self.statements = statements
      self.columns = columns
      one = statements.rows(columns.names, count: 1)
      run = statements.rowsFrom(columns.names)
    }

    /// The reader of these rows, which is made once.
    func reader(_ make: () -> RowReader) -> RowReader {
      knownReader.withLock { known in
        if let known { return known }
        let made: RowReader = make()
        known = made
        return made
      }
    }

    func text(keys: Int) -> String {
      keys == 1 ? one : Self.text(keys, in: texts) { statements.rows(columns.names, count: keys) }
    }

    /// Reads the rows' entities only.
    func entities(keys: Int) -> String {
      Self.text(keys, in: entityTexts) { statements.entities(count: keys) }
    }

    private static func text(
      _ keys: Int, in texts: Guarded<[Int: String]>, _ make: () -> String
    ) -> String {
      texts.withLock { texts in
        if let known = texts[keys] { return known }
        let text: String = make()
        texts[keys] = text
        return text
      }
    }
  }

  /// How rows of an entity are deleted.
  struct DeletionText: Sendable {
    /// (keys, version)
    let rows: String
    /// (keys): what removes the members of to-many relationships that are not in the members' own rows.
    let cleanups: [String]
    /// (keys): reads the tagged columns, whose files are removed with the rows; nil if there are none.
    let tagged: String?
    let taggedCount: Int
  }

  init(schema: StoreSchema, unguardedTrees trees: [String], triggers: Set<String>) {
    var rows: [RowsByKey?] = []
    var unguarded: [[String]] = []
    for entity in schema.layout.entities {
      guard let position = schema.tablePosition[entity.index] else {
        rows.append(nil)
        unguarded.append([])
        continue
      }
      let statements = RowStatements(schema.tables[position])
      rows.append(RowsByKey(statements, schema.rowColumns(of: entity)))
      let family: ClosedRange<Int> = schema.layout.entities[entity.rootIndex].family
      unguarded.append(
        trees.filter { tree in family.contains { RTree.isTree(tree, of: schema.layout.entities[$0].name) } })
    }
    self.rows = rows
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
        }
      let binder = try RowBinder(statement, compiler.schema.encoding)
      if known.count >= Self.mostBinders { known.removeAll() }
      known[write] = binder
      return binder
    }
  }

  /// How copies of rows keep the times of their source; nil for an entity that has none.
  func timeBinder(of entity: EntityLayout, _ compiler: SaveCompiler) throws -> RowBinder? {
    try compiler.keepTimes(entity).map { try RowBinder($0, compiler.schema.encoding) }
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

  /// How rows of an entity are deleted.
  func deletion(of entity: Int, _ keys: KeySelection, _ compiler: SaveCompiler) throws -> DeletionText {
    let deletion = Deletion(entity: entity, keys: keys)
    return try deletions.withLock { known in
      if let text = known[deletion] { return text }
      let text: DeletionText = try makeDeletion(deletion, compiler)
      known[deletion] = text
      return text
    }
  }

  /// The number of texts that ``deletion(of:_:_:)`` has made.
  var deletionCount: Int { deletions.withLock { $0.count } }

  private func makeDeletion(_ deletion: Deletion, _ compiler: SaveCompiler) throws -> DeletionText {
    let schema: StoreSchema = compiler.schema
    let layout: EntityLayout = schema.layout.entities[deletion.entity]
    let tagged: [String] = Self.taggedColumns(of: layout, schema)
    return DeletionText(
      rows: try compiler.delete(layout, deletion.keys),
      cleanups: layout.slots.indices.flatMap { compiler.clear(of: layout, slot: $0, deletion.keys) },
      tagged: tagged.isEmpty
        ? nil
        : RowStatements(try schema.table(of: layout.index)).beginnings(
          of: tagged, length: ExternalData.longestReferenceInBytes, deletion.keys),
      taggedCount: tagged.count)
  }

  /// (key): reads one tagged column, whose file an update may replace, by the column's name.
  func beginnings(of entity: Int, _ compiler: SaveCompiler) throws -> [String: String] {
    try beginnings.withLock { known in
      if let texts = known[entity] { return texts }
      let schema: StoreSchema = compiler.schema
      let statements = RowStatements(try schema.table(of: entity))
      var texts: [String: String] = [:]
      for column in Self.taggedColumns(of: schema.layout.entities[entity], schema) {
        texts[column] = statements.beginnings(of: [column], length: ExternalData.longestReferenceInBytes)
      }
      known[entity] = texts
      return texts
    }
  }

  private static func taggedColumns(of layout: EntityLayout, _ schema: StoreSchema) -> [String] {
    layout.slots.indices.compactMap { slot in
      guard case .attribute(let column) = schema.storage(of: layout.index, slot: slot), column.isTagged else {
        return nil
      }
      return column.name
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
