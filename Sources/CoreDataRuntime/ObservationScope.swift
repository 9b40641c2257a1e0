import Observation
import Synchronization

/// Whether a scope of `withObservationTracking` is open on this thread. Observation has no function for this;
/// but an open scope keeps the properties read in a dictionary, so if a key path is hashed during a read, a
/// scope is open.
package enum ObservationScope {
  private final class Probe: Observable, Sendable {
    subscript(key key: Key) -> Void { () }
  }

  private struct Key: Hashable, Sendable {
    func hash(into hasher: inout Hasher) { hashes.add(1, ordering: .relaxed) }
  }

  /// Counted for all threads: another thread's scope makes this thread appear to have one too, which only
  /// costs a recorded access without effect.
  private static let hashes = Atomic<Int>(0)
  private static let probe = Probe()
  private static let registrar = ObservationRegistrar()
  // Immutable.
  nonisolated(unsafe) private static let keyPath: KeyPath<Probe, Void> = \.[key: Key()]

  /// Whether an open scope can be detected.
  package static let isVisible: Bool = {
    var isSeen: Bool = false
    withObservationTracking {
      isSeen = isHashed()
    } onChange: {
    }
    return isSeen
  }()

  private static let isUsed: Bool = RuntimeLayout.isUsed && isVisible

  /// True if it can't be determined, which only costs a recorded access without effect.
  package static var isOpen: Bool { !isUsed || isHashed() }

  private static func isHashed() -> Bool {
    let before: Int = hashes.load(ordering: .relaxed)
    registrar.access(probe, keyPath: keyPath)
    return hashes.load(ordering: .relaxed) != before
  }
}
