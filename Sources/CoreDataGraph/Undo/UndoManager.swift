import Foundation

/// Records how to undo changes, in groups, and how to redo them.
///
/// Foundation on Linux has no `UndoManager`; this one has its complete interface, apart from what needs the
/// Objective-C runtime (`prepare(withInvocationTarget:)` and the selector form of `registerUndo`; pass a
/// closure).
///
/// With ``groupsByEvent`` (default) a group opens automatically at the first registration. It closes at the
/// end of the run loop's pass if a run loop runs, and otherwise with ``undo()``, or when the context whose
/// `undoManager` it is ends an event (`processPendingChanges()`, the end of a `perform` block, a save).
///
/// Use it on one queue only, that of its context. Misuse for which Apple's class raises an exception stops
/// the program with advice.
///
/// See Apple's page [UndoManager](https://developer.apple.com/documentation/foundation/undomanager).
nonisolated open class UndoManager: NSObject {
  private enum Phase { case recording, undoing, redoing }

  private var phase: Phase = .recording
  private var undoStack: [UndoGroup] = []
  private var redoStack: [UndoGroup] = []
  /// The innermost open group.
  private var open: UndoGroup?
  /// Whether the open top-level group was opened by the first registration of an event.
  private var isAutomatic: Bool = false
  private var disabledCount: Int = 0
  private var isClosingScheduled: Bool = false

  public override init() { super.init() }

  // MARK: Registering

  /// Records an action that undoes a change. While undoing, the action is added to the redo stack; otherwise
  /// the redo stack is emptied.
  ///
  /// The target is not retained, and an action whose target was deallocated does nothing; so `handler` should
  /// use the target that it receives and not capture it. Does nothing while registration is disabled.
  ///
  /// Stops the program if no group is open and ``groupsByEvent`` is false.
  public final func registerUndo<Target: AnyObject>(
    withTarget target: Target, handler: @escaping (Target) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    weak let weakTarget: Target? = target
    register(
      UndoAction(
        target: target, targetID: ObjectIdentifier(target),
        body: { if let target = weakTarget { handler(target) } }))
  }

  private func register(_ action: UndoAction) {
    if open == nil {
      guard groupsByEvent else {
        fatalError(
          """
          UndoManager: must begin a group before registering undo. Call beginUndoGrouping(), or leave groupsByEvent \
          true.
          """)
      }
      beginUndoGrouping()
      isAutomatic = true
      scheduleClosing()
    }
    open?.append(action)
    if phase == .recording { redoStack.removeAll() }
  }

  /// Whether ``registerUndo(withTarget:handler:)`` records anything.
  open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

  /// Stops recording until ``enableUndoRegistration()`` was called as often.
  open func disableUndoRegistration() { disabledCount += 1 }

  /// Reverts one ``disableUndoRegistration()``. Stops the program if there is none.
  open func enableUndoRegistration() {
    guard disabledCount > 0 else {
      fatalError("UndoManager: enableUndoRegistration() without a disableUndoRegistration() before it.")
    }
    disabledCount -= 1
  }

  // MARK: Grouping

  /// The number of open groups.
  open var groupingLevel: Int { open?.level ?? 0 }

  /// Whether a group opens automatically at the first registration of an event.
  open var groupsByEvent: Bool = true

  /// The modes of the run loop in which the group of an event is closed.
  open var runLoopModes: [RunLoop.Mode] = [.default]

  /// The greatest number of groups to keep for undoing; 0: any number. Setting it discards the oldest groups
  /// beyond it.
  open var levelsOfUndo: Int = 0 {
    didSet { trim() }
  }

  /// Opens a group; what is registered until ``endUndoGrouping()`` is undone together. Groups nest.
  ///
  /// Posts `NSUndoManagerCheckpoint` unless this is a top-level group: a context's pending changes belong to
  /// the group around a nested one, and to a top-level group that is opened before they are registered.
  open func beginUndoGrouping() {
    if open != nil { post(.NSUndoManagerCheckpoint) }
    open = UndoGroup(parent: open)
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  /// Closes the innermost group. A top-level group is added to the undo stack (while undoing: to the redo
  /// stack); one in which nothing was registered is discarded. Stops the program if no group is open.
  open func endUndoGrouping() {
    guard open != nil else {
      fatalError("UndoManager: endUndoGrouping() without a beginUndoGrouping() before it.")
    }
    post(.NSUndoManagerCheckpoint)
    // Observers of the checkpoint may have registered actions, which belong to the group.
    guard let group = open else { return }
    post(
      .NSUndoManagerWillCloseUndoGroup,
      group.isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: NSNumber(value: true)] : nil)
    let isTop: Bool = group.parent == nil
    open = group.close()
    if isTop {
      isAutomatic = false
      if !group.isEmpty { push(group) }
    }
    post(.NSUndoManagerDidCloseUndoGroup)
  }

  private func push(_ group: UndoGroup) {
    if phase == .undoing {
      redoStack.append(group)
    } else {
      undoStack.append(group)
      trim()
    }
  }

  private func trim() {
    guard levelsOfUndo > 0 else { return }
    undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
  }

  /// Closes the group that the first registration of an event opened, if it is the only open one. Called at
  /// the end of an event.
  public final func closeEventGroup() {
    if isAutomatic, open?.parent == nil { endUndoGrouping() }
  }

  /// If a run loop runs (the main thread of a program with a user interface) it ends the event; a program
  /// without one ends it otherwise, and then no scheduled block must remain that would close a later group.
  private func scheduleClosing() {
    guard phase == .recording, Thread.isMainThread, !isClosingScheduled, RunLoop.main.currentMode != nil
    else {
      return
    }
    isClosingScheduled = true
    // Everything runs on the main thread; only the declaration of the run loop's block requires it to be
    // sendable.
    nonisolated(unsafe) weak let manager: UndoManager? = self
    RunLoop.main.perform(inModes: runLoopModes) {
      manager?.isClosingScheduled = false
      manager?.closeEventGroup()
    }
  }

  // MARK: Undoing

  /// Whether there is anything to undo, in closed groups or an open one.
  open var canUndo: Bool { !undoStack.isEmpty || (phase == .recording && open?.hasAny ?? false) }

  /// Whether there is anything to redo. Posts `NSUndoManagerCheckpoint` first, because pending changes would
  /// empty the stack.
  open var canRedo: Bool {
    post(.NSUndoManagerCheckpoint)
    return !redoStack.isEmpty
  }

  /// How many groups can be undone.
  open var undoCount: Int { undoStack.count }
  /// How many groups can be redone.
  open var redoCount: Int { redoStack.count }

  /// Whether an undo is running.
  open var isUndoing: Bool { phase == .undoing }
  /// Whether a redo is running.
  open var isRedoing: Bool { phase == .redoing }

  /// Closes the open group if there is just one, and undoes the last group. Does nothing if there is nothing
  /// to undo. Stops the program inside a nested group, and while an undo or redo runs.
  open func undo() {
    post(.NSUndoManagerCheckpoint)
    if groupingLevel == 1 { endUndoGrouping() }
    guard groupingLevel == 0 else {
      fatalError(
        """
        UndoManager: undo() with \(groupingLevel) nested undo groups open. Close them with endUndoGrouping(), or undo the \
        innermost closed one with undoNestedGroup().
        """)
    }
    undoNestedGroup()
  }

  /// Undoes the last closed group, nested in an open one or not. The actions registered meanwhile can be
  /// redone as one group.
  open func undoNestedGroup() {
    requireIdle("undoNestedGroup()")
    guard let group = open.map({ $0.popGroup() }) ?? undoStack.popLast() else { return }
    run(
      group, .undoing,
      will: .NSUndoManagerWillUndoChange, did: .NSUndoManagerDidUndoChange)
  }

  /// Makes the changes of the last undone group again. Does nothing if there are none. Stops the program
  /// while an undo or redo runs.
  open func redo() {
    post(.NSUndoManagerCheckpoint)
    requireIdle("redo()")
    guard let group = redoStack.popLast() else { return }
    run(
      group, .redoing,
      will: .NSUndoManagerWillRedoChange, did: .NSUndoManagerDidRedoChange)
  }

  private func requireIdle(_ call: String) {
    guard phase != .recording else { return }
    fatalError(
      "UndoManager: \(call) while an undo or redo is running. Register an action instead of calling it.")
  }

  /// Runs a group; the actions registered meanwhile become the group that reverts this step, under the same
  /// name.
  private func run(_ group: UndoGroup, _ phase: Phase, will: NSNotification.Name, did: NSNotification.Name) {
    post(will)
    let outer: UndoGroup? = open
    let wasAutomatic: Bool = isAutomatic
    open = nil
    isAutomatic = false
    self.phase = phase
    beginUndoGrouping()
    open?.name = group.name
    open?.isDiscardable = group.isDiscardable
    open?.userInfo = group.userInfo
    group.run()
    while open != nil { endUndoGrouping() }
    self.phase = .recording
    open = outer
    isAutomatic = wasAutomatic
    post(did)
  }

  /// Removes all actions, open groups included, and enables registration.
  open func removeAllActions() {
    undoStack.removeAll()
    redoStack.removeAll()
    if phase == .recording {
      open = nil
      isAutomatic = false
    }
    disabledCount = 0
  }

  /// Removes the actions of one target.
  open func removeAllActions(withTarget target: Any) {
    let id = ObjectIdentifier(target as AnyObject)
    for group in undoStack + redoStack { group.remove(target: id) }
    open?.removeOutwards(target: id)
    undoStack.removeAll(where: \.isEmpty)
    redoStack.removeAll(where: \.isEmpty)
  }

  // MARK: Names

  /// Names the open group, or the last closed one if none is open. The empty string removes the name.
  open func setActionName(_ actionName: String) { describedGroup()?.name = actionName }

  /// The name of the group that ``undo()`` would undo; empty if it has none.
  open var undoActionName: String { undoGroup?.name ?? "" }
  /// The name of the group that ``redo()`` would redo; empty if it has none.
  open var redoActionName: String { redoStack.last?.name ?? "" }

  /// `Undo`, with the action's name.
  open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
  /// `Redo`, with the action's name.
  open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The text of a menu item. Override it for other languages.
  open func undoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Undo" : "Undo \(actionName)"
  }

  /// The text of a menu item. Override it for other languages.
  open func redoMenuTitle(forUndoActionName actionName: String) -> String {
    actionName.isEmpty ? "Redo" : "Redo \(actionName)"
  }

  /// The group that a name or a property is for. If none is open `NSUndoManagerCheckpoint` is posted first,
  /// so that pending changes of contexts form their group.
  private func describedGroup() -> UndoGroup? {
    if open == nil { post(.NSUndoManagerCheckpoint) }
    return open ?? undoStack.last
  }

  private var undoGroup: UndoGroup? { open?.top ?? undoStack.last }

  // MARK: Properties of groups

  /// Marks the open group (or the last closed one) as discardable when a document is saved automatically.
  open func setActionIsDiscardable(_ discardable: Bool) {
    describedGroup()?.isDiscardable = discardable
  }

  open var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }
  open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  /// Keeps a value with the open group, or the last closed one; nil removes it.
  open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) {
    describedGroup()?.userInfo[key] = info
  }

  open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoGroup?.userInfo[key] }
  open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }

  /// A name for a value kept with a group of actions.
  public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
  }

  private func post(_ name: NSNotification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }
}
