import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// Reads the rows of tables with damaged pages from the pages that are left.
///
/// A table is a tree of pages. If an inner page is damaged, SQLite finds none of the rows below it, although
/// their leaves are whole. Where the file lacks the end of a page it reads zeros, as rows with the key 0. So
/// for each table some of whose pages can't be read, or lack their ends,
///
///  1. its leaves that can still be reached are read, cell by cell;
///  2. leaves that nothing reaches, neither a tree nor the list of free pages, are searched for those with
///     rows of the table: by the number of values and the number of the row's entity;
///  3. a temporary table of the connection gets all these rows and has the table's name, so that every
///     statement reads from it. A row with a key that was found in the first step is not taken again: what
///     nothing reaches may be a former version.
///
/// Tables without damage are read as ever. Cost: a pass over the file for the inner pages, and another one if
/// there is damage; the temporary tables are in SQLite's temporary file.
struct TableRescue {
  private struct Subject {
    var table: String
    var entity: String?
    var columns: [String]
    /// The column that stands for the row's key and has no value of its own.
    var alias: Int?
    /// The column with the number of the row's entity, and the numbers that the table may have.
    var entityColumn: Int?
    var entityNumbers: Set<Int64> = []
    var tree: DatabasePages.Tree
    var indexes: [String] = []
    var sql: String

    /// Whether a row may be one of the table.
    func fits(_ row: RecordCells.Row) -> Bool {
      guard row.values.count <= columns.count, !row.values.isEmpty else { return false }
      guard let entityColumn else {
        return row.values.count == columns.count && row.values.allSatisfy { $0 == .null || $0.integer != nil }
      }
      guard row.values.count > entityColumn, let number = row.values[entityColumn].integer,
        alias.map({ row.values[$0] == .null }) ?? true
      else { return false }
      return entityNumbers.contains(number)
    }
  }

  private let database: Database
  private let schema: StoreSchema
  private let url: URL
  private var pages: DatabasePages
  private var cells: RecordCells
  /// The statements for the table that is being copied, by the number of values.
  private var inserts: [Int: String] = [:]

  /// `path`: the file that the connection has open, without a log beside it.
  static func run(_ database: Database, path: String, schema: StoreSchema, url: URL) throws -> [DamagedTable]
  {
    // One state for all reads, also while another process saves.
    try database.execute(sql: "BEGIN")
    defer { try? database.execute(sql: "COMMIT") }
    _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
    guard let pages = try DatabasePages(path: path) else { return [] }
    var rescue = TableRescue(database, schema, url, pages)
    return try rescue.run()
  }

  private init(_ database: Database, _ schema: StoreSchema, _ url: URL, _ pages: DatabasePages) {
    self.database = database
    self.schema = schema
    self.url = url
    self.pages = pages
    cells = RecordCells(pages)
  }

  private mutating func run() throws -> [DamagedTable] {
    let subjects: [Subject] = try damagedTables()
    if subjects.isEmpty { return [] }
    var result: [DamagedTable] = []
    var found: [Int: [Int]] = [:]
    for leaf in unreachedLeaves() {
      if let place = owner(of: leaf, subjects) { found[place, default: []].append(leaf) }
    }
    cells = RecordCells(pages)
    for (place, subject) in subjects.enumerated() {
      result.append(try copy(subject, found[place] ?? []))
    }
    return result
  }

  // MARK: Searching

  /// Tables of entities and relationships some of whose pages can't be read, or lack their ends.
  private mutating func damagedTables() throws -> [Subject] {
    var subjects: [Subject] = []
    var indexes: [String: [String]] = [:]
    let master = try RawStatement(database, SQLiteTableCopy.readRoots, url: url)
    var entries: [(type: String, name: String, table: String, root: Int, sql: String)] = []
    while try master.step() {
      entries.append(
        (
          master.text(0) ?? "", master.text(1) ?? "", master.text(2) ?? "",
          Int(clamping: master.integer(3)), master.text(4) ?? ""
        ))
    }
    master.reset()
    _ = pages.walk(root: 1)
    for entry in entries {
      let tree: DatabasePages.Tree = pages.walk(root: entry.root)
      if entry.type == "index" { indexes[entry.table.uppercased(), default: []].append(entry.sql) }
      guard entry.type == "table", tree.isDamaged else { continue }
      if let subject = try subject(entry.name, entry.sql, tree) { subjects.append(subject) }
    }
    pages.markFreePages()
    for place in subjects.indices {
      subjects[place].indexes = indexes[subjects[place].table.uppercased()] ?? []
    }
    return subjects
  }

