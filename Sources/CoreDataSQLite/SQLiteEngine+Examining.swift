import CoreDataModel
import CoreDataSQL
import CoreDataStorage
import Foundation
import GRDB
import GRDBSQLite

/// What a SQLite file says about its own soundness.
extension SQLiteEngine {
  package func ownProblems() throws -> [StoreProblem] {
    let ofFile: StoreProblems = try damage()
    var (problems, references): (StoreProblems, [FileReference]) = try read { database in
      var problems: StoreProblems = ofFile
      let statements = ExaminationStatements(schema)
      try checkCounters(statements, database, &problems)
      try checkTypes(statements, database, &problems)
      try checkTargetNumbers(statements, database, &problems)
      try checkPairs(statements, database, &problems)
      try checkOrders(statements, database, &problems)
      try checkStructure(database, &problems)
      return (problems, try fileReferences(statements, database))
    }
    for rows in try unreachableRows() { problems.add(rows.problem) }
    checkFiles(references, &problems)
    try findOrphans(&problems)
    return problems.all
  }

  package func partsLeftOut() -> LeftOutParts {
    var parts = LeftOutParts()
    if options.salvages, let shortage = StoreFileState(url: url).shortage {
      parts.add(StoreProblem(.damage, shortage))
      parts.isCutOff = true
    }
    return parts
  }

  package func fileProblems() throws -> [StoreProblem] {
    var problems = StoreProblems()
    let references: [FileReference] = try read { try fileReferences(ExaminationStatements(schema), $0) }
    checkFiles(references, &problems)
    return problems.all
  }

  package func lostReferences() throws -> [StoreProblem] {
    try read { database in
      var problems = StoreProblems()
      let statements = ExaminationStatements(schema)
      for entity in layout.entities where schema.tablePosition[entity.index] != nil {
        for (number, slot) in entity.slots.enumerated() {
          guard let sql = statements.lostReferences(of: entity, slot: number),
            let count = try integers(sql, database).first, count > 0
          else { continue }
          problems.add(
            StoreProblem(
              .dangling, entity: entity.name, property: slot.name, count: Int(count),
              "\(entity.name).\(slot.name) names an object that does not exist."))
        }
      }
      try checkPairs(statements, database, &problems)
      return problems.all
    }
  }

  package func lostPairs() throws -> [StoreProblem] {
    try read { database in
      var problems = StoreProblems()
      try checkPairs(ExaminationStatements(schema), database, &problems)
      return problems.all
    }
  }

  /// The first column of all rows.
  func integers(_ sql: String, _ database: Database) throws -> [Int64] {
    let statement = try RawStatement(database, sql, url: url)
    defer { statement.reset() }
    var values: [Int64] = []
    while try statement.step() { values.append(statement.integer(0)) }
    return values
  }

  /// What is wrong with the file itself, and with R-trees.
  private func damage() throws -> StoreProblems {
    var problems = StoreProblems()
    var found: [StoreProblem]
    do {
      found = try integrityErrors("20").map { StoreProblem(.damage, "The database is damaged: \($0).") }
    } catch let error as StoreError {
      guard let damage = StoreProblem(damage: error) else { throw error }
      found = [damage]
    }
    let broken: Set<String> = found.isEmpty ? [] : try treesThatAreTheDamage()
    if let shortage = StoreFileState(url: url).shortage,
      !found.contains(where: { $0.message.contains(shortage) })
    {
      problems.add(StoreProblem(.damage, shortage))
    }
    if broken.isEmpty { for problem in found { problems.add(problem) } }
    for tree in broken.sorted() { problems.add(damageProblem(ofTree: tree)) }
    for tree in schema.trees where !broken.contains(tree.name) {
      do {
        let missing: [RowID] = try rowsMissing(in: tree)
        if !missing.isEmpty { problems.add(missingProblem(missing, in: tree)) }
      } catch StoreError.invalidFile {
        problems.add(damageProblem(ofTree: tree.name))
      }
    }
    return problems
  }

