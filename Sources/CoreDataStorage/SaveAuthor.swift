import Foundation

/// The author of a save: what a store that keeps history writes beside each transaction.
package struct SaveAuthor: Sendable, Equatable {
  /// The name of the saving context.
  package var contextName: String?
  /// The context's `transactionAuthor`.
  package var author: String?
  package var bundleID: String
  package var processID: String

  package init(contextName: String? = nil, author: String? = nil) {
    self.contextName = contextName
    self.author = author
    (bundleID, processID) = (Self.bundle, Self.process)
  }

  private static let bundle: String = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
  private static let process: String = ProcessInfo.processInfo.processName
}
