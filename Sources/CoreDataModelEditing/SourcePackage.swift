import CoreDataModel
import CoreDataPredicates
import Foundation

/// An `.xcdatamodeld`, or a single `.xcdatamodel`, whose files are edited.
package struct SourcePackage: Sendable {
  package let url: URL
  /// Nil for a single version.
  private let versionFolders: [URL]?

  /// - Throws: ``ModelFileError`` for anything but the source of a model.
  package init(at url: URL) throws {
    self.url = url
    switch url.pathExtension {
    case "xcdatamodel":
      versionFolders = nil
    case "xcdatamodeld":
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: url.path)
      } catch {
        throw ModelFileError(
          file: url.relativePath, reason: "The folder can't be read: \(ErrorMessage.reason(of: error))")
      }
      versionFolders = names.filter { $0.hasSuffix(Self.ending) && !$0.hasPrefix(".") }
        .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        .map { url.appendingPathComponent($0) }
    default:
      if url.lastPathComponent == "contents" {
        versionFolders = nil
        return
      }
      throw ModelFileError(
        file: url.relativePath,
        reason:
          "Only the source of a model can be edited, an .xcdatamodeld or .xcdatamodel. `clarus model decompile` "
          + "makes one of a compiled model, `clarus model from-store` of a store.")
    }
  }

  private static let ending: String = ".xcdatamodel"

  package var versions: [String] { (versionFolders ?? []).map { Self.name(of: $0) } }

  private static func name(of folder: URL) -> String {
    String(folder.lastPathComponent.dropLast(ending.count))
  }

  private var currentFile: URL { url.appendingPathComponent(".xccurrentversion") }

  /// The `contents` file of a version, or of the current one.
  package func contents(of version: String?) throws -> URL {
    guard let versionFolders else {
      if let version, version != Self.name(of: url) {
        throw ModelFileError(
          file: url.relativePath, reason: "It is one version, so there is no version '\(version)' in it.")
      }
      return url.lastPathComponent == "contents" ? url : url.appendingPathComponent("contents")
    }
    let name: String = try version ?? currentVersion()
    guard let folder = versionFolders.first(where: { Self.name(of: $0) == name }) else {
      let known: String = versions.map { "'\($0)'" }.joined(separator: ", ")
      throw ModelFileError(
        file: url.relativePath, reason: "There is no version '\(name)'. It has \(known).")
    }
    return folder.appendingPathComponent("contents")
  }

  package func currentVersion() throws -> String {
    if let data = try? Data(contentsOf: currentFile), let current = CurrentVersion(data) {
      return current.name
    }
    if versions.count == 1 { return versions[0] }
    throw ModelFileError(
      file: url.relativePath,
      reason: versions.isEmpty
        ? "It has no version inside; is it the right folder?"
        : "None of its versions is marked as the current one; name one.")
  }

  /// The name that the editor would give to the next version.
  package func nextVersion() -> String {
    let stem: String = url.deletingPathExtension().lastPathComponent
    let taken: Set<String> = Set(versions.map { $0.lowercased() })
    return (2...).lazy.map { "\(stem) \($0)" }.first { !taken.contains($0.lowercased()) } ?? stem
  }

  /// Copies a version, with all that its folder has, and makes the copy the current one.
  ///
  /// `make` puts what it is called with into a new folder at the place, at once or not at all.
  ///
  /// - Throws: ``ModelFileError`` for a name that is taken or can't be a file's, and what `make` throws.
  package func addVersion(
    _ name: String, copying version: String?, make: (URL, (URL) throws -> Void) throws -> Void
  ) throws {
    guard versionFolders != nil else {
      throw ModelFileError(
        file: url.relativePath, reason: "A single .xcdatamodel has no versions; only an .xcdatamodeld has.")
    }
    try Self.checkName(name, file: url.relativePath)
    if versions.contains(where: { $0.lowercased() == name.lowercased() }) {
      throw ModelFileError(
        file: url.relativePath, reason: "There is a version '\(name)' already; choose another name.")
    }
    let source: URL = try contents(of: version).deletingLastPathComponent()
    // A version that can't be read is no beginning.
    _ = try NSManagedObjectModel.load(contentsOf: source)
    var current: Data? = try? Data(contentsOf: currentFile)
    if current == nil, versions.count == 1 {
      // A package of two versions needs the mark, also if what follows does not come to an end.
      current = CurrentVersion(name: versions[0]).data
      try Self.replace(currentFile, with: current ?? Data())
    }
    try make(url.appendingPathComponent(name + Self.ending)) { folder in
      try FileManager.default.copyItem(at: source, to: folder)
    }
    try Self.replace(currentFile, with: CurrentVersion(name: name).data(replacing: current))
  }

  /// Writes a file at once or not at all. The file that a link leads to is replaced, not the link, and the
  /// new file has the permissions of the old one.
  package static func replace(_ file: URL, with data: Data) throws {
    let place: URL = file.resolvingSymlinksInPath()
    let files = FileManager.default
    let permissions: Any? = try? files.attributesOfItem(atPath: place.path)[.posixPermissions]
    do {
      try data.write(to: place, options: .atomic)
      if let permissions {
        try files.setAttributes([.posixPermissions: permissions], ofItemAtPath: place.path)
      }
    } catch {
      throw ModelFileError(
        file: file.relativePath, reason: "The file can't be written: \(ErrorMessage.reason(of: error))")
    }
  }

  /// Whether a model or a version can have the name: it is that of a file, and stands in messages and plists.
  package static func checkName(_ name: String, file: String) throws {
    let isPlain: Bool = name.unicodeScalars.allSatisfy {
      $0 != "/" && $0.properties.generalCategory != .control
        && $0.properties.generalCategory != .lineSeparator
        && $0.properties.generalCategory != .paragraphSeparator
    }
    guard !name.isEmpty, !name.hasPrefix("."), isPlain, name.utf8.count <= 200 else {
      throw ModelFileError(
        file: file,
        reason:
          "'\(name)' can't be the name of a model: it is the name of a file of up to 200 bytes that does not begin "
          + "with a dot.")
    }
  }
}
