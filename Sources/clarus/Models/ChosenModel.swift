import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// The model a store is read by, and its source.
struct ChosenModel {
  enum Origin: Equatable {
    /// The model that the store carries.
    case cached
    /// A file named by the user; with the version's name when the file holds several.
    case file(String, version: String?)
  }

  let model: NSManagedObjectModel
  let origin: Origin
  /// The entities the store holds, if it holds one configuration only.
  let entityNames: Set<String>?
  /// The versions that fit the file as well as this one, which is the newest of them.
  var alternatives: [String] = []

  var originText: String {
    switch origin {
    case .cached: "carried by the store"
    case .file(let path, let version?): "\(path), version '\(version)'"
    case .file(let path, nil): path
    }
  }

  /// The store's own model, or the one named if it fits. nil when there is neither.
  ///
  /// Of several versions it is the one that the store's hashes name; for a store without hashes the one with
  /// the structure that the file has.
  ///
  /// `acceptsStructure`: whether a version with other hashes fits, too, if the objects of the file have all
  /// names and types of it: a damaged hash is no reason to give up. It is the newest one, if there are
  /// several.
  static func choose(
    for file: StoreInspection, path: String, modelPath: String?, version: String? = nil,
    by structure: StructureMatch, acceptsStructure: Bool = false
  ) throws -> ChosenModel? {
    let stored: EntityVersions = file.versions ?? EntityVersions(hashes: [:], structures: [:])
    let hashes: [String: Data] = stored.hashes
    guard let modelPath else {
      return file.model.map {
        ChosenModel(
          model: $0, origin: .cached, entityNames: ModelMatch.configuration($0, storeHashes: hashes))
      }
    }
    let all: [ModelVersion] =
      version == nil
      ? try ModelArgument.versions(at: modelPath) : [try ModelArgument.load(modelPath, version: version)]
    // For a store that does not record its model the named one is used.
    if hashes.isEmpty {
      let chosen: ModelVersion = try all.count == 1 ? all[0] : best(of: all, by: structure, path: path)
      return ChosenModel(
        model: chosen.model,
        origin: .file(modelPath, version: all.count > 1 || version != nil ? chosen.name : nil),
        entityNames: nil)
    }
    let versions: [ModelVersion] = all
    var nearest: (version: ModelVersion, difference: ModelMatch.Difference)?
    for version in versions {
      let difference: ModelMatch.Difference = ModelMatch.difference(version.model, stored)
      let entityNames: Set<String>? = ModelMatch.configuration(version.model, storeHashes: hashes)
      let isPart: Bool =
        difference.differing.isEmpty && difference.onlyInStore.isEmpty && entityNames != nil
      if difference.count == 0 || isPart {
        return ChosenModel(
          model: version.model,
          origin: .file(modelPath, version: versions.count > 1 ? version.name : nil),
          entityNames: entityNames)
      }
      if nearest == nil || difference.count < nearest!.difference.count { nearest = (version, difference) }
    }
    guard let nearest else { return nil }
    let names: Set<String> = Set(hashes.keys)
    let fitting: [ModelVersion] = acceptsStructure ? structure.fitting(versions, entities: names) : []
    if let version = fitting.first {
      return ChosenModel(
        model: version.model, origin: .file(modelPath, version: versions.count > 1 ? version.name : nil),
        entityNames: ModelMatch.configuration(version.model, storeHashes: hashes)
          ?? (names == Set(version.model.entitiesByName.keys) ? nil : names),
        alternatives: fitting.dropFirst().map(\.name))
    }
    let which: String =
      versions.count > 1
      ? "None of the \(versions.count) versions in \(modelPath) fits; the nearest is '\(nearest.version.name)'."
      : "The model \(modelPath)\(version.map { ", version '\($0)'," } ?? "") doesn't fit."
    let cure: String = cure(for: file, stored, modelPath, wasNamed: version != nil)
    throw CommandFailure("\(path): \(which) \(nearest.difference.sentence) \(cure)")
  }

  /// What to do about a model that does not fit.
  private static func cure(
    for file: StoreInspection, _ stored: EntityVersions, _ modelPath: String, wasNamed: Bool
  ) -> String {
    func fitting(_ path: String) -> String? {
      (try? ModelArgument.versions(at: path))?
        .first { ModelMatch.difference($0.model, stored).count == 0 }?.name
    }
    if wasNamed, let name = fitting(modelPath) {
      return "Its version '\(name)' fits: name that, or leave --model-version out."
    }
    if let folder = ModelArgument.folder(of: modelPath), let name = fitting(folder) {
      return "Its version '\(name)' fits: give --model \(folder)."
    }
    if file.model != nil {
      return "The store carries its own model: leave --model out to read it by that one."
    }
    return "Stores of type \(file.type) carry no model: name the one that it was written with."
  }

  /// The version that fits the file best. Throws with all of them, the best one first and what fits, if one
  /// can't be told.
  private static func best(
    of versions: [ModelVersion], by structure: StructureMatch, path: String
  ) throws -> ModelVersion {
    let fits: [StructureMatch.Fit] = structure.ranked(versions)
    let candidates: [StructureMatch.Fit] = structure.candidates(fits)
    if candidates.count == 1 { return candidates[0].version }
    func list(_ fits: some Sequence<StructureMatch.Fit>) -> String {
      fits.map(\.words).joined(separator: ", ")
    }
    let fact: String = "\(path): The store does not tell the version of its model"
    guard fits.count > candidates.count || candidates.allSatisfy(\.misfits.isEmpty) else {
      throw CommandFailure(
        "\(fact), and none fits \(structure.what) altogether. Name one with --model-version, the best one first: "
          + "\(list(fits)).")
    }
    let others: [StructureMatch.Fit] = Array(fits.dropFirst(candidates.count))
    throw CommandFailure(
      "\(fact), and several fit \(structure.what). Name one with --model-version: \(list(candidates))"
        + (others.isEmpty ? "" : "; others fit less: \(list(others))") + ".")
  }
}
