import Foundation

/// One registered action.
struct UndoAction {
  /// Not retained: an action whose target was deallocated does nothing.
  weak var target: AnyObject?
  /// The target's identity, kept after it is deallocated.
  let targetID: ObjectIdentifier
  let body: () -> Void
}

/// What one step undoes: actions and closed groups inside, in the order in which they were registered.
final class UndoGroup {
  enum Member {
    case action(UndoAction)
    case group(UndoGroup)
  }

  /// The group that was open when this one was opened.
  private(set) var parent: UndoGroup?
  private(set) var members: [Member] = []
  var name: String = ""
  var isDiscardable: Bool = false
  var userInfo: [UndoManager.UserInfoKey: Any] = [:]

  init(parent: UndoGroup?) { self.parent = parent }

  var isEmpty: Bool { members.isEmpty }

  var level: Int { 1 + (parent?.level ?? 0) }

  /// The top-level group around this one.
  var top: UndoGroup { parent?.top ?? self }

  func append(_ action: UndoAction) { members.append(.action(action)) }

  /// Closes the group; unless it is empty it becomes the last member of the enclosing one.
  func close() -> UndoGroup? {
    let outer: UndoGroup? = parent
    parent = nil
    guard let outer else { return nil }
    if !isEmpty { outer.members.append(.group(self)) }
    // The innermost name applies until a later one replaces it, as for a group that was never nested.
    if !name.isEmpty { outer.name = name }
    return outer
  }

  /// Removes and returns the last closed group; nil if the last member is a plain action.
  func popGroup() -> UndoGroup? {
    guard case .group(let group)? = members.last else { return nil }
    members.removeLast()
    return group
  }

  /// Whether anything is registered here or in the enclosing groups.
  var hasAny: Bool { !isEmpty || (parent?.hasAny ?? false) }

  /// Removes the actions of a target from this group and the enclosing groups.
  func removeOutwards(target: ObjectIdentifier) {
    remove(target: target)
    parent?.removeOutwards(target: target)
  }

  func remove(target: ObjectIdentifier) {
    members = members.filter { member in
      switch member {
      case .action(let action): return action.targetID != target
      case .group(let group):
        group.remove(target: target)
        return !group.isEmpty
      }
    }
  }

  /// Runs the actions, the last one first.
  func run() {
    for member in members.reversed() {
      switch member {
      case .action(let action): if action.target != nil { action.body() }
      case .group(let group): group.run()
      }
    }
  }
}
