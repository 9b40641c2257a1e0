import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB

/// The contents of a database file, as far as the engine's decisions depend on them.
struct StoreInventory {
  var database: ExistingDatabase
  var hasHistory: Bool
  /// R-tree tables that no trigger keeps up to date.
  var unguardedTrees: [ExistingDatabase.Table]
  /// R-tree tables that have all three triggers.
  var guardedTrees: [GuardedTree]
  /// Names of the triggers, in upper case.
  var triggers: Set<String>

  struct GuardedTree {
    var tree: ExistingDatabase.Table
    /// What the triggers say of the rows that they copy into the tree.
    var watch: RTree.Watch
  }

  /// `numbering`: the model whose order numbers the entities if the file's own numbers can't be read.
  static func read(_ database: Database, url: URL, numbering layout: ModelLayout? = nil) throws
    -> StoreInventory
  {
    let master = try RawStatement(
      database,
      "SELECT type, name, sql, tbl_name FROM sqlite_master WHERE type IN ('table', 'index', 'trigger')",
      url: url)
    defer { master.reset() }
    var names: [String] = []
    var indexes: [String] = []
    var trees: [ExistingDatabase.Table] = []
    var triggers: [(name: String, sql: String, table: String)] = []
    while try master.step() {
      guard let type = master.text(0), let name = master.text(1) else { continue }
      let sql: String = master.text(2) ?? ""
      switch type {
      case "table":
        if sql.uppercased().hasPrefix("CREATE VIRTUAL TABLE") {
          if sql.uppercased().contains("RTREE") { trees.append(tree(name, sql)) }
        } else {
          names.append(name)
        }
      case "index": indexes.append(name)
      default: triggers.append((name.uppercased(), sql.uppercased(), master.text(3) ?? ""))
      }
    }
    var tables: [ExistingDatabase.Table] = []
    // Generated columns too, which `table_info` leaves out; no hidden ones, of virtual tables.
    let info = try RawStatement(
      database, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden != 1 ORDER BY cid", url: url)
    func table(_ name: String) throws -> ExistingDatabase.Table {
      try info.bind(1, name)
      defer { info.reset() }
      var columns: [String] = []
      while try info.step() { columns.append(info.text(0) ?? "") }
      return ExistingDatabase.Table(name: name, columns: columns)
    }
    for name in names { tables.append(try table(name)) }
    var (unguarded, guarded): ([ExistingDatabase.Table], [GuardedTree]) = ([], [])
    for tree in trees {
      let stem: String = tree.name.uppercased()
      if !triggers.contains(where: { $0.sql.contains(stem) }) { unguarded.append(tree) }
      let own = RTree.Watch.events.compactMap { event in
        triggers.first { $0.name == "\(stem)_\(event)" && $0.sql.contains(stem) }
      }
      if let watch = RTree.Watch(own.map { ($0.table, $0.sql) }) {
        guarded.append(GuardedTree(tree: tree, watch: watch))
      }
    }
    return StoreInventory(
      database: ExistingDatabase(
        tables: tables, entities: try entities(database, url: url, numbering: layout), indexNames: indexes),
      hasHistory: names.contains { $0.uppercased() == AppleBookkeeping.history },
      unguardedTrees: unguarded, guardedTrees: guarded,
      triggers: Set(triggers.map(\.name)))
  }

  /// The columns of an R-tree, from its definition: asking SQLite opens the tree, which fails for a damaged
  /// one together with everything else in the transaction, although no row is lost.
  private static func tree(_ name: String, _ sql: String) -> ExistingDatabase.Table {
    let list: Substring = sql.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    let columns: [String] = list.split(separator: ",").compactMap { column in
      column.split(whereSeparator: \.isWhitespace).first.map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: "\"'`[]"))
      }
    }
    return ExistingDatabase.Table(name: name, columns: columns)
  }

  private static func entities(_ database: Database, url: URL, numbering layout: ModelLayout?) throws
    -> [ExistingDatabase.EntityRow]
  {
    guard let layout else { return try entityRows(database, url: url) }
    // The table of numbers may be damaged, or lack rows because a page is.
    let rows: [ExistingDatabase.EntityRow] = (try? entityRows(database, url: url)) ?? []
    let names: Set<String> = Set(rows.map(\.name))
    let numbers: Set<Int> = Set(rows.map(\.number))
    let missing: [EntityLayout] = layout.entities.filter {
      !names.contains($0.name) && !numbers.contains($0.index + 1)
    }
    return rows
      + missing.map { entity in
        ExistingDatabase.EntityRow(
          number: entity.index + 1, name: entity.name, superNumber: entity.superIndex.map { $0 + 1 } ?? 0,
          maxKey: Int64(Int32.max))
      }
  }

  /// The rows of Apple's table of entities; none if there is no such table.
  static func entityRows(_ database: Database, url: URL) throws -> [ExistingDatabase.EntityRow] {
    guard try database.hasTable(AppleBookkeeping.entities, url: url) else {
      throw StoreError.invalidFile(
        url: url,
        reason: "There is no table \(AppleBookkeeping.entities), so it is no complete Core Data store.")
    }
    let statement = try RawStatement(database, AppleBookkeeping.readEntities, url: url)
    defer { statement.reset() }
    var rows: [ExistingDatabase.EntityRow] = []
    while try statement.step() {
      // A number indexes tables in memory, so a malicious one must not make them huge. Apple's highest is
      // 16003.
      let number: Int64 = statement.integer(0)
      guard number > 0, number < 100_000 else { continue }
      rows.append(
        ExistingDatabase.EntityRow(
          number: Int(number), name: statement.text(1) ?? "",
          superNumber: Int(clamping: statement.integer(2)), maxKey: statement.integer(3)))
    }
    return rows
  }

  /// By column, the types that a table's columns were declared with.
  static func columnTypes(of table: String, _ database: Database, url: URL) throws -> [String: String] {
    let info = try RawStatement(database, "SELECT name, type FROM pragma_table_info(?)", url: url)
    try info.bind(1, table)
    defer { info.reset() }
    var types: [String: String] = [:]
    while try info.step() { types[info.text(0) ?? ""] = info.text(1) ?? "" }
    return types
  }

  /// All definitions of a database.
  static func objects(_ database: Database, url: URL) throws -> [MigrationFacts.Object] {
    let master = try RawStatement(
      database, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid", url: url)
    defer { master.reset() }
    var result: [MigrationFacts.Object] = []
    while try master.step() {
      guard let kind = master.text(0).flatMap(MigrationFacts.Object.Kind.init), let name = master.text(1)
      else { continue }
      result.append(
        MigrationFacts.Object(kind: kind, name: name, table: master.text(2) ?? "", sql: master.text(3)))
    }
    return result
  }
}

extension Database {
  /// The names of all tables, in upper case.
  ///
  /// Not GRDB's `tableExists`: it stops the program at a row of `sqlite_master` without a type or a name, as
  /// damaged files have them.
  func tableNames(url: URL) throws -> Set<String> {
    let statement = try RawStatement(
      self, "SELECT name FROM sqlite_master WHERE type = 'table'", url: url)
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() {
      if let name = statement.text(0) { names.insert(name.uppercased()) }
    }
    return names
  }

  /// Whether there is a table with that name, given in upper case.
  func hasTable(_ name: String, url: URL) throws -> Bool { try tableNames(url: url).contains(name) }
}
