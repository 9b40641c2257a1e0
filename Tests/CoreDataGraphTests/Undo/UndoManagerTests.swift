import CoreData
import Foundation
import StackSupport
import Testing

/// The undo manager by itself.
@Suite
struct UndoManagerTests {
  /// A number whose changes can be taken back.
  private final class Counter {
    var value: Int = 0
    func set(_ new: Int, _ manager: UndoManager) {
      let old: Int = value
      manager.registerUndo(withTarget: self) { $0.set(old, manager) }
      value = new
    }
  }

  private let manager = UndoManager()
  private let counter = Counter()

  private func step(_ value: Int, name: String = "") {
    manager.beginUndoGrouping()
    counter.set(value, manager)
    manager.setActionName(name)
    manager.endUndoGrouping()
  }

  @Test func `groups are undone and redone in turn, under their names`() {
    step(1, name: "One")
    step(2, name: "Two")
    #expect(manager.undoCount == 2 && manager.canUndo && !manager.canRedo)
    #expect(manager.undoActionName == "Two" && manager.undoMenuItemTitle == "Undo Two")
    manager.undo()
    #expect(counter.value == 1 && manager.undoActionName == "One")
    #expect(manager.redoActionName == "Two" && manager.redoMenuItemTitle == "Redo Two")
    manager.undo()
    #expect(counter.value == 0 && !manager.canUndo && manager.redoCount == 2)
    manager.undo()
    #expect(counter.value == 0, "nothing to undo is nothing to do")
    manager.redo()
    manager.redo()
    #expect(counter.value == 2 && manager.undoCount == 2 && !manager.canRedo)
    #expect(manager.undoActionName == "Two" && manager.undoMenuTitle(forUndoActionName: "") == "Undo")
  }

  @Test func `a new action empties the redo stack`() {
    step(1)
    manager.undo()
    #expect(manager.canRedo)
    step(5)
    #expect(!manager.canRedo && manager.redoCount == 0)
  }

  @Test func `a group opens by itself at the first registration and is closed by undo`() {
    counter.set(1, manager)
    counter.set(2, manager)
    #expect(manager.groupingLevel == 1 && manager.canUndo && manager.undoCount == 0)
    manager.undo()
    #expect(counter.value == 0 && manager.groupingLevel == 0)
    manager.redo()
    #expect(counter.value == 2)
  }

  @Test func `the end of an event closes the group that opened by itself, and no other`() {
    counter.set(1, manager)
    manager.closeEventGroup()
    #expect(manager.groupingLevel == 0 && manager.undoCount == 1)
    manager.beginUndoGrouping()
    counter.set(2, manager)
    manager.closeEventGroup()
    #expect(manager.groupingLevel == 1)
    manager.endUndoGrouping()
  }

  @Test func `nested groups are one step, and can be undone one by one while the outer one is open`() {
    manager.beginUndoGrouping()
    step(1)
    step(2)
    #expect(manager.groupingLevel == 1)
    manager.undoNestedGroup()
    #expect(counter.value == 1)
    manager.endUndoGrouping()
    manager.undo()
    #expect(counter.value == 0)
  }

  @Test func `an empty group leaves no trace`() {
    manager.beginUndoGrouping()
    manager.beginUndoGrouping()
    manager.endUndoGrouping()
    manager.endUndoGrouping()
    #expect(!manager.canUndo && manager.undoCount == 0)
  }

  @Test func `the oldest groups beyond the levels are forgotten`() {
    manager.levelsOfUndo = 3
    for value in 1...5 { step(value) }
    #expect(manager.undoCount == 3)
    for _ in 1...5 { manager.undo() }
    #expect(counter.value == 2)
    manager.levelsOfUndo = 1
    #expect(manager.redoCount == 1)
  }

  @Test func `nothing is recorded while registration is disabled, as often as it was`() {
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    step(1)
    manager.enableUndoRegistration()
    #expect(!manager.isUndoRegistrationEnabled)
    step(2)
    #expect(!manager.canUndo)
    manager.enableUndoRegistration()
    step(3)
    manager.undo()
    #expect(counter.value == 2)
  }

