import Foundation

extension StoreError {
  /// The same error with another folder, or file, in its paths and texts.
  package func renaming(_ old: String, to new: String) -> StoreError {
    func text(_ text: String) -> String { text.replacingOccurrences(of: old, with: new) }
    func place(_ url: URL) -> URL {
      url.isFileURL && url.path.hasPrefix(old) ? URL(fileURLWithPath: text(url.path)) : url
    }
    switch self {
    case .conflicts, .uniqueness, .unsupported, .invalid, .unknownKeyPath, .unsupportedModel,
      .unwritableValue, .closed:
      return self
    case .invalidFile(let url, let reason): return .invalidFile(url: place(url), reason: text(reason))
    case .incompatibleModel(let url, let mismatch): return .incompatibleModel(url: place(url), mismatch)
    case .readOnly(let url, let reason): return .readOnly(url: url.map(place), reason)
    case .historyKept(let url): return .historyKept(url: place(url))
    case .fileChanged(let url, let path): return .fileChanged(url: place(url), path: text(path))
    case .savedByOthers(let url): return .savedByOthers(url: place(url))
    case .missingValue(let url, let property, let row, let path, let reason, let folder, let isForbidden):
      return .missingValue(
        url: place(url), property: property, row: row, path: text(path), reason: text(reason),
        folder: folder, isForbidden: isForbidden)
    case .inUse(let url): return .inUse(url: place(url))
    case .file(let url, let operation, let code):
      return .file(url: place(url), operation: operation, code: code)
    case .migration(let url, let problem): return .migration(url: place(url), problem)
    case .database(let code, let message, let sql, let url):
      return .database(code: code, message: text(message), sql: sql, url: url.map(place))
    }
  }
}
