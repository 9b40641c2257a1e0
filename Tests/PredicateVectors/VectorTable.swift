import Foundation

/// Vectors of our own as a compact table, one row a line:
///
/// ```
/// format ⟨arguments⟩ ⟹ printed form ⟦object ✓; object ✗; object ⚡⟧
/// ✘ format ⟨arguments⟩
/// # topic
/// ```
///
/// Arguments and objects are JSON in the form of vector files. The format is true, false or an error for the
/// object; behind `✘` it must be refused. Everything but the format may be missing.
package struct VectorTable: Sendable, CustomStringConvertible {
  package let name: String
  package let text: String

  /// All tables of this folder.
  package static let all: [VectorTable] = [
    VectorTable(name: "literal", text: literalVectors),
    VectorTable(name: "operator", text: operatorVectors),
    VectorTable(name: "expression", text: expressionVectors),
  ]

  package var description: String { name }

  package func vectors() throws -> [PredicateVector] {
    var vectors: [PredicateVector] = []
    var topic: String = "other"
    for line in text.split(separator: "\n") {
      let line: String = line.trimmingCharacters(in: .whitespaces)
      if line.hasPrefix("# ") {
        topic = String(line.dropFirst(2))
      } else if !line.isEmpty {
        vectors.append(try Self.row(line, id: "\(name)-\(vectors.count + 1)", topic))
      }
    }
    return vectors
  }

  private static func row(_ line: String, id: String, _ topic: String) throws -> PredicateVector {
    var rest: Substring = line[...]
    let isRefused: Bool = rest.hasPrefix("✘ ")
    if isRefused { rest = rest.dropFirst(2) }
    let checks: String? = part(after: "⟦", before: "⟧", of: &rest)
    let printed: String? = part(after: "⟹", before: nil, of: &rest)
    let arguments: String = part(after: "⟨", before: "⟩", of: &rest) ?? ""
    var expectation: [String: Any] = ["parses": !isRefused]
    expectation["predicateFormat"] = printed
    expectation["evaluations"] = try checks.map(evaluations)
    return try PredicateVector([
      "id": id, "topic": topic, "format": rest.trimmingCharacters(in: .whitespaces),
      "args": try json("[\(arguments)]"), "expect": expectation,
    ])
  }

  /// The text between two marks, cut off with the first of them.
  private static func part(
    after start: Character, before end: Character?, of line: inout Substring
  ) -> String? {
    guard let place = line.lastIndex(of: start) else { return nil }
    var text: Substring = line[line.index(after: place)...]
    line = line[..<place]
    if let end, let place = text.lastIndex(of: end) { text = text[..<place] }
    return text.trimmingCharacters(in: .whitespaces)
  }

  private static func evaluations(_ text: String) throws -> [[String: Any]] {
    try text.components(separatedBy: "; ").map { check in
      let object: Any = try json(String(check.dropLast()))
      switch check.last {
      case "✓": return ["object": object, "result": true]
      case "✗": return ["object": object, "result": false]
      case "⚡": return ["object": object, "raises": true]
      default: throw CocoaError(.fileReadCorruptFile)
      }
    }
  }

  private static func json(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }
}
