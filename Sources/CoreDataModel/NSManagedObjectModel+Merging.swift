import Foundation

extension NSManagedObjectModel {
  /// The model of all entities of `models`; nil if two models define an entity of one name differently, or a
  /// relationship leads to an entity that none of them has. The models themselves are not changed.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models, let merged = ModelMerge.merge(models) else { return nil }
    self.init()
    adopt(merged)
  }

  /// As ``init(byMerging:)``, but takes for each entity the version whose hash is in a store's metadata; nil
  /// if one is missing.
  public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any])
  {
    guard let versions = EntityVersions(metadata: metadata),
      let merged = ModelMerge.merge(models, keeping: versions)
    else { return nil }
    self.init()
    adopt(merged)
  }

  /// The merge of all models of the bundles, the main bundle's for nil; nil if there is none or they can't be
  /// merged. Versioned models count with their current version.
  public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
    let models = BundleModels.models(in: bundles ?? [.main])
    return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
  }

  /// The merge of those entity versions in the bundles that fit a store's metadata; nil if one is missing.
  /// Every version of versioned models counts.
  public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any])
    -> NSManagedObjectModel?
  {
    let models = BundleModels.models(in: bundles ?? [.main], allVersions: true)
    if let exact = models.first(where: {
      $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }) {
      return exact
    }
    return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
  }

  /// Whether a store with this metadata can be opened with a configuration of the model (nil: all entities):
  /// same entity names, same version hashes. A store may hold more than a configuration: further entities of
  /// the model.
  ///
  /// The part of derived and composite attributes in Apple's hashes is not known. Entities that have some may
  /// also fit by their structure; metadata of a store, or from `metadataForPersistentStore`, contains the
  /// structure in the model that the store carries.
  public final func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let versions = EntityVersions(metadata: metadata),
      entities(forConfigurationName: configuration) != nil
    else { return false }
    let held: Set<String>? = heldEntityNames(ofConfiguration: configuration)
    let present = Set(versions.hashes.keys)
    if !present.isSubset(of: entitiesByName.keys) { return false }
    return storedEntities.allSatisfy { entity in
      let name: String = entity.name ?? ""
      if let held, !held.contains(name), !present.contains(name) { return true }
      return present.contains(name) && versions.fits(entity) == true
    }
  }
}

enum ModelMerge {
  /// Merges copies of the models. With `versions` an entity takes part only in that version.
  static func merge(_ models: [NSManagedObjectModel], keeping versions: EntityVersions? = nil)
    -> NSManagedObjectModel?
  {
    let merged = NSManagedObjectModel()
    var byName: [String: NSEntityDescription] = [:]
    for model in models {
      let copy = model.copy() as! NSManagedObjectModel
      for entity in copy.storedEntities {
        let name = entity.name ?? ""
        if let versions, versions.fits(entity) != true { continue }
        if let known = byName[name] {
          // A model may be found twice, in a bundle and in a package within it.
          guard known.structureHash == entity.structureHash else { return nil }
          continue
        }
        byName[name] = entity
      }
      merged.versionIdentifiers.formUnion(copy.versionIdentifiers)
      merged.entityNamesByConfiguration.merge(copy.entityNamesByConfiguration) { first, second in
        first + second.filter { !first.contains($0) }
      }
      for (name, template) in copy.templates where merged.templates[name] == nil {
        merged.templates[name] = template
      }
      if let words = copy.localizationDictionary {
        merged.localizationDictionary = (merged.localizationDictionary ?? [:]).merging(words) { first, _ in
          first
        }
      }
    }
    if let versions, Set(versions.hashes.keys) != Set(byName.keys) { return nil }
    return connect(byName, in: merged) ? merged : nil
  }

  /// Connects references by name to the entities that were kept.
  private static func connect(_ byName: [String: NSEntityDescription], in merged: NSManagedObjectModel)
    -> Bool
  {
    let ordered = byName.values.sorted { ($0.name ?? "") < ($1.name ?? "") }
    for entity in ordered {
      if let parentName = entity.superentity?.name {
        guard let parent = byName[parentName] else { return false }
        entity.superentity = parent
      }
      entity.storedSubentities = []
    }
    for entity in ordered { entity.superentity?.storedSubentities.append(entity) }
    for entity in ordered {
      for property in entity.ownProperties {
        if let relationship = property as? NSRelationshipDescription {
          let inverseName = relationship.inverseRelationshipName
          guard let name = relationship.destinationEntityName, let destination = byName[name] else {
            return false
          }
          let ownerName = relationship.inverseRelationship?.declaringEntity?.name ?? name
          relationship.destinationEntity = destination
          if let inverseName {
            relationship.inverseRelationship =
              (byName[ownerName] ?? destination).propertiesByName[inverseName] as? NSRelationshipDescription
          }
        } else if let request = (property as? NSFetchedPropertyDescription)?.fetchRequest,
          let name = request.entityName
        {
          request.entity = byName[name]
        }
      }
    }
    for template in merged.templates.values {
      template.entity = template.entityName.flatMap { byName[$0] }
    }
    for (name, members) in merged.entityNamesByConfiguration {
      merged.entityNamesByConfiguration[name] = members.filter { byName[$0] != nil }
    }
    merged.entities = ordered
    return true
  }
}

/// Finds models in bundles: compiled ones, and source ones where there is no compiler.
package enum BundleModels {
  package static func models(in bundles: [Bundle], allVersions: Bool = false) -> [NSManagedObjectModel] {
    bundles.flatMap { urls(in: $0) }.flatMap { url -> [NSManagedObjectModel] in
      if allVersions {
        return versions(at: url).sorted { $0.key < $1.key }.map(\.value.model)
      }
      return (try? NSManagedObjectModel.load(contentsOf: url)).map { [$0.model] } ?? []
    }
  }

  /// The versions of the model of that name, or the versions of that name in any model.
  static func versions(named name: String, in bundle: Bundle) -> [NSManagedObjectModel] {
    urls(in: bundle).flatMap { url -> [NSManagedObjectModel] in
      let versions: [String: LoadedModel] = versions(at: url)
      if url.deletingPathExtension().lastPathComponent == name {
        return versions.sorted { $0.key < $1.key }.map(\.value.model)
      }
      return versions[name].map { [$0.model] } ?? []
    }
  }

  /// Those that can be read.
  private static func versions(at url: URL) -> [String: LoadedModel] {
    (try? NSManagedObjectModel.readableVersions(contentsOf: url))?.versions ?? [:]
  }

  /// The bundle's folder of resources and those of resource bundles directly within it, as SwiftPM makes
  /// them.
  static func folders(of bundle: Bundle) -> [URL] {
    let root = bundle.resourceURL ?? bundle.bundleURL
    return [root]
      + children(of: root).filter { $0.pathExtension == "resources" || $0.pathExtension == "bundle" }
  }

  private static func urls(in bundle: Bundle) -> [URL] {
    let folders = folders(of: bundle)
    let found = folders.flatMap { children(of: $0) }
    let compiled = found.filter { $0.pathExtension == "momd" || $0.pathExtension == "mom" }
    let names = Set(compiled.map { $0.deletingPathExtension().lastPathComponent })
    let source = found.filter {
      ($0.pathExtension == "xcdatamodeld" || $0.pathExtension == "xcdatamodel")
        && !names.contains($0.deletingPathExtension().lastPathComponent)
    }
    return compiled + source
  }

  private static func children(of folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0) }
  }
}
