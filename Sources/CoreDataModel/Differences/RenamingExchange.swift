import Foundation

/// Entities, stored properties of one entity, or elements of one composite attribute, that exchange their
/// names by renaming identifiers: `a` was `b`, and `b` was `a`.
///
/// Where they are alike in all else, their version hashes are those of the version before. A store of that
/// version seems to fit then: it is not migrated, and each value stays under its former name.
package struct RenamingExchange: Hashable, Sendable {
  /// The entity whose properties are meant; nil for entities.
  package let entity: String?
  /// The path of the composite attribute whose elements are meant; empty for properties.
  package let path: [String]
  /// Each has been called what the next one is called now; the last one what the first one is.
  package let names: [String]

  /// `'a' and 'b'`; elements with their paths.
  package var list: String {
    let quoted: [String] = names.map { "'\((path + [$0]).joined(separator: "."))'" }
    return quoted.dropLast().joined(separator: ", ") + " and " + (quoted.last ?? "")
  }

  /// `'a' and 'b'`, with the entity before those of properties.
  package var subject: String { entity.map { "\($0): \(list)" } ?? list }

  /// All exchanges of a model that no version hash shows. Whoever gives one of the parts, or their entity, a
  /// version hash modifier has seen to that.
  package static func all(in model: NSManagedObjectModel) -> [RenamingExchange] {
    let entities: [NSEntityDescription] = model.storedEntities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    let named: [Part] = entities.filter { $0.versionHashModifier == nil }.compactMap { entity in
      entity.name.map { Part(name: $0, identifier: entity.renamingIdentifier) }
    }
    let byName: [String: NSEntityDescription] = Dictionary(
      entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let own = rings(named).filter { ring in areAlike(ring.compactMap { byName[$0] }) }
      .map { RenamingExchange(entity: nil, path: [], names: $0) }
    return own + entities.filter { $0.versionHashModifier == nil }.flatMap(exchanges)
  }

  private static func exchanges(of entity: NSEntityDescription) -> [RenamingExchange] {
    exchanges(entity.ownProperties.filter(PropertyDifference.isStored), entity.name ?? "", [])
  }

  /// Those of properties, or of elements: the order of these is in the hash, and stays as it is.
  private static func exchanges(_ properties: [NSPropertyDescription], _ entity: String, _ path: [String])
    -> [RenamingExchange]
  {
    let plain: [NSPropertyDescription] = properties.filter { $0.versionHashModifier == nil }
    let byName: [String: NSPropertyDescription] = Dictionary(
      plain.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let own = rings(plain.map { Part(name: $0.name, identifier: $0.renamingIdentifier) })
      .filter { ring in areAlike(ring.compactMap { byName[$0] }) }
      .map { RenamingExchange(entity: entity, path: path, names: $0) }
    return own
      + plain.flatMap { property -> [RenamingExchange] in
        guard let composite = property as? NSCompositeAttributeDescription else { return [] }
        return exchanges(composite.elements, entity, path + [composite.name])
      }
  }

  // MARK: Rings

  private struct Part {
    let name: String
    let identifier: String?
  }

  /// The names of each ring of identifiers, from the first in the order of the alphabet.
  private static func rings(_ parts: [Part]) -> [[String]] {
    let former: [String: String] = Dictionary(
      parts.compactMap { part in
        part.identifier.flatMap { $0 == part.name || $0.isEmpty ? nil : (part.name, $0) }
      }, uniquingKeysWith: { first, _ in first })
    var seen: Set<String> = []
    var rings: [[String]] = []
    for start in former.keys.sorted() where !seen.contains(start) {
      var way: [String] = []
      var name: String? = start
      while let current = name, seen.insert(current).inserted {
        way.append(current)
        name = former[current]
      }
      // The way may lead into a ring without being part of it.
      guard let end = name, let first = way.firstIndex(of: end) else { continue }
      rings.append(Array(way[first...]))
    }
    return rings
  }

  // MARK: Likeness

  private static func areAlike(_ properties: [NSPropertyDescription]) -> Bool {
    let hashes = Set(
      properties.compactMap { property -> Data? in
        guard let copy = property.copy() as? NSPropertyDescription else { return nil }
        copy.name = "name"
        return copy.versionHash
      })
    return hashes.count == 1
  }

  private static func areAlike(_ entities: [NSEntityDescription]) -> Bool {
    let hashes = Set(
      entities.compactMap { entity -> Data? in
        guard let copy = entity.copy() as? NSEntityDescription else { return nil }
        copy.name = "Name"
        return copy.structureHash
      })
    return hashes.count == 1 && Set(entities.map { $0.superentity?.name }).count == 1
  }
}
