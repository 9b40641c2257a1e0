import ArgumentParser
import CoreDataModel
import CoreDataStorage
import Foundation

/// `clarus convert`: a new store of any kind with the same contents.
struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Makes a new store, of the same kind or another, with a store's contents.",
    discussion: """
      Rows, relationships with their order, values kept in files and the program's metadata are copied; the new store has a \
      UUID of its own. The store itself stays as it is. The new one appears when it is complete, and verified if that is wanted; \
      after an error, or Ctrl-C, there is none.

      The kind is that of --to (\(NewStoreKind.names.joined(separator: ", "))), else what the ending of OUT names \
      (\(NewStoreKind.endings)), else, with another ending, the store's own. Kinds that number objects of all entities in one sequence give objects new \
      numbers. Persistent history is not copied. References to objects that are not there, or that the relationship can't have, \
      have no place in some kinds of stores; those that the new store does not have are listed, and so are rows that stand \
      for no object of the model. Relationships whose sides disagree in the store are listed too, unless the file is copied as it is: \
      the new store may have what one side says.

      EXAMPLES
        clarus convert Shop.sqlite Shop.xml
        clarus convert Shop.xml Shop.db --to sqlite --model Shop.momd --verify
        clarus convert Shop.sqlite Copy.sqlite --verify --json

      EXIT STATUS
        0 the new store has every row, 1 it lacks rows that stand for no object, or sides of relationships agree in it that do \
      not in the store, or there is none

      JSON
        { "from": {"path", "type", "uuid"}, "to": {"path", "type", "uuid"}, "renumbered",
          "entities": [{"name", "count"}],
          "leftOut": [{"entity", "property", "count", "objects": [id], "message"}], "disagreeing": [as "leftOut"],
          "verified": {"objects", "values", "relationships"} or null }
      """)

  @OptionGroup var options: StoreOptions

  @Argument(help: "The file to make. There must be none yet.", completion: .file())
  var out: String

  @Option(name: .long, help: ArgumentHelp("The kind of the new store.", valueName: "kind"))
  var to: String?

  @Flag(
    name: .long,
    help: "Read the new store again and compare each value and relationship before it is put in place.")
  var verify = false

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func run() throws {
    let store = try OpenStore(
      path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true)
    let kind: any StoreEngineKind = try NewStoreKind.choose(to, path: out, source: store.kind)
    Interruption.watch()
    let engine: any StoreEngine = try store.open(readsMissingFilesAsNil: false)
    defer { try? engine.close() }
    let entityNames: Set<String>? = store.model?.entityNames
    let counts: [(name: String, count: Int)] = try EntityCounts.own(of: engine, among: entityNames)
    let total: Int = counts.reduce(0) { $0 + $1.count }
    let progress = ProgressLine()
    progress.begin("Copying", total: total)
    let disagreeing: [StoreProblem] = try disagreeing(store, to: kind)
    var step: StoreConversion.Step = .copying
    let conversion = StoreConversion(of: engine, entityNames: entityNames) { now, rows in
      if now != step { progress.begin("Verifying", total: total) }
      step = now
      try progress.advance(by: rows)
    }
    let outcome: StoreConversion.Outcome = try conversion.run(
      to: URL(fileURLWithPath: out), kind: kind, verifies: verify)
    progress.end()
    guard outcome.isEqual else { throw difference(outcome, engine) }
    let resolved: Bool = try isResolved(disagreeing, in: kind, engine.layout, entityNames)
    let report = ConversionReport(
      store: store, out: out, type: kind.type, outcome: outcome, counts: counts, disagreeing: disagreeing,
      ids: ObjectIDs(layout: engine.layout, storeUUID: store.file.uuid))
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(report.json.pretty)
    } else {
      try report.write(to: output)
    }
    try output.flush()
    if outcome.lacksRows || resolved { throw ExitCode(1) }
  }

  /// The relationships whose sides name different objects. In another kind of store that has no place
  /// everywhere: it has what one of the sides says, or both.
  ///
  /// Cost: reads every row and relationship once more; nothing where pages are copied as they are.
  private func disagreeing(_ store: OpenStore, to kind: any StoreEngineKind) throws -> [StoreProblem] {
    if kind.type == "SQLite", store.kind.type == kind.type { return [] }
    let engine: any StoreEngine = try store.open(examines: true)
    defer { try? engine.close() }
    return try StoreCheck(of: engine, entityNames: store.model?.entityNames).run()
      .filter { $0.kind == .inverse }
  }

  /// Whether the sides of one of these relationships agree in the new store.
  private func isResolved(
    _ disagreeing: [StoreProblem], in kind: any StoreEngineKind, _ layout: ModelLayout,
    _ entityNames: Set<String>?
  ) throws -> Bool {
    if disagreeing.isEmpty { return false }
    var options = StoreOpeningOptions(isReadOnly: true)
    (options.createsIfMissing, options.checksModel) = (false, false)
    (options.looksTargetsUp, options.examines) = (true, true)
    options.entityNames = entityNames
    let made: any StoreEngine = try kind.open(at: URL(fileURLWithPath: out), layout: layout, options: options)
    defer { try? made.close() }
    let left: [StoreProblem] = try StoreCheck(of: made, entityNames: entityNames).run()
      .filter { $0.kind == .inverse }
    return disagreeing.contains { problem in
      !left.contains { ($0.entity, $0.property) == (problem.entity, problem.property) }
    }
  }

  private func difference(_ outcome: StoreConversion.Outcome, _ engine: any StoreEngine) -> CommandFailure {
    let text = DifferenceText(left: engine, right: engine)
    let what: String =
      outcome.differences.first.map { text.lines($0).joined(separator: " ") } ?? "its metadata"
    return CommandFailure(
      "\(out): The new store differs from \(options.store), and was discarded: "
        + "\(Counted.text(outcome.verified?.differences ?? 0, "object", "objects")), first \(what). Has another program "
        + "changed the store meanwhile? Then try again.")
  }
}

