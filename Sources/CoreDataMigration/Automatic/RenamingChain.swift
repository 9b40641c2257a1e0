import CoreDataModel
import Foundation

/// Follows renamings over several versions. A renaming identifier is often the name in the version directly
/// before, or is removed again in the version after, so that a step from an older version takes the renamed
/// part for a new one, and drops its values. The versions between tell what it was called.
///
///     version 1   version 2             version 3
///     title       label (was title)     words (was label)       title → words
struct RenamingChain {
  /// The versions of the model in their order.
  let versions: [NSManagedObjectModel]

  /// The difference of two versions, over all versions between where that keeps more.
  func difference(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> ModelDifference
  {
    let direct = ModelDifference(from: source, to: destination)
    return difference(insteadOf: direct) ?? direct
  }

  /// Whether the second version comes after the first by their numbers, wherever versions with the hashes of
  /// both are: one may have come back to an earlier one. False where names tell nothing: `Shop` comes before
  /// `Shop 2`, and `Shop 5` may have come before `2.7`.
  func isInOrder(_ first: NSManagedObjectModel, _ second: NSManagedObjectModel) -> Bool {
    let hashes: [String: Data] = first.entityVersionHashesByName
    guard let first = versions.lastIndex(where: { $0.entityVersionHashesByName == hashes }),
      let second = place(of: second), let name = Self.series(of: versions[first])
    else { return false }
    return first < second && name == Self.series(of: versions[second])
  }

  /// The name of a version's file without its number.
  private static func series(of model: NSManagedObjectModel) -> String? {
    guard let version = model.versionFileName else { return nil }
    var name: Substring = version[...]
    while name.last?.isNumber == true { name.removeLast() }
    while name.last?.isWhitespace == true { name.removeLast() }
    return String(name)
  }

  /// The difference of the same two versions over all versions between, in which everything is kept that the
  /// direct one keeps, and more, or under other names; nil if there is none. Looks only if one of the
  /// versions renames something.
  ///
  /// What it keeps may be refused, where the direct one would drop it: a mapping model can lead from version
  /// to version then, and without one no values are lost.
  func difference(insteadOf direct: ModelDifference) -> ModelDifference? {
    guard let path = path(from: direct.source, to: direct.destination),
      path.dropFirst().contains(where: Self.renames)
    else { return nil }
    let found = ModelDifference(through: path)
    let (kept, all) = (Self.places(direct), Self.places(found))
    guard kept != all, Set(all.keys).isSuperset(of: kept.keys) else { return nil }
    return found
  }

  /// The versions from one to another, both included; nil if there are none between them.
  func path(from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
    -> [NSManagedObjectModel]?
  {
    guard let first = place(of: source), let last = place(of: destination), first + 1 < last else {
      return nil
    }
    return [source] + versions[(first + 1)..<last] + [destination]
  }

  private func place(of model: NSManagedObjectModel) -> Int? {
    let hashes: [String: Data] = model.entityVersionHashesByName
    return versions.firstIndex { $0.entityVersionHashesByName == hashes }
  }

  /// Whether a model says of anything what it was called before.
  private static func renames(_ model: NSManagedObjectModel) -> Bool {
    model.entities.contains { entity in
      entity.renamingIdentifier != entity.name || entity.properties.contains(where: renames)
    }
  }

  private static func renames(_ property: NSPropertyDescription) -> Bool {
    if property.renamingIdentifier != property.name { return true }
    return (property as? NSCompositeAttributeDescription)?.elements.contains(where: renames) ?? false
  }

  struct Place: Hashable {
    let entity: String
    /// nil for the entity itself.
    let property: String?
    /// Whether not the members of an ordered relationship are meant, but their order.
    var isOrder: Bool = false

    /// In words.
    var name: String {
      let path: String = property.map { "\(entity).\($0)" } ?? "the objects of \(entity)"
      return isOrder ? "the order of \(path)" : path
    }
  }

  /// The parts of the source with their places in the destination.
  static func places(_ difference: ModelDifference) -> [Place: Place] {
    var result: [Place: Place] = [:]
    for entity in difference.entities {
      guard let old = entity.source?.name, let new = entity.destination?.name else { continue }
      result[Place(entity: old, property: nil)] = Place(entity: new, property: nil)
      for property in entity.properties {
        guard let source = property.storedSource, let destination = property.destination else { continue }
        result[Place(entity: old, property: source.name)] = Place(entity: new, property: destination.name)
        for path in paths(property.elements, (source.name, destination.name)) {
          result[Place(entity: old, property: path.0)] = Place(entity: new, property: path.1)
        }
      }
    }
    return result
  }

  /// The values of the source's objects with their places in the destination: those of ``places(_:)`` without
  /// entities that have no objects, and the orders of relationships that are ordered in both.
  static func values(_ difference: ModelDifference) -> [Place: Place] {
    let concrete: [EntityDifference] = difference.entities.filter { $0.source?.isAbstract == false }
    let names = Set(concrete.compactMap { $0.source?.name })
    var result: [Place: Place] = places(difference).filter { names.contains($0.key.entity) }
    for entity in concrete {
      guard let old = entity.source?.name, let new = entity.destination?.name else { continue }
      for property in entity.properties {
        guard let source = property.storedSource as? NSRelationshipDescription, source.isOrdered,
          let destination = property.destination as? NSRelationshipDescription, destination.isOrdered
        else { continue }
        result[Place(entity: old, property: source.name, isOrder: true)] = Place(
          entity: new, property: destination.name, isOrder: true)
      }
    }
    return result
  }

  /// The paths of the elements that have a place in the destination, before and after.
  private static func paths(_ elements: [ElementDifference], _ path: (String, String)) -> [(String, String)] {
    elements.flatMap { element -> [(String, String)] in
      guard let source = element.source, let destination = element.destination else { return [] }
      let inner: (String, String) = ("\(path.0).\(source.name)", "\(path.1).\(destination.name)")
      return [inner] + paths(element.elements, inner)
    }
  }

  /// What of the source has a place in the destination.
  static func kept(_ difference: ModelDifference) -> Set<Place> { Set(places(difference).keys) }
}
