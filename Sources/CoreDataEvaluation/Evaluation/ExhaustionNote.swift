import CoreDataPredicates
import Foundation

/// Says once per process that `evaluate(with:)`, which can't throw, gave up and returned false. Whether a
/// match ends depends on the text, which may come from outside: it must not stop the program.
enum ExhaustionNote {
  // `lock` guards `isPrinted`.
  nonisolated(unsafe) private static var isPrinted: Bool = false
  private static let lock: NSLock = .init()

  static func print(_ error: PredicateError) {
    let wasPrinted: Bool = lock.withLock {
      defer { isPrinted = true }
      return isPrinted
    }
    if wasPrinted { return }
    let text: String =
      "CoreData: \(error) The predicate counts as false. evaluateThrowing(with:) throws this. Said once.\n"
    FileHandle.standardError.write(Data(text.utf8))
  }
}
