import CoreDataArchives
import Foundation

/// What a source of Xcode's editor compiles to, complete in memory.
///
/// | source | compiled |
/// |---|---|
/// | `X.xcdatamodeld` | `X.momd`: a `.mom` for each version, and `VersionInfo.plist` |
/// | `X.xcdatamodel` | `X.mom` |
/// | `X.xcmappingmodel` | `X.cdm` |
///
/// There is no `.omo` (Decisions/0088).
package struct ModelCompilation {
  package enum Product: Sendable {
    case file(Data)
    /// A folder's files by name.
    case folder([String: Data])
  }

  package let product: Product
  /// The name of the source without its ending, with that of the compiled form.
  package let fileName: String
  /// Parts of the sources that were not read.
  package let warnings: [ModelWarning]

  /// Reads every version and compiles it. Throws ``ModelFileError``. Cost: linear in the sources.
  ///
  /// - Parameter module: the program's own module, for which the period of a name such as `.Item` stands
  ///   ("Current Product Module" in Xcode's editor). Without it the name stays as it is, and the class is
  ///   found by its name alone.
  package init(of url: URL, module: String? = nil) throws {
    let name: String = url.deletingPathExtension().lastPathComponent
    switch url.pathExtension {
    case "xcdatamodeld":
      let (files, warnings) = try Self.package(url, module)
      (product, self.warnings, fileName) = (.folder(files), warnings, "\(name).momd")
    case "xcdatamodel":
      let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: url)
      Self.name(module, in: loaded.model)
      (product, warnings) = (.file(try loaded.model.compiledData()), loaded.warnings)
      fileName = "\(name).mom"
    case "xcmappingmodel":
      product = .file(try NSMappingModel.load(contentsOf: url).archivedData())
      (warnings, fileName) = ([], "\(name).cdm")
    default:
      throw ModelFileError(
        file: url.relativePath,
        reason:
          "This is neither an .xcdatamodeld, nor an .xcdatamodel, nor an .xcmappingmodel; name one of these.")
    }
  }

  private static func name(_ module: String?, in model: NSManagedObjectModel) {
    guard let module else { return }
    for entity in model.entities {
      if let name = entity.storedClassName, name.hasPrefix(".") {
        entity.managedObjectClassName = module + name
      }
    }
  }

  private static func package(_ url: URL, _ module: String?) throws -> ([String: Data], [ModelWarning]) {
    // Reading it finds out whether the mark and the versions agree.
    _ = try ModelFileLocator.currentVersion(at: url)
    let versions: [String: LoadedModel] = try NSManagedObjectModel.loadVersions(contentsOf: url)
    var files: [String: Data] = [:]
    var warnings: [ModelWarning] = []
    var hashes: [String: PlistNode] = [:]
    var checksums: [String: PlistNode] = [:]
    for (name, version) in versions.sorted(by: { $0.key < $1.key }) {
      warnings += version.warnings
      Self.name(module, in: version.model)
      files["\(name).mom"] = try version.model.compiledData()
      hashes[name] = .dictionary(version.model.entityVersionHashesByName.mapValues { .data($0) })
      checksums[name] = .string(version.model.versionChecksum)
    }
    var list: [String: PlistNode] = [
      "NSManagedObjectModel_VersionHashes": .dictionary(hashes),
      "NSManagedObjectModel_VersionChecksums": .dictionary(checksums),
    ]
    // As in Apple's lists: a package that marks no version, since it has only one, names none. A mark of
    // another than the only one is one of the past.
    if let marked = try? ModelFileLocator.currentVersionName(at: url),
      let name = versions[marked] == nil ? versions.keys.first : marked
    {
      list["NSManagedObjectModel_CurrentVersionName"] = .string(name)
    }
    // This writer orders keys, so that equal sources give equal bytes.
    files[CompiledFile.versionInfo] = BinaryPlistWriter.write(.dictionary(list))
    return (files, warnings)
  }

  /// Writes the product, if it differs from what is at the path; see ``CompiledFile``.
  /// Returns whether anything was written.
  @discardableResult
  package func write(to url: URL) throws -> Bool {
    switch product {
    case .file(let data): try CompiledFile.write(data, to: url)
    case .folder(let files): try CompiledFile.write(folder: files, to: url)
    }
  }
}