  @Test func `a target is not kept alive, and its actions then do nothing`() {
    var other: Counter? = Counter()
    weak let weakOther: Counter? = other
    manager.beginUndoGrouping()
    other?.set(1, manager)
    manager.endUndoGrouping()
    other = nil
    #expect(weakOther == nil)
    manager.undo()
    #expect(!manager.canRedo)
  }

  @Test func `the actions of one target can be forgotten`() {
    let other = Counter()
    step(1)
    manager.beginUndoGrouping()
    other.set(1, manager)
    counter.set(2, manager)
    manager.endUndoGrouping()
    manager.removeAllActions(withTarget: counter)
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(other.value == 0 && counter.value == 2)
    manager.removeAllActions()
    #expect(!manager.canUndo && !manager.canRedo)
  }

  @Test func `what is known of an action goes with it`() {
    let key = UndoManager.UserInfoKey("place")
    manager.beginUndoGrouping()
    counter.set(1, manager)
    manager.setActionIsDiscardable(true)
    manager.setActionUserInfoValue("here", forKey: key)
    manager.endUndoGrouping()
    #expect(
      manager.undoActionIsDiscardable && manager.undoActionUserInfoValue(forKey: key) as? String == "here")
    manager.undo()
    #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
    #expect(manager.redoActionUserInfoValue(forKey: key) as? String == "here")
  }

  @Test func `notifications come in Apple's order`() {
    final class Names: @unchecked Sendable {
      // Sendable: observers run on the posting thread, which is the test's.
      var list: [String] = []
    }
    let names = Names()
    let all: [NSNotification.Name] = [
      .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
      .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
      .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
    ]
    let observers: [any NSObjectProtocol] = all.map { name in
      NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
        let text: String = $0.name.rawValue
        names.list.append(String(text.dropFirst("NSUndoManager".count).dropLast("Notification".count)))
      }
    }
    defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
    step(1)
    #expect(
      names.list == ["DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"],
      "no checkpoint before a top-level group")
    names.list = []
    manager.beginUndoGrouping()
    manager.beginUndoGrouping()
    #expect(names.list == ["DidOpenUndoGroup", "Checkpoint", "DidOpenUndoGroup"])
    manager.endUndoGrouping()
    manager.endUndoGrouping()
    names.list = []
    manager.undo()
    #expect(names.list.first == "Checkpoint")
    #expect(
      names.list.filter { $0.hasSuffix("Change") } == ["WillUndoChange", "DidUndoChange"])
    names.list = []
    manager.redo()
    #expect(names.list.filter { $0.hasSuffix("Change") } == ["WillRedoChange", "DidRedoChange"])
    #expect(names.list.last == "DidRedoChange")
  }

  @Test func `isUndoing and isRedoing tell actions what is going on`() {
    final class Watcher {
      var seen: [String] = []
      func act(_ manager: UndoManager) {
        seen.append(manager.isUndoing ? "undo" : manager.isRedoing ? "redo" : "do")
        manager.registerUndo(withTarget: self) { $0.act(manager) }
      }
    }
    let watcher = Watcher()
    watcher.act(manager)
    manager.undo()
    manager.redo()
    manager.undo()
    #expect(watcher.seen == ["do", "undo", "redo", "undo"])
    #expect(!manager.isUndoing && !manager.isRedoing)
  }

  @Test(arguments: ["end", "enable", "nested", "ungrouped"])
  func `misuse stops with what to do`(misuse: String) async {
    switch misuse {
    case "end":
      await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
    case "enable":
      await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
    case "nested":
      await #expect(processExitsWith: .failure) {
        let manager = UndoManager()
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        manager.undo()
      }
    default:
      await #expect(processExitsWith: .failure) {
        let manager = UndoManager()
        manager.groupsByEvent = false
        manager.registerUndo(withTarget: manager) { _ in }
      }
    }
  }
}
