import ArgumentParser
import CoreDataModel
import CoreDataStorage
import Foundation

/// `clarus info`: the contents of a store.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Shows a store's entities with their counts, its model and its metadata.",
    discussion: """
      A count is that of the entity's own rows, sub-entities not included. A store that carries no model shows names and \
      counts; --model adds the rest.

      EXAMPLES
        clarus info Shop.sqlite
        clarus info Shop.sqlite --counts
        clarus info Shop.sqlite --entity Item
        clarus info Old.sqlite --model Shop.momd
        clarus info Shop.sqlite --json | jq -r '.entities[] | [.name, .count] | @tsv'

      JSON
        { "store": {"path", "type", "uuid", "frameworkVersion", "hasHistory", "sizeInBytes",
                    "journal": {"mode", "pendingBytes"}, "shortage"},
          "model": {"source", "path", "version", "versionIdentifiers", "checksum", "problem"},
          "entities": [{"name", "count", "abstract", "superentity", "subentities", "class",
                        "attributes": [{"name", "type", "optional", "transient", …}],
                        "relationships": [{"name", "destination", "toMany", "ordered", "inverse",
                                           "deleteRule", …}], …}],
          "metadata": {…} }
        Without a model an entity has "name", "count" and "superentity" only.
        With --counts: { "entities": [{"name", "count"}] }. With --entity: the entity's object with "countWithSubentities" and
        "properties": [{"name", "table", "columns", "values", "sample"}].
      """)

  @OptionGroup var options: StoreOptions

  @Option(
    name: .long,
    help: ArgumentHelp(
      "One entity only: its properties, where they are kept, how many rows have a value, and a sample.",
      valueName: "name"))
  var entity: String?

  @Flag(name: .long, help: "The number of rows of each entity, and nothing else.")
  var counts = false

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func validate() throws {
    if counts, entity != nil { throw ValidationError("--counts and --entity contradict each other.") }
  }

  func run() throws {
    let store = try OpenStore(
      path: options.store, modelPath: options.model, modelVersion: options.modelVersion,
      needsModel: entity != nil)
    // Without a model the file is not opened as a store, which would be refused.
    if let shortage = store.file.shortage {
      writeToStandardError(ErrorText.oneLine("warning: \(options.store): \(shortage)"))
    }
    let output = StandardOutput()
    let json: Bool = formatting.isJSON
    if let entity {
      let engine: any StoreEngine = try store.open()
      defer { try? engine.close() }
      let layout: EntityLayout = try naming("--entity") { try store.entity(entity, in: engine.layout) }
      let report = try EntityReport(layout, engine: engine)
      if json { try output.writeLine(report.json.pretty) } else { try report.write(to: output) }
      return try output.flush()
    }
    let report = StoreReport(store: store, entities: try entities(of: store))
    if counts {
      if json { try output.writeLine(report.countsJSON.pretty) } else { try report.writeCounts(to: output) }
    } else if json {
      try output.writeLine(report.json.pretty)
    } else {
      try report.write(to: output)
    }
    try output.flush()
  }

  /// The entities in the store's order with the counts of their own rows.
  private func entities(of store: OpenStore) throws -> [StoreReport.Entity] {
    guard let model = store.model else {
      let names: [Int: String] = Dictionary(
        store.file.entities.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
      return store.file.entities.map {
        StoreReport.Entity(name: $0.name, entity: nil, superName: names[$0.superNumber], count: $0.rows)
      }
    }
    // The model's names count: after a migration the file may still show old ones.
    let engine: any StoreEngine = try store.open()
    defer { try? engine.close() }
    return try engine.layout.entities
      .filter { model.entityNames?.contains($0.name) ?? true }
      .map { entity in
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return StoreReport.Entity(
          name: entity.name, entity: entity.entity, superName: entity.entity.superentity?.name,
          count: try engine.count(plan))
      }
  }
}
