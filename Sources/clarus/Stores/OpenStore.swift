import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A store file with the model that fits it.
struct OpenStore {
  let path: String
  let kind: any StoreEngineKind
  let file: StoreInspection
  /// nil for a store that carries no model, if none was given.
  let model: ChosenModel?
  private let salvages: Bool

  /// A user waits for the result, so a store that another process keeps locked soon is an error.
  static let busyTimeoutInSeconds: Double = 5

  /// Examines a store. With `needsModel`, a store without a model is a failure that tells the user what to
  /// do.
  ///
  /// With `salvages`, as much as possible is read of a damaged file.
  ///
  /// `modelVersion`: the version of the model that is meant, where the store does not tell it.
  /// `acceptsStructure`: see `ChosenModel`.
  init(
    path: String, modelPath: String?, modelVersion: String? = nil, needsModel: Bool, salvages: Bool = false,
    acceptsStructure: Bool = false
  ) throws {
    self.path = path
    self.salvages = salvages
    kind = try FileContent.recognize(path).storeKind(at: path)
    let file: StoreInspection = try Self.inspect(path, kind, salvages: salvages)
    self.file = file
    let structure = StructureMatch(path: path, kind: kind, salvages: salvages)
    model =
      modelPath == nil
      ? try ChosenModel.choose(for: file, path: path, modelPath: nil, by: structure)
      : try naming("--model") {
        try ChosenModel.choose(
          for: file, path: path, modelPath: modelPath, version: modelVersion, by: structure,
          acceptsStructure: acceptsStructure)
      }
    if model == nil, needsModel {
      let reason: String = file.modelProblem ?? "The store carries no model."
      throw CommandFailure(
        "\(path): \(reason) Name the model it was written with: --model Shop.momd (or .mom, .xcdatamodeld, "
          + ".xcdatamodel, or another store of the same model).")
    }
  }

  /// The metadata and contents of a store that can be read without its model.
  static func inspect(_ path: String, _ kind: any StoreEngineKind, salvages: Bool = false) throws
    -> StoreInspection
  {
    try kind.inspect(URL(fileURLWithPath: path), options: readingOptions(salvages: salvages))
  }

  static func readingOptions(salvages: Bool) -> StoreOpeningOptions {
    var options = StoreOpeningOptions(isReadOnly: true)
    options.salvages = salvages
    options.timeoutInSeconds = busyTimeoutInSeconds
    return options
  }

  /// The entity of that name, or a failure that lists the entities.
  func entity(_ name: String, in layout: ModelLayout) throws -> EntityLayout {
    guard let entity = layout.byName[name] else {
      throw CommandFailure(
        "\(path): There is no entity \"\(name)\". "
          + NearestNames.advice(for: name, among: layout.byName.keys))
    }
    return entity
  }

  /// The engine, which is read-only. A value whose external file is missing reads as nil, or is an error.
  /// `examines`: the command lists what is wrong, also files that it may not read, of which otherwise a
  /// warning tells.
  func open(readsMissingFilesAsNil: Bool = true, examines: Bool = false) throws -> any StoreEngine {
    guard let model else { throw CommandFailure("\(path): There is no model to read it by.") }
    var options: StoreOpeningOptions = Self.readingOptions(salvages: salvages)
    options.createsIfMissing = false
    options.readsMissingFilesAsNil = readsMissingFilesAsNil
    options.warnsOfForbiddenFiles = !examines
    options.examines = examines
    options.entityNames = model.entityNames
    options.looksTargetsUp = true
    // The model was checked when it was chosen.
    options.checksModel = false
    do {
      return try kind.open(
        at: URL(fileURLWithPath: path), layout: ModelLayout(model: model.model), options: options)
    } catch let error as StoreError {
      // It names the entity only.
      guard case .unsupportedModel = error else { throw error }
      throw CommandFailure("\(path): \(ErrorText.line(for: error))")
    }
  }
}
