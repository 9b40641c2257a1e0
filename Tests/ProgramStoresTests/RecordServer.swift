import CoreData
import Foundation

/// What an incremental store of the tests talks to: records by entity and name. It outlives stores, and
/// others can change its records.
final class RecordServer: @unchecked Sendable {
  // Sendable: guarded by `lock`.

  struct Record {
    var entity: String
    var values: [String: Any]
    /// Names of related records.
    var related: [String: [String]]
    var version: UInt64
  }

  private let lock = NSLock()
  private var content: [String: Record] = [:]
  private var last: Int = 0
  private var storedMetadata: [String: Any] = [:]

  /// The server at a URL.
  static func at(_ url: URL) -> RecordServer {
    lock.withLock { servers in
      if let known = servers[url] { return known }
      let made = RecordServer()
      servers[url] = made
      return made
    }
  }
  private static let lock = Locked<[URL: RecordServer]>([:])

  func newName() -> String {
    lock.withLock {
      last += 1
      return "record \(last)"
    }
  }

  subscript(name: String) -> Record? {
    get { lock.withLock { content[name] } }
    set { lock.withLock { content[name] = newValue } }
  }

  var names: [String] {
    lock.withLock { content.keys.sorted { $0.count == $1.count ? $0 < $1 : $0.count < $1.count } }
  }

  var metadata: [String: Any] {
    get { lock.withLock { storedMetadata } }
    set { lock.withLock { storedMetadata = newValue } }
  }

  func change(_ body: (inout [String: Record]) -> Void) { lock.withLock { body(&content) } }
}

/// A value that one thread at a time uses.
final class Locked<Value>: @unchecked Sendable {
  // Sendable: guarded by `lock`.
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&value) }
  }
}
