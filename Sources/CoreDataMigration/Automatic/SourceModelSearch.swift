import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// Finds the model that a store was written with: the store's own copy, or the version with its hashes, or
/// for a store that carries no model a version that its tables or its objects fit (Decisions/0093).
struct SourceModelSearch {
  struct Found {
    let model: NSManagedObjectModel
    /// Whether its hashes are not those of the store, and only its objects tell that it is the one.
    var isByObjects: Bool = false
  }

  let store: OutdatedStore
  let known: KnownModels

  /// nil if it is the wanted one: another process has migrated the store meanwhile. Throws 134130 if no
  /// version can be told, with the nearest one and what of the store it has no place for.
  func find(ifNot wanted: NSManagedObjectModel, of configuration: String?) throws -> Found? {
    let metadata: [String: Any] = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: store.type, at: store.url, options: store.options)
    if wanted.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return nil }
    let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
    let names = Set(hashes.keys)
    if let carried = try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(
      at: store.url, options: store.options),
      let model = try? carried.restricted(to: names),
      model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    {
      return Found(model: model)
    }
    if let model = known.model(for: metadata) { return Found(model: model) }
    let candidates: [Candidate] = try candidates(wanted, hashes)
    if let model = choice(candidates, for: wanted, names) { return Found(model: model, isByObjects: true) }
    let identifiers: [String] = (metadata[NSStoreModelVersionIdentifiersKey] as? [String]) ?? []
    let count: Int = known.versions.count
    throw MigrationFailure.missingSourceModel(
      store.url,
      "It has the entities \(names.sorted().joined(separator: ", "))"
        + (identifiers.isEmpty ? "" : " and the version identifier \(identifiers.joined(separator: ", "))")
        + "; none of the \(count) versions that the program has fits. \(nearest(candidates, hashes))"
        + (known.unreadable.isEmpty ? "" : " Not read: \(known.unreadable.joined(separator: " "))"))
  }

  // MARK: By objects

  /// What becomes of a part of a version. The columns of number types look alike, so the type counts too.
  private struct Outcome: Hashable {
    let part: RenamingChain.Place
    let place: RenamingChain.Place
    let type: NSAttributeType?

    init(_ part: RenamingChain.Place, _ place: RenamingChain.Place, in model: NSManagedObjectModel) {
      (self.part, self.place) = (part, place)
      type = part.property.flatMap { model.entitiesByName[part.entity]?.attributesByName[$0]?.attributeType }
    }
  }

  private struct Candidate {
    let model: NSManagedObjectModel
    /// The entities whose hashes are those of the store.
    let same: Set<String>
    /// What of the store's objects it has no place for; none if they can be read with it.
    let misfits: [String]
    /// What the objects use of it.
    let used: Set<RenamingChain.Place>
  }

  private func candidates(
    _ wanted: NSManagedObjectModel, _ hashes: [String: Data]
  ) throws -> [Candidate] {
    var versions: [NSManagedObjectModel] = known.versions
    let own: [String: Data] = wanted.entityVersionHashesByName
    if !versions.contains(where: { $0.entityVersionHashesByName == own }) { versions.append(wanted) }
    let file: StoreInspection = try StoreRegistry.inspect(store.url, options: store.options)
    let filled: [String] = file.entities.filter { $0.rows > 0 }.map(\.name)
    let options = StoreOpeningOptions(apple: store.options)
    let kind: (any StoreEngineKind)? = StoreRegistry.fileKind(ofType: store.type)
    let structure: StoreStructure? = try kind?.structure(at: store.url, options: options)
    return try versions.map { model in
      let versionHashes: [String: Data] = model.entityVersionHashesByName
      let same = Set(hashes.filter { versionHashes[$0.key] == $0.value }.keys)
      let layout: ModelLayout? = structure == nil ? nil : ModelLayout(model: model)
      let tables: [String]? = try kind?.misfits(
        of: ModelLayout(model: model), entities: Set(hashes.keys), at: store.url, options: options)
      let misfits: [String] =
        tables
        ?? filled.filter { !same.contains($0) }.flatMap { name -> [String] in
          if let structure, let layout { return structure.misfits(of: name, layout) }
          return [model.entitiesByName[name] == nil ? "it has no \(name)" : "its \(name) is another"]
        }
      return Candidate(
        model: model, same: same, misfits: misfits, used: Self.used(model, filled, structure))
    }
  }

  private static func used(
    _ model: NSManagedObjectModel, _ filled: [String], _ structure: StoreStructure?
  ) -> Set<RenamingChain.Place> {
    var places: Set<RenamingChain.Place> = []
    for entity in model.entities {
      guard let name = entity.name, filled.contains(where: { $0.lowercased() == name.lowercased() }) else {
        continue
      }
      places.insert(RenamingChain.Place(entity: name, property: nil))
      let found: StoreStructure.Entity? = structure?.entities[name.lowercased()]
      for property in entity.propertiesByName.keys {
        let key: String = property.lowercased()
        let isUsed: Bool = found.map { $0.attributes[key] != nil || $0.relationships[key] != nil } ?? true
        if isUsed { places.insert(RenamingChain.Place(entity: name, property: property)) }
      }
    }
    return places
  }

  /// The version that the objects fit, and of several the one with most of the store's hashes; nil if there
  /// is none, or if several would make different things of the objects.
  private func choice(
    _ candidates: [Candidate], for wanted: NSManagedObjectModel, _ names: Set<String>
  ) -> NSManagedObjectModel? {
    if names.isEmpty { return nil }
    let fitting: [Candidate] = candidates.filter(\.misfits.isEmpty)
    let most: Int = fitting.map(\.same.count).max() ?? 0
    let best: [Candidate] = fitting.filter { $0.same.count == most }
    guard let first = best.first else { return nil }
    let renamings = RenamingChain(versions: known.siblings)
    let outcomes = Set(
      best.map { candidate in
        let places = RenamingChain.places(renamings.difference(from: candidate.model, to: wanted))
        return Set(
          candidate.used.compactMap { part in places[part].map { Outcome(part, $0, in: candidate.model) } })
      })
    guard outcomes.count == 1 else { return nil }
    let own = Set(first.model.entities.compactMap(\.name))
    return (try? first.model.restricted(to: names.intersection(own))) ?? first.model
  }

  // MARK: Words

  /// The version that comes nearest to the store, in a sentence; empty if none has anything of it.
  private func nearest(_ candidates: [Candidate], _ hashes: [String: Data]) -> String {
    let fitting: [String] = candidates.filter(\.misfits.isEmpty).map { known.title(of: $0.model) }
    if fitting.count > 1 {
      return "Its objects fit \(fitting.joined(separator: ", ")), which would make different things of them."
    }
    let best: Candidate? = candidates.max {
      ($0.same.count, -$0.misfits.count) < ($1.same.count, -$1.misfits.count)
    }
    guard let best, !best.same.isEmpty || best.misfits.count < 4 else { return "" }
    let name: String = known.title(of: best.model)
    if best.same.isEmpty || store.type != NSSQLiteStoreType, !best.misfits.isEmpty {
      return "The nearest is \(name), but \(best.misfits.prefix(4).joined(separator: "; "))."
    }
    if best.same.isEmpty { return "" }
    let others: [String] = Set(hashes.keys).subtracting(best.same).sorted().map { entity in
      best.model.entitiesByName[entity] == nil ? "\(entity) is not in it" : "\(entity) is another"
    }
    return "The nearest is \(name), which has the same \(best.same.sorted().joined(separator: ", "))"
      + (others.isEmpty ? "." : "; \(others.joined(separator: ", ")).")
  }
}
