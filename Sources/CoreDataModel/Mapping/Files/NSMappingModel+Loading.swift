import CoreDataPredicates
import Foundation

extension NSMappingModel {
  /// Reads a mapping model, compiled (`.cdm`) or the editor's (`.xcmappingmodel`, its `xcmapping.xml`). For a
  /// missing `.cdm` the `.xcmappingmodel` of that name is read, if it exists.
  ///
  /// The editor's form does not say everything that a compiled one does: the models that it names must be
  /// found beside it, or in a folder above. ``load(contentsOf:forSourceModel:destinationModel:)`` needs no
  /// files of them.
  ///
  /// Throws ``ModelFileError`` with file, reason and what to do. Queue: any. Cost: linear in the files.
  public static func load(contentsOf url: URL) throws -> NSMappingModel {
    try load(contentsOf: url, modelsBeside: [])
  }

  /// The same, where the models may also lie where other files do: `places` are those of models that the user
  /// named.
  package static func load(contentsOf url: URL, modelsBeside places: [URL]) throws -> NSMappingModel {
    switch try MappingFile(at: url) {
    case .compiled(let model): return model.read(from: url)
    case .editor(let editor, let file):
      let models: [NSManagedObjectModel] = try [
        (editor.sourcePath, "source"), (editor.destinationPath, "destination"),
      ].map { path, side in
        let found: NSManagedObjectModel? = path.flatMap { path in
          ([url] + places).lazy.compactMap { MappedModels.find(path, near: $0) }.first
        }
        guard let found else {
          let others: String = places.map { ", nor beside \($0.relativePath)" }.joined()
          throw ModelFileError(
            file: file,
            reason: """
              The \(side) model that it was made for, \(path ?? "which it does not name"), is neither beside it nor in a folder \
              above\(others). Keep the .xcdatamodeld with it, use a compiled mapping model (.cdm), or name both models when \
              loading.
              """)
        }
        return found
      }
      return try MappingCompiler(editor, source: models[0], destination: models[1], file: file).model()
        .read(from: MappingFile.package(of: file))
    }
  }

  /// Reads a mapping model that is for these two models. Throws as ``load(contentsOf:)``, also if it names
  /// entities that they don't have.
  public static func load(
    contentsOf url: URL, forSourceModel source: NSManagedObjectModel,
    destinationModel destination: NSManagedObjectModel
  ) throws -> NSMappingModel {
    switch try MappingFile(at: url) {
    case .compiled(let model):
      if let misfit = model.misfit(source, destination) {
        throw ModelFileError(file: url.path, reason: "It is for other versions of the models: \(misfit)")
      }
      return model.read(from: url)
    case .editor(let editor, let file):
      return try MappingCompiler(editor, source: source, destination: destination, file: file).model()
        .read(from: MappingFile.package(of: file))
    }
  }

  private final func read(from url: URL) -> NSMappingModel {
    file = url
    return self
  }

  /// A mapping model from a `.cdm` or `.xcmappingmodel`; nil if it can't be read, for which
  /// ``load(contentsOf:)`` throws the reason.
  /// Apple's page: <https://developer.apple.com/documentation/coredata/nsmappingmodel/init(contentsof:)>
  public convenience init?(contentsOf url: URL?) {
    guard let url, let model = try? NSMappingModel.load(contentsOf: url) else { return nil }
    self.init()
    entityMappings = model.entityMappings
    file = model.file
  }

  /// The archive of a `.cdm` file, as Xcode's compiler writes it. Throws ``ModelFileError`` if a part has no
  /// archived form.
  public final func archivedData() throws -> Data {
    try MappingArchive.write(self)
  }

