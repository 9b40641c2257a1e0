/// Names that depend on the numbers of entities.
struct OO7Tables {
  /// The table of the private components, and its columns.
  let join: String
  let joinedAssembly: String
  let joinedPart: String
  let baseAssembly: Int

  init(_ database: CDatabase) throws {
    func column(_ ending: String) -> String {
      """
      SELECT c.name FROM sqlite_master t, pragma_table_info(t.name) c
      WHERE t.type = 'table' AND t.name LIKE 'Z\\_%' ESCAPE '\\' AND c.name LIKE '%\(ending)'
      """
    }
    joinedPart = try database.text(column("COMPONENTSPRIVATE"))
    joinedAssembly = try database.text(column("USEDINPRIVATE"))
    join = try database.text(
      column("COMPONENTSPRIVATE").replacingOccurrences(of: "SELECT c.name", with: "SELECT t.name"))
    baseAssembly = try database.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'BaseAssembly'")
  }
}

/// The statements of a traversal, prepared once.
final class TraversalStatements {
  private let subAssemblies: CStatement
  private let components: CStatement
  private let rootPart: CStatement
  private let part: CStatement
  private let connections: CStatement
  private let partsOfComposite: CStatement
  private let connectionsOfComposite: CStatement
  private let baseAssembly: Int

  init(_ database: CDatabase, _ tables: OO7Tables) throws {
    subAssemblies = try database.prepare("SELECT Z_PK, Z_ENT FROM ZASSEMBLY WHERE ZSUPERASSEMBLY = ?")
    components = try database.prepare(
      "SELECT \(tables.joinedPart) FROM \(tables.join) WHERE \(tables.joinedAssembly) = ?")
    rootPart = try database.prepare("SELECT ZROOTPART FROM ZCOMPOSITEPART WHERE Z_PK = ?")
    part = try database.prepare("SELECT ZNUMBER, ZX, ZY FROM ZATOMICPART WHERE Z_PK = ?")
    connections = try database.prepare("SELECT ZTO FROM ZCONNECTION WHERE ZFROM = ?")
    partsOfComposite = try database.prepare("SELECT Z_PK, ZX, ZY FROM ZATOMICPART WHERE ZPARTOF = ?")
    connectionsOfComposite = try database.prepare(
      "SELECT c.ZFROM, c.ZTO FROM ZATOMICPART p JOIN ZCONNECTION c ON c.ZFROM = p.Z_PK WHERE p.ZPARTOF = ?")
    baseAssembly = tables.baseAssembly
  }

  func subAssemblies(of assembly: Int) throws -> [(key: Int, isBase: Bool)] {
    subAssemblies.bind(assembly)
    var found: [(key: Int, isBase: Bool)] = []
    while try subAssemblies.step() {
      found.append((subAssemblies.integer(0), subAssemblies.integer(1) == baseAssembly))
    }
    return found
  }

  func components(of assembly: Int) throws -> [Int] { try keys(components, assembly) }

  func connections(of part: Int) throws -> [Int] { try keys(connections, part) }

  func rootPart(of composite: Int) throws -> Int {
    rootPart.bind(composite)
    guard try rootPart.step() else { throw BenchmarkError("no composite part \(composite)") }
    return rootPart.integer(0)
  }

  func part(_ key: Int) throws -> (number: Int, x: Int, y: Int) {
    part.bind(key)
    guard try part.step() else { throw BenchmarkError("no atomic part \(key)") }
    return (part.integer(0), part.integer(1), part.integer(2))
  }

  func graph(of composite: Int) throws -> OO7Floor.Graph {
    let graph = OO7Floor.Graph()
    partsOfComposite.bind(composite)
    while try partsOfComposite.step() {
      graph.places[partsOfComposite.integer(0)] = graph.coordinates.count
      graph.coordinates.append((partsOfComposite.integer(1), partsOfComposite.integer(2)))
    }
    graph.connected = Array(repeating: [], count: graph.coordinates.count)
    connectionsOfComposite.bind(composite)
    while try connectionsOfComposite.step() {
      guard let from = graph.places[connectionsOfComposite.integer(0)],
        let to = graph.places[connectionsOfComposite.integer(1)]
      else { throw BenchmarkError("a connection leads out of composite part \(composite)") }
      graph.connected[from].append(to)
    }
    graph.root = graph.places[try rootPart(of: composite)] ?? 0
    return graph
  }

  private func keys(_ statement: CStatement, _ key: Int) throws -> [Int] {
    statement.bind(key)
    var found: [Int] = []
    while try statement.step() { found.append(statement.integer(0)) }
    return found
  }
}
