import Foundation

/// The program's own values of an entity or a property, which may be set while other threads read them.
final class UserInfo: @unchecked Sendable {
  // Sendable: the dictionary is read and replaced under the lock only.

  private let lock = NSLock()
  private var stored: [AnyHashable: Any]? = [:]

  var value: [AnyHashable: Any]? {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
