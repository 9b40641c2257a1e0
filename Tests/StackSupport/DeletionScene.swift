import CoreData
import Foundation
import Testing

/// A context with a category and its items, and a second one that deletes some of them.
public final class DeletionScene {
  public enum Way: CaseIterable, Sendable {
    case byHand, byItself, remote
  }

  public let stack: Stack
  public let context: NSManagedObjectContext
  public let category: Category
  public let items: [Item]

  public init(_ kind: StoreKind, _ titles: [String] = ["a", "b"]) throws {
    stack = try Stack(kind)
    context = stack.context
    (category, items) = try stack.run { context in
      let category: Category = context.category("c")
      let items: [Item] = titles.map { context.item($0, category) }
      try context.save()
      return (category, items)
    }
  }

  /// Saves something in another context and gives the notification.
  public func elsewhere(_ body: (NSManagedObjectContext) throws -> Void) throws -> Notification {
    nonisolated(unsafe) var told: Notification?
    let other: NSManagedObjectContext = stack.other()
    let recorder = Recorder([.NSManagedObjectContextDidSave], of: other) { told = $0 }
    try other.performAndWait {
      try body(other)
      try other.save()
    }
    _ = recorder
    return try #require(told)
  }

  /// Deletes objects in another context, whose save is then merged.
  public func deleteElsewhere(_ objects: [NSManagedObject], _ way: Way = .byHand) throws {
    context.automaticallyMergesChangesFromParent = way == .byItself
    let ids: [NSManagedObjectID] = context.performAndWait { objects.map(\.objectID) }
    let notification: Notification = try elsewhere { other in
      for id in ids { other.delete(try other.existingObject(with: id)) }
    }
    // What merges by itself was enqueued before this.
    context.performAndWait {
      switch way {
      case .byHand: context.mergeChanges(fromContextDidSave: notification)
      case .byItself: break
      case .remote:
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
      }
    }
  }

  /// Deletes an object elsewhere, merges that, and has its row written again by a context that
  /// had changed it.
  public func deleteAndBringBack(_ object: NSManagedObject, _ title: String, between: () throws -> Void = {})
    throws
  {
    let third: NSManagedObjectContext = stack.other()
    third.mergePolicy = NSMergePolicy.overwrite
    let id: NSManagedObjectID = context.performAndWait { object.objectID }
    try third.performAndWait { try third.existingObject(with: id).setValue(title, forKey: "title") }
    try deleteElsewhere([object])
    try between()
    try third.performAndWait { try third.save() }
    // It is among its category's members again, which has had another version since.
    context.performAndWait { context.refresh(category, mergeChanges: true) }
  }
}
