import CoreDataControllers
import CoreDataModel
import Foundation

/// A part of a staged migration: ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
///
/// See Apple's page
/// [NSMigrationStage](https://developer.apple.com/documentation/coredata/nsmigrationstage).
nonisolated open class NSMigrationStage: NSObject {
  /// A name for messages.
  open var label: String?

  override init() { super.init() }
}

/// Versions between which a store can be migrated by inferred mapping models.
///
/// See Apple's page
/// [NSLightweightMigrationStage](https://developer.apple.com/documentation/coredata/nslightweightmigrationstage).
nonisolated open class NSLightweightMigrationStage: NSMigrationStage {
  /// The ``NSManagedObjectModel/versionChecksum`` of each version, oldest first.
  public final let versionChecksums: [String]

  public init(_ versionChecksums: [String]) {
    self.versionChecksums = versionChecksums
    super.init()
  }
}

/// A migration from one version to the next with code of the program before and after it.
///
/// See Apple's page
/// [NSCustomMigrationStage](https://developer.apple.com/documentation/coredata/nscustommigrationstage).
nonisolated open class NSCustomMigrationStage: NSMigrationStage {
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void

  public final let currentModel: NSManagedObjectModelReference
  public final let nextModel: NSManagedObjectModelReference
  /// Called before the migration; the manager's container has the store with the current model. What it
  /// throws ends the migration.
  open var willMigrateHandler: Handler?
  /// Called after the migration; the manager's container has the store with the next model. What it throws
  /// ends the addition of the store, which is as it was before this stage.
  open var didMigrateHandler: Handler?

  public init(
    migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
  ) {
    (self.currentModel, self.nextModel) = (currentModel, nextModel)
    super.init()
  }
}

/// Migrates a store through an ordered list of stages when it is added: pass it as
/// `NSPersistentStoreStagedMigrationManagerOptionKey`.
///
/// See Apple's page
/// [NSStagedMigrationManager](https://developer.apple.com/documentation/coredata/nsstagedmigrationmanager).
nonisolated open class NSStagedMigrationManager: NSObject {
  /// In the order of the versions.
  public final let stages: [NSMigrationStage]
  /// A container with the store, while a stage's handler runs; nil otherwise.
  public final internal(set) weak var container: NSPersistentContainer?

  public init(_ stages: [NSMigrationStage]) {
    self.stages = stages
    super.init()
  }
}
