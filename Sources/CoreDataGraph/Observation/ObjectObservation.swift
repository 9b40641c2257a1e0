import CoreDataRuntime
import CoreDataStorage
import Foundation
import Observation

// The observers of an object's properties. There are two kinds: scopes of Swift's Observation, which record
// what they read and are notified before a change, and closures, which receive the old and the new value.
// Both are stored in the object itself; an object without observers has neither (`observation` is nil), and
// its setters test one flag.
//
// Single changes are notified where they are made (`withObservers`). If all values are replaced, by undo, a
// refresh, a merge, observed values are recorded before (`observedValues`) and compared after
// (`notifyObservers`): unchanged values cause no notification. For an object that becomes a fault the last
// observed values are kept until it is loaded again, and compared then.

extension NSManagedObject: Observable {}

/// The observers of one object.
final class ObjectObservation {
  private let registrar = ObservationRegistrar()
  /// The slots that a scope has read.
  private var tracked = SlotSet()
  private var closures: [WeakClosure] = []
  /// The slots that are being changed, once for each level: a setter may call others.
  private var changing: [Int] = []
  /// The observed values from before the object became a fault.
  private var recordedValues: ObservedValues?

  private struct WeakClosure {
    weak var closure: ObservingClosure?
  }

  // MARK: Observers

  func access(_ object: NSManagedObject, _ slot: Int) {
    tracked.insert(slot)
    registrar.access(object, keyPath: \.[observed: ObservedSlot(slot: slot)])
  }

  func add(_ closure: ObservingClosure) {
    closures.removeAll { $0.closure == nil }
    closures.append(WeakClosure(closure: closure))
  }

  private func closures(of slot: Int) -> [ObservingClosure] {
    closures.compactMap { $0.closure }.filter { $0.slot == slot }
  }

  // MARK: One change

  func willChange(_ object: NSManagedObject, _ slot: Int) {
    let isOuter: Bool = !changing.contains(slot)
    changing.append(slot)
    guard isOuter else { return }
    if tracked.contains(slot) { registrar.willSet(object, keyPath: \.[observed: ObservedSlot(slot: slot)]) }
    for closure in closures(of: slot) { closure.willChange(object) }
  }

  func didChange(_ object: NSManagedObject, _ slot: Int) {
    guard let place = changing.lastIndex(of: slot) else { return }
    changing.remove(at: place)
    guard !changing.contains(slot) else { return }
    if tracked.contains(slot) { registrar.didSet(object, keyPath: \.[observed: ObservedSlot(slot: slot)]) }
    for closure in closures(of: slot) { closure.didChange(object) }
  }

  // MARK: Many changes at once

  /// The present values of observed properties; nil for a fault, which has none.
  func values(of object: NSManagedObject) -> ObservedValues? {
    guard !object.flags.contains(.fault) else { return nil }
    var values = ObservedValues()
    closures.removeAll { $0.closure == nil }
    let observing: [ObservingClosure] = closures.compactMap { $0.closure }
    for slot in tracked.members { values.seen[slot] = object.seen(slot) }
    for closure in observing where values.seen[closure.slot] == nil {
      values.seen[closure.slot] = object.seen(closure.slot)
    }
    for closure in observing {
      // Members that were not loaded were not observed.
      if case .unknown = values.seen[closure.slot] { continue }
      closure.recordValue(object)
    }
    return values
  }

  /// Notifies observers of what differs now. For a fault this waits until it is loaded again.
  func notify(_ object: NSManagedObject, since values: ObservedValues) {
    if object.flags.contains(.fault) {
      if recordedValues == nil { recordedValues = values }
      return
    }
    for slot in values.seen.keys.sorted() where values.seen[slot]?.differs(object, slot) == true {
      if tracked.contains(slot) {
        registrar.willSet(object, keyPath: \.[observed: ObservedSlot(slot: slot)])
        registrar.didSet(object, keyPath: \.[observed: ObservedSlot(slot: slot)])
      }
      for closure in closures(of: slot) { closure.replaced(object) }
    }
  }

  /// The object is about to become a fault: its observed values are kept until it is loaded again.
  func recordValues(_ object: NSManagedObject) { recordedValues = values(of: object) ?? recordedValues }

  /// Called after the object was loaded again.
  func loaded(_ object: NSManagedObject) {
    guard let values = recordedValues else { return }
    recordedValues = nil
    notify(object, since: values)
  }

