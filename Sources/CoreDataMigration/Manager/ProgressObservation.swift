import CoreDataGraph
import CoreDataStorage
import Foundation

/// The closures that observe a manager's progress. Each is kept by its observation.
struct ProgressObservers: @unchecked Sendable {
  // Sendable: the closures are called on the migrating thread, and only released on others.
  struct Weak { weak var closure: ForeignObservingClosure? }
  var list: [Weak] = []
}

extension NSMigrationManager {
  /// Calls a closure after each change of ``migrationProgress``, until the result is released or invalidated.
  /// No other property of a manager can be observed: another key path stops the program.
  ///
  /// ```swift
  /// let observation = manager.observe(\.migrationProgress, options: [.new]) { _, change in
  ///   print(change.newValue ?? 0)
  /// }
  /// ```
  ///
  /// Called on the thread that migrates, after each page of some hundred objects. The option `.prior` has no
  /// effect. A `Progress` that is current when
  /// ``migrateStore(from:type:options:mapping:to:type:options:)`` is called reports the same.
  ///
  /// Replaces key-value observing, which needs the Objective-C runtime, with the interface of Foundation's
  /// [observe(_:options:changeHandler:)](https://developer.apple.com/documentation/swift/using-key-value-observing-in-swift).
  public final func observe(
    _ keyPath: KeyPath<NSMigrationManager, Float>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (NSMigrationManager, NSKeyValueObservedChange<Float>) -> Void
  ) -> NSKeyValueObservation {
    guard keyPath == \NSMigrationManager.migrationProgress else {
      preconditionFailure("Of a migration manager only migrationProgress can be observed.")
    }
    let closure = ForeignObservingClosure { manager, old in
      guard let manager = manager as? NSMigrationManager else { return }
      changeHandler(
        manager,
        NSKeyValueObservedChange(
          kind: .setting, newValue: options.contains(.new) ? manager.migrationProgress : nil,
          oldValue: options.contains(.old) ? old as? Float : nil, indexes: nil, isPrior: false))
    }
    progressObservers.withLock { observers in
      observers.list.removeAll { $0.closure == nil }
      observers.list.append(ProgressObservers.Weak(closure: closure))
    }
    if options.contains(.initial) { closure.call(self, old: nil) }
    return NSKeyValueObservation(closure)
  }

  final func reportProgress(from old: Float) {
    // Called outside the lock: a closure may observe, or end an observation.
    let closures: [ForeignObservingClosure] = progressObservers.withLock { $0.list.compactMap(\.closure) }
    for closure in closures { closure.call(self, old: old) }
  }
}