/// What `clarus convert` prints.
private struct ConversionReport {
  let store: OpenStore
  let out: String
  let type: String
  let outcome: StoreConversion.Outcome
  let counts: [(name: String, count: Int)]
  let disagreeing: [StoreProblem]
  /// Of the store that was copied.
  let ids: ObjectIDs

  var json: JSONText {
    .object([
      ("from", place(store.path, store.file.type, store.file.uuid)),
      ("to", place(out, type, outcome.identifier)), ("renumbered", .bool(outcome.isRenumbered)),
      ("entities", EntityCounts.json(counts)), ("leftOut", leftOut),
      ("disagreeing", .array(disagreeing.map { .object(ProblemText(ids: ids).entries($0)) })),
      ("verified", verified),
    ])
  }

  private func place(_ path: String, _ type: String, _ uuid: String) -> JSONText {
    .object([("path", .string(path)), ("type", .string(type)), ("uuid", .string(uuid))])
  }

  private var leftOut: JSONText {
    .array(outcome.leftOut.map { .object(ProblemText(ids: ids).entries($0)) })
  }

  private var verified: JSONText {
    guard let summary = outcome.verified else { return .null }
    return .object([
      ("objects", .integer(Int64(summary.objects))), ("values", .integer(Int64(summary.values))),
      ("relationships", .integer(Int64(summary.relationships))),
    ])
  }

  func write(to output: StandardOutput) throws {
    let rows: Int = counts.reduce(0) { $0 + $1.count }
    try output.writeLine(
      DisplayWidth.escaped(
        "\(out): \(type) store with \(Counted.text(counts.count, "entity", "entities")), "
          + "\(Counted.text(rows, "row", "rows"))"))
    if outcome.isRenumbered {
      try output.writeLine(
        "Objects have new numbers: this kind numbers those of all entities in one sequence.")
    }
    for problem in outcome.leftOut {
      try output.writeLine(ProblemText(ids: ids).line(problem, as: "left out"))
    }
    for problem in disagreeing {
      try output.writeLine(ProblemText(ids: ids).line(problem, as: "sides disagree"))
    }
    if store.file.hasHistory { try output.writeLine("The store's persistent history was not copied.") }
    if let summary = outcome.verified {
      try output.writeLine(
        "Verified: \(Counted.text(summary.objects, "object", "objects")), "
          + "\(Counted.text(summary.values, "value", "values")), "
          + "\(Counted.text(summary.relationships, "to-many relationship", "to-many relationships"))")
    }
  }
}
