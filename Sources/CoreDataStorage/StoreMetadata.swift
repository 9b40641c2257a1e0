import CoreDataModel
import Foundation

/// A store's UUID, and the property list that a store keeps beside its rows: Apple's keys and the program's.
package struct StoreMetadata: @unchecked Sendable {
  // Sendable: a property list of immutable values, never mutated in place once it is shared.
  package let type: String
  package var uuid: String
  package var values: [String: Any]

  package init(type: String, uuid: String, values: [String: Any]) {
    self.type = type
    self.uuid = uuid
    self.values = values
  }

  /// What the store publishes: the property list, with the UUID, which is stored beside it.
  package var published: [String: Any] {
    var result: [String: Any] = values
    result[Key.uuid] = uuid
    result[Key.type] = type
    return result
  }

  /// Replaces the application's part. Keys that describe the file stay unchanged; a UUID among the values
  /// becomes the store's with the next opening.
  package func replacing(with application: [String: Any]) -> StoreMetadata {
    var result: StoreMetadata = self
    result.values = application
    for key in Key.ofTheFile {
      result.values[key] = values[key]
    }
    result.values[Key.uuid] = nil
    result.values[EntityVersions.structuresKey] = nil
    if let given = application[Key.uuid] as? String { result.uuid = given }
    return result
  }

  package enum Key {
    package static let type: String = "NSStoreType"
    package static let uuid: String = "NSStoreUUID"
    package static let hashes: String = "NSStoreModelVersionHashes"
    package static let hashesVersion: String = "NSStoreModelVersionHashesVersion"
    package static let identifiers: String = "NSStoreModelVersionIdentifiers"
    package static let framework: String = "NSPersistenceFrameworkVersion"
    package static let autoVacuum: String = "_NSAutoVacuumLevel"
    package static let digest: String = "NSStoreModelVersionHashesDigest"
    package static let checksum: String = "NSStoreModelVersionChecksumKey"
    package static let maximumFramework: String = "NSPersistenceMaximumFrameworkVersion"
    package static let ancillaryHashes: String = "_NSStoreAncillaryModelVersionHashesMetadataKey"

    package static let ofTheFile: [String] = [
      type, hashes, hashesVersion, identifiers, framework, autoVacuum, digest, checksum, maximumFramework,
      ancillaryHashes,
    ]
  }

  /// The framework version in fresh stores: the newest one seen in files whose every key Clarus writes.
  package static let frameworkVersion: Int = 1344

  /// The metadata of a fresh store. `values`: what its kind keeps besides.
  package static func fresh(
    type: String, model: NSManagedObjectModel, entityNames: Set<String>?, values: [String: Any] = [:]
  ) -> StoreMetadata {
    var hashes: [String: Data] = model.entityVersionHashesByName
    if let entityNames { hashes = hashes.filter { entityNames.contains($0.key) } }
    let identifiers: [String] = model.versionIdentifiers.compactMap { $0.base as? String }.sorted()
    let own: [String: Any] = [
      Key.type: type,
      Key.hashes: hashes,
      Key.hashesVersion: VersionHash.version,
      Key.identifiers: identifiers,
      Key.framework: frameworkVersion,
      Key.digest: VersionHash.digest(hashes),
      Key.checksum: VersionHash.checksum(hashes),
    ]
    return StoreMetadata(type: type, uuid: UUID().uuidString, values: own.merging(values) { $1 })
  }

  package var hashes: [String: Data] {
    (values[Key.hashes] as? [String: Any])?.compactMapValues { $0 as? Data } ?? [:]
  }

  /// Ids are URIs with the UUID as their host, so the text must be a UUID.
  package static func checkIdentifier(in metadata: [String: Any], of current: String) throws {
    guard let given = metadata[Key.uuid] as? String, given != current, UUID(uuidString: given) == nil else {
      return
    }
    throw StoreError.unsupported(
      part: "metadata key '\(Key.uuid)'", reason: "its value, '\(given)', is no UUID",
      advice: "use UUID().uuidString, or leave the key out to keep the store's UUID")
  }

  /// Throws `StoreError.unsupported` for a value that property lists can't hold, naming its key.
  package static func check(_ values: [String: Any]) throws {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      guard PropertyListSerialization.propertyList(value, isValidFor: .binary) else {
        throw StoreError.unsupported(
          part: "metadata key '\(key)'",
          reason: "its value, a \(Swift.type(of: value)), is no property-list value",
          advice: "use strings, numbers, dates, data, arrays and dictionaries with string keys")
      }
    }
  }
}
