import Foundation

/// How a version of a model, the destination, differs from another one, the source.
///
/// ```swift
/// let difference = ModelDifference(from: old, to: new)
/// for change in difference.changes where change.changesVersionHash { print(change.sentence) }
/// ```
///
/// Entities and properties are matched by their renaming identifiers, then by their names: a part of the
/// destination belongs to the part of the source with the same identifier, or whose name is its identifier.
/// So an identifier that keeps the oldest name works from every version.
///
/// Queue: any, if nothing changes the models meanwhile. Cost: linear in the models. The value keeps both
/// models alive.
public struct ModelDifference: Sendable {
  /// Parts of the destination that claim the same part of the source.
  public struct Conflict: Sendable, Hashable, CustomStringConvertible {
    /// The part of the source, such as `Item` or `Item.title`.
    public let source: String
    /// The parts of the destination.
    public let destinations: [String]

    public var description: String {
      "\(source) of the source is claimed by \(destinations.joined(separator: " and ")) of the destination"
    }
  }

  public let source: NSManagedObjectModel
  public let destination: NSManagedObjectModel

  /// All entities: those of the destination in the order in which a store numbers them, then those that are
  /// only in the source.
  public let entities: [EntityDifference]

  /// Where renaming identifiers contradict each other. The difference then is one of several possible ones.
  public let conflicts: [Conflict]

  private let byDestination: [ObjectIdentifier: Int]
  private let bySource: [ObjectIdentifier: Int]

