import CoreDataPredicates
import Foundation

/// A model read from a file, and the parts of the file that were not read.
public struct LoadedModel: Sendable {
  public let model: NSManagedObjectModel
  /// Unknown elements and keys. Empty for files of the known compilers and editors.
  public let warnings: [ModelWarning]

  package init(model: NSManagedObjectModel, warnings: [ModelWarning]) {
    self.model = model
    self.warnings = warnings
  }
}

extension NSManagedObjectModel {
  /// Reads a model, compiled or source.
  ///
  /// | path | what is read |
  /// |---|---|
  /// | `X.momd` | the version that `VersionInfo.plist` names as current; the only one if there is one |
  /// | `X.mom` | that version |
  /// | `X.xcdatamodeld` | the version that `.xccurrentversion` names; the only one if there is one |
  /// | `X.xcdatamodel`, its `contents` | that version |
  ///
  /// Packages copy source models: for a missing `.momd` or `.mom` the `.xcdatamodeld` or `.xcdatamodel` of
  /// that name is read, if it exists.
  ///
  /// Throws ``ModelFileError`` with file, line where there are lines, reason and solution. Queue: any. Cost:
  /// linear in the file.
  public static func load(contentsOf url: URL) throws -> LoadedModel {
    let file = try ModelFileLocator.currentVersion(at: ModelFileLocator.existing(url))
    return try read(file)
  }

  /// Reads every version of a `.momd` or `.xcdatamodeld`, by version name. Throws as ``load(contentsOf:)``.
  public static func loadVersions(contentsOf url: URL) throws -> [String: LoadedModel] {
    try ModelFileLocator.versions(at: ModelFileLocator.existing(url)).mapValues(read)
  }

  /// The versions of a package that can be read, and the errors of the others: a history that began with
  /// Xcode 3 has versions that nothing reads any more. Throws if there is no such package.
  package static func readableVersions(contentsOf url: URL) throws -> (
    versions: [String: LoadedModel], errors: [any Error]
  ) {
    var versions: [String: LoadedModel] = [:]
    var errors: [any Error] = []
    let files: [String: ModelFile] = try ModelFileLocator.versions(at: ModelFileLocator.existing(url))
    for (name, file) in files.sorted(by: { VersionNames.areInOrder($0.key, $1.key) }) {
      do { versions[name] = try read(file) } catch { errors.append(error) }
    }
    return (versions, errors)
  }

  /// Reads the bytes of the `contents` file of an `.xcdatamodel`; `file` is named by errors.
  package static func load(source data: Data, file: String) throws -> LoadedModel {
    let (model, warnings) = try ModelSourceReader.read(data, file: file)
    return LoadedModel(model: model, warnings: warnings)
  }

  private static func read(_ file: ModelFile) throws -> LoadedModel {
    try file.refuseXcode3()
    let data: Data
    do {
      data = try ModelFileLocator.contents(of: file.url)
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(
        file: file.url.path, reason: "The file can't be read: \(ErrorMessage.reason(of: error))")
    }
    let (model, warnings) =
      switch file.kind {
      case .source: try ModelSourceReader.read(data, file: file.url.path)
      case .compiled: try ModelArchiveReader.read(data, file: file.url.path)
      }
    model.file = file.url
    if file.kind == .compiled { ModelFileLocator.takeRecordedHashes(into: model, from: file.url) }
    return LoadedModel(model: model, warnings: warnings)
  }

  /// A model from a `.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`; nil if it can't be read.
  /// ``load(contentsOf:)`` throws the reason.
  public convenience init?(contentsOf url: URL) {
    guard let loaded = try? NSManagedObjectModel.load(contentsOf: url) else { return nil }
    self.init()
    adopt(loaded.model)
  }
}

struct ModelFile {
  enum Kind {
    case source
    case compiled
  }

  var url: URL
  var kind: Kind

  /// Xcode 3 kept a model as two archives of its editor's classes, `elements` and `layout`.
  func refuseXcode3() throws {
    let folder = url.deletingLastPathComponent()
    guard kind == .source, !FileManager.default.fileExists(atPath: url.path) else { return }
    if FileManager.default.fileExists(atPath: folder.appendingPathComponent("elements").path) {
      throw ModelFileError(
        file: folder.path,
        reason: """
          This model is in the format of Xcode 3 (files 'elements' and 'layout'), an archive of that editor's private classes. \
          Open and save it once with Xcode 4 or later, or use a compiled .mom of it.
          """)
    }
    throw ModelFileError(
      file: folder.path, reason: "There is no file 'contents' inside; restore it from version control.")
  }
}

