import CoreDataModel
import Foundation

/// What a source compiles to.
struct Compilation {
  private enum Product {
    case file(Data)
    case folder([String: Data])
  }

  private let product: Product

  /// Reads and compiles. Warnings are written to standard error.
  init(of path: String) throws {
    let url = URL(fileURLWithPath: path)
    switch url.pathExtension {
    case "xcdatamodeld": product = .folder(try Self.package(url))
    case "xcdatamodel": product = .file(try Self.loaded(url).compiledData())
    case "xcmappingmodel": product = .file(try NSMappingModel.load(contentsOf: url).archivedData())
    default:
      throw ModelFileError(
        file: path,
        reason:
          "This is neither an .xcdatamodeld, nor an .xcdatamodel, nor an .xcmappingmodel; name one of these.")
    }
  }

  func write(to path: String) throws {
    switch product {
    case .file(let data): try OutputFile.write(data, to: path)
    case .folder(let files): try OutputFile.write(folder: files, to: path)
    }
  }

  private static func loaded(_ url: URL) throws -> NSManagedObjectModel {
    let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: url)
    for warning in loaded.warnings { ModelCompiler.report(Message.warning(warning)) }
    return loaded.model
  }

  /// All versions, and the list of them.
  private static func package(_ url: URL) throws -> [String: Data] {
    let current: LoadedModel = try NSManagedObjectModel.load(contentsOf: url)
    let versions: [String: LoadedModel] = try NSManagedObjectModel.loadVersions(contentsOf: url)
    var files: [String: Data] = [:]
    var hashes: [String: Any] = [:]
    var checksums: [String: Any] = [:]
    for (name, version) in versions.sorted(by: { $0.key < $1.key }) {
      for warning in version.warnings { ModelCompiler.report(Message.warning(warning)) }
      files["\(name).mom"] = try version.model.compiledData()
      hashes[name] = version.model.entityVersionHashesByName
      checksums[name] = version.model.versionChecksum
    }
    let info: [String: Any] = [
      "NSManagedObjectModel_CurrentVersionName":
        current.model.file?.deletingLastPathComponent().deletingPathExtension().lastPathComponent ?? "",
      "NSManagedObjectModel_VersionHashes": hashes, "NSManagedObjectModel_VersionChecksums": checksums,
    ]
    files["VersionInfo.plist"] = try PropertyListSerialization.data(
      fromPropertyList: info, format: .xml, options: 0)
    return files
  }
}
