import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import Foundation

/// Writes models as a new `.xcdatamodeld` or `.xcdatamodel`.
enum SourceOutput {
  static func check(_ path: String) throws {
    if !["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: path).pathExtension) {
      throw ValidationError("\(path): Give the output the ending .xcdatamodeld or .xcdatamodel.")
    }
  }

  static func isPackage(_ path: String) -> Bool { URL(fileURLWithPath: path).pathExtension == "xcdatamodeld" }

  /// `path` has passed ``check(_:)``; `model` is what the user named.
  static func write(_ all: [ModelVersion], current: ModelVersion, of model: String, to path: String) throws {
    let isPackage: Bool = isPackage(path)
    // A package's own name is not that of its current version.
    let name: String =
      all.first { $0.model.versionChecksum == current.model.versionChecksum }?.name ?? current.name
    let sources: [(name: String, data: Data)] = try all.map { version in
      do { return (version.name, try version.model.sourceData()) } catch let error as ModelFileError {
        throw CommandFailure("\(model), version '\(version.name)': \(error.reason)")
      }
    }
    try NewFile.folder(path) { url in
      let files = FileManager.default
      for source in sources {
        let folder: URL = isPackage ? url.appendingPathComponent("\(source.name).xcdatamodel") : url
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        try source.data.write(to: folder.appendingPathComponent("contents"))
      }
      guard isPackage else { return }
      try CurrentVersion(name: name).data.write(to: url.appendingPathComponent(".xccurrentversion"))
    }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped("\(path): \(Counted.text(sources.count, "version", "versions"))"))
    try standard.flush()
  }
}