/// Finds the file that holds a version of a model.
enum ModelFileLocator {
  static func currentVersion(at url: URL) throws -> ModelFile {
    switch url.pathExtension {
    case "momd", "xcdatamodeld":
      let all = try versions(at: url)
      if all.count == 1, let only = all.first { return only.value }
      let name = try currentVersionName(at: url)
      guard let name else {
        throw ModelFileError(
          file: url.path,
          reason: """
            It has \(all.count) versions (\(all.keys.sorted().joined(separator: ", "))) and none is marked as current; \
            name one of them instead.
            """)
      }
      guard let file = all[name] else {
        throw ModelFileError(
          file: url.path,
          reason: """
            The current version is '\(name)', which is not among its versions \
            (\(all.keys.sorted().joined(separator: ", "))).
            """)
      }
      return file
    case "xcdatamodel": return try sourceFile(in: url)
    case "mom":
      guard PathKind(url) == .file else { throw missing(url) }
      return ModelFile(url: url, kind: .compiled)
    case "omo":
      throw ModelFileError(
        file: url.path, reason: "An .omo file is a copy of the .mom beside it; open the .mom.")
    default:
      if url.lastPathComponent == "contents" {
        guard PathKind(url) == .file else { throw missing(url) }
        return ModelFile(url: url, kind: .source)
      }
      guard PathKind(url) != .nothing else { throw missing(url) }
      throw ModelFileError(
        file: url.path,
        reason: "A model is a .momd, .mom, .xcdatamodeld or .xcdatamodel; this is none of them.")
    }
  }

  /// The versions of a package, by name. For a single file, that file.
  static func versions(at url: URL) throws -> [String: ModelFile] {
    let suffix: String
    switch url.pathExtension {
    case "momd": suffix = "mom"
    case "xcdatamodeld": suffix = "xcdatamodel"
    default: return [url.deletingPathExtension().lastPathComponent: try currentVersion(at: url)]
    }
    guard PathKind(url) == .folder else { throw missing(url) }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    } catch {
      throw ModelFileError(
        file: url.path, reason: "The folder can't be read: \(ErrorMessage.reason(of: error))")
    }
    var result: [String: ModelFile] = [:]
    for name in names where name.hasSuffix(".\(suffix)") && !name.hasPrefix("._") {
      let child = url.appendingPathComponent(name)
      result[String(name.dropLast(suffix.count + 1))] =
        suffix == "mom" ? ModelFile(url: child, kind: .compiled) : sourceCandidate(in: child)
    }
    guard !result.isEmpty else {
      throw ModelFileError(file: url.path, reason: "It has no .\(suffix) inside; is it the right folder?")
    }
    // Versions of the Xcode 3 format stay listed, so that reading one throws an explained error.
    return result
  }

  private static func sourceCandidate(in url: URL) -> ModelFile {
    ModelFile(url: url.appendingPathComponent("contents"), kind: .source)
  }

  private static func sourceFile(in url: URL) throws -> ModelFile {
    guard PathKind(url) == .folder else { throw missing(url) }
    return sourceCandidate(in: url)
  }

  /// The version that the package marks as current; nil if it marks none.
  static func currentVersionName(at url: URL) throws -> String? {
    let isCompiled = url.pathExtension == "momd"
    let file = url.appendingPathComponent(isCompiled ? "VersionInfo.plist" : ".xccurrentversion")
    guard PathKind(file) == .file else { return nil }
    let key = isCompiled ? "NSManagedObjectModel_CurrentVersionName" : "_XCCurrentVersionName"
    do {
      guard let name = try propertyList(file)[key] as? String else { return nil }
      return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
    } catch let error as ModelFileError {
      throw error
    } catch let error as PropertyListValues.Failure {
      throw ModelFileError(
        file: file.path, reason: "This is not a readable property list: \(error.description).")
    } catch {
      throw ModelFileError(file: file.path, reason: "This is not a readable property list.")
    }
  }

  /// Records the version hashes that a `.momd` lists for a version of it. An unreadable list is ignored: the
  /// model is complete without it.
  static func takeRecordedHashes(into model: NSManagedObjectModel, from url: URL) {
    if model.storedEntities.allSatisfy(\.hashIsComputable) { return }
    let info: URL = url.deletingLastPathComponent().appendingPathComponent("VersionInfo.plist")
    let lists: Any? = try? propertyList(info)["NSManagedObjectModel_VersionHashes"]
    let name: String = url.deletingPathExtension().lastPathComponent
    if let hashes = (lists as? [String: [String: Data]])?[name] { model.record(versionHashes: hashes) }
  }

  /// The bytes of a file that no store has open.
  static func contents(of url: URL) throws -> Data {
    if StoreFileMark.isSet(path: url.path) {
      throw ModelFileError(
        file: url.path,
        reason: """
          This is the file of a store that this process has open, and opening it would give up the store's locks. The model of a store \
          comes from NSPersistentStoreCoordinator.cachedModelForPersistentStore(at:).
          """)
    }
    return try Data(contentsOf: url)
  }

  private static func propertyList(_ file: URL) throws -> [String: Any] {
    try PropertyListValues.dictionary(from: contents(of: file))
  }

  private static func missing(_ url: URL) -> ModelFileError {
    let source: String? = sourceExtension(of: url.pathExtension)
    return ModelFileError(
      file: url.path,
      reason:
        "There is nothing here that could be a model\(source.map { ", nor a .\($0) of that name" } ?? ""); check the path."
    )
  }
}

/// What is at a path.
enum PathKind {
  case nothing, file, folder

  init(_ url: URL) {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
      self = isFolder.boolValue ? .folder : .file
    } else {
      self = .nothing
    }
  }
}
