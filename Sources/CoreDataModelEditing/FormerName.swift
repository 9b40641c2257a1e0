import CoreDataModel
import CoreDataPredicates
import Foundation

/// The name that an entity, an attribute or a relationship had in earlier versions, and what these versions
/// say about it.
///
/// A migration gives the part the values of the one with that name. Nothing tells later that no version
/// has it, or that the new version still has it, whose values would then move away silently.
package struct FormerName {
  package enum Part: String, Sendable { case entity, attribute, relationship }

  /// A version of the package that is not the edited one.
  package struct Version {
    package let name: String
    package let model: NSManagedObjectModel
    /// Whether it precedes the edited one.
    package let isEarlier: Bool
  }

  private let name: String
  private let entity: String
  private let part: Part
  /// Those that can be read, the one before the edited version first.
  private let versions: [Version]

  /// - Parameter entity: the entity itself, or that of the property.
  package init(_ name: String, of entity: String, _ part: Part, versions: [Version]) {
    (self.name, self.entity, self.part, self.versions) = (name, entity, part, versions)
  }

  /// What to tell of the name: nil if a version has it.
  ///
  /// - Parameter current: the edited version; the entity may have another name in the others.
  /// - Throws: ``ModelFileError`` if there are versions with the entity, and none of them has the name.
  package func remark(_ current: NSManagedObjectModel, file: String) throws -> String? {
    guard !versions.isEmpty else {
      return
        "There is no other version: values of '\(name)' move in stores that keep the model they were made with, as SQLite "
        + "stores do, and are lost in others. `clarus model add MODEL version` makes one, which a renaming belongs into."
    }
    if part == .entity {
      let isKnown: Bool = versions.contains { version in
        version.model.entities.contains { names($0, $0.name ?? "").contains(name) }
      }
      if isKnown { return nil }
      let known: [String] = versions[0].model.entities.compactMap(\.name).sorted()
      throw unknown(nil, versions[0].name, known, file)
    }
    let own: Set<String> = names(current.entitiesByName[entity], entity)
    let former: [(version: String, entity: NSEntityDescription)] = versions.compactMap { version in
      let found: NSEntityDescription? =
        version.model.entities.first { !own.isDisjoint(with: names($0, $0.name ?? "")) }
      return found.map { (version.name, $0) }
    }
    guard let before = former.first else {
      return "No other version has the entity '\(entity)', so that no values of '\(name)' move."
    }
    let isKnown: Bool = former.contains { entry in
      properties(of: entry.entity).contains { names($0, $0.name).contains(name) }
    }
    if isKnown { return nil }
    let known: String =
      entity == before.entity.name ? entity : "\(entity) (there \(before.entity.name ?? ""))"
    throw unknown(known, before.version, properties(of: before.entity).map(\.name).sorted(), file)
  }

  private func properties(of entity: NSEntityDescription) -> [NSPropertyDescription] {
    part == .relationship
      ? Array(entity.relationshipsByName.values) : Array(entity.attributesByName.values)
  }

  private func unknown(_ entity: String?, _ version: String, _ known: [String], _ file: String)
    -> ModelFileError
  {
    let title: String = part == .attribute || part == .entity ? "an \(part.rawValue)" : "a relationship"
    return ModelFileError(
      file: file,
      reason:
        "--renamed-from: No other version has \(title) '\(name)'\(entity.map { " of \($0)" } ?? ""), so that "
        + "it would get no values. Version '\(version)' has "
        + (known.isEmpty ? "none." : known.map { "'\($0)'" }.joined(separator: ", ") + "."))
  }

  /// The name and the renaming identifier, by either of which parts of two versions correspond.
  private func names(_ entity: NSEntityDescription?, _ name: String) -> Set<String> {
    Set([name, entity?.renamingIdentifier].compactMap(\.self))
  }

  private func names(_ property: NSPropertyDescription, _ name: String) -> Set<String> {
    Set([name, property.renamingIdentifier].compactMap(\.self))
  }
}

extension SourcePackage {
  /// The versions beside the one with a `contents` file, the one before it first, then the earlier ones, then
  /// the later ones; those that can't be read are left out.
  package func versions(besideContents file: URL) -> [FormerName.Version] {
    // As it is named, or where links lead.
    let places: [URL] = [file.standardizedFileURL, file.resolvingSymlinksInPath()].map {
      $0.deletingLastPathComponent()
    }
    guard
      let own = places.first(where: { $0.deletingLastPathComponent().pathExtension == "xcdatamodeld" }),
      let found = try? SourcePackage(at: own.deletingLastPathComponent())
    else { return [] }
    let name: String = own.deletingPathExtension().lastPathComponent
    let place: Int = found.versions.firstIndex(of: name) ?? found.versions.count
    let ordered: [String] = found.versions[..<place].reversed() + found.versions.dropFirst(place + 1)
    return ordered.compactMap { version in
      guard let contents = try? found.contents(of: version),
        let loaded = try? NSManagedObjectModel.load(contentsOf: contents.deletingLastPathComponent())
      else { return nil }
      let isEarlier: Bool = found.versions.firstIndex(of: version).map { $0 < place } ?? false
      return FormerName.Version(name: version, model: loaded.model, isEarlier: isEarlier)
    }
  }
}
