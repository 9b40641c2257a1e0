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
        .map { String($0.dropLast(Self.ending.count)) }
        .sorted(by: VersionNames.areInOrder)
        .map { url.appendingPathComponent($0 + Self.ending) }
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
    guard let folder = versionFolders.first(where: { Self.name(of: $0) == name }) ?? identified(name) else {
      let known: String = versions.map { "'\($0)'" }.joined(separator: ", ")
      throw ModelFileError(
        file: url.relativePath, reason: "There is no version '\(name)'. It has \(known).")
    }
    return folder.appendingPathComponent("contents")
  }

  /// The one version that has this identifier, as stores and other tools tell it.
  private func identified(_ identifier: String) -> URL? {
    // Versions of which nobody has chosen one have an empty one.
    if identifier.isEmpty { return nil }
    let found: [URL] = (versionFolders ?? []).filter { folder in
      let model: NSManagedObjectModel? = try? NSManagedObjectModel.load(contentsOf: folder).model
      return model?.versionIdentifiers.contains(identifier) == true
    }
    return found.count == 1 ? found[0] : nil
  }

  /// The version that is marked as the current one, or the only one. As for programs, the mark of a package
  /// with one version says nothing.
  package func currentVersion() throws -> String {
    if versions.count == 1 { return versions[0] }
    let mark: CurrentVersion? = (try? Data(contentsOf: currentFile)).flatMap { CurrentVersion($0) }
    if let mark, versions.contains(mark.name) { return mark.name }
    let reason: String
    if versions.isEmpty {
      reason = "It has no version inside; is it the right folder?"
    } else {
      let known: String = versions.map { "'\($0)'" }.joined(separator: ", ")
      let cure: String =
        "Name one of \(known) with --model-version, or with --from for a new version, which is marked then."
      reason =
        mark.map { "Its file .xccurrentversion names the version '\($0.name)', which is not there. \(cure)" }
        ?? "None of its versions is marked as the current one. \(cure)"
    }
    throw ModelFileError(file: url.relativePath, reason: reason)
  }

  /// The name of the version that follows one: `Shop 2` after `Shop`, `V4` after `V3`. It counts on from the
  /// highest number that a version of the same series has.
  package func nextVersion(after version: String) -> String {
    let series: VersionSeries = VersionSeries(version)
    let numbers: [Int] = versions.map { VersionSeries($0) }
      .filter { $0.stem.lowercased() == series.stem.lowercased() }.map(\.number)
    return series.name(of: (numbers.max() ?? series.number) + 1)
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
    let isMarked: Bool = current.flatMap { CurrentVersion($0) }.map { versions.contains($0.name) } ?? false
    if !isMarked, versions.count == 1 {
      // A package of two versions needs the mark, also if what follows does not come to an end.
      current = CurrentVersion(name: versions[0]).data(replacing: current)
      try FileReplacement.write(current ?? Data(), to: currentFile)
    }
    try make(url.appendingPathComponent(name + Self.ending)) { folder in
      let files = FileManager.default
      try files.copyItem(at: source, to: folder)
      // What Foundation leaves where a program ended within a write.
      for name in try files.contentsOfDirectory(atPath: folder.path) where name.hasPrefix(".dat.nosync") {
        try files.removeItem(at: folder.appendingPathComponent(name))
      }
    }
    try FileReplacement.write(CurrentVersion(name: name).data(replacing: current), to: currentFile)
  }

  /// Whether a model or a version can have the name: it is that of a file, and stands in messages and plists.
  package static func checkName(_ name: String, file: String) throws {
    let isPlain: Bool = name.unicodeScalars.allSatisfy {
      // A byte order mark is no part of a text for those who read it first.
      $0 != "/" && $0 != "\u{FEFF}" && $0.properties.generalCategory != .control
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

/// The name of a version as one of a series: a beginning and a number.
///
/// | name | stem | number |
/// |---|---|---:|
/// | `Shop` | `Shop ` | 1 |
/// | `Shop 2` | `Shop ` | 2 |
/// | `V03` | `V` | 3, in two digits |
private struct VersionSeries {
  let stem: String
  let number: Int
  private let digitCount: Int

  init(_ name: String) {
    let digits = String(name.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
    // A number beyond all counting is a name like any other.
    guard let number = Int(digits), number < Int.max else {
      (stem, number, digitCount) = ("\(name) ", 1, 0)
      return
    }
    (stem, self.number, digitCount) = (String(name.dropLast(digits.count)), number, digits.count)
  }

  func name(of number: Int) -> String {
    let digits: String = "\(number)"
    return stem + String(repeating: "0", count: max(0, digitCount - digits.count)) + digits
  }
}
