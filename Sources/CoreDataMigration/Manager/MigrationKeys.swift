// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The variables of value expressions.

/// `$manager` in value expressions: the migration manager.
public let NSMigrationManagerKey: String = MigrationKey.manager
/// `$source` in value expressions: the source object.
public let NSMigrationSourceObjectKey: String = MigrationKey.source
/// `$destination` in value expressions: the destination object.
public let NSMigrationDestinationObjectKey: String = MigrationKey.destination
/// `$entityMapping` in value expressions: the entity mapping.
public let NSMigrationEntityMappingKey: String = MigrationKey.entityMapping
/// `$propertyMapping` in value expressions: the property mapping.
public let NSMigrationPropertyMappingKey: String = MigrationKey.propertyMapping
/// `$entityPolicy` in value expressions: the policy.
public let NSMigrationEntityPolicyKey: String = MigrationKey.entityPolicy

enum MigrationKey {
  static let manager: String = "manager"
  static let source: String = "source"
  static let destination: String = "destination"
  static let entityMapping: String = "entityMapping"
  static let propertyMapping: String = "propertyMapping"
  static let entityPolicy: String = "entityPolicy"
}
