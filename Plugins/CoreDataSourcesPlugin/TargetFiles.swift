import Foundation
import PackagePlugin

/// The Swift files that matter to a target's accessors. Both plugins have this file: plugins have no modules
/// in common, so that one of them has a link to it.
enum TargetFiles {
  struct Module {
    let name: String
    /// Whether the package declares it; types of such modules can be those of members.
    let isOwn: Bool
    let files: [URL]
  }

  /// The modules that a target depends on, each before those that it depends on itself.
  static func modules(of target: any SourceModuleTarget, in package: Package) -> [Module] {
    let own = Set(package.targets.map(\.id))
    var seen: Set<String> = []
    return target.recursiveTargetDependencies.reversed().compactMap { dependency in
      guard let module = dependency as? any SourceModuleTarget, seen.insert(module.moduleName).inserted else {
        return nil
      }
      return Module(
        name: module.moduleName, isOwn: own.contains(module.id),
        files: module.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" })
    }
  }

  /// All models of a folder, without hidden folders and packages in it.
  static func models(in folder: URL) -> [URL] {
    let manager = FileManager.default
    var models: [URL] = []
    for name in ((try? manager.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    where !name.hasPrefix(".") {
      let url: URL = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard manager.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue else { continue }
      if ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains(url.pathExtension) {
        models.append(url)
      } else if !manager.fileExists(atPath: url.appendingPathComponent("Package.swift").path) {
        models += self.models(in: url)
      }
    }
    return models
  }

  /// All Swift files of a folder, without hidden folders and packages in it.
  static func swiftFiles(in folder: URL) -> [URL] {
    let manager = FileManager.default
    var files: [URL] = []
    let names: [String] = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where !name.hasPrefix(".") {
      let url: URL = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard manager.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
      if !isFolder.boolValue {
        if name.hasSuffix(".swift"), name != "Package.swift" { files.append(url) }
      } else if !manager.fileExists(atPath: url.appendingPathComponent("Package.swift").path) {
        files += swiftFiles(in: url)
      }
    }
    return files
  }
}
