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
    items(in: folder) { url, isFolder in
      isFolder && ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains(url.pathExtension)
    }
  }

  /// All Swift files of a folder, without hidden folders and packages in it.
  static func swiftFiles(in folder: URL) -> [URL] {
    items(in: folder) { url, isFolder in
      !isFolder && url.lastPathComponent.hasSuffix(".swift") && url.lastPathComponent != "Package.swift"
    }
  }

  /// What is wanted of a folder, in order. A folder that is wanted is not searched.
  private static func items(in folder: URL, _ isWanted: (URL, _ isFolder: Bool) -> Bool) -> [URL] {
    let manager = FileManager.default
    var found: [URL] = []
    let names: [String] = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where !name.hasPrefix(".") {
      let url: URL = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard manager.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
      if isWanted(url, isFolder.boolValue) {
        found.append(url)
      } else if isFolder.boolValue,
        !manager.fileExists(atPath: url.appendingPathComponent("Package.swift").path)
      {
        found += items(in: url, isWanted)
      }
    }
    return found
  }
}
