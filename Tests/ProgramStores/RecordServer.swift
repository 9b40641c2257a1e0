import CoreData
import Foundation

/// What an incremental store of the tests talks to: records by entity and name. It outlives stores, and
/// others can change its records.
public final class RecordServer: @unchecked Sendable {
  // Sendable: guarded by `lock`.

  public struct Record {
    public var entity: String
    public var values: [String: Any]
    /// Names of related records.
    public var related: [String: [String]]
    public var version: UInt64
  }

  private let lock = NSLock()
  private var content: [String: Record] = [:]
  /// The entities of all records that there are or were.
  private var entities: [String: String] = [:]
  private var versions: [String: UInt64] = [:]
  private var last: Int = 0
  private var storedMetadata: [String: Any] = [:]

  /// The server at a URL.
  public static func at(_ url: URL) -> RecordServer {
    lock.withLock { servers in
      if let known = servers[url] { return known }
      let made = RecordServer()
      servers[url] = made
      return made
    }
  }
  private static let lock = Locked<[URL: RecordServer]>([:])

  public func newName() -> String {
    lock.withLock {
      last += 1
      return "record \(last)"
    }
  }

  public subscript(name: String) -> Record? {
    get { lock.withLock { content[name] } }
    set {
      lock.withLock {
        content[name] = newValue
        guard let newValue else { return }
        entities[name] = newValue.entity
        versions[name] = newValue.version
      }
    }
  }

  /// The version that a record gets when it is written. A record that was removed and is written again is a
  /// newer one.
  public func nextVersion(of name: String) -> UInt64 { lock.withLock { (versions[name] ?? 0) + 1 } }

  /// Also of a record that was removed, as references to it name it still.
  public func entity(of name: String) -> String? { lock.withLock { entities[name] } }

  public var names: [String] {
    lock.withLock { content.keys.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count } }
  }

  public var metadata: [String: Any] {
    get { lock.withLock { storedMetadata } }
    set { lock.withLock { storedMetadata = newValue } }
  }

  public func change(_ body: (inout [String: Record]) -> Void) { lock.withLock { body(&content) } }
}

/// A value that one thread at a time uses.
public final class Locked<Value>: @unchecked Sendable {
  // Sendable: guarded by `lock`.
  private let lock = NSLock()
  private var value: Value

  public init(_ value: Value) { self.value = value }

  public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
