// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

extension NSNotification.Name {
  /// Posted before a group is opened or closed, and before `canRedo` is read: observers register pending
  /// changes.
  public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
  public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name(
    "NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted before a group is closed; `userInfo` holds ``NSUndoManagerGroupIsDiscardableKey`` for a
  /// discardable one.
  public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
    "NSUndoManagerWillCloseUndoGroupNotification")
  public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name(
    "NSUndoManagerDidCloseUndoGroupNotification")
  public static let NSUndoManagerWillUndoChange = NSNotification.Name(
    "NSUndoManagerWillUndoChangeNotification")
  public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
  public static let NSUndoManagerWillRedoChange = NSNotification.Name(
    "NSUndoManagerWillRedoChangeNotification")
  public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
}

/// The position in the order of a run loop's turn at which Apple's undo manager closes the group of an event:
/// after what has a lower number. Run loops off Apple's platforms have no such order; there the group is
/// closed when the main queue next runs something.
public let NSUndoCloseGroupingRunLoopOrdering: Int = 350_000

/// In the `userInfo` of `NSUndoManagerWillCloseUndoGroup`: whether the group is discardable,
/// as an `NSNumber`.
public let NSUndoManagerGroupIsDiscardableKey: String = "NSUndoManagerGroupIsDiscardableKey"
