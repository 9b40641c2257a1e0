// swift-format-ignore-file: AlwaysUseLowerCamelCase
// These are Apple's names, to the letter.

import Foundation

// Names and keys of what contexts and coordinators post, Apple's spelling. The object is the context (or
// coordinator).

extension NSNotification.Name {
  /// After changes in memory, at the end of an event.
  public static let NSManagedObjectContextObjectsDidChange = NSNotification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// Before a save; no payload.
  public static let NSManagedObjectContextWillSave = NSNotification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// After a save; the payload holds sets of managed objects, for the context's queue only.
  public static let NSManagedObjectContextDidSave = NSNotification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// After a save; the payload holds sets of object ids, for any queue.
  public static let NSManagedObjectContextDidSaveObjectIDs = NSNotification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// After another context's changes were merged; ids.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = NSNotification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  /// After stores were added to or removed from a coordinator.
  public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
    "_NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Before stores are added to or removed from a coordinator.
  public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Before a store is removed.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

public let NSInsertedObjectsKey: String = "inserted"
public let NSUpdatedObjectsKey: String = "updated"
public let NSDeletedObjectsKey: String = "deleted"
public let NSRefreshedObjectsKey: String = "refreshed"
public let NSInvalidatedObjectsKey: String = "invalidated"
/// For a context that was reset: an array of the ids of the objects that it had.
public let NSInvalidatedAllObjectsKey: String = "invalidatedAll"
public let NSInsertedObjectIDsKey: String = "inserted_objectIDs"
public let NSUpdatedObjectIDsKey: String = "updated_objectIDs"
public let NSDeletedObjectIDsKey: String = "deleted_objectIDs"
public let NSRefreshedObjectIDsKey: String = "refreshed_objectIDs"
public let NSInvalidatedObjectIDsKey: String = "invalidated_objectIDs"
/// For contexts that are pinned: the state that they read after the save or the merge, an
/// ``NSQueryGenerationToken``.
public let NSManagedObjectContextQueryGenerationKey: String = "newQueryGeneration"
/// Stores in the notifications of a coordinator.
public let NSAddedPersistentStoresKey: String = "added"
public let NSRemovedPersistentStoresKey: String = "removed"
public let NSUUIDChangedPersistentStoresKey: String = "changed"

extension NSManagedObjectContext {
  public static let willSaveObjectsNotification: Notification.Name = .NSManagedObjectContextWillSave
  public static let didSaveObjectsNotification: Notification.Name = .NSManagedObjectContextDidSave
  public static let didChangeObjectsNotification: Notification.Name = .NSManagedObjectContextObjectsDidChange
  public static let didSaveObjectIDsNotification: Notification.Name = .NSManagedObjectContextDidSaveObjectIDs
  public static let didMergeChangesObjectIDsNotification: Notification.Name =
    .NSManagedObjectContextDidMergeChangesObjectIDs

  /// The keys of the notifications' `userInfo`.
  public enum NotificationKey: String, Sendable {
    case insertedObjects = "inserted"
    case updatedObjects = "updated"
    case deletedObjects = "deleted"
    case refreshedObjects = "refreshed"
    case invalidatedObjects = "invalidated"
    case insertedObjectIDs = "inserted_objectIDs"
    case updatedObjectIDs = "updated_objectIDs"
    case deletedObjectIDs = "deleted_objectIDs"
    case refreshedObjectIDs = "refreshed_objectIDs"
    case invalidatedObjectIDs = "invalidated_objectIDs"
    case invalidatedAllObjects = "invalidatedAll"
    /// For contexts that are pinned: the state that they read after the save or the merge, an
    /// ``NSQueryGenerationToken``.
    case queryGeneration = "newQueryGeneration"
  }
}
