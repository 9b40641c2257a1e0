import CoreDataPredicates
import CoreDataStorage
import Foundation
import Synchronization

// Closure observation with the same interface as Foundation's on Apple's platforms, where it is based on the
// Objective-C runtime's KVO.

/// The kind of a set's change, for ``NSManagedObject/willChangeValue(forKey:withSetMutation:using:)``;
/// Apple's raw values.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  case unionSet = 1
  case minusSet = 2
  case intersectSet = 3
  case setSet = 4
}

/// What a change handler receives, and when.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1 << 0)
  /// The value before.
  public static let old = NSKeyValueObservingOptions(rawValue: 1 << 1)
  /// A call at once, with the present value as the new one.
  public static let initial = NSKeyValueObservingOptions(rawValue: 1 << 2)
  /// A call before each change too, with ``NSKeyValueObservedChange/isPrior``.
  public static let prior = NSKeyValueObservingOptions(rawValue: 1 << 3)
}

/// The kinds of change. Managed objects report every change as ``setting``, with whole collections for
/// to-many relationships.
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
  /// Always nil for managed objects: to-many relationships are reported as a whole.
  public let indexes: IndexSet?
  /// Whether the change has not been made yet.
  public let isPrior: Bool

  package init(
    kind: Kind, newValue: Value?, oldValue: Value?, indexes: IndexSet?, isPrior: Bool
  ) {
    self.kind = kind
    self.newValue = newValue
    self.oldValue = oldValue
    self.indexes = indexes
    self.isPrior = isPrior
  }
}

/// Keeps a closure observation active: retain it as long as changes are of interest. It ends with this object
/// or with ``invalidate()``, on any thread. It does not keep the observed object alive.
public final class NSKeyValueObservation: NSObject, Sendable {
  // The closure is called on the queue of the object's context only; other threads can only release it.
  private let held: Guarded<Held>

  private struct Held: @unchecked Sendable {
    // Sendable: see above.
    var closure: (any EndableObservation)?
  }

  init(_ closure: ObservingClosure) { held = Guarded(Held(closure: closure)) }

  /// For an object that is not managed.
  package init(_ closure: ForeignObservingClosure) {
    held = Guarded(Held(closure: closure))
  }

  /// Ends the observation. A call in progress on another thread continues.
  public func invalidate() {
    let ended: Held = held.withLock { held in
      defer { held.closure = nil }
      return held
    }
    // The closure's captures are released outside the lock.
    ended.closure?.end()
  }
}

/// What an observation keeps and ends.
protocol EndableObservation: AnyObject {
  func end()
}

/// A closure that observes one property of one object.
class ObservingClosure: EndableObservation {
  let slot: Int
  /// Whether it was invalidated, maybe during a series of calls.
  final let isEnded = Atomic<Bool>(false)

  init(slot: Int) { self.slot = slot }

  final func end() { isEnded.store(true, ordering: .relaxed) }

  /// Called before a change.
  func willChange(_ object: NSManagedObject) {}
  /// Called after the change.
  func didChange(_ object: NSManagedObject) {}
  /// Records the present value, which may be replaced.
  func recordValue(_ object: NSManagedObject) {}
  /// Called after the value may have been replaced.
  func replaced(_ object: NSManagedObject) {}
}

/// A closure that observes an object that is not managed, which calls it.
package final class ForeignObservingClosure: EndableObservation {
  private let isEnded = Atomic<Bool>(false)
  private let body: (_ object: AnyObject, _ old: Any?) -> Void

  package init(_ body: @escaping (_ object: AnyObject, _ old: Any?) -> Void) {
    self.body = body
  }

  func end() { isEnded.store(true, ordering: .relaxed) }

  /// Reports a change, unless the observation has ended.
  package func call(_ object: AnyObject, old: Any?) {
    if !isEnded.load(ordering: .relaxed) { body(object, old) }
  }
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
    recordValue(object)
    if options.contains(.prior), let object = object as? Object { call(object, old: old, isPrior: true) }
  }

  override func didChange(_ object: NSManagedObject) {
    let before: Value? = old
    old = nil
    if let object = object as? Object { call(object, old: before, isPrior: false) }
  }

  override func recordValue(_ object: NSManagedObject) {
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
  /// Calls a closure after each change of a property, until the result is released or invalidated.
  ///
  /// ```swift
  /// let observation = item.observe(\.title, options: [.old, .new]) { item, change in
  ///   print(change.oldValue ?? nil, "→", change.newValue ?? nil)
  /// }
  /// ```
  ///
  /// Called on the queue of the object's context, during the change of the property: a setter, also with the
  /// same value; the other side of a relationship; undo, rollback, refresh and merges if the value differs
  /// afterwards. Loading a fault is no change. For an object that became a fault, changes are reported when
  /// it is loaded again, which a merge does at once for observed objects. Primitive setters and changes in
  /// `awakeFromFetch` are not reported.
  ///
  /// The property must be one whose getter returns a managed value, or that ``NSManagedObject/keyPathNames``
  /// names; any other stops the program. Observing a to-many relationship with `.old` or `.new` loads its
  /// members. Loads the object.
  ///
  /// For a key of ``NSManagedObject/customAccessors`` that the model does not have, only calls of
  /// ``NSManagedObject/willChangeValue(forKey:)`` and ``NSManagedObject/didChangeValue(forKey:)`` around its
  /// changes are reported, not changes of the properties that it is computed from.
  ///
  /// Off Apple's platforms there is no `addObserver(_:forKeyPath:options:context:)`: key-value observing by
  /// class needs the Objective-C runtime. This method replaces it, with the interface of Foundation's
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
  /// The same by the name of a property. Values are as in key-value coding: numbers as `NSNumber`, to-many
  /// relationships as `NSSet` or `NSOrderedSet`; nil for no value. An unknown key stops with the nearest
  /// names.
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
    // Loaded, so that later changes can be compared with its values.
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
