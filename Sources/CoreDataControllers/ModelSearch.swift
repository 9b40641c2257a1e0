import CoreDataModel
import Foundation

/// Finds a model by name, for `NSPersistentContainer(name:)`.
enum ModelSearch {
  static func model(named name: String) -> NSManagedObjectModel {
    let places: [URL] = searchFolders()
    for folder in places {
      for type in ["momd", "mom", "xcdatamodeld", "xcdatamodel"] {
        let url: URL = folder.appendingPathComponent("\(name).\(type)")
        guard FileManager.default.fileExists(atPath: url.path) else { continue }
        do {
          return try NSManagedObjectModel.load(contentsOf: url).model
        } catch {
          fatalError("The model \(url.path) can't be read: \(error)")
        }
      }
    }
    fatalError(
      """
      Failed to load model named \(name): no \(name).momd, .mom, .xcdatamodeld or .xcdatamodel in \
      \(places.map(\.path).joined(separator: ", ")). Add the model to the target's resources, or load it with \
      NSManagedObjectModel.load(contentsOf:) and use NSPersistentContainer(name:managedObjectModel:).
      """)
  }

  /// The main bundle, the resource bundles beside the executable (SwiftPM builds one for each target), and
  /// the executable's folder.
  private static func searchFolders() -> [URL] {
    var folders: [URL] = []
    if let resources = Bundle.main.resourceURL { folders.append(resources) }
    let home: URL = Bundle.main.bundleURL
    let beside: [URL] =
      (try? FileManager.default.contentsOfDirectory(at: home, includingPropertiesForKeys: nil)) ?? []
    folders += beside.filter { $0.pathExtension == "resources" || $0.pathExtension == "bundle" }
      .sorted { $0.path < $1.path }
    if !folders.contains(home) { folders.append(home) }
    return folders
  }
}
