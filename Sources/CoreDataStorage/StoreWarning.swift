import Foundation

/// Warnings about a store on standard error, for places that can't throw.
package enum StoreWarning {
  package static func write(_ path: String, _ text: String) {
    FileHandle.standardError.write(Data("CoreData: warning: \(path) \(text)\n".utf8))
  }
}
