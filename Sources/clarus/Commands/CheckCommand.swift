import ArgumentParser
import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// `clarus check`: what is wrong with a store.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Examines a store for damage and contradictions; repairs it into a new file.",
    discussion: """
      Looks at the file itself, at the model it was written with, at every object: references to objects that do not exist, \
      relationships whose sides disagree, ordered ones without an order, properties that the model requires and that are nil, \
      files of values that are missing or belong to no row, counters of keys that lag behind.

      --repair copies what can be read into a new store: of a damaged or cut off file as far as its rows can be found, \
      also on pages that nothing refers to any more (the report names such rows, which may be former versions). \
      References to what is not there become nil; what is lost is reported. The store itself stays as it is.

      EXAMPLES
        clarus check Shop.sqlite
        clarus check Shop.sqlite --model Shop.momd --json
        clarus check Damaged.sqlite --repair Repaired.sqlite

      EXIT STATUS
        0 nothing is wrong (warnings do not count), 1 something is, or the store can't be examined; with --repair: 0 nothing \
      was lost, 1 something was

      JSON
        { "store": {"path", "type", "uuid"}, "entities": [{"name", "count"}], "sound",
          "problems": [{"kind", "severity": "error" or "warning", "entity", "property", "count",
                        "objects": [id], "message"}] }
        With --repair: { "store", "to": {"path", "type"}, "entities": [{"name", "saved", "lost": [key], "lostWithoutKey"}],
          "lostRows": [{"table", "keys", "reason"}],
          "damagedTables": [{"table", "entity", "reason" or null, "unreadablePages", "unreadableRows", "recoveredPages",
                             "recoveredRows", "recoveredKeys": [key]}],
          "changes": [as "problems"], "invalid": [as "problems"], "problems": […], "complete" }
        Kinds: \(StoreProblem.Kind.allCases.map(\.rawValue).joined(separator: ", ")).
      """)

  @OptionGroup var options: StoreOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Copy what can be saved into this new store. There must be no such file.", valueName: "out"),
    completion: .file())
  var `repair`: String?

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func run() throws {
    if `repair` != nil { Interruption.watch() }
    var problems = StoreProblems()
    let store: OpenStore? = try openStore(&problems)
    if let out = `repair` { return try repair(to: out, problems.all) }
    var counts: [(name: String, count: Int)] = []
    if let store {
      do {
        counts = try examine(store, &problems)
      } catch let error as StoreError {
        guard let damage = StoreProblem(damage: error) else { throw error }
        problems.add(damage)
      }
    }
    let report = CheckReport(
      path: options.store, store: store, ids: store.map(ids), counts: counts, problems: problems.all)
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(report.json.pretty)
    } else {
      try report.write(to: output)
    }
    try output.flush()
    if !report.isSound { throw ExitCode(1) }
  }

  // MARK: Opening

  /// nil for a damaged store, with the problem noted.
  private func openStore(_ problems: inout StoreProblems) throws -> OpenStore? {
    do {
      do {
        let store = try OpenStore(
          path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true,
          acceptsStructure: true)
        noteModel(store, &problems)
        return store
      } catch let error as CommandFailure where options.model != nil {
        // The model does not fit: the store's own one shows where, if it has one.
        guard let own = try? OpenStore(path: options.store, modelPath: nil, needsModel: true) else {
          throw error
        }
        problems.add(StoreProblem(.model, ErrorText.line(for: error)))
        noteDifferences(own, &problems)
        return own
      }
    } catch let error as StoreError {
      guard let damage = StoreProblem(damage: error) else { throw error }
      problems.add(damage)
      return nil
    }
  }

  /// The model that a store carries may not be the one that its metadata names.
  private func noteModel(_ store: OpenStore, _ problems: inout StoreProblems) {
    if let model = store.model, !model.alternatives.isEmpty {
      let others: String = model.alternatives.map { "'\($0)'" }.joined(separator: ", ")
      problems.add(
        StoreProblem(
          .model,
          "The store does not tell the version of its model, and several fit: \(model.originText), the newest of "
            + "them, was taken. For another name it with --model-version: \(others)."))
    }
    if let problem = store.file.metadataProblem { problems.add(StoreProblem(.model, problem)) }
    guard let model = store.model, let versions = store.file.versions, model.entityNames == nil else {
      return
    }
    if let problem = StoreExaminer.mismatch(model.model, versions, named: model.originText) {
      problems.add(problem)
    }
  }

  private func noteDifferences(_ store: OpenStore, _ problems: inout StoreProblems) {
    guard let own = store.model?.model, let path = options.model,
      let given = try? ModelArgument.load(path, version: options.modelVersion).model
    else { return }
    for (name, entity) in own.entitiesByName.sorted(by: { $0.key < $1.key }) {
      guard let other = given.entitiesByName[name] else { continue }
      for line in ModelComparison.differences(entity, other) {
        problems.add(StoreProblem(.model, entity: name, "\(name): \(line)"))
      }
    }
  }

  private func ids(_ store: OpenStore) -> ObjectIDs {
    ObjectIDs(
      layout: ModelLayout(model: store.model?.model ?? NSManagedObjectModel()), storeUUID: store.file.uuid)
  }

  // MARK: Examining

  private func examine(_ store: OpenStore, _ problems: inout StoreProblems) throws -> [(
    name: String, count: Int
  )] {
    let engine: any StoreEngine
    do {
      engine = try store.open(examines: true)
    } catch let failure as CommandFailure {
      problems.add(StoreProblem(.model, failure.line))
      return []
    }
    defer { try? engine.close() }
    let entityNames: Set<String>? = store.model?.entityNames
    let counts: [(name: String, count: Int)] = try EntityCounts.own(of: engine, among: entityNames)
    let progress = ProgressLine()
    progress.begin("Checking", total: counts.reduce(0) { $0 + $1.count })
    let check = StoreCheck(of: engine, entityNames: entityNames) { try progress.advance(by: $0) }
    for problem in try check.run() { problems.add(problem) }
    return counts
  }

  private func repair(to out: String, _ problems: [StoreProblem]) throws {
    let store: OpenStore
    let engine: any StoreEngine
    do {
      store = try OpenStore(
        path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true,
        salvages: true, acceptsStructure: true)
      engine = try store.open(examines: true)
    } catch StoreError.invalidFile(let url, let reason, _) {
      let cure: String = "Restore a copy."
      throw CommandFailure(
        "\(url.path): Nothing of it can be saved. \(reason)" + (reason.hasSuffix(cure) ? "" : " \(cure)"))
    }
    defer { try? engine.close() }
    let kind: any StoreEngineKind = try NewStoreKind.choose(nil, path: out, source: store.kind)
    let progress = ProgressLine()
    progress.begin("Saving", total: 0)
    let found: StoreRepairReport = try StoreRepairer.run(
      engine, entityNames: store.model?.entityNames, to: URL(fileURLWithPath: out), kind: kind,
      storeUUID: store.file.uuid, known: problems
    ) { try progress.advance(by: $0) }
    progress.end()
    let report = RepairReport(store: store, out: out, type: kind.type, report: found, ids: ids(store))
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(report.json.pretty)
    } else {
      try report.write(to: output)
    }
    try output.flush()
    if !report.isComplete { throw ExitCode(1) }
  }
}
