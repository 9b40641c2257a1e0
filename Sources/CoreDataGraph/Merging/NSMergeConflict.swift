import CoreDataPredicates
import CoreDataStorage
import Foundation

/// An object whose row was changed or deleted after the context had read it.
///
/// Conflicts occur on two levels. What another context of the same coordinator has saved is in the
/// coordinator's row cache: ``cachedSnapshot`` contains it, and ``persistedSnapshot`` is nil. What another
/// coordinator or another process has written is in the store only: ``persistedSnapshot`` contains it, and
/// ``cachedSnapshot`` is what this coordinator had read before. A deleted row has version 0 and no
/// ``persistedSnapshot``.
///
/// Snapshots hold attributes and, for to-one relationships, object ids, by name; `NSNull` for nil; never
/// to-many members.
///
/// See Apple's page [NSMergeConflict](https://developer.apple.com/documentation/coredata/nsmergeconflict).
nonisolated open class NSMergeConflict: NSObject {
  /// The object in the context that saves.
  public final let sourceObject: NSManagedObject
  /// The values that the object has now, in the context.
  public final let objectSnapshot: [String: Any]?
  /// The values in the row cache: what another context has saved or, if the conflict is with the store, what
  /// was last read.
  public final let cachedSnapshot: [String: Any]?
  /// The values in the store; nil if the row was deleted, or if the conflict is with another context's save.
  public final let persistedSnapshot: [String: Any]?
  /// The version of the row in the cache or the store; 0 when it was deleted.
  public final let newVersionNumber: Int
  /// The version that the context had read.
  public final let oldVersionNumber: Int

  /// The row that the object conflicts with; nil if it was deleted or is not known.
  final let stored: RowRef?

  public init(
    source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
    cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
  ) {
    sourceObject = srcObject
    objectSnapshot = srcObject.currentSnapshot()
    cachedSnapshot = cachesnap
    persistedSnapshot = persnap
    newVersionNumber = newvers
    oldVersionNumber = oldvers
    stored = nil
    super.init()
  }

  /// `cached`: nil if only the id of the object was known.
  init(source: NSManagedObject, expectedVersion: Int32, cached: RowRef?, persisted: RowRef?, new: RowRef?) {
    sourceObject = source
    objectSnapshot = cached.map { _ in source.currentSnapshot() }
    cachedSnapshot = cached.map { source.snapshot(of: $0) }
    persistedSnapshot = persisted.map { source.snapshot(of: $0) }
    newVersionNumber = new.map { Int($0.version) } ?? 0
    oldVersionNumber = Int(expectedVersion)
    stored = new
    super.init()
  }

  open override var description: String {
    "NSMergeConflict for \(sourceObject.objectID) with oldVersion = \(oldVersionNumber) and newVersion = "
      + (newVersionNumber == 0 ? "<deleted>" : "\(newVersionNumber)")
  }
}

