import CoreDataModel
import Foundation

/// What a store that a program implements changes in the saving context while it executes the save: it is not
/// part of what is saved, and stays as unsaved changes.
///
/// The saved values are kept before the store is called. Afterwards they are set again, so that they become
/// the objects' snapshots; then the later values are set, as changes.
struct ChangesDuringSave {
  private struct Content {
    let object: NSManagedObject
    var values: [SlotValue]
    var toManys: [Int: ToManyState.Content]

    init(_ object: NSManagedObject) {
      self.object = object
      values =
        object.state?.values ?? Array(repeating: .unset, count: object.runtime.slotCount)
      toManys = [:]
      for slot in object.runtime.relationshipSlots {
        toManys[slot] = object.state?.toMany(slot)?.content
      }
    }
  }

  private let epoch: UInt64
  private let changes: PendingChanges
  private let saved: [Content]
  private var late: [Content] = []
  private var others = PendingChanges(inserted: [], updated: [], deleted: [])

  /// nil if no store of the save calls the program.
  ///
  /// `epoch`: that of the unit of work before any store was called.
  init?(_ parts: [StoreChanges], _ changes: PendingChanges, since epoch: UInt64) {
    guard parts.contains(where: \.store.needsRequests) else { return nil }
    self.epoch = epoch
    self.changes = changes
    saved = (changes.inserted + changes.updated).map(Content.init)
  }

  /// Called after the stores have saved: sets the saved values again.
  mutating func revert(in context: NSManagedObjectContext) {
    if context.work.epoch == epoch { return }
    late = saved.map { Content($0.object) }
    for content in saved {
      guard content.object.state != nil else { continue }
      for slot in content.values.indices where Self.isKept(slot, content.object) {
        if let many = content.object.state?.toMany(slot) {
          if let before = content.toManys[slot] { many.content = before }
        } else {
          content.object.state?.values[slot] = content.values[slot]
        }
      }
    }
    let known: Set<ObjectIdentifier> = Set(changes.all.map { ObjectIdentifier($0) })
    let deleted: Set<ObjectIdentifier> = Set(changes.deleted.map { ObjectIdentifier($0) })
    let all: PendingChanges = context.pendingChanges()
    others = PendingChanges(
      inserted: all.inserted.filter { !known.contains(ObjectIdentifier($0)) },
      updated: all.updated.filter { !known.contains(ObjectIdentifier($0)) },
      deleted: all.deleted.filter { !deleted.contains(ObjectIdentifier($0)) })
  }

  /// Called when the saved values are the objects' snapshots, and nothing is left to save.
  func repeatChanges(in context: NSManagedObjectContext) {
    for (before, after) in zip(saved, late) where before.object.identityMap === context.identityMap {
      let object: NSManagedObject = before.object
      var isChanged = false
      for slot in after.values.indices where Self.isKept(slot, object) {
        if let content = after.toManys[slot] {
          guard Self.isChanged(content, before.toManys[slot]) else { continue }
          let many: ToManyState = object.toManyState(slot)
          let old: ToManyState.Content = before.toManys[slot] ?? ToManyState.Content.nothing
          guard many.repeatChanges(from: old, to: content) else { continue }
        } else {
          if Self.isEqual(before.values[slot], after.values[slot]) { continue }
          object.ensureState().values[slot] = after.values[slot]
        }
        object.ensureState().noteChange(slot)
        isChanged = true
      }
      if isChanged { context.noteChange(of: object) }
    }
    for object in others.inserted { context.noteInsertion(of: object) }
    for object in others.updated { context.noteChange(of: object) }
    for object in others.deleted {
      context.beginEvent(
        if: context.work.recordDeletion(of: object, isPropagated: object.flags.contains(.propagated)))
    }
  }

  private static func isChanged(_ late: ToManyState.Content, _ saved: ToManyState.Content?) -> Bool {
    late.differs(from: saved ?? .nothing)
  }

  private static func isEqual(_ one: SlotValue, _ other: SlotValue) -> Bool {
    if let target = one.target { return target === other.target }
    return SlotValue.equal(one, other)
  }

  /// Values that a save takes: a transient one is no row's.
  private static func isKept(_ slot: Int, _ object: NSManagedObject) -> Bool {
    switch object.runtime.compactSlots[slot].role {
    case .attribute, .toOne, .toMany: true
    case .composite, .transient, .other: false
    }
  }
}

extension ToManyState.Content {
  /// Members that are not loaded and not changed.
  static var nothing: ToManyState.Content { ToManyState(members: nil, isOrdered: false).content }
}
