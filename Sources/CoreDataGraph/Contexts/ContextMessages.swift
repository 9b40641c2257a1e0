import CoreDataModel
import Foundation

// The notifications of contexts as types of Foundation's NotificationCenter messages. Off Apple's platforms
// Foundation has the protocols and the observers but no bridge to `Notification`, so each is posted together
// with its notification (Decisions/0027).

/// What is needed to make a message for the main actor from a notification. Foundation's protocol requires it
/// on Apple's platforms only.
protocol MainActorNotificationMessage: NotificationCenter.MainActorMessage {
  static var name: Notification.Name { get }
  @MainActor static func makeMessage(_ notification: Notification) -> Self?
  @MainActor static func makeNotification(_ message: Self) -> Notification
}

/// The same for messages to any thread.
protocol AsyncNotificationMessage: NotificationCenter.AsyncMessage {
  static var name: Notification.Name { get }
  static func makeMessage(_ notification: Notification) -> Self?
  static func makeNotification(_ message: Self) -> Notification
}

extension NSManagedObjectContext {
  /// Posted when objects of a main-queue context were changed, at the end of the event.
  ///
  /// For main-queue contexts only: observers run on the main actor, before the call that posted it returns.
  /// Other contexts post the notification ``didChangeObjectsNotification``.
  public struct ObjectsDidChangeMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didChangeObjectsNotification }

    /// The context whose objects have changed.
    public let context: NSManagedObjectContext
    /// Objects that were inserted.
    public let inserted: Set<NSManagedObject>
    /// Objects that were changed.
    public let updated: Set<NSManagedObject>
    /// Objects that were deleted.
    public let deleted: Set<NSManagedObject>
    /// Objects whose values were read again.
    public let refreshed: Set<NSManagedObject>
    /// Objects that can't be used any more: their rows were deleted, or their store was removed.
    public let invalidated: Set<NSManagedObject>
    /// True when the context was reset, so that none of its objects can be used any more.
    public let invalidatedAll: Bool?

    /// The message of a notification; nil when no context has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      guard let context = notification.object as? NSManagedObjectContext else { return nil }
      return Self(
        context: context, inserted: notification.objects(NSInsertedObjectsKey),
        updated: notification.objects(NSUpdatedObjectsKey),
        deleted: notification.objects(NSDeletedObjectsKey),
        refreshed: notification.objects(NSRefreshedObjectsKey),
        invalidated: notification.objects(NSInvalidatedObjectsKey),
        invalidatedAll: notification.userInfo?[NSInvalidatedAllObjectsKey].map { _ in true })
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      var info: [AnyHashable: Any] = [
        NSInsertedObjectsKey: message.inserted, NSUpdatedObjectsKey: message.updated,
        NSDeletedObjectsKey: message.deleted, NSRefreshedObjectsKey: message.refreshed,
        NSInvalidatedObjectsKey: message.invalidated,
      ]
      if message.invalidatedAll == true { info[NSInvalidatedAllObjectsKey] = [Any]() }
      return Notification(name: name, object: message.context, userInfo: info)
    }
  }

  /// Posted before a main-queue context saves, on the main actor.
  public struct WillSaveMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { willSaveObjectsNotification }

    /// The context that is going to save.
    public let context: NSManagedObjectContext

    /// The message of a notification; nil when no context has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      (notification.object as? NSManagedObjectContext).map { Self(context: $0) }
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(name: name, object: message.context)
    }
  }

  /// Posted after a main-queue context has saved, on the main actor.
  public struct DidSaveMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didSaveObjectsNotification }

    /// The context that has saved.
    public let context: NSManagedObjectContext
    /// New objects that were saved.
    public let inserted: Set<NSManagedObject>
    /// Changed objects that were saved.
    public let updated: Set<NSManagedObject>
    /// Objects whose deletion was saved.
    public let deleted: Set<NSManagedObject>
    /// The state that a pinned context reads afterwards; nil where it is not pinned.
    public let queryGeneration: NSQueryGenerationToken?

    /// The message of a notification; nil when no context has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      guard let context = notification.object as? NSManagedObjectContext else { return nil }
      return Self(
        context: context, inserted: notification.objects(NSInsertedObjectsKey),
        updated: notification.objects(NSUpdatedObjectsKey),
        deleted: notification.objects(NSDeletedObjectsKey),
        queryGeneration: notification.generation)
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      Notification(
        name: name, object: message.context,
        userInfo: [
          NSInsertedObjectsKey: message.inserted, NSUpdatedObjectsKey: message.updated,
          NSDeletedObjectsKey: message.deleted,
        ].withGeneration(message.queryGeneration))
    }
  }

  /// Posted after a main-queue context has saved, with ids instead of objects; on the main actor.
  public struct DidSaveObjectIDsMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didSaveObjectIDsNotification }

    /// The context that has saved.
    public var context: NSManagedObjectContext { changes.context }
    /// The ids of objects that are new in the stores.
    public var insertedIDs: Set<NSManagedObjectID> { changes.inserted }
    /// The ids of objects that are changed in the stores.
    public var updatedIDs: Set<NSManagedObjectID> { changes.updated }
    /// The ids of objects that are no longer in the stores.
    public var deletedIDs: Set<NSManagedObjectID> { changes.deleted }
    /// The ids of objects whose values were read again.
    public var refreshedIDs: Set<NSManagedObjectID> { changes.refreshed }
    /// The ids of objects that can't be used any more: their rows were deleted, or their store was removed.
    public var invalidatedIDs: Set<NSManagedObjectID> { changes.invalidated }
    /// The state that a pinned context reads afterwards; nil where it is not pinned.
    public var queryGeneration: NSQueryGenerationToken? { changes.generation }
    fileprivate let changes: ChangedIDs

    /// The message of a notification; nil when no context has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedIDs(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }

  /// Posted after any context has saved, with the ids of what was saved. Observers run later, in a task.
  public struct DidSaveObjectIDsAsyncMessage: NotificationCenter.AsyncMessage, AsyncNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didSaveObjectIDsNotification }

    /// The context that has saved. Use it on its own queue only.
    public var context: NSManagedObjectContext { changes.context }
    /// The ids of objects that are new in the stores.
    public var insertedIDs: Set<NSManagedObjectID> { changes.inserted }
    /// The ids of objects that are changed in the stores.
    public var updatedIDs: Set<NSManagedObjectID> { changes.updated }
    /// The ids of objects that are no longer in the stores.
    public var deletedIDs: Set<NSManagedObjectID> { changes.deleted }
    /// The ids of objects whose values were read again.
    public var refreshedIDs: Set<NSManagedObjectID> { changes.refreshed }
    /// The ids of objects that can't be used any more: their rows were deleted, or their store was removed.
    public var invalidatedIDs: Set<NSManagedObjectID> { changes.invalidated }
    /// The state that a pinned context reads afterwards; nil where it is not pinned.
    public var queryGeneration: NSQueryGenerationToken? { changes.generation }
    fileprivate let changes: ChangedIDs

    /// The message of a notification; nil when no context has posted it.
    public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedIDs(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }

  /// Posted after a main-queue context has merged changes that others saved; on the main actor.
  public struct DidMergeChangesMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didMergeChangesObjectIDsNotification }

    /// The context that has merged the changes.
    public var context: NSManagedObjectContext { changes.context }
    /// The ids of objects that are new in the stores.
    public var insertedIDs: Set<NSManagedObjectID> { changes.inserted }
    /// The ids of objects that are changed in the stores.
    public var updatedIDs: Set<NSManagedObjectID> { changes.updated }
    /// The ids of objects that are no longer in the stores.
    public var deletedIDs: Set<NSManagedObjectID> { changes.deleted }
    /// The ids of objects whose values were read again.
    public var refreshedIDs: Set<NSManagedObjectID> { changes.refreshed }
    /// The ids of objects that can't be used any more: their rows were deleted, or their store was removed.
    public var invalidatedIDs: Set<NSManagedObjectID> { changes.invalidated }
    /// The state that a pinned context reads afterwards; nil where it is not pinned.
    public var queryGeneration: NSQueryGenerationToken? { changes.generation }
    fileprivate let changes: ChangedIDs

    /// The message of a notification; nil when no context has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedIDs(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }

  /// Posted after any context has merged changes that others saved. Observers run later, in a task.
  public struct DidMergeChangesAsyncMessage: NotificationCenter.AsyncMessage, AsyncNotificationMessage {
    /// Contexts post it: observe one, or the class for all.
    public typealias Subject = NSManagedObjectContext
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { didMergeChangesObjectIDsNotification }

    /// The context that has merged the changes. Use it on its own queue only.
    public var context: NSManagedObjectContext { changes.context }
    /// The ids of objects that are new in the stores.
    public var insertedIDs: Set<NSManagedObjectID> { changes.inserted }
    /// The ids of objects that are changed in the stores.
    public var updatedIDs: Set<NSManagedObjectID> { changes.updated }
    /// The ids of objects that are no longer in the stores.
    public var deletedIDs: Set<NSManagedObjectID> { changes.deleted }
    /// The ids of objects whose values were read again.
    public var refreshedIDs: Set<NSManagedObjectID> { changes.refreshed }
    /// The ids of objects that can't be used any more: their rows were deleted, or their store was removed.
    public var invalidatedIDs: Set<NSManagedObjectID> { changes.invalidated }
    /// The state that a pinned context reads afterwards; nil where it is not pinned.
    public var queryGeneration: NSQueryGenerationToken? { changes.generation }
    fileprivate let changes: ChangedIDs

    /// The message of a notification; nil when no context has posted it.
    public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedIDs(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.ObjectsDidChangeMessage> {
  /// The message about changed objects of a main-queue context.
  public static var objectsDidChange: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.WillSaveMessage> {
  /// The message that a main-queue context is going to save.
  public static var willSave: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveMessage> {
  /// The message that a main-queue context has saved.
  public static var didSave: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsMessage> {
  /// The message that a main-queue context has saved, with ids.
  public static var didSaveObjectIDs: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidSaveObjectIDsAsyncMessage> {
  /// The message that any context has saved, with ids.
  public static var didSaveObjectIDsAsync: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesMessage> {
  /// The message that a main-queue context has merged changes.
  public static var didMergeChanges: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSManagedObjectContext.DidMergeChangesAsyncMessage> {
  /// The message that any context has merged changes.
  public static var didMergeChangesAsync: Self { Self() }
}

/// The payload of notifications that carry ids.
private struct ChangedIDs: Sendable {
  let context: NSManagedObjectContext
  let inserted: Set<NSManagedObjectID>
  let updated: Set<NSManagedObjectID>
  let deleted: Set<NSManagedObjectID>
  let refreshed: Set<NSManagedObjectID>
  let invalidated: Set<NSManagedObjectID>
  let generation: NSQueryGenerationToken?

  init?(_ notification: Notification) {
    guard let context = notification.object as? NSManagedObjectContext else { return nil }
    func ids(_ key: String) -> Set<NSManagedObjectID> {
      notification.userInfo?[key] as? Set<NSManagedObjectID> ?? []
    }
    self.context = context
    inserted = ids(NSInsertedObjectIDsKey)
    updated = ids(NSUpdatedObjectIDsKey)
    deleted = ids(NSDeletedObjectIDsKey)
    refreshed = ids(NSRefreshedObjectIDsKey)
    invalidated = ids(NSInvalidatedObjectIDsKey)
    generation = notification.generation
  }

  func notification(_ name: Notification.Name) -> Notification {
    Notification(
      name: name, object: context,
      userInfo: [
        NSInsertedObjectIDsKey: inserted, NSUpdatedObjectIDsKey: updated, NSDeletedObjectIDsKey: deleted,
        NSRefreshedObjectIDsKey: refreshed, NSInvalidatedObjectIDsKey: invalidated,
      ].withGeneration(generation))
  }
}

extension Notification {
  fileprivate func objects(_ key: String) -> Set<NSManagedObject> {
    userInfo?[key] as? Set<NSManagedObject> ?? []
  }

  fileprivate var generation: NSQueryGenerationToken? {
    userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken
  }
}

extension [AnyHashable: Any] {
  /// Adds the query generation of a pinned context to the payload.
  fileprivate func withGeneration(_ token: NSQueryGenerationToken?) -> Self {
    guard let token else { return self }
    return merging([NSManagedObjectContextQueryGenerationKey: token]) { _, new in new }
  }
}

// MARK: Posting

/// Posts a notification, and the corresponding messages.
enum MessagePosting {
  /// `isMain`: whether the notification is about something that belongs to the main actor.
  static func post<Subject: AnyObject, Main: MainActorNotificationMessage>(
    _ notification: Notification, by subject: Subject, isMain: Bool, _ main: Main.Type
  ) where Main.Subject == Subject {
    NotificationCenter.default.post(notification)
    guard isMain, MainQueue.isCurrent else { return }
    nonisolated(unsafe) let (notification, subject): (Notification, Subject) = (notification, subject)
    MainActor.assumeIsolated {
      guard let message = Main.makeMessage(notification) else { return }
      NotificationCenter.default.post(message, subject: subject)
    }
  }

  static func post<Subject: AnyObject, Message: AsyncNotificationMessage>(
    later notification: Notification, by subject: Subject, _ type: Message.Type
  ) where Message.Subject == Subject {
    guard let message = Message.makeMessage(notification) else { return }
    _ = deliversWholly
    NotificationCenter.default.post(message, subject: subject)
  }

  /// Foundation's notification centre creates its queue of asynchronous messages when the first one gets an
  /// observer, without a lock: if two threads post their first ones at once, one message is lost (Swift 6.3).
  /// So one thread creates the queue here, before any message is posted.
  private static let deliversWholly: Bool = {
    let center: NotificationCenter = .default
    let token = center.addObserver(for: FirstMessage.self) { _ in }
    center.post(FirstMessage())
    center.removeObserver(token)
    return true
  }()

  private struct FirstMessage: NotificationCenter.AsyncMessage {
    typealias Subject = NSManagedObjectContext
  }
}

extension NSManagedObjectContext {
  private final var isOfMainQueue: Bool { concurrencyType == .mainQueueConcurrencyType }

  final func postChange(_ info: [AnyHashable: Any]) {
    let notification = Notification(name: ObjectsDidChangeMessage.name, object: self, userInfo: info)
    MessagePosting.post(notification, by: self, isMain: isOfMainQueue, ObjectsDidChangeMessage.self)
  }

  final func postWillSave() {
    let notification = Notification(name: WillSaveMessage.name, object: self)
    MessagePosting.post(notification, by: self, isMain: isOfMainQueue, WillSaveMessage.self)
  }

  final func postDidSave(_ info: [AnyHashable: Any]) {
    let notification = Notification(
      name: DidSaveMessage.name, object: self, userInfo: info.withGeneration(pinToken))
    MessagePosting.post(notification, by: self, isMain: isOfMainQueue, DidSaveMessage.self)
  }

  final func postDidSave(_ ids: SavedIDs) {
    let notification = Notification(
      name: DidSaveObjectIDsMessage.name, object: self, userInfo: ids.userInfo.withGeneration(pinToken))
    MessagePosting.post(notification, by: self, isMain: isOfMainQueue, DidSaveObjectIDsMessage.self)
    MessagePosting.post(later: notification, by: self, DidSaveObjectIDsAsyncMessage.self)
  }

  final func postDidMerge(_ info: [AnyHashable: Any]) {
    let notification = Notification(
      name: DidMergeChangesMessage.name, object: self, userInfo: info.withGeneration(pinToken))
    MessagePosting.post(notification, by: self, isMain: isOfMainQueue, DidMergeChangesMessage.self)
    MessagePosting.post(later: notification, by: self, DidMergeChangesAsyncMessage.self)
  }
}
