import Foundation

/// A replacement of a store's contents that takes time to prepare, such as a migration: begun before the
/// contents are read, and completed only if nobody has saved since.
///
///     let replacement = try kind.beginReplacement(at: url, options: options)
///     defer { replacement.end() }
///     … a new store is made of what is read at `url` …
///     try replacement.complete(with: made)
package protocol StoreReplacement: AnyObject {
  /// Replaces the contents by those of another store of the same kind. Under the lock under which they are
  /// written it is checked first that nothing was saved since the replacement was begun; if something was,
  /// throws `StoreError.savedByOthers`, and for another file `.fileChanged`, with the contents as they are.
  func complete(with source: URL) throws
  /// Throws the same errors if something was saved up to now, or another file put in the place.
  func requireUnchanged() throws
  /// Closes what is open. The file must not be opened and closed by other means than SQLite's before.
  func end()
}
