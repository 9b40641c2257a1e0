import Foundation

/// Models in folders that a target excludes: CoreDataModelPlugin compiles those alone whose folders the
/// options of the target name.
struct StrayModels {
  /// The paths of the models.
  let models: [String]
  /// The file `coredata-modelc.json` of the target; nil if it has none, or no plugin reads it.
  let options: String?

  /// A line for each that nobody compiles.
  var warnings: [String] {
    let named: [String] = folders
    return models.sorted().compactMap { model in
      if named.contains(where: { model.hasPrefix($0 + "/") }) { return nil }
      let folder: String = URL(fileURLWithPath: model).deletingLastPathComponent().lastPathComponent
      return
        "\(model): warning: Nothing compiles this model, since the target excludes its folder: list CoreDataModelPlugin before "
        + "CoreDataSourcesPlugin, and name the folder in the target's coredata-modelc.json, {\"folders\": [\"\(folder)\"]}. "
        + "See Documentation/classes.md#sources-shared-with-an-app"
    }
  }

  /// The folders that the options name, in the one of the target.
  private var folders: [String] {
    guard let options else { return [] }
    let file = URL(fileURLWithPath: options)
    guard let data = try? Data(contentsOf: file),
      let settings = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any]
    else { return [] }
    let one: [String] = (settings["folders"] as? String).map { [$0] } ?? []
    return (settings["folders"] as? [String] ?? one).map { name in
      file.deletingLastPathComponent().appendingPathComponent(name).standardizedFileURL.path
    }
  }
}
