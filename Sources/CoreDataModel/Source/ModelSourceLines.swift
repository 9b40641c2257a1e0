import Foundation

/// The lines of a model's `contents` file in which its parts begin, for messages about them.
public struct ModelSourceLines: Sendable {
  private var entities: [String: Int] = [:]
  private var properties: [String: Int] = [:]
  private var indexes: [String: Int] = [:]
  private var templates: [String: Int] = [:]
  /// Where the elements of lines begin in which only one begins.
  private var columns: [Int: Int] = [:]

  /// Reads the `contents` file of a source model. Throws ``ModelFileError`` if it can't be read or is no XML.
  public init(contentsOf url: URL) throws {
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw ModelFileError(file: url.path, reason: "The file can't be read: \(error.localizedDescription)")
    }
    let root: ModelXMLElement = try ModelXMLParser.parse(data, file: url.path).root
    for entity in root.children("entity") {
      guard let name = entity.attributes["name"] else { continue }
      entities[name] = entity.line
      for index in entity.children("fetchIndex") {
        if let own = index.attributes["name"] { indexes[Self.key(own, name)] = index.line }
      }
      for kind in ["attribute", "relationship", "fetchedProperty"] {
        for property in entity.children(kind) {
          if let own = property.attributes["name"] { properties[Self.key(own, name)] = property.line }
        }
      }
    }
    for template in root.children("fetchRequest") {
      if let name = template.attributes["name"] { templates[name] = template.line }
    }
    for (number, line) in data.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      let starts: [Data.Index] = line.indices.filter {
        line[$0] == UInt8(ascii: "<") && $0 + 1 < line.endIndex && line[$0 + 1] != UInt8(ascii: "/")
      }
      if starts.count == 1 { columns[number + 1] = starts[0] - line.startIndex + 1 }
    }
  }

  /// The line of an entity.
  public func entity(_ name: String) -> Int? { entities[name] }

  /// The line of a property that an entity declares itself.
  public func property(_ name: String, of entity: String) -> Int? { properties[Self.key(name, entity)] }

  /// The line of a fetch index that an entity declares itself.
  public func index(_ name: String, of entity: String) -> Int? { indexes[Self.key(name, entity)] }

  /// The column in bytes, from 1, of the element that begins in a line; nil where none or several begin.
  public func column(inLine line: Int) -> Int? { columns[line] }

  /// The line of a fetch request template.
  public func template(_ name: String) -> Int? { templates[name] }

  private static func key(_ property: String, _ entity: String) -> String { "\(entity).\(property)" }
}