  /// What SQLite finds wrong with the file, or with one table and its indexes. `argument`: the most lines, or
  /// the name of the table.
  private func integrityErrors(_ argument: String) throws -> [String] {
    try read { database in
      let check = try RawStatement(database, "PRAGMA main.integrity_check(\(argument))", url: url)
      defer { check.reset() }
      var lines: [String] = []
      while try check.step() {
        if let line = check.text(0), line != "ok" { lines.append(line) }
      }
      return lines
    }
  }

  // MARK: R-trees

  /// The R-trees some of whose own tables are damaged, if no other table is: then all rows are whole.
  ///
  /// Each table is checked in a transaction of its own: SQLite fails at the end of one that met a damaged
  /// R-tree, whatever else was read in it.
  private func treesThatAreTheDamage() throws -> Set<String> {
    let objects: [MigrationFacts.Object] = try read { try StoreInventory.objects($0, url: url) }
    let trees: [String] = objects.filter(\.isVirtualTable).map(\.name)
    if trees.isEmpty { return [] }
    var damaged: Set<String> = []
    for table in objects where table.kind == .table && !table.isVirtualTable {
      let name: String = "'\(table.name.replacingOccurrences(of: "'", with: "''"))'"
      if let lines = try? integrityErrors(name), lines.isEmpty { continue }
      let parts: Set<String> = ["_node", "_rowid", "_parent"]
      guard let tree = trees.first(where: { tree in parts.contains { table.name == tree + $0 } }) else {
        return []
      }
      damaged.insert(tree)
    }
    return damaged
  }

  private func damageProblem(ofTree tree: String) -> StoreProblem {
    StoreProblem(
      .index, entity: RTree.owner(of: tree, in: layout)?.name,
      "The R-tree index \(tree) is damaged: fetches that search it fail, and so do saves. The rows are whole; a repair makes "
        + "the index anew.")
  }

  /// A fetch over a box finds only what the tree has.
  func rowsMissing(in tree: RTree) throws -> [RowID] {
    try read { database in
      let sql: String = ExaminationStatements(schema).rowsMissing(in: tree)
      let rows = try RawStatement(database, sql, url: url)
      defer { rows.reset() }
      var missing: [RowID] = []
      while try rows.step() {
        let owner: Int = schema.entityIndex(ofNumber: Int(clamping: rows.integer(1))) ?? tree.entity
        missing.append(RowID(entity: owner, key: rows.integer(0)))
      }
      return missing
    }
  }

  private func missingProblem(_ missing: [RowID], in tree: RTree) -> StoreProblem {
    let entity: String = layout.entities[tree.entity].name
    return StoreProblem(
      .index, entity: entity, count: missing.count,
      objects: Array(missing.prefix(StoreProblem.objectsKept)),
      "The R-tree index \(tree.name) lacks rows of \(entity), or has former numbers of them: fetches that search it miss these "
        + "objects. A repair makes the index anew.")
  }

  private func checkStructure(_ database: Database, _ problems: inout StoreProblems) throws {
    let facts: MigrationFacts = try .read(database, url: url, counting: false)
    for difference in SchemaDrift(schema, facts).differences() {
      problems.add(StoreProblem(.structure, difference.text))
    }
  }

  // MARK: Counters and rows

  /// More objects than that no store can have had.
  private static let highestCounter: Int64 = 1 << 62

