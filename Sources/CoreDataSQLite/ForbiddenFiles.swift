import CoreDataStorage
import Synchronization

/// Warnings about files of values that the process may not read, one for each file.
enum ForbiddenFiles {
  private static let named = Mutex<Set<String>>([])
  private static let mostNamed: Int = 100

  static func warn(_ problem: ExternalFile.Problem) {
    let isNew: Bool = named.withLock { $0.count < mostNamed && $0.insert(problem.path).inserted }
    if !isNew { return }
    StoreWarning.write(
      problem.path,
      "can't be read, and its value reads as nil: \(problem.reason) Give this user permission to read it (chmod, chown)."
    )
  }
}
