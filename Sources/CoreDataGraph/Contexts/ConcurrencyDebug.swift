import CoreDataStorage
import Foundation

// A context, or an object of it, used off the context's queue. Where that is looked for every object carries
// the flag `confined`, which sends each access the slow way, where it is checked. Elsewhere no object has the
// flag, and the test of the fast way, which looks for faults anyway, is the only one there is
// (Decisions/0051).

/// What somebody does with a property.
enum ObjectAccess {
  /// A read by the program, and one by the framework on the way to something else.
  case read, inner
  case write

  var participle: String { self == .write ? "changed" : "read" }
}

/// What is done about uses off the queue: reports in debug builds, nothing in others, unless the launch
/// argument `-com.apple.CoreData.ConcurrencyDebug`, the same name without the dash in the environment, or
/// `CLARUS_CONCURRENCY_DEBUG` there says otherwise: 1 stops the program, `report` reports, 0 is silence.
package enum ConcurrencyDebug: Sendable {
  case off, report, stop

  static let chosen: ConcurrencyDebug = chosen(
    environment: ProcessInfo.processInfo.environment, arguments: ProcessInfo.processInfo.arguments)

  static let argument = "com.apple.CoreData.ConcurrencyDebug"

  /// A package that depends on this one is built in the same configuration.
  package static var unasked: ConcurrencyDebug {
    #if DEBUG
      .report
    #else
      .off
    #endif
  }

  /// Reads the places that can set it; the launch argument wins.
  package static func chosen(environment: [String: String], arguments: [String]) -> ConcurrencyDebug {
    if let flag = arguments.firstIndex(of: "-" + argument), flag + 1 < arguments.count {
      return read(arguments[flag + 1])
    }
    return (environment[argument] ?? environment["CLARUS_CONCURRENCY_DEBUG"]).map(read) ?? unasked
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

  /// Whether something is to be reported: each kind of use once, and not without end.
  fileprivate static func isNew(_ use: String) -> Bool {
    reported.withLock { $0.count < mostReports && $0.insert(use).inserted }
  }
}

extension NSManagedObjectContext {
  /// Reports or stops when the caller is not on the context's queue and that is looked for.
  @inline(__always)
  final func requireQueue(_ use: @autoclosure () -> String) {
    if identityMap.marks.contains(.confined), !mayBeUsedHere { usedOffQueue(use(), nil) }
  }

  /// On the queue; a context of the obsolete confinement type may be used on the thread that made it too.
  final var mayBeUsedHere: Bool {
    isOnQueue || (concurrencyType == .confinementConcurrencyType && home == WorkQueue.thisThread)
  }

  /// Names both sides, and stops if that was asked for.
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
    \(Place.callers.map { "    \($0)" }.joined(separator: "\n"))
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
  /// Reports or stops when an access comes off the context's queue. An object that has left its context
  /// belongs to nobody.
  final func requireQueue(_ slot: Int, _ access: ObjectAccess) {
    guard let context = identityMap?.context, !context.mayBeUsedHere else { return }
    context.usedOffQueue("\(named(slot)) was \(access.participle)", self)
  }

  /// For objects whose context went away while they lived: what was loaded and never changed can be read, as
  /// can the attributes of objects that were never stored; a value that would have to be loaded, that was
  /// unsaved, or that is to be set has nowhere to come from or go to.
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

/// libdispatch's own: for nil the label of the queue that runs the caller. Its Swift overlay has it on
/// Apple's platforms only.
@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

/// Where the running code is, in words.
private enum Place {
  static var here: String {
    let thread: Thread = .current
    let address = String(UInt(bitPattern: ObjectIdentifier(thread)), radix: 16)
    let name: String = thread.isMainThread ? "the main thread" : thread.name ?? ""
    let label = String(cString: currentQueueLabel(nil))
    return
      "thread 0x\(address)\(name.isEmpty ? "" : " (\(name))"), \(label.isEmpty ? "no queue" : "queue \(label)")"
  }

  private static let mostCallers: Int = 8

  /// Names of functions begin with their module, mangled; those in extensions of other modules' types
  /// have it later.
  private static let ownModules: [String] =
    ["CoreDataGraph", "CoreDataControllers", "CoreDataPredicates", "CoreDataModel"].map {
      "\($0.count)\($0)"
    }

  /// The innermost callers outside the framework, as far as the process has their names.
  static var callers: [String] {
    let callers: [Caller] = Caller.all.filter { $0.text != nil }
    let outside: [Caller] = callers.filter { caller in
      !ownModules.contains { caller.symbol.hasPrefix("$s\($0)") || caller.symbol.contains("\($0)E") }
    }
    return (outside.isEmpty ? callers : outside).prefix(mostCallers).compactMap(\.text)
  }
}
