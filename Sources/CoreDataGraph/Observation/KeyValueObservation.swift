import CoreDataPredicates
import CoreDataStorage
import Foundation
import Synchronization

// Closure observation in the shape of Foundation's for Apple's platforms, where it stands on the Objective-C
// runtime's KVO.

/// What happens to a set, as ``NSManagedObject/willChangeValue(forKey:withSetMutation:using:)`` is told;
/// Apple's raw values.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  case unionSet = 1
  case minusSet = 2
  case intersectSet = 3
  case setSet = 4
}

/// What a change handler is to be given, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// The value before.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// A call at once, with the value of now as the new one.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// A call before each change too, with ``NSKeyValueObservedChange/isPrior``.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}

/// The kinds of change. Managed objects tell every change as ``setting``, with whole collections for to-many
/// relationships.
public enum NSKeyValueChange: UInt, Sendable {
  case setting = 1
  case insertion = 2
  case removal = 3
  case replacement = 4
}

/// One change of an observed property.
public struct NSKeyValueObservedChange<Value> {
  public typealias Kind = NSKeyValueChange

  public let kind: Kind
  /// With the option `.new`; not in a prior call.
  public let newValue: Value?
  /// With the option `.old`; not in the initial call.
  public let oldValue: Value?
  /// Always nil for managed objects: to-many relationships are told as a whole.
  public let indexes: IndexSet?
  /// Whether the change is still to come.
  public let isPrior: Bool
}

/// Keeps a closure observation going: hold it as long as changes are of interest. It ends with this object or
/// with ``invalidate()``, on any thread. It does not keep the observed object alive.
public final class NSKeyValueObservation: NSObject, Sendable {
  // The closure's calls are made on the queue of the object's context only; other threads can do no more than
  // let go of it.
  private let held: Guarded<Held>

  private struct Held: @unchecked Sendable {
    // Sendable: see above.
    var closure: ObservingClosure?
  }

  init(_ closure: ObservingClosure) { held = Guarded(Held(closure: closure)) }

  /// Ends the observation. A call that is being made on another thread goes on.
  public func invalidate() {
    let ended: Held = held.withLock { held in
      defer { held.closure = nil }
      return held
    }
    // What the closure holds is let go outside the lock.
    ended.closure?.isEnded.store(true, ordering: .relaxed)
  }
}

/// A closure that observes one property of one object.
class ObservingClosure {
  let slot: Int
  /// Invalidated, maybe in the middle of a round of calls.
  final let isEnded = Atomic<Bool>(false)

  init(slot: Int) { self.slot = slot }

  /// Before a change.
  func willChange(_ object: NSManagedObject) {}
  /// After it.
  func didChange(_ object: NSManagedObject) {}
  /// Keeps the value of now, which may be replaced.
  func remember(_ object: NSManagedObject) {}
  /// The value was replaced since.
  func replaced(_ object: NSManagedObject) {}
}

final class TypedObservingClosure<Object: NSManagedObject, Value>: ObservingClosure {
  private let options: NSKeyValueObservingOptions
  private let read: (Object) -> Value?
  private let handler: (Object, NSKeyValueObservedChange<Value>) -> Void
  private var old: Value?

  init(
    slot: Int, options: NSKeyValueObservingOptions, read: @escaping (Object) -> Value?,
    handler: @escaping (Object, NSKeyValueObservedChange<Value>) -> Void
  ) {
    self.options = options
    self.read = read
    self.handler = handler
    super.init(slot: slot)
  }

  func start(_ object: Object) {
    if options.contains(.initial) { call(object, old: nil, isPrior: false) }
  }

  override func willChange(_ object: NSManagedObject) {
    remember(object)
    if options.contains(.prior), let object = object as? Object { call(object, old: old, isPrior: true) }
  }

  override func didChange(_ object: NSManagedObject) {
    let before: Value? = old
    old = nil
    if let object = object as? Object { call(object, old: before, isPrior: false) }
  }

  override func remember(_ object: NSManagedObject) {
    if options.contains(.old) { old = (object as? Object).flatMap(read) }
  }

