import Foundation

/// The names of declarations in the symbol graphs that the compiler writes for documentation tools.
///
/// The precise identifier of a symbol is `s:` and its mangled name; that of a property ends with `vp`, its
/// getter's with `vg`, its setter's with `vs`.
enum SymbolGraph {
  private struct Graph: Decodable {
    let symbols: [Symbol]
  }

  private struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Location: Decodable {
      struct Position: Decodable { let line: Int }
      let uri: String
      let position: Position
    }
    struct Kind: Decodable { let identifier: String }
    let identifier: Identifier
    let kind: Kind
    let location: Location?
  }

  /// Mangled names, without what distinguishes getter and setter, by file and line.
  static func names(in folder: URL) throws -> [String: [Int: String]] {
    var names: [String: [Int: String]] = [:]
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    where file.lastPathComponent.hasSuffix(".symbols.json") {
      let graph: Graph = try JSONDecoder().decode(Graph.self, from: Data(contentsOf: file))
      for symbol in graph.symbols where ["swift.property", "swift.method"].contains(symbol.kind.identifier) {
        guard let location = symbol.location, symbol.identifier.precise.hasPrefix("s:"),
          !symbol.identifier.precise.contains("::SYNTHESIZED::")
        else { continue }
        let path: Substring = location.uri.split(separator: "/").last ?? ""
        let name: String = path.removingPercentEncoding ?? String(path)
        names[name, default: [:]][location.position.line + 1] = "$s" + symbol.identifier.precise.dropFirst(2)
      }
    }
    return names
  }
}