  /// Whether there are observed values that the fault no longer has.
  var awaitsValues: Bool { recordedValues != nil }
}

/// Identifies a property in key paths of the registrar, which must differ by property.
struct ObservedSlot: Hashable, Sendable {
  let slot: Int
}

extension NSManagedObject {
  final subscript(observed slot: ObservedSlot) -> Any? { objectValue(slot.slot) }

  // MARK: Hooks

  /// Runs one change of a property, notifying its observers before and after. For changes that are not
  /// recorded, the code that makes them notifies observers for all of them together.
  @inline(__always)
  final func withObservers<Result>(of slot: Int, _ change: () -> Result) -> Result {
    guard flags.contains(.observed) else { return change() }
    return notifyingObservers(of: slot, change)
  }

  @inline(never)
  private final func notifyingObservers<Result>(of slot: Int, _ change: () -> Result) -> Result {
    guard !flags.contains(.untracked), let observation else { return change() }
    observation.willChange(self, slot)
    defer { observation.didChange(self, slot) }
    return change()
  }

  /// The present values of the observed properties, to be compared after all values were replaced. nil if
  /// there are no observers.
  @inline(__always)
  final func observedValues() -> ObservedValues? {
    flags.contains(.observed) ? observation?.values(of: self) : nil
  }

  final func notifyObservers(since values: ObservedValues?) {
    if let values { observation?.notify(self, since: values) }
  }

  /// Called when a property is read; if a scope of Observation is open on this thread, it is notified of
  /// later changes.
  final func noteRead(_ slot: Int) {
    if ObservationScope.isOpen { ensureObservation().access(self, slot) }
  }

  final func ensureObservation() -> ObjectObservation {
    if let observation { return observation }
    let made = ObjectObservation()
    observation = made
    insertFlags(.observed)
    return made
  }

  /// The number by which observers identify a property: its slot; for an accessor's key that the model does
  /// not have, a number after those of all slots. nil for a key that is neither.
  final func observedPlace(_ key: String) -> Int? {
    if let slot = runtime.layout.slotByName[key] { return slot }
    return runtime.accessors?.keys.sorted().firstIndex(of: key).map { runtime.slotCount + $0 }
  }

  fileprivate final func seen(_ slot: Int) -> SeenValue {
    // It is unknown what an accessor's value depends on.
    if slot >= runtime.slotCount { return .unknown }
    let described: PropertySlot = runtime.layout.slots[slot]
    if described.isToMany {
      return state?.toMany(slot)?.members.map { .members($0.objects) }
        ?? (row == nil ? .members([]) : .unknown)
    }
    if described.isToOne { return .target(toOneTarget(slot)) }
    return described.attribute == nil ? .unknown : .attribute(slotValue(slot))
  }
}

/// The observed values of an object, by slot.
struct ObservedValues {
  fileprivate var seen: [Int: SeenValue] = [:]
}

private enum SeenValue {
  case attribute(SlotValue)
  case target(NSManagedObject?)
  case members([NSManagedObject])
  /// Members that were not loaded.
  case unknown

  func differs(_ object: NSManagedObject, _ slot: Int) -> Bool {
    switch self {
    case .unknown: return false
    case .attribute(let value): return !SlotValue.equal(value, object.slotValue(slot))
    case .target(let target): return object.toOneTarget(slot) !== target
    case .members(let members):
      let now: [NSManagedObject] = object.members(slot).objects
      if object.runtime.layout.slots[slot].relationship?.isOrdered == true {
        return !now.elementsEqual(members, by: ===)
      }
      return Set(now.map { ObjectIdentifier($0) }) != Set(members.map { ObjectIdentifier($0) })
    }
  }
}

extension NSManagedObjectContext {
  /// Runs a body that replaces values of several objects, and notifies their observers at its end.
  final func withObservedValues(of objects: some Sequence<NSManagedObject>, _ body: () -> Void) {
    var known: Set<ObjectIdentifier> = []
    var before: [(NSManagedObject, ObservedValues)] = []
    for object in objects {
      guard let values = object.observedValues(), known.insert(ObjectIdentifier(object)).inserted else {
        continue
      }
      before.append((object, values))
    }
    body()
    for (object, values) in before { object.notifyObservers(since: values) }
  }
}
