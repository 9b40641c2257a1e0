import Foundation

/// What is said on standard error about a store, where nothing can be thrown.
enum StoreWarning {
  static func say(_ path: String, _ text: String) {
    FileHandle.standardError.write(Data("CoreData: warning: \(path) \(text)\n".utf8))
  }
}
