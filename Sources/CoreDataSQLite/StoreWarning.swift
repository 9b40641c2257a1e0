import Foundation
import Synchronization

/// Warnings about a store on standard error, for places that can't throw.
package enum StoreWarning {
  package static func write(_ path: String, _ text: String) {
    FileHandle.standardError.write(Data("CoreData: warning: \(path) \(text)\n".utf8))
  }
}

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