  /// Why the mapping model does not fit two models, a sentence; nil if it does: it names entities that both
  /// have, in the same versions.
  package final func misfit(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> String? {
    for mapping in entityMappings ?? [] {
      let sides: [(String?, Data?, NSManagedObjectModel, String)] = [
        (mapping.sourceEntityName, mapping.sourceEntityVersionHash, source, "source"),
        (mapping.destinationEntityName, mapping.destinationEntityVersionHash, destination, "destination"),
      ]
      for (name, hash, model, side) in sides {
        guard let name else { continue }
        guard let entity = model.entitiesByName[name] else {
          return "the \(side) model has no entity \(name)."
        }
        // Where Apple's hash can't be computed, another one may be the same version.
        guard let hash, entity.hashIsExact, hash != entity.versionHash else { continue }
        return "\(name) is another version in the \(side) model."
      }
    }
    return nil
  }
}

/// What a file of a mapping model holds.
private enum MappingFile {
  case compiled(NSMappingModel)
  case editor(EditorMapping, file: String)

  init(at url: URL) throws {
    let file: URL = Self.file(of: url)
    let data: Data
    do {
      data = try ModelFileLocator.contents(of: file)
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(
        file: file.path, reason: "The file can't be read: \(ErrorMessage.reason(of: error))")
    }
    if file.pathExtension == "xml" {
      self = .editor(try EditorMappingReader.read(data, file: file.path), file: file.path)
    } else {
      self = .compiled(try MappingArchive.read(data, file: file.path))
    }
  }

  /// The `.xcmappingmodel` that an `xcmapping.xml` is in; the file itself if it is in none.
  static func package(of path: String) -> URL {
    let file = URL(fileURLWithPath: path)
    let folder: URL = file.deletingLastPathComponent()
    return folder.pathExtension == "xcmappingmodel" ? folder : file
  }

  private static func file(of url: URL) -> URL {
    switch url.pathExtension {
    case "xcmappingmodel": return url.appendingPathComponent("xcmapping.xml")
    case "cdm" where !FileManager.default.fileExists(atPath: url.path):
      let source: URL = url.deletingPathExtension().appendingPathExtension("xcmappingmodel")
        .appendingPathComponent("xcmapping.xml")
      return FileManager.default.fileExists(atPath: source.path) ? source : url
    default: return url
    }
  }
}

extension NSManagedObjectModel {
  /// The path by which sources of mapping models name the model: that of its source in its package,
  /// `Shop.xcdatamodeld/Shop 2.xcdatamodel`. nil for a model of no file.
  package final var sourcePath: String? {
    guard let version = versionFile else { return nil }
    let package: URL = version.deletingLastPathComponent()
    let isPackage: Bool = ["xcdatamodeld", "momd"].contains(package.pathExtension)
    return ModelFileLocator.sourcePath(
      isPackage ? "\(package.lastPathComponent)/\(version.lastPathComponent)" : version.lastPathComponent)
  }
}

/// Finds the models that a mapping model of the editor names.
enum MappedModels {
  /// `path` is relative to a project's folder, or absolute on the machine where the mapping model was made.
  /// So its end is looked for, longest first, beside the file and in the folders above.
  static func find(_ path: String, near file: URL) -> NSManagedObjectModel? {
    let parts: [String] = path.split(separator: "/").map(String.init)
    if parts.isEmpty || parts.contains("..") { return nil }
    var folder: URL = file.standardizedFileURL
    for _ in 0..<12 where folder.path != "/" {
      folder.deleteLastPathComponent()
      for start in max(0, parts.count - 8)..<parts.count {
        let candidate: URL = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
        for url in [candidate, compiled(candidate)] where FileManager.default.fileExists(atPath: url.path) {
          if let model = try? NSManagedObjectModel.load(contentsOf: url).model { return model }
        }
      }
    }
    return nil
  }

  /// `X.xcdatamodeld/V.xcdatamodel` is compiled to `X.momd/V.mom`.
  private static func compiled(_ url: URL) -> URL {
    let package: URL = url.deletingLastPathComponent()
    let mom: String = url.deletingPathExtension().lastPathComponent + ".mom"
    if package.pathExtension != "xcdatamodeld" { return package.appendingPathComponent(mom) }
    return package.deletingPathExtension().appendingPathExtension("momd").appendingPathComponent(mom)
  }
}
