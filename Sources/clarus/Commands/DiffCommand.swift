import ArgumentParser
import CoreDataModel
import CoreDataStorage
import Foundation

/// `clarus diff`: what two stores disagree in.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two stores, of any kinds: entities, objects and their properties.",
    discussion: """
      Objects correspond by entity and number, as in copies of one store; with --by by the values of attributes. Entities and \
      properties correspond by name, so the models may differ; what only one model has is told once. A to-many relationship whose \
      inverse is a to-one, and that has no order, is compared at its members.

      EXAMPLES
        clarus diff Shop.sqlite Backup.sqlite
        clarus diff Shop.sqlite Shop.xml --model Shop.momd --by Item=sku --by Person=firstName,lastName
        clarus diff Old.sqlite New.sqlite --by unique --json

      EXIT STATUS
        0 the stores are equal, 1 they differ, 2 trouble: a store can't be read, or wrong usage

      JSON
        { "entities": {"onlyLeft": [name], "onlyRight": [name]},
          "properties": {"onlyLeft": ["Entity.name"], "onlyRight": […]},
          "ambiguous": [{"entity", "objects": [id]}],
          "differences": [{"change": "added", "removed" or "changed", "entity", "left", "right",
                           "properties": [{"name", "left", "right"}]}],
          "compared": {"objects", "values", "relationships"}, "equal" }
      """)

  @Argument(help: "A store file.", completion: .file())
  var left: String

  @Argument(help: "Another store file.", completion: .file())
  var right: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The model, for stores that carry none: .momd, .mom, .xcdatamodeld, .xcdatamodel, or a store of the same model.",
      valueName: "path"), completion: .file())
  var model: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "Objects of an entity correspond by these attributes; `unique`: of each entity by its first uniqueness constraint. May be repeated.",
      valueName: "Entity=a,b | unique"))
  var by: [String] = []

  @Option(name: .long, help: ArgumentHelp("Compare this entity only. May be repeated.", valueName: "name"))
  var entity: [String] = []

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func validate() throws {
    for term in by where term != "unique" && term.split(separator: "=", maxSplits: 1).count != 2 {
      throw ValidationError("--by \"\(term)\" is neither Entity=attribute,attribute nor unique.")
    }
  }

  func run() throws {
    let isEqual: Bool
    do {
      isEqual = try compare()
    } catch let error as OutputClosed {
      throw error
    } catch {
      // As of diff(1): 1 means that there are differences.
      throw CommandFailure(ErrorText.line(for: error), status: 2)
    }
    if !isEqual { throw ExitCode(1) }
  }

  private func compare() throws -> Bool {
    let stores: [OpenStore] = try [left, right].map { path in
      try OpenStore(path: path, modelPath: try needsModel(path) ? model : nil, needsModel: true)
    }
    let engines: [any StoreEngine] = try stores.map { try $0.open() }
    defer { for engine in engines { try? engine.close() } }
    let names: Set<String>? = entity.isEmpty ? nil : Set(entity)
    for name in entity where engines.allSatisfy({ $0.layout.byName[name] == nil }) {
      _ = try naming("--entity") { try stores[0].entity(name, in: engines[0].layout) }
    }
    let keys: [String: [String]] = try naming("--by") {
      try MatchKeys.read(by, engines[0].layout, also: engines[1].layout)
    }
    let correspondence: StoreCorrespondence =
      keys.isEmpty
      ? .byKeys(engines[0], engines[1], among: names)
      : try .byAttributes(keys, engines[0], engines[1], among: names)
    let report = DifferenceReport(
      engines: (engines[0], engines[1]), correspondence: correspondence, isJSON: formatting.isJSON,
      matched: Set(keys.keys))
    return try report.write()
  }

  /// A store that carries its model is read by that, unless the stores carry none.
  private func needsModel(_ path: String) throws -> Bool {
    guard model != nil else { return false }
    let kind: any StoreEngineKind = try FileContent.recognize(path).storeKind(at: path)
    return try OpenStore.inspect(path, kind).model == nil
  }
}