  private func checkCounters(
    _ statements: ExaminationStatements, _ database: Database, _ problems: inout StoreProblems
  ) throws {
    let counters: [Int: Int64] = Dictionary(
      try StoreInventory.entityRows(database, url: url).map { ($0.number, $0.maxKey) },
      uniquingKeysWith: { first, _ in first })
    for table in schema.tables {
      let highest: Int64 = try integers(statements.highestKey(in: table), database).first ?? 0
      let counter: Int64 = counters[table.rootNumber] ?? 0
      let entity: String = layout.entities[table.root].name
      if counter >= Self.highestCounter {
        problems.add(
          StoreProblem(
            .fullKeys, entity: entity,
            "The counter of keys of \(entity) is \(counter), so no new object can be saved; the highest key in use is "
              + "\(highest)."))
      }
      if counter >= highest { continue }
      problems.add(
        StoreProblem(
          .keys, entity: entity,
          "The counter of keys of \(entity) is \(counter), and there is a row with the key \(highest)."))
    }
  }

  /// SQLite types values, not columns; a value of another type reads as something else, or as nil. Decimals
  /// are read as their texts, so that the rows tell which are none.
  private func checkTypes(
    _ statements: ExaminationStatements, _ database: Database, _ problems: inout StoreProblems
  ) throws {
    try addValues(database, &problems) { entity, number in
      guard case .attribute(let column) = schema.storage(of: entity.index, slot: number),
        column.kind != .decimal,
        let sql = statements.strangeValues(in: column, of: entity, try schema.table(of: entity.index))
      else { return nil }
      return (sql, "has a value that is none of its type (\(column.kind.wordForMessages)).")
    }
  }

  /// A reference has its object's key, and beside it the number of the object's entity.
  private func checkTargetNumbers(
    _ statements: ExaminationStatements, _ database: Database, _ problems: inout StoreProblems
  ) throws {
    try addValues(database, &problems) { entity, number in
      statements.wrongTargetNumbers(of: entity, slot: number).map {
        ($0, "has beside the key of an object the number of another entity than the object's.")
      }
    }
  }

