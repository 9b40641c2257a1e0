import CoreDataStorage
import Foundation

/// Which versions of a model have the structure of a store's file.
struct StructureMatch {
  let path: String
  let kind: any StoreEngineKind
  let salvages: Bool

  /// How well a version fits the file.
  struct Fit {
    let version: ModelVersion
    /// What of the file the version has no place for, and what of its tables the file lacks; a clause each.
    let misfits: [String]
    /// How many of the properties of the version objects of the file have, and how many there are; nil where
    /// the file does not name them.
    var occurring: (count: Int, total: Int)?

    /// `"2" (1 difference: it has no attribute Item.name)`
    var words: String {
      var facts: [String] = []
      if !misfits.isEmpty {
        let shown: String = misfits.prefix(2).joined(separator: "; ")
        let more: String = misfits.count > 2 ? "; …" : ""
        facts.append("\(Counted.text(misfits.count, "difference", "differences")): \(shown)\(more)")
      }
      if let occurring, occurring.count < occurring.total {
        facts.append("the objects have \(occurring.count) of its \(occurring.total) properties")
      }
      return "'\(version.name)'" + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
    }
  }

  /// The versions, the best one first: those with the fewest misfits, among them those of whose properties
  /// the file has the most. Versions that fit alike are in their order.
  func ranked(_ versions: [ModelVersion]) -> [Fit] {
    // Read once: that of an XML store is the whole file.
    let structure: StoreStructure? = try? kind.structure(at: url, options: options)
    let fits: [Fit] = versions.map { fit(of: $0, structure) }
    return fits.enumerated().sorted { left, right in
      let (one, other) = (left.element, right.element)
      if one.misfits.count != other.misfits.count { return one.misfits.count < other.misfits.count }
      let (share, otherShare) = (one.share, other.share)
      return share != otherShare ? share > otherShare : left.offset < right.offset
    }.map(\.element)
  }

  private func fit(of version: ModelVersion, _ structure: StoreStructure?) -> Fit {
    let layout = ModelLayout(model: version.model)
    if let structure {
      let misfits: [String] = structure.entities.keys.sorted().flatMap { structure.misfits(of: $0, layout) }
      var fit = Fit(version: version, misfits: misfits)
      fit.occurring = structure.occurring(in: layout)
      return fit
    }
    guard kind is AtomicKind else {
      guard let drift = try? kind.drift(at: url, layout: layout, options: options) else {
        return Fit(version: version, misfits: ["its tables can't be compared with those of the store"])
      }
      // Each is a sentence.
      return Fit(version: version, misfits: drift.map { String($0.text.drop(suffix: ".")) })
    }
    return Fit(version: version, misfits: unread(version, entities: nil))
  }

  /// Of ranked versions those that may be the store's. A SQLite file has all tables and columns of its
  /// version, so that the nearest is it, also if something was changed by hand; names and types that occur in
  /// another file fit, or they do not.
  func candidates(_ fits: [Fit]) -> [Fit] {
    guard let best = fits.first else { return [] }
    let nearest: [Fit] = fits.filter { $0.misfits.count == best.misfits.count }
    return kind is AtomicKind && !best.misfits.isEmpty ? fits : nearest
  }

  /// The versions whose tables, or names and types, the file has, in their order; none if the file can't
  /// tell. `entities`: those of the store.
  func fitting(_ versions: [ModelVersion], entities: Set<String>) -> [ModelVersion] {
    // Read once: that of an XML store is the whole file.
    let structure: StoreStructure? = try? kind.structure(at: url, options: options)
    return versions.filter { version in
      let layout = ModelLayout(model: version.model)
      let tables: [String]? = try? kind.misfits(of: layout, entities: entities, at: url, options: options)
      if let tables { return tables.isEmpty }
      guard let structure else {
        let own: Set<String> = Set(version.model.entitiesByName.keys)
        return kind is AtomicKind && readsAll(version, entities: entities == own ? nil : entities)
      }
      return entities.allSatisfy { structure.misfits(of: $0, layout).isEmpty }
    }
  }

  /// Whether every value and object of a file that names none of them can be read with a version.
  private func readsAll(_ version: ModelVersion, entities: Set<String>?) -> Bool {
    unread(version, entities: entities).isEmpty
  }

  /// What of a file that names no properties can't be read with a version.
  private func unread(_ version: ModelVersion, entities: Set<String>?) -> [String] {
    var options: StoreOpeningOptions = OpenStore.readingOptions(salvages: true)
    (options.createsIfMissing, options.checksModel, options.entityNames) = (false, false, entities)
    let layout = ModelLayout(model: version.model)
    guard let engine = try? kind.open(at: url, layout: layout, options: options) else {
      return ["the store can't be read with it"]
    }
    defer { try? engine.close() }
    return engine.partsLeftOut().problems.map { String($0.message.drop(suffix: ".")) }
  }

  /// What of the file a version fits, for messages.
  var what: String { kind is AtomicKind ? "its objects" : "its tables" }

  private var url: URL { URL(fileURLWithPath: path) }

  private var options: StoreOpeningOptions { OpenStore.readingOptions(salvages: salvages) }
}

extension StructureMatch.Fit {
  /// Of the properties those that occur; 1 where that is not known.
  fileprivate var share: Double {
    occurring.map { $0.total == 0 ? 1 : Double($0.count) / Double($0.total) } ?? 1
  }
}

extension String {
  fileprivate func drop(suffix: String) -> Substring {
    hasSuffix(suffix) ? dropLast(suffix.count) : self[...]
  }
}