  public init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    self.init(from: source, to: destination, matching: nil)
  }

  /// The difference between the first and the last of several versions, in which everything is matched from
  /// version to version: what was renamed twice is still the same, and what was removed and later added under
  /// the same name is not.
  ///
  /// Renaming identifiers of the last version alone often say less, because they name the version directly
  /// before. With one version nothing differs. There must be at least one version.
  public init(through versions: [NSManagedObjectModel]) {
    precondition(!versions.isEmpty, "ModelDifference(through:) needs at least one version of a model.")
    var matching: ModelCorrespondence?
    for (former, next) in zip(versions, versions.dropFirst()) {
      let step = ModelCorrespondence(ModelDifference(from: former, to: next))
      matching = matching?.followed(by: step) ?? step
    }
    self.init(from: versions[0], to: versions[versions.count - 1], matching: matching)
  }

  /// The way back: from the destination to the source, with the same parts matched.
  public var inverse: ModelDifference {
    ModelDifference(from: destination, to: source, matching: ModelCorrespondence(self).inverse)
  }

  /// `matching`: which parts are the same; nil if renaming identifiers and names say it.
  package init(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel, matching: ModelCorrespondence?
  ) {
    self.source = source
    self.destination = destination
    let pairs = EntityPairs(source, destination, matching)
    var conflicts: [Conflict] = pairs.conflicts
    var entities: [EntityDifference] = []
    for new in destination.entitiesInStoreOrder {
      guard let old = pairs.source(of: new) else {
        entities.append(Self.single(nil, new))
        continue
      }
      let match = PropertyMatch(new, old, pairs)
      conflicts += match.conflicts
      entities.append(
        EntityDifference(
          source: old, destination: new, changes: EntityComparison.changes(old, new, pairs),
          properties: match.differences(pairs)))
    }
    for old in source.entitiesInStoreOrder where pairs.destination(of: old) == nil {
      entities.append(Self.single(old, nil))
    }
    self.entities = entities
    self.conflicts = conflicts
    byDestination = Dictionary(
      entities.enumerated().compactMap { place, entity in
        entity.destination.map { (ObjectIdentifier($0), place) }
      }, uniquingKeysWith: { first, _ in first })
    bySource = Dictionary(
      entities.enumerated().compactMap { place, entity in entity.source.map { (ObjectIdentifier($0), place) }
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func single(_ old: NSEntityDescription?, _ new: NSEntityDescription?) -> EntityDifference {
    var list = ChangeList((new ?? old)?.name ?? "")
    list.add(
      old == nil ? .added : .removed, old.map { _ in "there" }, new.map { _ in "there" }, isHashed: true)
    return EntityDifference(source: old, destination: new, changes: list.changes, properties: [])
  }

  /// Every change, entity by entity.
  public var changes: [ModelChange] { entities.flatMap(\.allChanges) }

  /// Whether a store of the source can't be opened with the destination.
  public var changesVersionHashes: Bool { entities.contains(where: \.changesVersionHash) }

  /// The difference of an entity of the destination.
  public func entity(forDestination entity: NSEntityDescription) -> EntityDifference? {
    byDestination[ObjectIdentifier(entity)].map { entities[$0] }
  }

  /// The difference of an entity of the source.
  public func entity(forSource entity: NSEntityDescription) -> EntityDifference? {
    bySource[ObjectIdentifier(entity)].map { entities[$0] }
  }

  /// The difference of the entity that has the name in the destination.
  public func entity(named name: String) -> EntityDifference? {
    destination.entitiesByName[name].flatMap { entity(forDestination: $0) }
  }
}

/// Which entity of the destination was which of the source.
struct EntityPairs {
  private var sources: [ObjectIdentifier: NSEntityDescription] = [:]
  private var destinations: [ObjectIdentifier: NSEntityDescription] = [:]
  let conflicts: [ModelDifference.Conflict]
  /// What is matched by other means than renaming identifiers and names.
  let matching: ModelCorrespondence?

  init(
    _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel, _ matching: ModelCorrespondence?
  ) {
    self.matching = matching
    let (old, new): ([NSEntityDescription], [NSEntityDescription]) = (
      source.entitiesInStoreOrder, destination.entitiesInStoreOrder
    )
    let match = RenamingMatch(
      source: old.map { .init(name: $0.name ?? "", identifier: $0.storedRenamingIdentifier) },
      destination: new.map { .init(name: $0.name ?? "", identifier: $0.storedRenamingIdentifier) },
      matching?.entities)
    for (entity, place) in zip(new, match.sources) {
      guard let place else { continue }
      sources[ObjectIdentifier(entity)] = old[place]
      destinations[ObjectIdentifier(old[place])] = entity
    }
    conflicts = match.conflicts.map { .init(source: $0.source, destinations: $0.destinations) }
  }

  func source(of entity: NSEntityDescription) -> NSEntityDescription? { sources[ObjectIdentifier(entity)] }

  func destination(of entity: NSEntityDescription) -> NSEntityDescription? {
    destinations[ObjectIdentifier(entity)]
  }
}

extension EntityPairs {
  /// Whether two versions of a relationship have no object at their ends in common.
  fileprivate func isCutOff(_ old: NSPropertyDescription?, _ new: NSPropertyDescription) -> Bool {
    guard let former = (old as? NSRelationshipDescription)?.destinationEntity,
      let target = (new as? NSRelationshipDescription)?.destinationEntity
    else { return false }
    return !former.familyInStoreOrder.contains { destination(of: $0)?.isKindOf(entity: target) ?? false }
  }
}

/// Which property of an entity was which, inherited ones included.
struct PropertyMatch {
  private let new: NSEntityDescription
  private let old: NSEntityDescription
  private let after: [NSPropertyDescription]
  private let before: [NSPropertyDescription]
  private let match: RenamingMatch
  let conflicts: [ModelDifference.Conflict]

  init(_ new: NSEntityDescription, _ old: NSEntityDescription, _ pairs: EntityPairs) {
    self.new = new
    self.old = old
    (after, before) = (new.properties, old.properties)
    let match = RenamingMatch(
      source: before.map { .init(name: $0.name, identifier: $0.storedRenamingIdentifier) },
      destination: after.map { .init(name: $0.name, identifier: $0.storedRenamingIdentifier) },
      pairs.matching.map { $0.properties[new.name ?? ""] ?? [:] })
    self.match = match
    let name: String = new.name ?? ""
    conflicts = match.conflicts.map { conflict in
      .init(
        source: "\(old.name ?? "").\(conflict.source)",
        destinations: conflict.destinations.map { "\(name).\($0)" })
    }
  }

  /// The former version of a property of `entity`.
  static func source(
    of property: NSPropertyDescription, in entity: NSEntityDescription, _ pairs: EntityPairs
  ) -> NSPropertyDescription? {
    guard let old = pairs.source(of: entity) else { return nil }
    return PropertyMatch(entity, old, pairs).source(of: property)
  }

  func source(of property: NSPropertyDescription) -> NSPropertyDescription? {
    guard let place = after.firstIndex(where: { $0 === property }), let source = match.sources[place] else {
      return nil
    }
    return before[source]
  }

  func differences(_ pairs: EntityPairs) -> [PropertyDifference] {
    // What the parent's match says of inherited properties is not said again.
    let parent: PropertyMatch? = new.superentity.flatMap { parent in
      pairs.source(of: parent).map { PropertyMatch(parent, $0, pairs) }
    }
    let kept: Set<Int> = Set(match.sources.compactMap(\.self))
    let name: String = new.name ?? ""
    var result: [PropertyDifference] = []
    let known: [String: String]? = pairs.matching.map { $0.properties[name] ?? [:] }
    for (property, place) in zip(after, match.sources) {
      let source: NSPropertyDescription? = place.map { before[$0] }
      let elements: [ElementDifference] = ElementDifference.differences(
        source, property, known, paths: (source?.name ?? "", property.name))
      let isRepeated: Bool =
        parent.map { parent in
          property.declaringEntity !== new && parent.source(of: property) === source
        } ?? false
      result.append(
        PropertyDifference(
          source: source, destination: property,
          changes: PropertyComparison.changes(source, property, of: name, pairs, elements),
          isRepeated: isRepeated, isCutOff: pairs.isCutOff(source, property), elements: elements))
    }
    for (place, property) in before.enumerated() where !kept.contains(place) {
      result.append(
        PropertyDifference(
          source: property, destination: nil,
          changes: PropertyComparison.changes(property, nil, of: name, pairs, []),
          isRepeated: parent?.lost(property) ?? false, isCutOff: false, elements: []))
    }
    return result
  }

  private func lost(_ property: NSPropertyDescription) -> Bool {
    guard let place = before.firstIndex(where: { $0 === property }) else { return false }
    return !match.sources.contains(place)
  }
}
