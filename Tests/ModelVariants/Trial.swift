import CoreDataCodeGeneration
import CoreDataModel
import CoreDataModelChecking
import Foundation

/// Reads one damaged file, and does with what was read what programs do.
struct Trial {
  struct Finding: Error, CustomStringConvertible {
    var description: String
  }

  private let kind: VariantKind
  /// What is opened, and the damaged file, which is this or within it.
  private let opened: URL
  private let file: URL
  private let twin: URL
  /// The versions that mapping models lead from and to.
  private let versions: (from: NSManagedObjectModel, to: NSManagedObjectModel)?

  /// `folder` has the models that a variant needs beside itself.
  init(_ kind: VariantKind, in folder: URL) throws {
    self.kind = kind
    twin = folder.appendingPathComponent("twin.mom")
    switch kind {
    case .source: (opened, file) = Self.places(folder, "Damaged.xcdatamodel", "contents")
    case .mom: (opened, file) = Self.places(folder, "Damaged.mom", nil)
    case .versions: (opened, file) = Self.places(folder, "Damaged.momd", "VersionInfo.plist")
    case .current: (opened, file) = Self.places(folder, "Damaged.xcdatamodeld", ".xccurrentversion")
    case .mapping: (opened, file) = Self.places(folder, "Damaged.xcmappingmodel", "xcmapping.xml")
    case .cdm: (opened, file) = Self.places(folder, "Damaged.cdm", nil)
    }
    let package: URL = folder.appendingPathComponent("ToDo.xcdatamodeld")
    let models =
      [.mapping, .cdm].contains(kind) ? try NSManagedObjectModel.loadVersions(contentsOf: package) : [:]
    versions =
      if let old = models["ToDo"], let new = models["ToDo 2"] { (old.model, new.model) } else { nil }
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
  }

  private static func places(_ folder: URL, _ name: String, _ inner: String?) -> (URL, URL) {
    let url: URL = folder.appendingPathComponent(name)
    return (url, inner.map { url.appendingPathComponent($0) } ?? url)
  }

  /// Throws `ModelFileError` where the file is refused. Any other error is a finding.
  func run(_ variant: Data) throws {
    try variant.write(to: file)
    switch kind {
    case .source, .mom: try use(NSManagedObjectModel.load(contentsOf: opened).model)
    case .versions, .current:
      for version in try NSManagedObjectModel.loadVersions(contentsOf: opened).values.sorted(by: {
        $0.model.versionChecksum < $1.model.versionChecksum
      }) {
        _ = version.model.entityVersionHashesByName
      }
      _ = try NSManagedObjectModel.load(contentsOf: opened)
      if kind == .current { _ = try ModelCompilation(of: opened) }
    case .mapping, .cdm: try use(NSMappingModel.load(contentsOf: opened))
    }
  }

  private func use(_ model: NSManagedObjectModel) throws {
    _ = model.problems()
    let lines: ModelSourceLines? = kind == .source ? try ModelSourceLines(contentsOf: file) : nil
    let generator = ClassGenerator(options: CodeGenerationOptions(entities: .all))
    if generator.source(of: model, file: file.path, lines: lines).contents.isEmpty {
      throw Finding(description: "the generator gave nothing")
    }
    let copy = model.copy() as? NSManagedObjectModel
    if copy?.versionChecksum != model.versionChecksum {
      throw Finding(description: "the copy has other hashes")
    }
    do {
      _ = try NSMappingModel.inferredMappingModel(forSourceModel: model, destinationModel: model)
    } catch is CocoaError {
      // A model that was damaged need not map to itself.
    }
    // What has no form in a file is an error that says so.
    if let compiled = try explained({ try model.compiledData() }) {
      try compiled.write(to: twin)
      let again: NSManagedObjectModel = try reading("compiled") {
        try NSManagedObjectModel.load(contentsOf: twin).model
      }
      guard again.entityVersionHashesByName == model.entityVersionHashesByName else {
        throw Finding(description: "the compiled model has other hashes")
      }
    }
    if let source = try explained({ try model.sourceData() }) {
      let place: URL = twin.deletingLastPathComponent().appendingPathComponent("Twin.xcdatamodel")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      try source.write(to: place.appendingPathComponent("contents"))
      let again: NSManagedObjectModel = try reading("written") {
        try NSManagedObjectModel.load(contentsOf: place).model
      }
      guard again.entityVersionHashesByName == model.entityVersionHashesByName else {
        throw Finding(description: "the written source has other hashes")
      }
    }
  }

  private func use(_ mapping: NSMappingModel) throws {
    guard let compiled = try explained({ try mapping.archivedData() }) else { return }
    let place: URL = twin.deletingPathExtension().appendingPathExtension("cdm")
    try compiled.write(to: place)
    let again: NSMappingModel = try reading("compiled") { try NSMappingModel.load(contentsOf: place) }
    // A constant that is no number is unequal to itself; both are the same if they are written alike.
    if again != mapping, try again.archivedData() != compiled {
      throw Finding(description: "the compiled mapping model is another one")
    }
    _ = mapping.description
    guard let versions else { return }
    // What was written reads and compiles to an equal one, or it is refused: this checks it itself.
    _ = try explained {
      try mapping.sourceData(from: versions.from, at: "A", to: versions.to, at: "B")
    }
  }

  /// nil where a model has no form of the kind, which the error explains.
  private func explained(_ body: () throws -> Data) throws -> Data? {
    do { return try body() } catch let error as ModelFileError {
      if error.reason.isEmpty { throw Finding(description: "an error without reason") }
      return nil
    }
  }

  /// What was written reads.
  private func reading<Value>(_ verb: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw Finding(description: "what was \(verb) can't be read: \(error)") }
  }
}
