import CoreDataStorage
import Foundation

/// Warnings about persistent history when a store is opened, once for each store and fact (Decisions/0036).
package enum HistoryWarning {
  private static let issued = Guarded<Set<String>>([])

  /// The store keeps history, and the program did not ask for it.
  static func readOnly(_ url: URL) {
    warn(
      url,
      "was opened without NSPersistentHistoryTrackingKey, but it keeps persistent history. It is read-only, as Apple's "
        + "framework has it: changes would be missing from its history.")
  }

  /// The program asked for history, and the store keeps none.
  static func untracked(_ url: URL) {
    warn(
      url,
      "was opened with NSPersistentHistoryTrackingKey, but persistent history is not there yet: saves are kept, and "
        + "no history of them.")
  }

  /// The program asked for notifications of remote changes, and nothing posts them.
  package static func remoteChanges(_ url: URL) {
    warn(
      url,
      "was opened with NSPersistentStoreRemoteChangeNotificationPostOptionKey, but NSPersistentStoreRemoteChange is not "
        + "posted yet: fetch anew to see what others have saved.")
  }

  private static func warn(_ url: URL, _ text: String) {
    // A process may open hundreds of stores in memory.
    let path: String = SQLiteStoreFile.namesNoFile(url) ? "/dev/null" : url.path
    guard issued.withLock({ $0.insert(path + " " + text).inserted }) else { return }
    StoreWarning.write(path, text)
  }
}
