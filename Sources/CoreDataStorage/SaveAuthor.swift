import Foundation

/// The author of a save: what a store that keeps history writes beside each transaction.
package struct SaveAuthor: Sendable, Equatable {
  /// The name of the saving context.
  package var contextName: String?
  /// The context's `transactionAuthor`.
  package var author: String?

  package init(contextName: String? = nil, author: String? = nil) {
    self.contextName = contextName
    self.author = author
  }

  /// The bundle and the process that save. Determined at the first use.
  package static let bundleID: String =
    Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
  package static let processID: String = ProcessInfo.processInfo.processName
}
