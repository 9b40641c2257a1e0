import Observation
import Synchronization

/// Whether a scope of `withObservationTracking` is open on this thread. There is no way to ask; but an open
/// scope keeps in a dictionary what is read, so a key path that is hashed on the way there shows it.
package enum ObservationScope {
  private final class Probe: Observable, Sendable {
    subscript(key key: Key) -> Void { () }
  }

  private struct Key: Hashable, Sendable {
    func hash(into hasher: inout Hasher) { hashes.add(1, ordering: .relaxed) }
  }

  /// Counted for all threads: another thread's scope makes this one look open too, which costs an access that
  /// notes nothing.
  private static let hashes = Atomic<Int>(0)
  private static let probe = Probe()
  private static let registrar = ObservationRegistrar()
  // Immutable.
  nonisolated(unsafe) private static let keyPath: KeyPath<Probe, Void> = \.[key: Key()]

  /// Whether an open scope shows itself.
  package static let isVisible: Bool = {
    var isSeen: Bool = false
    withObservationTracking {
      isSeen = isHashed()
    } onChange: {
    }
    return isSeen
  }()

  private static let isUsed: Bool = RuntimeLayout.isUsed && isVisible

  /// Where it can't be found out: yes, which costs an access that notes nothing.
  package static var isOpen: Bool { !isUsed || isHashed() }

  private static func isHashed() -> Bool {
    let before: Int = hashes.load(ordering: .relaxed)
    registrar.access(probe, keyPath: keyPath)
    return hashes.load(ordering: .relaxed) != before
  }
}
