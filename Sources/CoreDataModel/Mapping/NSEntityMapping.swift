import CoreDataArchives
import CoreDataPredicates
import Foundation

/// What a migration does with the objects of an entity. The raw values are those of mapping model files.
public enum NSEntityMappingType: UInt, Sendable, CaseIterable {
  /// The program decides; property mappings or a policy do the work.
  case undefinedEntityMappingType = 0
  /// A policy class of the program does the work.
  case customEntityMappingType = 1
  /// The entity is new: no source entity.
  case addEntityMappingType = 2
  /// The entity is gone: no destination entity, its objects are left out.
  case removeEntityMappingType = 3
  /// Both versions of the entity have the same version hash; objects are copied as they are.
  case copyEntityMappingType = 4
  /// The entity has changed; property mappings compute its objects' values.
  case transformEntityMappingType = 5
}

/// How a migration makes objects of a destination entity out of objects of a source entity.
///
/// Thread use is that of ``NSPropertyMapping``.
/// Apple's page: <https://developer.apple.com/documentation/coredata/nsentitymapping>
nonisolated open class NSEntityMapping: NSObject, @unchecked Sendable {
  // Sendable for the reason given at NSPropertyMapping: frozen before it is shared.

  final package internal(set) var isFrozen = false

  public override init() {
    super.init()
  }

  /// The name by which expressions refer to the mapping, unique in its model. Both entities' names joined by
  /// an arrow (`Item->Task`) unless set; setting nil restores that.
  open var name: String! {
    get { storedName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
    set {
      mayChange()
      storedName = newValue
    }
  }
  private final var storedName: String?

  open var mappingType: NSEntityMappingType = .undefinedEntityMappingType { willSet { mayChange() } }

  /// The source entity; nil for an added entity.
  open var sourceEntityName: String? { willSet { mayChange() } }

  /// The version hash of the source entity the mapping was made for.
  open var sourceEntityVersionHash: Data? { willSet { mayChange() } }

  /// The destination entity; nil for a removed entity.
  open var destinationEntityName: String? { willSet { mayChange() } }

  /// The version hash of the destination entity the mapping was made for.
  open var destinationEntityVersionHash: Data? { willSet { mayChange() } }

  /// The mappings of attributes, in the order in which values are computed.
  open var attributeMappings: [NSPropertyMapping]? { willSet { mayChange() } }

  /// The mappings of relationships, in the order in which values are computed.
  open var relationshipMappings: [NSPropertyMapping]? { willSet { mayChange() } }

  /// The expression that gives the source objects, mostly `FETCH(…)` with `$manager`. nil for all objects of
  /// the source entity itself.
  open var sourceExpression: CoreDataPredicates.NSExpression? { willSet { mayChange() } }

  /// The program's own values, such as hints for a migration policy.
  open var userInfo: [AnyHashable: Any]? { willSet { mayChange() } }

  /// The class of the migration policy, nil for Core Data's own.
  open var entityMigrationPolicyClassName: String? { willSet { mayChange() } }

  /// The class of the migration policy, if it is one of the program's.
  package final var programPolicyName: String? {
    entityMigrationPolicyClassName.flatMap { $0.isEmpty || $0 == "NSEntityMigrationPolicy" ? nil : $0 }
  }

  final func mayChange() {
    requireEditableMapping(isFrozen, "The entity mapping '\(name ?? "")'")
  }

  final func freeze() {
    for mapping in (attributeMappings ?? []) + (relationshipMappings ?? []) { mapping.isFrozen = true }
    isFrozen = true
  }

  /// Mappings are equal by content. An empty list of property mappings equals none.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityMapping else { return false }
    if self === other { return true }
    return name == other.name && mappingType == other.mappingType
      && sourceEntityName == other.sourceEntityName
      && sourceEntityVersionHash == other.sourceEntityVersionHash
      && destinationEntityName == other.destinationEntityName
      && destinationEntityVersionHash == other.destinationEntityVersionHash
      && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
      && sourceExpression == other.sourceExpression
      && (attributeMappings ?? []) == (other.attributeMappings ?? [])
      && (relationshipMappings ?? []) == (other.relationshipMappings ?? [])
      && PlistValue.areEqual(userInfo ?? [:], other.userInfo ?? [:])
  }

  open override var hash: Int { name.hashValue }

  open override var description: String {
    let kind: String =
      switch mappingType {
      case .undefinedEntityMappingType: "undefined"
      case .customEntityMappingType: "custom"
      case .addEntityMappingType: "add"
      case .removeEntityMappingType: "remove"
      case .copyEntityMappingType: "copy"
      case .transformEntityMappingType: "transform"
      }
    return "entity mapping '\(name ?? "")' (\(kind))"
  }
}
