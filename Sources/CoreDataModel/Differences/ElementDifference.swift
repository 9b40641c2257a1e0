import Foundation

/// An element of a composite attribute in both versions of a model, or in one of them.
package struct ElementDifference: Sendable {
  /// nil for an added element.
  package let source: NSAttributeDescription?
  /// nil for a removed element.
  package let destination: NSAttributeDescription?
  /// The elements of an element that is a composite attribute itself, in both versions.
  package let elements: [ElementDifference]

  /// The name in the destination, or in the source if it is only there.
  package var name: String { (destination ?? source)?.name ?? "" }

  /// Whether everything is as it was, by the names.
  package var keepsNames: Bool {
    source?.name == destination?.name && elements.allSatisfy(\.keepsNames)
  }

  /// The elements of the new version with those of the old one, then those that are gone. A version that is
  /// no composite attribute has none.
  ///
  /// `known`: which element was which, by their paths from the entity, destination → source; nil if renaming
  /// identifiers and names say it. `paths`: those of both attributes, of the old and the new one.
  package static func differences(
    _ old: NSPropertyDescription?, _ new: NSPropertyDescription?, _ known: [String: String]?,
    paths: (old: String, new: String)
  ) -> [ElementDifference] {
    let before: [NSAttributeDescription] = (old as? NSCompositeAttributeDescription)?.elements ?? []
    let after: [NSAttributeDescription] = (new as? NSCompositeAttributeDescription)?.elements ?? []
    if before.isEmpty && after.isEmpty { return [] }
    let match = RenamingMatch(
      source: before.map { .init(name: $0.name, identifier: $0.storedRenamingIdentifier) },
      destination: after.map { .init(name: $0.name, identifier: $0.storedRenamingIdentifier) },
      known.map { names(in: $0, after, paths) })
    let kept: Set<Int> = Set(match.sources.compactMap(\.self))
    let pairs: [(NSAttributeDescription?, NSAttributeDescription?)] =
      zip(after, match.sources).map { ($1.map { before[$0] }, $0) }
      + before.indices.filter { !kept.contains($0) }.map { (before[$0], nil) }
    return pairs.map { source, destination in
      ElementDifference(
        source: source, destination: destination,
        elements: differences(
          source, destination, known,
          paths: ("\(paths.old).\(source?.name ?? "")", "\(paths.new).\(destination?.name ?? "")")))
    }
  }

  /// The part of a correspondence that concerns the elements directly below two attributes, by name.
  private static func names(
    in known: [String: String], _ elements: [NSAttributeDescription], _ paths: (old: String, new: String)
  ) -> [String: String] {
    var result: [String: String] = [:]
    for element in elements {
      guard let path = known["\(paths.new).\(element.name)"], path.hasPrefix("\(paths.old).") else {
        continue
      }
      result[element.name] = String(path.dropFirst(paths.old.count + 1))
    }
    return result
  }
}
