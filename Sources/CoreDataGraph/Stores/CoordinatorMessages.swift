import Foundation

extension NSPersistentStoreCoordinator {
  /// Posted on the main actor when stores were added or removed there.
  public struct StoresDidChangeMessage: NotificationCenter.MainActorMessage, MainActorNotificationMessage {
    /// Coordinators post it: observe one, or the class for all.
    public typealias Subject = NSPersistentStoreCoordinator
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

    /// The coordinator whose stores have changed.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator { changes.coordinator }
    /// The stores that were added; empty when none were.
    public var addedStores: [NSPersistentStore] { changes.added }
    /// The stores that were removed; they can't be read any more.
    public var removedStores: [NSPersistentStore] { changes.removed }
    /// The store before and after, when its UUID has changed.
    public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? {
      changes.exchanged
    }
    fileprivate let changes: ChangedStores

    /// The message of a notification; nil when no coordinator has posted it.
    @MainActor public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedStores(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    @MainActor public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }

  /// Posted when stores were added or removed, on any thread. Observers run later, in a task.
  public struct StoresDidChangeAsyncMessage: NotificationCenter.AsyncMessage, AsyncNotificationMessage {
    /// Coordinators post it: observe one, or the class for all.
    public typealias Subject = NSPersistentStoreCoordinator
    /// The notification that corresponds to the message.
    public static var name: Notification.Name { .NSPersistentStoreCoordinatorStoresDidChange }

    /// The coordinator whose stores have changed.
    public var persistentStoreCoordinator: NSPersistentStoreCoordinator { changes.coordinator }
    /// The stores that were added; empty when none were.
    public var addedStores: [NSPersistentStore] { changes.added }
    /// The stores that were removed; they can't be read any more.
    public var removedStores: [NSPersistentStore] { changes.removed }
    /// The store before and after, when its UUID has changed.
    public var uuidChangedStores: (oldValue: NSPersistentStore, newValue: NSPersistentStore)? {
      changes.exchanged
    }
    fileprivate let changes: ChangedStores

    /// The message of a notification; nil when no coordinator has posted it.
    public static func makeMessage(_ notification: Notification) -> Self? {
      ChangedStores(notification).map { Self(changes: $0) }
    }

    /// The notification that corresponds to the message.
    public static func makeNotification(_ message: Self) -> Notification {
      message.changes.notification(name)
    }
  }

  final func postChange(_ info: [AnyHashable: Any]) {
    let notification = Notification(name: StoresDidChangeMessage.name, object: self, userInfo: info)
    MessagePosting.post(notification, by: self, isMain: true, StoresDidChangeMessage.self)
    MessagePosting.post(later: notification, by: self, StoresDidChangeAsyncMessage.self)
  }
}

extension NotificationCenter.MessageIdentifier
where Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeMessage> {
  /// The message that a coordinator's stores have changed, on the main actor.
  public static var storesDidChange: Self { Self() }
}

extension NotificationCenter.MessageIdentifier
where
  Self == NotificationCenter.BaseMessageIdentifier<NSPersistentStoreCoordinator.StoresDidChangeAsyncMessage>
{
  /// The message that a coordinator's stores have changed, on any thread.
  public static var storesDidChangeAsync: Self { Self() }
}

/// The payload of notifications of a coordinator.
private struct ChangedStores: Sendable {
  let coordinator: NSPersistentStoreCoordinator
  let added: [NSPersistentStore]
  let removed: [NSPersistentStore]
  let exchanged: (oldValue: NSPersistentStore, newValue: NSPersistentStore)?

  init?(_ notification: Notification) {
    guard let coordinator = notification.object as? NSPersistentStoreCoordinator else { return nil }
    func stores(_ key: String) -> [NSPersistentStore] {
      notification.userInfo?[key] as? [NSPersistentStore] ?? []
    }
    self.coordinator = coordinator
    added = stores(NSAddedPersistentStoresKey)
    removed = stores(NSRemovedPersistentStoresKey)
    let pair: [NSPersistentStore] = stores(NSUUIDChangedPersistentStoresKey)
    exchanged = pair.count >= 2 ? (pair[0], pair[1]) : nil
  }

  func notification(_ name: Notification.Name) -> Notification {
    var info: [AnyHashable: Any] = [:]
    if !added.isEmpty { info[NSAddedPersistentStoresKey] = added }
    if !removed.isEmpty { info[NSRemovedPersistentStoresKey] = removed }
    if let exchanged { info[NSUUIDChangedPersistentStoresKey] = [exchanged.oldValue, exchanged.newValue] }
    return Notification(name: name, object: coordinator, userInfo: info)
  }
}