/// Objects that together violate a uniqueness constraint.
///
/// See Apple's page
/// [NSConstraintConflict](https://developer.apple.com/documentation/coredata/nsconstraintconflict).
nonisolated open class NSConstraintConflict: NSObject {
  /// The names of the constraint's properties.
  public final let constraint: [String]
  /// The values that several objects have.
  public final let constraintValues: [String: Any]
  /// The object of the row that already has the values; nil if only objects being saved conflict.
  public final let databaseObject: NSManagedObject?
  public final let databaseSnapshot: [AnyHashable: Any]?
  /// The objects being saved that have the values, in the order they were inserted or changed; several only
  /// if no row has them.
  public final let conflictingObjects: [NSManagedObject]
  public final let conflictingSnapshots: [Any]

  public init(
    constraint contraint: [String], database databaseObject: NSManagedObject?,
    databaseSnapshot: [AnyHashable: Any]?, conflicting conflictingObjects: [NSManagedObject],
    conflictingSnapshots: [Any]
  ) {
    constraint = contraint
    self.databaseObject = databaseObject
    self.databaseSnapshot = databaseSnapshot
    self.conflictingObjects = conflictingObjects
    self.conflictingSnapshots = conflictingSnapshots
    let snapshot: [AnyHashable: Any] =
      conflictingSnapshots.first as? [AnyHashable: Any] ?? databaseSnapshot ?? [:]
    var values: [String: Any] = [:]
    for name in contraint { values[name] = snapshot[name] }
    constraintValues = values
    super.init()
  }

  open override var description: String {
    let values: String = constraint.map { "\($0) = \(constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
    let objects: [NSManagedObject] = [databaseObject].compactMap { $0 } + conflictingObjects
    return "NSConstraintConflict for constraint (\(values)) among \(objects.map(\.objectID))"
  }
}

extension NSManagedObject {
  /// The stored values of a row by name.
  final func snapshot(of row: RowRef) -> [String: Any] {
    snapshot { slot, word, kind in
      guard kind == .toOne else {
        return
          ((try? row.slotValue(
            word: word, kind: kind, attribute: self.runtime.layout.slots[slot].attribute)) ?? .null)
          .attributeValue(kind: kind)
      }
      guard row.hasValue(word), let store = self.store else { return nil }
      let id: RowID = row.target(word)
      return NSManagedObjectID(runtime: store.runtime.entities[Int(id.entity)], key: id.key, store: store)
    }
  }

  /// The stored values the object has now, by name.
  final func currentSnapshot() -> [String: Any] {
    snapshot { slot, _, kind in
      kind == .toOne ? self.toOneTarget(slot)?.objectID : self.slotValue(slot).attributeValue(kind: kind)
    }
  }

  private final func snapshot(_ value: (Int, Int, ColumnKind) -> Any?) -> [String: Any] {
    var result: [String: Any] = [:]
    func read(_ number: Int) -> Any? {
      let slot: PropertySlot = runtime.layout.slots[number]
      if case .stored(let kind, let word) = slot.role { return value(number, word, kind) }
      var elements: [String: Any] = [:]
      for element in slot.elements { elements[runtime.layout.slots[element].property.name] = read(element) }
      return elements.isEmpty ? nil : elements
    }
    for (number, slot) in runtime.layout.slots.enumerated() where !slot.isElement {
      switch slot.role {
      case .stored, .composite: result[slot.name] = read(number) ?? NSNull()
      case .toMany, .transient, .fetched: continue
      }
    }
    return result
  }
}

/// Errors of saves that the error policy refuses.
enum MergeErrors {
  static func locking(_ conflicts: [NSMergeConflict]) -> CocoaError {
    let names: String = conflicts.prefix(3).map { "\($0.sourceObject.objectID)" }.joined(separator: ", ")
    return error(
      NSManagedObjectMergeError, conflicts, conflicts.map(\.sourceObject),
      ErrorMessage(
        "\(conflicts.count) object(s) were changed or deleted in the store after this context had read them (\(names)).",
        advice: "Refresh them and try again, or set the context's mergePolicy."))
  }

  static func uniqueness(_ conflicts: [NSConstraintConflict]) -> CocoaError {
    let first: String =
      conflicts.first.map { conflict in
        let entity: String = conflict.conflictingObjects.first?.runtime.layout.name ?? ""
        return
          "The uniqueness constraint (\(conflict.constraint.joined(separator: ", "))) of entity \(entity) would be "
          + "broken: \(conflict)."
      } ?? ""
    return error(
      NSManagedObjectConstraintMergeError, conflicts, conflicts.flatMap(\.conflictingObjects),
      ErrorMessage(
        first + (conflicts.count > 1 ? " And \(conflicts.count - 1) more." : ""),
        advice: "Change the values, delete one of the objects, or set the context's mergePolicy."))
  }

  private static func error(
    _ code: Int, _ conflicts: [Any], _ objects: [NSManagedObject], _ message: ErrorMessage
  ) -> CocoaError {
    var info: [String: Any] = [
      NSPersistentStoreSaveConflictsErrorKey: conflicts, NSAffectedObjectsErrorKey: objects,
    ]
    if let store = objects.lazy.compactMap(\.store).first { info[NSAffectedStoresErrorKey] = [store] }
    return message.cocoaError(code, info)
  }
}
