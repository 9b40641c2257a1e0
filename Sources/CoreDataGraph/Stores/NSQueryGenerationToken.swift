import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A state of the stores of a coordinator that contexts can keep reading while others write.
///
/// Pin a context to ``current`` and read its `queryGenerationToken` after it has read something; pin others
/// of the same coordinator to that token, and all of them read the same state:
///
/// ```swift
/// try context.setQueryGenerationFrom(.current)
/// let items = try context.fetch(request)
/// try other.setQueryGenerationFrom(context.queryGenerationToken)
/// ```
///
/// Only SQLite stores with write-ahead logging (the default) keep earlier states. Such a state holds a
/// connection with a read transaction until the last token and the last context pinned to it are released;
/// until then SQLite can't restart its log, so that the log file grows with what is written meanwhile. Keep
/// tokens only as long as they are needed.
///
/// See Apple's page
/// [NSQueryGenerationToken](https://developer.apple.com/documentation/coredata/nsquerygenerationtoken).
nonisolated open class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  // Sendable: immutable.

  /// nil: the state at the next read.
  final let generation: QueryGeneration?

  init(_ generation: QueryGeneration?) {
    self.generation = generation
    super.init()
  }

  /// The state at the next read of a context that is pinned to it.
  public class var current: NSQueryGenerationToken { currentToken }
  private static let currentToken = NSQueryGenerationToken(nil)

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSQueryGenerationToken else { return false }
    return generation === other.generation
  }

  open override var hash: Int { generation.map { ObjectIdentifier($0).hashValue } ?? 0 }

  open override var description: String {
    "<NSQueryGenerationToken: \(generation.map { $0.identifier.uuidString } ?? "current")>"
  }

  // MARK: Archiving

  open class var supportsSecureCoding: Bool { true }
  private static let key: String = "generation"

  /// A token is valid in its process only: the archive contains a name for it.
  open func encode(with coder: NSCoder) {
    coder.encode(generation?.identifier.uuidString as NSString?, forKey: Self.key)
  }

  /// The token that was archived; nil if it no longer exists in this process.
  public required init?(coder: NSCoder) {
    guard coder.containsValue(forKey: Self.key),
      let name = coder.decodeObject(of: NSString.self, forKey: Self.key)
    else {
      generation = nil
      super.init()
      return
    }
    guard let identifier = UUID(uuidString: "\(name)"), let known = QueryGeneration.existing(identifier)
    else {
      return nil
    }
    generation = known
    super.init()
  }
}

/// One state of the stores of a coordinator.
final class QueryGeneration: Sendable {
  let identifier = UUID()
  let coordinator: ObjectIdentifier
  /// By the ordinals of the stores; those that keep no earlier state are left out, and their latest state is
  /// read.
  let states: [Int: any StoreOperations]

  /// Takes the present state.
  static func make(of coordinator: NSPersistentStoreCoordinator) throws -> QueryGeneration {
    let made = QueryGeneration(ObjectIdentifier(coordinator), try coordinator.snapshots())
    known.withLock { $0[made.identifier] = Weak(generation: made) }
    return made
  }

  private init(_ coordinator: ObjectIdentifier, _ states: [Int: any StoreOperations]) {
    self.coordinator = coordinator
    self.states = states
  }

  deinit { _ = Self.known.withLock { $0.removeValue(forKey: identifier) } }

  // MARK: By name, for archives

  private struct Weak {
    weak var generation: QueryGeneration?
  }

  /// An entry exists as long as its generation.
  private static let known = Guarded<[UUID: Weak]>([:])

  static func existing(_ identifier: UUID) -> QueryGeneration? {
    known.withLock { $0[identifier]?.generation }
  }
}
