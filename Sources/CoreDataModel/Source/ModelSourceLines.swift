import Foundation

/// The lines of a model's `contents` file in which its parts begin, for messages about them.
public struct ModelSourceLines: Sendable {
  private var entities: [String: Int] = [:]
  private var properties: [String: Int] = [:]
  private var templates: [String: Int] = [:]

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
      for kind in ["attribute", "relationship", "fetchedProperty"] {
        for property in entity.children(kind) {
          if let own = property.attributes["name"] { properties[Self.key(own, name)] = property.line }
        }
      }
    }
    for template in root.children("fetchRequest") {
      if let name = template.attributes["name"] { templates[name] = template.line }
    }
  }

  /// The line of an entity.
  public func entity(_ name: String) -> Int? { entities[name] }

  /// The line of a property that an entity declares itself.
  public func property(_ name: String, of entity: String) -> Int? { properties[Self.key(name, entity)] }

  /// The line of a fetch request template.
  public func template(_ name: String) -> Int? { templates[name] }

  private static func key(_ property: String, _ entity: String) -> String { "\(entity).\(property)" }
}
