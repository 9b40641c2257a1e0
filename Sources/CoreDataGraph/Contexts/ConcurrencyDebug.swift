import CoreDataStorage
import Foundation

// Detects when a context, or an object of it, is used off the context's queue. If this is on, every object
// carries the flag `confined`, which sends each access through the slow path, where it is checked. Otherwise
// no object has the flag, and the test of the fast path, which checks for faults anyway, is the only one
// (Decisions/0051).

/// The kind of access to a property.
enum ObjectAccess {
  /// A read by the program, and one by the framework as part of another operation.
  case read, inner
  case write

  var participle: String { self == .write ? "changed" : "read" }
}

/// What is done about off-queue access: a report in debug builds, nothing in others, unless the launch
/// argument `-com.apple.CoreData.ConcurrencyDebug`, the same name without the dash in the environment, or
/// `CLARUS_CONCURRENCY_DEBUG` there is set: 1 stops the program, `report` reports, 0 does nothing.
package enum ConcurrencyDebug: Sendable {
  case off, report, stop

  static let chosen: ConcurrencyDebug = chosen(
    environment: ProcessInfo.processInfo.environment, arguments: ProcessInfo.processInfo.arguments)

  static let argument = "com.apple.CoreData.ConcurrencyDebug"

  /// The default. A package that depends on this one is built in the same configuration.
  package static var defaultMode: ConcurrencyDebug {
    #if DEBUG
      .report
    #else
      .off
    #endif
  }

  /// Reads the places that can set it; the launch argument prevails.
  package static func chosen(environment: [String: String], arguments: [String]) -> ConcurrencyDebug {
    if let flag = arguments.firstIndex(of: "-" + argument), flag + 1 < arguments.count {
      return read(arguments[flag + 1])
    }
    return (environment[argument] ?? environment["CLARUS_CONCURRENCY_DEBUG"]).map(read) ?? defaultMode
  }

  private static func read(_ text: String) -> ConcurrencyDebug {
    if let number = Int(text) { return number > 0 ? .stop : .off }
    switch text.lowercased() {
    case "yes", "true": return .stop
    case "report": return .report
    default: return .off
    }
  }

  // MARK: Reports

  private static let reported = Guarded<Set<String>>([])
  private static let mostReports: Int = 20

  /// Whether to report a use: each kind once, and only a limited number.
  fileprivate static func isNew(_ use: String) -> Bool {
    reported.withLock { $0.count < mostReports && $0.insert(use).inserted }
  }
}

extension NSManagedObjectContext {
  /// Reports or stops if the caller is not on the context's queue and this is checked.
  @inline(__always)
  final func requireQueue(_ use: @autoclosure () -> String) {
    if identityMap.marks.contains(.confined), !mayBeUsedHere { usedOffQueue(use(), nil) }
  }

  /// On the queue; a context of the obsolete confinement type may be used on the thread that made it too.
  final var mayBeUsedHere: Bool {
    isOnQueue || (concurrencyType == .confinementConcurrencyType && home == WorkQueue.thisThread)
  }

  /// Reports both sides, and stops if requested.
  @inline(never)
  final func usedOffQueue(_ use: String, _ object: NSManagedObject?) {
    guard ConcurrencyDebug.chosen != .stop else { fatalError(offQueueText(use, object)) }
    guard ConcurrencyDebug.isNew("\(use) \(name ?? "") \(concurrencyType)") else { return }
    Warning.write(
      """
      \(offQueueText(use, object))
      Debug builds report each kind of such use once and go on. CLARUS_CONCURRENCY_DEBUG=1 in the environment stops there, and Swift tells \
      the lines, 0 is silence.
      """)
  }

  private final func offQueueText(_ use: String, _ object: NSManagedObject?) -> String {
    """
    CoreData concurrency violation: \(use) off the queue of its context.
    \(object.map { "  object:   \($0.objectID)\n" } ?? "")\
      context:  \(nameInMessages)
      queue:    \(queueInWords)
      accessed: \(Place.here)
      where:
    \(CallerList.outside.map { "    \($0)" }.joined(separator: "\n"))
    Use a context and its objects inside perform(_:) or performAndWait(_:) of that context. To go on in another one, hand \
    objectID over and use object(with:) there.
    """
  }

  final var nameInMessages: String {
    let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
    return "\(name.map { "\"\($0)\" " } ?? "")<\(type(of: self)): 0x\(address)>"
  }

  private final var queueInWords: String {
    let kind: String
    switch concurrencyType {
    case .mainQueueConcurrencyType: return "the main queue"
    case .privateQueueConcurrencyType: kind = "a private queue (\(queue.label))"
    case .confinementConcurrencyType: kind = "confinement: the thread that made the context, or its queue"
    }
    let busy: UInt = queue.holder
    return kind + (busy == 0 ? ", idle just now" : ", running a block on thread 0x\(String(busy, radix: 16))")
  }
}

extension NSManagedObject {
  /// Reports or stops if the object is accessed off its context's queue. An object that has left its context
  /// may be used anywhere.
  final func requireQueue(_ slot: Int, _ access: ObjectAccess) {
    guard let context = identityMap?.context, !context.mayBeUsedHere else { return }
    context.usedOffQueue("\(named(slot)) was \(access.participle)", self)
  }

  /// For objects whose context was deallocated before them: values that were loaded and never changed can be
  /// read, and so can the attributes of objects that were never stored. A value that would have to be loaded,
  /// that was unsaved, or that is to be set can't be.
  final func requireContext(_ slot: Int, _ access: ObjectAccess) {
    let isAttribute: Bool = slot < 0 || runtime.layout.slots[slot].relationship == nil
    if isAttribute, row == nil ? state != nil : access != .write {
      removeFlags(.fault)
      return
    }
    fatalError(
      """
      \(named(slot)) of '\(objectID)' was \(access.participle) after its context was gone. An object keeps its values only as long as \
      its context lives: hold the context (or its container) as long as its objects are used.
      """)
  }

  /// `Item.title`, for messages.
  private final func named(_ slot: Int) -> String {
    slot < 0 ? runtime.layout.name : "\(runtime.layout.name).\(runtime.layout.slots[slot].name)"
  }
}

/// A function of libdispatch: for nil it returns the label of the queue that runs the caller. Its Swift
/// overlay exists on Apple's platforms only.
@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

/// Describes where the running code is.
private enum Place {
  static var here: String {
    let thread: Thread = .current
    let address = String(UInt(bitPattern: ObjectIdentifier(thread)), radix: 16)
    let name: String = thread.isMainThread ? "the main thread" : thread.name ?? ""
    let label = String(cString: currentQueueLabel(nil))
    return
      "thread 0x\(address)\(name.isEmpty ? "" : " (\(name))"), \(label.isEmpty ? "no queue" : "queue \(label)")"
  }
}
