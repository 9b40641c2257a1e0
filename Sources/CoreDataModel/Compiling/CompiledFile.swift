import CoreDataArchives
import CoreDataPredicates
import Foundation

/// Writes compiled models and mapping models, and never over anything else.
///
/// What is written appears complete or not at all. What has not changed is not written again, so that a build
/// that looks at times of files does no more than needed; a folder is made anew when one of its files
/// differs, because builds look at the folder's own time.
package enum CompiledFile {
  static let versionInfo = "VersionInfo.plist"

  /// A `.mom` or `.cdm`. Returns whether it was written.
  package static func write(_ contents: Data, to url: URL) throws -> Bool {
    switch PathKind(url) {
    case .nothing: break
    case .folder: throw occupied(url, "There is a folder, not a compiled file.")
    case .file:
      let present: Data = try read(url)
      if present == contents { return false }
      guard isCompiled(present) else {
        throw occupied(url, "The file there is no compiled model or mapping model.")
      }
    }
    try reporting(url) {
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try contents.write(to: url, options: .atomic)
    }
    return true
  }

  /// A `.momd` with these files and no others. Returns whether it was written.
  package static func write(folder files: [String: Data], to url: URL) throws -> Bool {
    // Two builds may write one folder at once; the second finds the first's.
    var attempt: Int = 1
    while true {
      do {
        return try exchange(folder: files, url)
      } catch let interference as Interference {
        if attempt == 5 { throw failure(url, interference.error) }
      }
      attempt += 1
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  /// What fails where somebody else changes the place at the same time, and succeeds a moment later.
  private struct Interference: Error {
    let error: any Error
  }

  private static func exchange(folder files: [String: Data], _ url: URL) throws -> Bool {
    let manager = FileManager.default
    let present: PathKind = PathKind(url)
    switch present {
    case .nothing: break
    case .file: throw occupied(url, "There is a file, not a compiled model.")
    case .folder:
      let names: [String]
      do {
        names = try manager.contentsOfDirectory(atPath: url.path)
      } catch {
        throw Interference(error: error)
      }
      let isSame: Bool =
        Set(names) == Set(files.keys)
        && files.allSatisfy { (try? Data(contentsOf: url.appendingPathComponent($0.key))) == $0.value }
      if isSame { return false }
      if let name = names.sorted().first(where: { !isPart(url.appendingPathComponent($0)) }) {
        throw occupied(url, "The folder there has '\(name)', which is no part of a compiled model.")
      }
    }
    let parent: URL = url.deletingLastPathComponent()
    // Beside the place, so that renaming is enough; hidden, so that nothing takes it for a model.
    let made: URL = parent.appendingPathComponent(".\(url.lastPathComponent).new-\(UUID().uuidString)")
    let old: URL = made.appendingPathExtension("old")
    defer {
      try? manager.removeItem(at: made)
      try? manager.removeItem(at: old)
    }
    try reporting(url) {
      try manager.createDirectory(at: made, withIntermediateDirectories: true)
      for (name, contents) in files { try contents.write(to: made.appendingPathComponent(name)) }
    }
    do {
      guard present == .folder else {
        try manager.moveItem(at: made, to: url)
        return true
      }
      // No call that all platforms have exchanges two folders. A process that ends between the two calls
      // leaves no folder, which the next run makes.
      try manager.moveItem(at: url, to: old)
      do {
        try manager.moveItem(at: made, to: url)
      } catch {
        try? manager.moveItem(at: old, to: url)
        throw error
      }
    } catch {
      throw Interference(error: error)
    }
    return true
  }

  private static func isPart(_ url: URL) -> Bool {
    let isNamedSo: Bool =
      ["mom", "omo"].contains(url.pathExtension) || url.lastPathComponent == versionInfo
      // What Finder and network file systems leave behind.
      || url.lastPathComponent == ".DS_Store" || url.lastPathComponent.hasPrefix("._")
    // What is gone in the meantime is in nobody's way.
    return isNamedSo && PathKind(url) != .folder
  }

  /// Whether the bytes are the archive of a model or a mapping model.
  private static func isCompiled(_ data: Data) -> Bool {
    guard let archive = try? KeyedArchive(data), let index = try? archive.index(archive.top["root"]),
      let root = try? archive.record(at: index)
    else { return false }
    return root.isKind(of: "NSManagedObjectModel") || root.isKind(of: "NSMappingModel")
  }

  // MARK: Places

  private static func read(_ url: URL) throws -> Data {
    let kind: FileAttributeType? =
      (try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path))?[.type]
      as? FileAttributeType
    // Reading a pipe waits for somebody to write into it.
    guard kind == .typeRegular else { throw occupied(url, "What is there is no regular file.") }
    do {
      return try ModelFileLocator.contents(of: url)
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw failure(url, error)
    }
  }

  private static func occupied(_ url: URL, _ reason: String) -> ModelFileError {
    ModelFileError(
      file: url.relativePath,
      reason: "\(reason) It is not replaced. Give another place, or remove it first.")
  }

  private static func failure(_ url: URL, _ error: any Error) -> ModelFileError {
    ModelFileError(
      file: url.relativePath, reason: "The file can't be written: \(ErrorMessage.reason(of: error))")
  }

  private static func reporting(_ url: URL, _ body: () throws -> Void) throws {
    do { try body() } catch { throw failure(url, error) }
  }
}