  /// Adds the values that statements find, each of which gives keys and entity numbers. `search`: the
  /// statement for a property of an entity's own, and what is wrong with these values; nil for one that is
  /// not searched.
  private func addValues(
    _ database: Database, _ problems: inout StoreProblems,
    _ search: (_ entity: EntityLayout, _ slot: Int) throws -> (sql: String, clause: String)?
  ) throws {
    for entity in layout.entities where schema.tablePosition[entity.index] != nil {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard let (sql, clause) = try search(entity, number) else { continue }
        let rows = try RawStatement(database, sql, url: url)
        defer { rows.reset() }
        while try rows.step() {
          let owner: Int = schema.entityIndex(ofNumber: Int(clamping: rows.integer(1))) ?? entity.index
          problems.add(
            StoreProblem(
              .value, entity: entity.name, property: slot.name,
              objects: [RowID(entity: owner, key: rows.integer(0))],
              "\(entity.name).\(slot.name) \(clause)"))
        }
      }
    }
  }

  private func checkPairs(
    _ statements: ExaminationStatements, _ database: Database, _ problems: inout StoreProblems
  ) throws {
    for join in schema.joinTables {
      guard let sql = statements.danglingPairs(in: join) else { continue }
      let keys: [Int64] = try integers(sql, database)
      if keys.isEmpty { continue }
      let entity: EntityLayout = layout.entities[join.entity]
      let name: String = entity.slots[join.slot].name
      problems.add(
        StoreProblem(
          .dangling, entity: entity.name, property: name, count: keys.count,
          objects: keys.prefix(StoreProblem.objectsKept).map { RowID(entity: entity.index, key: $0) },
          "\(entity.name).\(name) has pairs of which one object does not exist."))
    }
  }

  private func checkOrders(
    _ statements: ExaminationStatements, _ database: Database, _ problems: inout StoreProblems
  ) throws {
    for entity in layout.entities where schema.tablePosition[entity.index] != nil {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard case .toMany(let storage) = schema.storage(of: entity.index, slot: number) else { continue }
        var owners: Set<Int64> = []
        for sql in statements.unorderedOwners(storage) {
          owners.formUnion(try integers(sql, database))
        }
        if owners.isEmpty { continue }
        problems.add(
          StoreProblem(
            .order, entity: entity.name, property: slot.name, count: owners.count,
            objects: owners.sorted().prefix(StoreProblem.objectsKept)
              .map { RowID(entity: entity.index, key: $0) },
            "\(entity.name).\(slot.name) is ordered, and some members have no place, or share one."))
      }
    }
  }

  // MARK: Files of values

  private struct FileReference {
    var row: RowID
    var entity: String
    var property: String
    var file: String
  }

  private func fileReferences(
    _ statements: ExaminationStatements, _ database: Database
  ) throws -> [FileReference] {
    var references: [FileReference] = []
    for entity in layout.entities where schema.tablePosition[entity.index] != nil {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard case .attribute(let column) = schema.storage(of: entity.index, slot: number), column.isTagged
        else { continue }
        let sql: String = statements.fileReferences(
          in: column.name, of: try schema.table(of: entity.index), tag: ExternalData.fileTag)
        let rows = try RawStatement(database, sql, url: url)
        defer { rows.reset() }
        while try rows.step() {
          guard let value = rows.data(2), let name = value.withUnsafeBytes({ ExternalData.fileName($0) })
          else { continue }
          let index: Int = schema.entityIndex(ofNumber: Int(rows.integer(1))) ?? entity.index
          references.append(
            FileReference(
              row: RowID(entity: index, key: rows.integer(0)), entity: entity.name, property: slot.name,
              file: name))
        }
      }
    }
    return references
  }

  private func checkFiles(_ references: [FileReference], _ problems: inout StoreProblems) {
    for reference in references {
      guard let problem = external.file(reference.file).problem() else { continue }
      if problem.isForbidden {
        problems.add(
          StoreProblem(
            .unreadableFile, entity: reference.entity, property: reference.property, objects: [reference.row],
            "\(reference.entity).\(reference.property) has its value in the file \(problem.path). \(problem.reason) Give this "
              + "user permission to read it (chmod, chown)."))
        continue
      }
      problems.add(
        StoreProblem(
          .missingFile, entity: reference.entity, property: reference.property, objects: [reference.row],
          "\(reference.entity).\(reference.property) has its value in a file of "
            + "\(external.support.lastPathComponent), which can't be read: \(problem.reason)"))
    }
  }

  private func findOrphans(_ problems: inout StoreProblems) throws {
    let names: [String] =
      ((try? FileManager.default.contentsOfDirectory(atPath: external.folder.path)) ?? [])
      .filter(ExternalData.isFileName)
    if names.isEmpty { return }
    let own: Set<String> = try read { try ExternalLeftovers.referredNames($0, url: url) }
    // Files that may belong to a store beside it are nobody's problem.
    guard let others = SharedFolder(of: external).referredNames() else { return }
    let orphans: [String] = names.filter { !own.contains($0) && !others.contains($0) }.sorted()
    if orphans.isEmpty { return }
    let some: String = orphans.prefix(StoreProblem.objectsKept).joined(separator: ", ")
    problems.add(
      StoreProblem(
        .orphanedFile, count: orphans.count,
        "Files in \(external.support.lastPathComponent) belong to no row: \(some)."))
  }
}

extension SQLiteEngine {
  package func readableViews() throws -> [String]? {
    let names: [String] = try read { try StoreInventory.read($0, url: url).database.tables.map(\.name) }
    var views = ReadableViews(schema, existing: names)
    return views.statements()
  }
}

extension ColumnKind {
  var wordForMessages: String {
    switch self {
    case .int16: "an integer of 16 bits"
    case .int32: "an integer of 32 bits"
    case .int64: "an integer"
    case .bool: "a Boolean"
    case .double, .float: "a number"
    case .date: "a date"
    case .decimal: "a decimal number"
    case .string: "text"
    case .uri: "the text of a URL"
    case .uuid: "a UUID of 16 bytes"
    case .data, .transformable: "bytes"
    case .toOne: "a key"
    }
  }
}
