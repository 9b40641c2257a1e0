// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// The built-in policies.
public enum NSMergePolicyType: UInt, Sendable {
  /// The save fails with the conflicts.
  case errorMergePolicyType = 0
  /// Property by property; where both sides changed one, the store's value stays.
  case mergeByPropertyStoreTrumpMergePolicyType = 1
  /// Property by property; where both sides changed one, the object's value is saved.
  case mergeByPropertyObjectTrumpMergePolicyType = 2
  /// All values of the object are saved.
  case overwriteMergePolicyType = 3
  /// The object's changes are discarded.
  case rollbackMergePolicyType = 4
}

/// How a save resolves conflicts: when rows have changed since the context read them, or when a uniqueness
/// constraint would be violated.
///
/// Set one as the context's `mergePolicy`. A custom policy subclasses this class, overrides
/// ``resolve(mergeConflicts:)`` or one of the two special methods, calls super and changes the objects
/// further (or throws, and the save fails with that error). The methods run on the context's queue, during
/// its save, which is then tried again.
///
/// | | changed here, changed there | changed here, deleted there | deleted here, changed there |
/// |---|---|---|---|
/// | error | fails | fails | fails |
/// | store trumps | merged, the store's value where both changed it | deleted | not deleted |
/// | object trumps | merged, the object's value where both changed it | inserted again | deleted |
/// | overwrite | the object's values | inserted again | deleted |
/// | rollback | the store's values | deleted | not deleted |
///
/// A deletion prevails or is overruled with everything that its delete rules do. One that prevails is
/// propagated to members that the context had not read, and fails with 1600 if Deny applies to some. One that
/// is overruled restores what its cascade reached and what nullify cleared, but not what the program itself
/// deleted or removed. An object that is inserted again has the values that were set and the members that
/// were added here; if the only change was the removal of members, it stays deleted. Members that were added
/// or removed here stay so with every policy, unless their own to-one contradicts it; no object keeps a
/// reference to a deleted row.
///
/// Uniqueness: one object stays, the others are deleted. With *store trumps* and *rollback* the stored one
/// stays (without a stored one, the first that was inserted; an object whose changed value conflicts gets its
/// stored value back); with *object trumps* and *overwrite* the object that was inserted or changed last. The
/// two policies that merge by property copy what the deleted ones have and the remaining one lacks:
/// relationships, and with *object trumps* attributes that were not set.
///
/// See Apple's page [NSMergePolicy](https://developer.apple.com/documentation/coredata/nsmergepolicy).
nonisolated open class NSMergePolicy: NSObject, @unchecked Sendable {
  // Sendable: immutable; a subclass is responsible for its own state.

  open var mergeType: NSMergePolicyType { storedType }
  private let storedType: NSMergePolicyType

  public init(merge ty: NSMergePolicyType) {
    storedType = ty
    super.init()
  }

  public static let error = NSMergePolicy(merge: .errorMergePolicyType)
  public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
  public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
  public static let mergeByPropertyObjectTrump = NSMergePolicy(
    merge: .mergeByPropertyObjectTrumpMergePolicyType)
  public static let mergeByPropertyStoreTrump = NSMergePolicy(
    merge: .mergeByPropertyStoreTrumpMergePolicyType)

  /// Resolves conflicts of both kinds, ``NSMergeConflict`` and ``NSConstraintConflict``, those of
  /// the first kind first.
  ///
  /// - Throws: 133020 or 133021 with the conflicts under ``NSPersistentStoreSaveConflictsErrorKey`` for the
  ///   error policy.
  open func resolve(mergeConflicts list: [Any]) throws {
    let locking: [NSMergeConflict] = list.compactMap { $0 as? NSMergeConflict }
    if !locking.isEmpty { try resolve(optimisticLockingConflicts: locking) }
    let constraints: [NSConstraintConflict] = list.compactMap { $0 as? NSConstraintConflict }
    if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
  }

  /// Resolves conflicts with rows that were changed or deleted meanwhile.
  open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    if mergeType == .errorMergePolicyType { throw MergeErrors.locking(list) }
    for conflict in list { try ConflictResolution(mergeType).resolve(conflict) }
  }

  /// Resolves conflicts of uniqueness constraints.
  open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
    if mergeType == .errorMergePolicyType { throw MergeErrors.uniqueness(list) }
    for conflict in list { try ConflictResolution(mergeType).resolve(conflict) }
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSMergePolicy, type(of: other) == type(of: self) else { return false }
    return self === other || type(of: self) == NSMergePolicy.self && other.mergeType == mergeType
  }

  open override var hash: Int { mergeType.hashValue }
  open override var description: String { "<\(type(of: self)): \(mergeType)>" }
}

/// The default: a save with conflicts fails.
public let NSErrorMergePolicy: NSMergePolicy = .error
public let NSMergeByPropertyStoreTrumpMergePolicy: NSMergePolicy = .mergeByPropertyStoreTrump
public let NSMergeByPropertyObjectTrumpMergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump
public let NSOverwriteMergePolicy: NSMergePolicy = .overwrite
public let NSRollbackMergePolicy: NSMergePolicy = .rollback
