import Foundation

// Version hashes decide which stores fit a model. They are Apple's, bit for bit: SHA-256 over the parts
// below, strings as UTF-8 without length or terminator, integers as 32-bit little-endian, `||` for
// concatenation.
//
//   base(p)      = SHA256( name || byte(optional) || byte(0) || hash modifier? )
//   attribute    = SHA256( base || u32(type) || 01 if external storage || 01 if kept in history )
//   relationship = SHA256( base || destination name || inverse name? || u32(max) || u32(min)
//                          || 01 00 if ordered )
//                  The inverse's name is omitted if there is none and if the relationship is its own inverse.
//   entity       = SHA256( name || byte(abstract) || hash of the parent? || hashes of all properties by name
//                          || hash modifier? || constraints? )
//                  Inherited properties count, transient ones don't. A constraint is its names joined by ".";
//                  constraints are sorted and concatenated.
//
// Worked example, entity User { name: String, petName: String? }:
//   attr(name)    = SHA256( SHA256("name" 00 00) || BC 02 00 00 )
//   attr(petName) = SHA256( SHA256("petName" 01 00) || BC 02 00 00 )
//   User          = SHA256( "User" 00 || attr(name) || attr(petName) )
//                 = 6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798
//
// Not covered: delete rules, indexes, defaults, validation, classes, transformers, user info, renaming
// identifiers.
// Known gap: the part of derived and composite attributes in Apple's hash of their entity is not
// known. Here it covers everything that the store's columns and triggers depend on:
//
//   derived      = SHA256( … as an attribute || "=" || text of the derivation || "|" || text of the filter? )
//   composite    = SHA256( … as an attribute || hashes of the elements )
//
// Hashes that Apple's tools recorded for such entities are kept beside these, see `RecordedHash`.

extension NSPropertyDescription {
  /// 32 bytes that change when the property changes in a way that makes existing stores unfit.
  public final var versionHash: Data {
    Data(VersionHash.property(self))
  }
}

extension NSEntityDescription {
  /// 32 bytes that change when the entity changes in a way that makes existing stores unfit: the value
  /// Apple's framework computes. Costs a pass over the entity's properties and ancestors; cached once the
  /// model is in use.
  ///
  /// For an entity with derived or composite attributes it is the value that Apple's tools recorded, where
  /// the model comes from a `.momd` or a store that has it, and otherwise a value of Clarus's own.
  public final var versionHash: Data {
    if let frozenHashes { return frozenHashes.version }
    let structure: Data = structureHash
    guard let recordedHash, recordedHash.structure == structure else { return structure }
    return recordedHash.hash
  }

  /// The hash as computed here: equal for entities that are equal in everything that stores depend on.
  package final var structureHash: Data {
    frozenHashes?.structure ?? Data(VersionHash.entity(self))
  }

  /// Whether the hash can be computed as Apple's framework does: false for entities with derived or composite
  /// attributes.
  package final var hashIsComputable: Bool {
    !properties.contains {
      !$0.isTransient && ($0 is NSDerivedAttributeDescription || $0 is NSCompositeAttributeDescription)
    } && (superentity?.hashIsComputable ?? true)
  }

  /// Whether the hash is known to be Apple's: computed as theirs, or recorded by their tools.
  package final var hashIsExact: Bool { hashIsComputable || versionHash != structureHash }
}

extension NSManagedObjectModel {
  /// The version hash of every entity.
  public final var entityVersionHashesByName: [String: Data] {
    entitiesByName.mapValues(\.versionHash)
  }

  /// The model's fingerprint as stores and `VersionInfo.plist` record it: base64 of SHA-256 over the entity
  /// hashes, by entity name.
  public final var versionChecksum: String {
    VersionHash.checksum(entityVersionHashesByName)
  }
}

package enum VersionHash {
  /// `NSStoreModelVersionHashesVersion`: the version of the hashing above.
  package static let version = 3

  package static func checksum(_ hashes: [String: Data]) -> String {
    let ordered = sortedByName(hashes)
    return Data(SHA2.sha256(ordered.flatMap { Array($0.value) })).base64EncodedString()
  }

  /// `NSStoreModelVersionHashesDigest` of a store with these entity hashes: base64 of SHA-512 over names and
  /// hashes.
  package static func digest(_ hashes: [String: Data]) -> String {
    let ordered = sortedByName(hashes)
    return Data(SHA2.sha512(ordered.flatMap { Array($0.key.utf8) + Array($0.value) })).base64EncodedString()
  }

  private static func sortedByName(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
    hashes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  static func entity(_ entity: NSEntityDescription) -> [UInt8] {
    var bytes = Array((entity.name ?? "").utf8)
    bytes.append(entity.isAbstract ? 1 : 0)
    if let parent = entity.superentity { bytes += parent.structureHash }
    let stored = entity.properties.filter { !$0.isTransient }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for part in stored { bytes += property(part) }
    bytes += Array((entity.versionHashModifier ?? "").utf8)
    let constraints = entity.uniquenessConstraintNames.map { $0.joined(separator: ".") }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    bytes += constraints.flatMap { Array($0.utf8) }
    return SHA2.sha256(bytes)
  }

  static func property(_ property: NSPropertyDescription) -> [UInt8] {
    var base = Array(property.name.utf8)
    base += [property.isOptional ? 1 : 0, 0]
    base += Array((property.versionHashModifier ?? "").utf8)
    var bytes = SHA2.sha256(base)
    if let attribute = property as? NSAttributeDescription {
      bytes += littleEndian(Int(attribute.attributeType.rawValue))
      if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
      if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
      bytes += ownPart(attribute)
    } else if let relationship = property as? NSRelationshipDescription {
      bytes += Array((relationship.destinationEntityName ?? "").utf8)
      if relationship.inverseRelationship !== relationship {
        bytes += Array((relationship.inverseRelationshipName ?? "").utf8)
      }
      bytes += littleEndian(relationship.maxCount) + littleEndian(relationship.minCount)
      if relationship.isOrdered { bytes += [1, 0] }
    } else {
      return bytes
    }
    return SHA2.sha256(bytes)
  }

  /// The part of a derived or composite attribute, which is not Apple's.
  private static func ownPart(_ attribute: NSAttributeDescription) -> [UInt8] {
    switch attribute {
    case let derived as NSDerivedAttributeDescription:
      let expression: String = derived.derivationExpression.map { $0.description } ?? ""
      return Array("=\(expression)|\(ModelComparison.text(derived.filteringPredicate) ?? "")".utf8)
    case let composite as NSCompositeAttributeDescription: return composite.elements.flatMap { property($0) }
    default: return []
    }
  }

  /// Real models have -1 as a maximum, so the value is truncated to 32 bits rather than checked.
  private static func littleEndian(_ value: Int) -> [UInt8] {
    let word = UInt32(truncatingIfNeeded: value)
    return (0..<4).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
  }
}
