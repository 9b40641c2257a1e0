// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

extension NSNotification.Name {
  /// A group is about to be opened or closed, or what can be redone is asked for: time to register
  /// what is pending.
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

/// Where in the order of a run loop's turn Apple's undo manager closes the group of an event: behind what has
/// a lower number. Run loops off Apple's platforms have no such order; there the group is closed when the
/// main queue next comes to run something.
public let NSUndoCloseGroupingRunLoopOrdering: Int = 350_000

/// In the `userInfo` of `NSUndoManagerWillCloseUndoGroup`: whether the group is discardable,
/// as an `NSNumber`.
public let NSUndoManagerGroupIsDiscardableKey: String = "NSUndoManagerGroupIsDiscardableKey"
