import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// One version of a model that the user named.
struct ModelVersion {
  let name: String
  let model: NSManagedObjectModel
  let warnings: [ModelWarning]
  /// The file or package, for messages.
  let path: String
}

/// Reads the model that the user names: a source or compiled model, or a store that carries one.
enum ModelArgument {
  static func isModelPackage(_ path: String) -> Bool {
    ["momd", "xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: path).pathExtension)
  }

  /// - Throws: ``CommandFailure`` for a path that leads to nothing, with the models that may be meant.
  ///
  /// - Parameter command: one that begins with the model, which may have been forgotten.
  static func requireFile(_ path: String, of command: String? = nil) throws {
    let url = URL(fileURLWithPath: path)
    if FileManager.default.fileExists(atPath: path) || folder(of: path) != nil { return }
    let name: String = url.lastPathComponent
    let known: [String] =
      ((try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? [])
      .filter { isModelPackage($0) || $0.hasSuffix(".mom") }.sorted()
    let named: [String] = known.filter {
      URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent == name
    }
    let near: [String] = named.isEmpty ? NearestNames.of(name, among: known) : named
    let start: String = String(path.dropLast(name.count))
    let advice: String =
      if !near.isEmpty {
        " Did you mean " + near.map { "\"\(start)\($0)\"" }.joined(separator: " or ") + "?"
      } else if !known.isEmpty {
        command.map { " The model comes first, as in `clarus \($0) \(known[0]) …`." }
          ?? " Its folder has \(known.joined(separator: ", "))."
      } else {
        ""
      }
    throw CommandFailure("\(path): There is no such file.\(advice)")
  }

  /// The model, or its current version if there are several, or the one named.
  /// `option` is the one that named the version.
  static func load(
    _ path: String, version: String?, option: String = "--model-version"
  ) throws -> ModelVersion {
    try requireFile(path)
    guard let version else {
      if let stored = try modelOfStore(path) { return stored }
      let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: URL(fileURLWithPath: path))
      return ModelVersion(name: baseName(path), model: loaded.model, warnings: loaded.warnings, path: path)
    }
    let files: [(name: String, url: URL)] = try versionFiles(path)
    guard
      let file = try files.first(where: { $0.name == version }) ?? identified(version, files, path, option)
    else {
      let known: String = files.map { "'\($0.name)'" }.joined(separator: ", ")
      throw CommandFailure("\(option): \(path): There is no version '\(version)'. It has \(known).")
    }
    let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: file.url)
    return ModelVersion(name: file.name, model: loaded.model, warnings: loaded.warnings, path: path)
  }

  /// The version that has this identifier, as stores and other tools tell it; nil if none has it.
  private static func identified(
    _ identifier: String, _ files: [(name: String, url: URL)], _ path: String, _ option: String
  ) throws -> (name: String, url: URL)? {
    // Versions of which nobody has chosen one have an empty one.
    if identifier.isEmpty { return nil }
    let found: [(name: String, url: URL)] = files.filter { file in
      let model: NSManagedObjectModel? = try? NSManagedObjectModel.load(contentsOf: file.url).model
      return model?.versionIdentifiers.contains(identifier) == true
    }
    guard found.count > 1 else { return found.first }
    let names: String = found.map { "'\($0.name)'" }.joined(separator: ", ")
    throw CommandFailure(
      "\(option): \(path): Several versions have the identifier '\(identifier)'. Name one of \(names).")
  }

  /// Every readable version, the current one first. Fails only if none can be read.
  static func versions(at path: String) throws -> [ModelVersion] {
    try requireFile(path)
    if let stored = try modelOfStore(path) { return [stored] }
    var versions: [ModelVersion] = []
    var firstError: (any Error)?
    for file in try versionFiles(path) {
      do {
        let loaded: LoadedModel = try NSManagedObjectModel.load(contentsOf: file.url)
        versions.append(
          ModelVersion(name: file.name, model: loaded.model, warnings: loaded.warnings, path: path))
      } catch {
        firstError = firstError ?? error
      }
    }
    if versions.isEmpty, let firstError { throw firstError }
    return versions
  }

  /// The files of a package's versions by name, or the one file.
  private static func versionFiles(_ path: String) throws -> [(name: String, url: URL)] {
    let url = URL(fileURLWithPath: path)
    let inner: String
    switch url.pathExtension {
    case "momd": inner = "mom"
    case "xcdatamodeld": inner = "xcdatamodel"
    default: return [(baseName(path), url)]
    }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      // The loader has a better error for a folder that is no package.
      return [(baseName(path), url)]
    }
    // Without their ending, so that "Shop 2" is newer than "Shop".
    let files: [(name: String, url: URL)] = names.filter { $0.hasSuffix(".\(inner)") && !$0.hasPrefix(".") }
      .map { (String($0.dropLast(inner.count + 1)), url.appendingPathComponent($0)) }
      .sorted { VersionNames.areInOrder($1.0, $0.0) }
    return files.isEmpty ? [(baseName(path), url)] : files
  }

  /// The model that a store carries. Anything else is an error.
  static func loadFromStore(_ path: String) throws -> ModelVersion {
    guard let stored = try modelOfStore(path) else {
      throw CommandFailure(
        "\(path): This is no store. Name a store, or use `clarus model decompile` for a compiled model.")
    }
    return stored
  }

  /// The model of a store, nil if the path is no store.
  private static func modelOfStore(_ path: String) throws -> ModelVersion? {
    if isModelPackage(path) { return nil }
    try refuseFolder(path)
    let content: FileContent = try FileContent.recognize(path)
    switch content {
    case .store: break
    case .model, .propertyList, .unknown: return nil
    }
    let file: StoreInspection = try OpenStore.inspect(path, try content.storeKind(at: path))
    guard let model = file.model else {
      throw CommandFailure(
        "\(path): \(file.modelProblem ?? "The store carries no model.") Name a model file (.momd, .mom, .xcdatamodeld, "
          + ".xcdatamodel), or a store that carries one.")
    }
    return ModelVersion(name: baseName(path), model: model, warnings: [], path: path)
  }

  /// A folder that is no model: the models in it are named, if there are any.
  private static func refuseFolder(_ path: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
      return
    }
    let models: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      .filter { isModelPackage($0) || $0.hasSuffix(".mom") }.sorted()
    let found: String =
      models.isEmpty ? "without a model in it" : "with \(models.joined(separator: ", ")) in it"
    throw CommandFailure(
      "\(path): It is a folder \(found). Name a model: an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that "
        + "carries its model.")
  }

  /// The package that a version lies in; nil for anything else.
  static func folder(of path: String) -> String? {
    guard
      let end = path.range(of: ".xcdatamodeld/", options: .backwards)
        ?? path.range(of: ".momd/", options: .backwards)
    else { return nil }
    return String(path[..<path.index(before: end.upperBound)])
  }

  private static func baseName(_ path: String) -> String {
    let url = URL(fileURLWithPath: path)
    let isContents: Bool = url.lastPathComponent == "contents"
    return (isContents ? url.deletingLastPathComponent() : url).deletingPathExtension().lastPathComponent
  }
}
