import Foundation

/// Errors of work at another place than the one that is meant, with the names of that one.
package enum ErrorRenaming {
  /// The same error with `rename` applied to its texts and paths: to those of stores, and of the system's and
  /// Foundation's errors with all that is in their user info. Domains and codes stay. Errors of other types
  /// are returned as they are.
  package static func renamed(_ error: any Error, _ rename: (String) -> String) -> any Error {
    if let error = error as? StoreError { return error.renaming(rename) }
    func values(_ info: [String: Any]) -> [String: Any] { info.mapValues { value($0, rename) } }
    // Types are compared: a cast on Linux makes a CocoaError of an NSError of any domain, and an NSError of
    // every error. An error of a Swift type has to stay one for those who catch it.
    let type: any Error.Type = Swift.type(of: error)
    if type is NSError.Type {
      let error = error as NSError
      return NSError(domain: error.domain, code: error.code, userInfo: values(error.userInfo))
    }
    if type == CocoaError.self, let error = error as? CocoaError {
      return CocoaError(error.code, userInfo: values(error.userInfo))
    }
    if type == POSIXError.self, let error = error as? POSIXError {
      return POSIXError(error.code, userInfo: values(error.userInfo))
    }
    return error
  }

  private static func value(_ value: Any, _ rename: (String) -> String) -> Any {
    switch value {
    case let text as String: return rename(text)
    case let url as URL: return place(url, rename)
    case let error as any Error: return renamed(error, rename)
    case let list as [any Error]: return list.map { renamed($0, rename) }
    default: return value
    }
  }

  fileprivate static func place(_ url: URL, _ rename: (String) -> String) -> URL {
    guard url.isFileURL, rename(url.path) != url.path else { return url }
    return URL(fileURLWithPath: rename(url.path))
  }
}

extension StoreError {
  /// The same error with `rename` applied to its paths and texts.
  package func renaming(_ rename: (String) -> String) -> StoreError {
    func place(_ url: URL) -> URL { ErrorRenaming.place(url, rename) }
    switch self {
    case .conflicts, .uniqueness, .unsupported, .invalid, .unknownKeyPath, .unsupportedModel,
      .unwritableValue, .closed:
      return self
    case .duplicates(let url, let entity, let constraint, let values, let objects):
      return .duplicates(
        url: url.map { place($0) }, entity: entity, constraint: constraint, values: values, objects: objects)
    case .invalidFile(let url, let reason, let cure):
      return .invalidFile(url: place(url), reason: rename(reason), cure: cure)
    case .incompatibleModel(let url, let mismatch): return .incompatibleModel(url: place(url), mismatch)
    case .readOnly(let url, let reason): return .readOnly(url: url.map { place($0) }, reason)
    case .historyKept(let url): return .historyKept(url: place(url))
    case .fileChanged(let url, let path): return .fileChanged(url: place(url), path: rename(path))
    case .savedByOthers(let url): return .savedByOthers(url: place(url))
    case .missingValue(let url, let property, let row, let path, let reason, let folder, let isForbidden):
      return .missingValue(
        url: place(url), property: property, row: row, path: rename(path), reason: rename(reason),
        folder: folder, isForbidden: isForbidden)
    case .inUse(let url): return .inUse(url: place(url))
    case .file(let url, let operation, let code):
      return .file(url: place(url), operation: rename(operation), code: code)
    case .migration(let url, let problem): return .migration(url: place(url), problem)
    case .database(let code, let message, let sql, let url):
      return .database(code: code, message: rename(message), sql: sql, url: url.map { place($0) })
    }
  }
}
