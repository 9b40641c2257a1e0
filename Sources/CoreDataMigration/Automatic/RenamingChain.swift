import CoreDataModel
import Foundation

/// Follows renamings over several versions. A renaming identifier is often the name in the version directly
/// before, so that a step from an older version takes the renamed part for a new one, and drops its values.
/// The versions between tell what it was called.
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

  /// Whether the second version comes after the first.
  func isInOrder(_ first: NSManagedObjectModel, _ second: NSManagedObjectModel) -> Bool {
    guard let first = place(of: first), let second = place(of: second) else { return false }
    return first < second
  }

  /// The difference of the same two versions over all versions between, in which everything is kept that the
  /// direct one keeps, and more; nil if there is none. Looks only if the destination renames what the source
  /// does not have.
  func difference(insteadOf direct: ModelDifference) -> ModelDifference? {
    guard Self.missesRenaming(direct), let path = path(from: direct.source, to: direct.destination) else {
      return nil
    }
    let found = ModelDifference(through: path)
    guard Self.kept(found).isStrictSuperset(of: Self.kept(direct)), MappingInference(found).refusals.isEmpty
    else { return nil }
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

  /// Whether something is new under a former name, and something is dropped that may be it.
  private static func missesRenaming(_ difference: ModelDifference) -> Bool {
    let isNewEntity: Bool = difference.entities.contains { entity in
      entity.source == nil && entity.destination.map { $0.renamingIdentifier != $0.name } == true
    }
    if isNewEntity, difference.entities.contains(where: { $0.destination == nil }) { return true }
    return difference.entities.contains { entity in
      guard entity.source != nil, entity.destination != nil else { return false }
      if entity.properties.contains(where: { missesRenaming($0.elements) }) { return true }
      let isNew: Bool = entity.properties.contains { property in
        guard let new = property.destination, property.source == nil else { return false }
        return PropertyDifference.isStored(new) && new.renamingIdentifier != new.name
      }
      return isNew
        && entity.properties.contains {
          $0.destination == nil && $0.source.map(PropertyDifference.isStored) == true
        }
    }
  }

  struct Place: Hashable {
    let entity: String
    /// nil for the entity itself.
    let property: String?
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
        for path in paths(property.elements, source.name) {
          result[Place(entity: old, property: path)] = Place(entity: new, property: destination.name)
        }
      }
    }
    return result
  }

  /// The paths of the elements that have a place in the destination.
  private static func paths(_ elements: [ElementDifference], _ path: String) -> [String] {
    elements.flatMap { element -> [String] in
      guard let source = element.source, element.destination != nil else { return [] }
      let inner: String = "\(path).\(source.name)"
      return [inner] + paths(element.elements, inner)
    }
  }

  private static func missesRenaming(_ elements: [ElementDifference]) -> Bool {
    let isNew: Bool = elements.contains { element in
      guard let new = element.destination, element.source == nil else { return false }
      return new.renamingIdentifier != new.name
    }
    return isNew && elements.contains { $0.destination == nil }
      || elements.contains { missesRenaming($0.elements) }
  }

  /// What of the source has a place in the destination.
  static func kept(_ difference: ModelDifference) -> Set<Place> { Set(places(difference).keys) }
}
