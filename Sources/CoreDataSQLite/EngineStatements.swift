import CoreDataSQL
import CoreDataStorage

/// Statement texts of the engine's own that depend on the schema only, made once.
struct EngineStatements: Sendable {
  /// By entity index: `SELECT` of whole rows of the family up to `IN (`; nil for entities outside the store.
  let rows: [RowText?]
  /// By entity index: what happens beside the row when an object is deleted.
  let deletions: [DeletionText]
  /// By entity index: names of the R-tree indexes that nobody keeps up to date when rows of its table change.
  let unguardedTrees: [[String]]
  /// Derived attributes for which the file has no trigger, as `Entity.attribute`.
  let unguardedDerived: [String]

  struct RowText: Sendable {
    var select: String
    var columns: RowColumns
  }

  struct DeletionText: Sendable {
    /// Each takes the deleted key as its one parameter.
    var cleanups: [String] = []
    /// Reads the tagged columns, whose files go with the row; nil if there are none.
    var tagged: String?
    var taggedCount: Int = 0
  }

  init(schema: StoreSchema, unguardedTrees trees: [String], triggers: Set<String>) {
    func quoted(_ name: String) -> String { SQLIdentifier.quoted(name) }
    var rows: [RowText?] = []
    var deletions: [DeletionText] = []
    var unguarded: [[String]] = []
    for entity in schema.layout.entities {
      guard let position = schema.tablePosition[entity.index] else {
        rows.append(nil)
        deletions.append(DeletionText())
        unguarded.append([])
        continue
      }
      let table: TableSchema = schema.tables[position]
      let columns: RowColumns = schema.rowColumns(of: entity)
      let list: [String] = [table.key, table.entity, table.version] + columns.names
      rows.append(
        RowText(
          select: "SELECT \(list.map(quoted).joined(separator: ", ")) FROM \(quoted(table.name)) "
            + "WHERE \(quoted(table.key)) IN (",
          columns: columns))
      deletions.append(Self.deletion(of: entity, schema: schema, table: table))
      let family: ClosedRange<Int> = schema.layout.entities[entity.rootIndex].family
      unguarded.append(
        trees.filter { tree in
          family.contains {
            tree.uppercased().hasPrefix("Z_RT_\(schema.layout.entities[$0].name.uppercased())_")
          }
        })
    }
    self.rows = rows
    self.deletions = deletions
    unguardedTrees = unguarded
    unguardedDerived = Self.unguardedDerived(schema, triggers)
  }

  private static func unguardedDerived(_ schema: StoreSchema, _ triggers: Set<String>) -> [String] {
    schema.layout.entities.filter { schema.tablePosition[$0.index] != nil }.flatMap { entity in
      entity.slots.filter { slot in
        guard slot.isDerived, slot.declaringEntity == entity.index else { return false }
        let part: String = "_\(entity.name)_\(slot.name)_".uppercased()
        return !triggers.contains { $0.hasPrefix("Z_DA_") && $0.contains(part) }
      }.map { "\(entity.name).\($0.name)" }
    }
  }

  private static func deletion(of entity: EntityLayout, schema: StoreSchema, table: TableSchema)
    -> DeletionText
  {
    func quoted(_ name: String) -> String { SQLIdentifier.quoted(name) }
    var result = DeletionText()
    var tagged: [String] = []
    for number in entity.slots.indices {
      switch schema.storage(of: entity.index, slot: number) {
      case .attribute(let column):
        // Enough of the value to tell a file's name.
        if column.isTagged { tagged.append("substr(\(quoted(column.name)), 1, 39)") }
      case .toMany:
        result.cleanups += (try? SaveCompiler(schema: schema).toMany(of: entity, slot: number).clear) ?? []
      case .none, .toOne: break
      }
    }
    if !tagged.isEmpty {
      result.tagged =
        "SELECT \(tagged.joined(separator: ", ")) FROM \(quoted(table.name)) WHERE \(quoted(table.key)) = ?"
      result.taggedCount = tagged.count
    }
    return result
  }

  /// How many keys a statement with a list of keys takes: few different texts, so that they stay prepared.
  static func listSize(for count: Int) -> Int {
    switch count {
    case ...1: 1
    case ...16: 16
    case ...128: 128
    default: 1000
    }
  }

  static func placeholders(_ count: Int) -> String {
    count == 1 ? "?" : "?" + String(repeating: ", ?", count: count - 1)
  }
}
