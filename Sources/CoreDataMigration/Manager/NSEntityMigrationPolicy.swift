import CoreDataEvaluation
import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// How the objects of one entity mapping are migrated. A subclass overrides the steps that its data needs; an
/// entity mapping names it (``NSEntityMapping/entityMigrationPolicyClassName``).
///
/// ```swift
/// final class ItemPolicy: NSEntityMigrationPolicy {
///   override func createDestinationInstances(
///     forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///   ) throws {
///     try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
///     let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
///     for item in made {
///       item.setValue((item.value(forKey: "name") as? String)?.uppercased(), forKey: "name")
///     }
///   }
/// }
/// ```
///
/// One policy is made for each mapping of a migration, and its methods are called in this order: for every
/// mapping ``begin(_:with:)``, ``createDestinationInstances(forSource:in:manager:)`` for each source object,
/// ``endInstanceCreation(forMapping:manager:)``; then for every mapping
/// ``createRelationships(forDestination:in:manager:)`` for each object that was made, and
/// ``endRelationshipCreation(forMapping:manager:)``; then for every mapping
/// ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``. What any of them throws ends the
/// migration, and the source stays as it was.
///
/// All calls are on the thread that migrates. Objects are `NSManagedObject`s, never of the program's classes,
/// which may not fit the source's version.
///
/// See Apple's page
/// [NSEntityMigrationPolicy](https://developer.apple.com/documentation/coredata/nsentitymigrationpolicy).
nonisolated open class NSEntityMigrationPolicy: NSObject {
  public required override init() { super.init() }

  /// The functions that value expressions call with `FUNCTION($entityPolicy, "selector:", …)`. Linux can't
  /// call a method by its selector, so a policy lists them, each with its types:
  ///
  /// ```swift
  /// override class var expressionFunctions: [PolicyFunction] {
  ///   [
  ///     PolicyFunction("fullNameFor:") { (policy: PersonPolicy, person: NSManagedObject) in
  ///       policy.fullName(for: person)
  ///     }
  ///   ]
  /// }
  /// ```
  ///
  /// An addition of Clarus.
  open class var expressionFunctions: [PolicyFunction] { [] }

  /// Called before the first source object of a mapping is migrated. Does nothing unless it is overridden.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Creates the destination objects for a source object. This implementation creates one, sets its
  /// attributes by the mapping's value expressions, and associates both; an override that does not call it
  /// calls ``NSMigrationManager/associate(sourceInstance:withDestinationInstance:for:)`` itself.
  ///
  /// An attribute without a value expression keeps its default value, and so does a required one whose
  /// expression gives nil. Throws a `CocoaError`, 134110, that names the mapping, the attribute and the
  /// object if an expression can't be evaluated or the attribute does not accept its value.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.stack().createInstance(from: sInstance, mapping, self)
  }

  /// Called after the last source object of a mapping. Does nothing unless it is overridden.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a destination object. This implementation sets those whose mappings have value
  /// expressions, which usually call
  /// ``NSMigrationManager/destinationInstances(forEntityMappingName:sourceInstances:)``.
  open func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try manager.stack().createRelationships(of: dInstance, mapping, self)
  }

  /// Called after the relationships of all objects of a mapping are set. Does nothing unless it is
  /// overridden.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Checks the migrated objects of a mapping; an override throws if they are wrong. Does nothing unless it
  /// is overridden. The objects' own validation runs after it.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
  }

  /// Called at the end of the migration of a mapping. Does nothing unless it is overridden.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

extension NSEntityMigrationPolicy: MessageReceiver {
  package final func receive(_ selector: String, _ arguments: [Any?]) throws -> MessageAnswer? {
    guard let function = Self.expressionFunctions.first(where: { $0.selector == selector }) else {
      return nil
    }
    return MessageAnswer(try function.call(self, arguments))
  }

  package final var adviceForMissingSelectors: String {
    "List it in \(type(of: self)).expressionFunctions."
  }
}
