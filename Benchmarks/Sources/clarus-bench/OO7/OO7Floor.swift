import Foundation

/// OO7 by SQLite's C interface, on the tables that Clarus made.
///
/// Two kinds, since a program in C has to decide what it keeps. `keepsParts == false`: a statement at each
/// step, prepared once, and nothing is kept but what SQLite caches: a composite part that is visited again is
/// read again. `true`: a composite part's graph is read by two statements when it is visited first, and kept.
final class OO7Floor {
  let plan: OO7Plan
  private let database: CDatabase
  private let visited: VisitedParts
  private let tables: OO7Tables
  private let keepsParts: Bool
  private var kept: [Int: Graph] = [:]
  private var statements: TraversalStatements?

  init(_ plan: OO7Plan, store: URL, keepsParts: Bool = false) throws {
    self.plan = plan
    self.keepsParts = keepsParts
    database = try CDatabase(store)
    tables = try OO7Tables(database)
    visited = VisitedParts(plan.configuration)
  }

  /// What the floor has an implementation of.
  static func has(_ operation: OO7Operation) -> Bool {
    [.t1, .t6, .q1, .q2, .q3, .q4, .q5, .q7, .q8].contains(operation)
  }

  func close() {
    statements = nil
    database.close()
  }

  func run(_ operation: OO7Operation) throws -> OO7Result {
    var result = OO7Result()
    let part: String = "SELECT ZX, ZY FROM ZATOMICPART"
    switch operation {
    case .t1, .t6:
      let statements: TraversalStatements = try self.statements ?? TraversalStatements(database, tables)
      self.statements = statements
      let root: Int = try database.integer("SELECT ZDESIGNROOT FROM ZMODULE")
      try traverse(root, visitsRootOnly: operation == .t6, statements, &result)
    case .q1:
      let statement: CStatement = try database.prepare(part + " WHERE ZNUMBER = ?")
      for number in plan.query1Numbers {
        statement.bind(number)
        try visit(statement, &result)
      }
    case .q2, .q3:
      let statement: CStatement = try database.prepare(part + " WHERE ZBUILDDATE >= ?")
      statement.bind(OO7Range.atomicDate.lowerBound(ofLast: operation == .q2 ? 1 : 10))
      try visit(statement, &result)
    case .q4:
      let statement: CStatement = try database.prepare(
        """
        SELECT a.ZNUMBER FROM ZDOCUMENT d JOIN ZCOMPOSITEPART c ON c.Z_PK = d.ZPART
        JOIN \(tables.join) j ON j.\(tables.joinedPart) = c.Z_PK
        JOIN ZASSEMBLY a ON a.Z_PK = j.\(tables.joinedAssembly) WHERE d.ZTITLE = ?
        """)
      for title in plan.query4Titles {
        statement.bind(title)
        while try statement.step() { result.add(statement.integer(0)) }
      }
    case .q5:
      let statement: CStatement = try database.prepare(
        """
        SELECT a.ZNUMBER FROM ZASSEMBLY a WHERE a.Z_ENT = \(tables.baseAssembly) AND EXISTS (
          SELECT 1 FROM \(tables.join) j JOIN ZCOMPOSITEPART c ON c.Z_PK = j.\(tables.joinedPart)
          WHERE j.\(tables.joinedAssembly) = a.Z_PK AND c.ZBUILDDATE > a.ZBUILDDATE)
        """)
      while try statement.step() { result.add(statement.integer(0)) }
    case .q7: try visit(database.prepare(part), &result)
    case .q8:
      let statement: CStatement = try database.prepare(
        "SELECT p.ZNUMBER, d.ZNUMBER FROM ZATOMICPART p JOIN ZDOCUMENT d ON d.ZNUMBER = p.ZDOCID")
      while try statement.step() { result.add(statement.integer(0) &* statement.integer(1)) }
    case .t2a, .t2b, .t2c, .q6, .insert, .delete:
      throw BenchmarkError("C has no implementation of \(operation.title)")
    }
    return result
  }

  /// The sum over all atomic parts of a store, as it is in the file.
  static func total(of store: URL) throws -> Int {
    let database = try CDatabase(store)
    defer { database.close() }
    return try database.integer("SELECT SUM(ZX + 3 * ZY) FROM ZATOMICPART")
  }

  /// Compares the number of rows of each table with the paper's.
  static func check(_ store: URL, _ configuration: OO7Configuration) throws {
    let database = try CDatabase(store)
    defer { database.close() }
    for (table, wanted) in [
      ("ZMODULE", 1), ("ZMANUAL", 1), ("ZCOMPOSITEPART", configuration.numCompPerModule),
      ("ZDOCUMENT", configuration.numCompPerModule), ("ZATOMICPART", configuration.atomicParts),
      ("ZCONNECTION", configuration.connections),
      ("ZASSEMBLY", configuration.baseAssemblies + configuration.complexAssemblies),
    ] {
      let found: Int = try database.integer("SELECT COUNT(*) FROM \(table)")
      guard found == wanted else { throw BenchmarkError("\(table) has \(found) rows, not \(wanted)") }
    }
  }

  // MARK: Traversals

  private func visit(_ statement: CStatement, _ result: inout OO7Result) throws {
    while try statement.step() { result.visit(x: statement.integer(0), y: statement.integer(1)) }
  }

  private func traverse(
    _ assembly: Int, visitsRootOnly: Bool, _ statements: TraversalStatements, _ result: inout OO7Result
  ) throws {
    // Rows are read to the end before the next step, since the statement is used again below.
    let parts: [(key: Int, isBase: Bool)] = try statements.subAssemblies(of: assembly)
    for part in parts {
      guard part.isBase else {
        try traverse(part.key, visitsRootOnly: visitsRootOnly, statements, &result)
        continue
      }
      for composite in try statements.components(of: part.key) {
        if keepsParts, !visitsRootOnly {
          try graph(of: composite, statements).visitAll(&result)
          continue
        }
        let root: Int = try statements.rootPart(of: composite)
        if visitsRootOnly {
          let part: (number: Int, x: Int, y: Int) = try statements.part(root)
          result.visit(x: part.x, y: part.y)
        } else {
          visited.startOver()
          try search(root, statements, &result)
        }
      }
    }
  }

  private func search(_ key: Int, _ statements: TraversalStatements, _ result: inout OO7Result) throws {
    let part: (number: Int, x: Int, y: Int) = try statements.part(key)
    guard visited.insert(part.number) else { return }
    result.visit(x: part.x, y: part.y)
    for next in try statements.connections(of: key) { try search(next, statements, &result) }
  }

  private func graph(of composite: Int, _ statements: TraversalStatements) throws -> Graph {
    if let known = kept[composite] { return known }
    let read: Graph = try statements.graph(of: composite)
    kept[composite] = read
    return read
  }

  /// The atomic parts of a composite part, and for each the places of those it is connected to.
  final class Graph {
    var coordinates: [(x: Int, y: Int)] = []
    var places: [Int: Int] = [:]
    var connected: [[Int]] = []
    var root: Int = 0

    /// A depth-first search.
    func visitAll(_ result: inout OO7Result) {
      var seen: [Bool] = Array(repeating: false, count: coordinates.count)
      visit(root, &seen, &result)
    }

    private func visit(_ place: Int, _ seen: inout [Bool], _ result: inout OO7Result) {
      if seen[place] { return }
      seen[place] = true
      result.visit(x: coordinates[place].x, y: coordinates[place].y)
      for next in connected[place] { visit(next, &seen, &result) }
    }
  }
}
