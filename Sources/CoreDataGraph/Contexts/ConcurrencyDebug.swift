import Foundation

#if canImport(Runtime)
  import Runtime
#endif

// Catching trespass: a context, or an object of it, used off the context's queue. Asked for by Apple's launch argument; then every
// object carries the flag `confined`, which sends each access the slow way, where it is checked. Without it no object has the flag
// and the test of the fast way, which looks for faults anyway, is the only one there is.

/// What somebody does with a property.
enum ObjectAccess {
  /// A read by the program, and one by the framework on the way to something else.
  case read, inner
  case write

  var participle: String { self == .write ? "changed" : "read" }
}

/// Whether trespass is looked for: `-com.apple.CoreData.ConcurrencyDebug 1` as launch argument, the same name without the dash
/// in the environment, or `CLARUS_CONCURRENCY_DEBUG=1` there.
package enum ConcurrencyDebug {
  static let isOn: Bool = isOn(
    environment: ProcessInfo.processInfo.environment, arguments: ProcessInfo.processInfo.arguments)

  static let argument = "com.apple.CoreData.ConcurrencyDebug"

  /// Reads the places that can set it; the launch argument wins.
  package static func isOn(environment: [String: String], arguments: [String]) -> Bool {
    if let flag = arguments.firstIndex(of: "-" + argument), flag + 1 < arguments.count {
      return isYes(arguments[flag + 1])
    }
    return (environment[argument] ?? environment["CLARUS_CONCURRENCY_DEBUG"]).map(isYes) ?? false
  }

  private static func isYes(_ text: String) -> Bool {
    if let number = Int(text) { return number > 0 }
    return ["yes", "true"].contains(text.lowercased())
  }
}

extension NSManagedObjectContext {
  /// Stops when the caller is not on the context's queue and trespass is looked for.
  @inline(__always)
  final func requireQueue(_ operation: @autoclosure () -> String) {
    if registry.marks.contains(.confined), !mayBeUsedHere { stopTrespass(operation(), nil) }
  }

  /// On the queue; a context of the obsolete confinement type may be used on the thread that made it too.
  final var mayBeUsedHere: Bool {
    isOnQueue || (concurrencyType == .confinementConcurrencyType && home == WorkQueue.thisThread)
  }

  /// Stops and names both sides.
  final func stopTrespass(_ deed: String, _ object: NSManagedObject?) -> Never {
    fatalError(
      """
      CoreData concurrency violation: \(deed) off the queue of its context.
      \(object.map { "  object:   \($0.objectID)\n" } ?? "")\
        context:  \(nameInMessages)
        queue:    \(queueInWords)
        accessed: \(Place.here)
        where:
      \(Place.callers.map { "    \($0)" }.joined(separator: "\n"))
      Use a context and its objects inside perform(_:) or performAndWait(_:) of that context. To go on in another one, hand \
      objectID over and use object(with:) there. This check is on because of \(ConcurrencyDebug.argument).
      """)
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
  /// Stops when an access comes off the context's queue. An object that has left its context belongs to nobody.
  final func requireQueue(_ slot: Int, _ access: ObjectAccess) {
    guard let context = registry?.context, !context.mayBeUsedHere else { return }
    context.stopTrespass("\(named(slot)) was \(access.participle)", self)
  }

  /// For objects whose context went away while they lived: what was loaded and never changed can be read, as can the attributes of
  /// objects that were never stored; a value that would have to be loaded, that was unsaved, or that is to be set has nowhere to come
  /// from or go to.
  final func requireContext(_ slot: Int, _ access: ObjectAccess) {
    let isAttribute: Bool = slot < 0 || runtime.layout.slots[slot].relationship == nil
    if isAttribute, row == nil ? state != nil : access != .write {
      flags.remove(.fault)
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

/// libdispatch's own: for nil the label of the queue that runs the caller. Its Swift overlay has it on Apple's platforms only.
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

  /// The innermost callers outside the framework, as far as the process has their names.
  static var callers: [String] {
    let frames: [String] = stack
    let outside: [String] = frames.filter { frame in
      ![
        "/CoreDataGraph/", "/CoreDataControllers/", "/CoreDataPredicates/", "/CoreDataModel/",
        "/<compiler-generated>",
      ]
      .contains { frame.contains($0) }
    }
    return Array((outside.isEmpty ? frames : outside).prefix(mostCallers))
  }

  #if canImport(Runtime)
    private static var stack: [String] {
      guard let trace = try? Backtrace.capture().symbolicated() else { return Thread.callStackSymbols }
      return trace.frames.compactMap { frame in
        guard let symbol = frame.symbol else { return nil }
        return symbol.name
          + (symbol.sourceLocation.map { " at \($0.path):\($0.line)" } ?? " in \(symbol.imageName)")
      }
    }
  #else
    private static var stack: [String] { Thread.callStackSymbols }
  #endif
}
