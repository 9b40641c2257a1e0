import CoreDataGraph
import CoreDataModel
import Foundation

/// Finds a model by name, for `NSPersistentContainer(name:)`.
enum ModelSearch {
  static func model(named name: String) -> NSManagedObjectModel {
    let places: [URL] = searchFolders()
    let found: [URL] = places.flatMap { folder in
      ["momd", "mom", "xcdatamodeld", "xcdatamodel"].map { folder.appendingPathComponent("\(name).\($0)") }
    }.filter { FileManager.default.fileExists(atPath: $0.path) }
    if let url = found.first {
      tellOthers(name, found)
      do {
        return try NSManagedObjectModel.load(contentsOf: url).model
      } catch {
        fatalError("The model \(url.path) can't be read: \(error)")
      }
    }
    fatalError(
      """
      Failed to load model named \(name): no \(name).momd, .mom, .xcdatamodeld or .xcdatamodel in \
      \(places.map(\.path).joined(separator: ", ")). Add the model to the target's resources, or load it with \
      NSManagedObjectModel.load(contentsOf:) and use NSPersistentContainer(name:managedObjectModel:).
      """)
  }

  /// The main bundle, the resource bundles beside the executable (SwiftPM builds one for each target,
  /// `Package_Target.resources`, and leaves those of targets that are gone), that of the executable's target
  /// first, and the executable's folder.
  private static func searchFolders() -> [URL] {
    var folders: [URL] = []
    if let resources = Bundle.main.resourceURL { folders.append(resources) }
    let home: URL = Bundle.main.bundleURL
    let beside: [URL] =
      (try? FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil)) ?? []
    let bundles: [URL] = beside.filter { ["resources", "bundle"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
    folders += bundles.filter(isOfExecutable) + bundles.filter { !isOfExecutable($0) }
    if !folders.contains(home) { folders.append(home) }
    return folders
  }

  private static func isOfExecutable(_ bundle: URL) -> Bool {
    guard let executable = Bundle.main.executableURL?.lastPathComponent else { return false }
    return bundle.deletingPathExtension().lastPathComponent.hasSuffix("_\(executable)")
  }

  /// Where several bundles have a model of the name, and none of them is the executable's, the first one may
  /// be the wrong one, of a target that is gone, say: the program is told once.
  private static func tellOthers(_ name: String, _ found: [URL]) {
    let folder: URL = found[0].deletingLastPathComponent()
    let compiled: [URL] = found.filter { $0.pathExtension == "momd" }
    guard compiled.count > 1, compiled[0] == found[0], folder != Bundle.main.resourceURL,
      !isOfExecutable(folder), let hashes = hashes(found[0]),
      !compiled.allSatisfy({ Self.hashes($0) == hashes })
    else { return }
    Warning.writeOnce(
      """
      several bundles have a model \(name), and they differ: \(compiled.map(\.path).joined(separator: ", ")). The first one is taken; for \
      another one use NSPersistentContainer(name:managedObjectModel:) with Bundle.module. A bundle of a target that is gone can be removed.
      """)
  }

  /// The hashes of the versions of a compiled model.
  private static func hashes(_ package: URL) -> Data? {
    try? Data(contentsOf: package.appendingPathComponent("VersionInfo.plist"))
  }
}