  /// nil for a table of the framework's own.
  private func subject(_ name: String, _ sql: String, _ tree: DatabasePages.Tree) throws -> Subject? {
    let table: TableSchema? = schema.tables.first { $0.name.uppercased() == name.uppercased() }
    let join: JoinTable? = schema.joinTables.first { $0.name.uppercased() == name.uppercased() }
    if table == nil, join == nil { return nil }
    let columns = try RawStatement(database, SQLiteTableCopy(of: name).readColumns, url: url)
    defer { columns.reset() }
    var subject = Subject(table: name, columns: [], tree: tree, sql: sql)
    var primary: [Int] = []
    var isInteger: Bool = false
    while try columns.step() {
      let column: String = columns.text(1) ?? ""
      if columns.integer(5) > 0 {
        primary.append(subject.columns.count)
        isInteger = columns.text(2)?.uppercased() == "INTEGER"
      }
      if column.uppercased() == table?.entity?.uppercased() { subject.entityColumn = subject.columns.count }
      subject.columns.append(column)
    }
    if primary.count == 1, isInteger { subject.alias = primary[0] }
    if let table {
      subject.entity = schema.layout.entities[table.root].name
      // Without its key and its entity no row is one.
      if subject.alias == nil || subject.entityColumn == nil { return nil }
      subject.entityNumbers = Set(
        schema.layout.entities[table.root].family.map { Int64(schema.entityNumber(of: $0)) })
    }
    return subject
  }

  private func unreachedLeaves() -> [Int] {
    (1...max(1, pages.count)).filter { number in
      guard !pages.isReached[number], let page = pages.page(number),
        let (kind, offsets) = pages.cells(page, number)
      else { return false }
      return kind == .leafTable && !offsets.isEmpty
    }
  }

  /// The table that a leaf's rows belong to; nil if there is none, or more than one.
  private mutating func owner(of leaf: Int, _ subjects: [Subject]) -> Int? {
    guard let (rows, _) = cells.rows(ofLeaf: leaf), !rows.isEmpty else { return nil }
    let fitting: [Int] = subjects.indices.filter { place in rows.contains(where: subjects[place].fits) }
    return fitting.count == 1 ? fitting[0] : nil
  }

  // MARK: Copying

  private mutating func copy(_ subject: Subject, _ unreached: [Int]) throws -> DamagedTable {
    var result = DamagedTable(
      table: subject.table, entity: subject.entity, unreadablePages: subject.tree.unreadable)
    guard let table = SQLiteTableCopy.table(from: subject.sql) else { return result }
    inserts = [:]
    do {
      try database.execute(sql: table)
      for leaf in subject.tree.leaves {
        guard let (rows, unreadable) = cells.rows(ofLeaf: leaf) else { continue }
        // Of a row that is cut off the rest reads as zeros, which are no entity.
        let whole: [RecordCells.Row] = pages.isCutOff(leaf) ? rows.filter(subject.fits) : rows
        let lost: Int = unreadable + rows.count - whole.count
        result.unreadableRows += lost
        result.lostRows += lost
        for row in whole { _ = try insert(row, subject) }
      }
      for leaf in unreached {
        guard let (rows, unreadable) = cells.rows(ofLeaf: leaf) else { continue }
        result.unreadableRows += unreadable
        var isUsed: Bool = false
        for row in rows where subject.fits(row) {
          guard try insert(row, subject) else { continue }
          isUsed = true
          result.recoveredRows += 1
          if subject.alias != nil { result.recoveredKeys.append(row.key) }
        }
        if isUsed { result.recoveredPages += 1 }
      }
      for sql in subject.indexes.compactMap(SQLiteTableCopy.index) { try? database.execute(sql: sql) }
    } catch {
      // Not enough room for temporary files, for example: then the table is read as SQLite reads it.
      try? database.execute(sql: SQLiteTableCopy(of: subject.table).drop)
      throw error
    }
    result.recoveredKeys.sort()
    return result
  }

  /// Whether there was no such row.
  private mutating func insert(_ row: RecordCells.Row, _ subject: Subject) throws -> Bool {
    // A row that is older than the last columns lacks their values.
    let count: Int = min(row.values.count, subject.columns.count)
    let sql: String =
      inserts[count] ?? SQLiteTableCopy(of: subject.table).insert(Array(subject.columns.prefix(count)))
    inserts[count] = sql
    let statement = try RawStatement(database, sql, url: url)
    for (place, value) in row.values.prefix(count).enumerated() {
      if place == subject.alias {
        try statement.bind(place + 1, row.key)
      } else {
        try bind(value, of: row, to: place + 1, statement)
      }
    }
    return try statement.run() == 1
  }

  private func bind(
    _ value: RecordCells.Value, of row: RecordCells.Row, to parameter: Int, _ statement: RawStatement
  ) throws {
    switch value {
    case .null: try statement.bindNull(parameter)
    case .integer(let value): try statement.bind(parameter, value)
    case .real(let value): try statement.bind(parameter, value)
    case .blob(let range): try statement.bind(parameter, Data(row.record[range]))
    case .text(let range): try statement.bind(parameter, text: row.record[range], encoding: textEncoding)
    }
  }

  private var textEncoding: UInt8 {
    switch pages.textEncoding {
    case 2: UInt8(SQLITE_UTF16LE)
    case 3: UInt8(SQLITE_UTF16BE)
    default: RawStatement.utf8
    }
  }
}