  override func replaced(_ object: NSManagedObject) {
    if options.contains(.prior), let object = object as? Object { call(object, old: old, isPrior: true) }
    didChange(object)
  }

  private func call(_ object: Object, old: Value?, isPrior: Bool) {
    if isEnded.load(ordering: .relaxed) { return }
    handler(
      object,
      NSKeyValueObservedChange(
        kind: .setting, newValue: options.contains(.new) && !isPrior ? read(object) : nil, oldValue: old,
        indexes: nil, isPrior: isPrior))
  }
}

/// Objects whose properties can be observed by key path: managed objects.
public protocol ManagedPropertyObserving: NSManagedObject {}

extension NSManagedObject: ManagedPropertyObserving {}

extension ManagedPropertyObserving {
  /// Calls a closure after each change of a property, until the result is let go or invalidated.
  ///
  /// ```swift
  /// let observation = item.observe(\.title, options: [.old, .new]) { item, change in
  ///   print(change.oldValue ?? nil, "→", change.newValue ?? nil)
  /// }
  /// ```
  ///
  /// Called on the queue of the object's context, in the middle of whatever changes the property: a setter,
  /// also with the same value; the other side of a relationship; undo, rollback, refresh and merges where the
  /// value differs afterwards. Loading a fault is no change. An object that became a fault tells what changed
  /// when it is loaded again, which a merge does at once for observed objects. Primitive setters and changes
  /// in `awakeFromFetch` are not told.
  ///
  /// The property is one that hands a managed value through, or that ``NSManagedObject/keyPathNames`` names;
  /// any other stops the program. Observing a to-many relationship with `.old` or `.new` loads its members.
  /// Loads the object.
  ///
  /// A key of ``NSManagedObject/customAccessors`` that the model does not have is told of by
  /// ``NSManagedObject/willChangeValue(forKey:)`` and ``NSManagedObject/didChangeValue(forKey:)`` around its
  /// changes, and by nothing else: not when a property that it is made of changes.
  ///
  /// Off Apple's platforms there is no `addObserver(_:forKeyPath:options:context:)`: key-value observing by
  /// class needs the Objective-C runtime. This is its place, in the shape of Foundation's
  /// [observe(_:options:changeHandler:)](https://developer.apple.com/documentation/swift/using-key-value-observing-in-swift).
  public func observe<Value>(
    _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let key: String
    do {
      key = try KeyPathNames.requireName(of: keyPath)
    } catch {
      fatalError("The property can't be observed: \(error)")
    }
    let closure = TypedObservingClosure<Self, Value>(
      slot: requireObservable(key), options: options, read: { $0[keyPath: keyPath] }, handler: changeHandler)
    return start(closure, self)
  }
}

extension NSManagedObject {
  /// The same by the name of a property. Values are as key-value coding has them: numbers as `NSNumber`,
  /// to-many relationships as `NSSet` or `NSOrderedSet`; nil for no value. An unknown key stops with the
  /// nearest names.
  public final func observe(
    _ key: String, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (NSManagedObject, NSKeyValueObservedChange<Any>) -> Void
  ) -> NSKeyValueObservation {
    let slot: Int = requireObservable(key)
    let closure = TypedObservingClosure<NSManagedObject, Any>(
      slot: slot, options: options,
      read: { object in
        object.customValue(key).map(\.value)
          ?? (slot < object.runtime.slotCount ? object.objectValue(slot) : nil)
      },
      handler: changeHandler)
    return start(closure, self)
  }

  fileprivate final func start<Object: NSManagedObject, Value>(
    _ closure: TypedObservingClosure<Object, Value>, _ object: Object
  ) -> NSKeyValueObservation {
    // Loaded, so that later changes have something to be compared with.
    fireFault(closure.slot < runtime.slotCount ? closure.slot : -1)
    ensureObservation().add(closure)
    closure.start(object)
    return NSKeyValueObservation(closure)
  }

  fileprivate final func requireObservable(_ key: String) -> Int {
    guard !key.contains(".") else {
      fatalError("'\(key)' leads to another object: observe the property of that object.")
    }
    return observedPlace(key) ?? requireSlot(key)
  }
}
