import ArgumentParser
import CoreDataModel
import CoreDataStorage
import Foundation

/// The formats of `clarus export`.
enum ExportFormat: String, ExpressibleByArgument, CaseIterable {
  case json, csv, sql
  case views = "sqlite-views"
}

/// `clarus export`: all objects of a store in a format for other programs.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes all objects of a store as JSON, CSV or SQL.",
    discussion: """
      JSON is one document that loses nothing: every object with its id, and the types of all properties. CSV has a file for each \
      entity, with the same columns. `clarus import` reads both, also the whole folder of CSV files. SQL is tables and an INSERT for each object, as most databases read it. sqlite-views is \
      SQL for the store's own file, or rather for a copy: views that show its tables with the names of the model. Without --out \
      the text goes to standard output; CSV then needs --entity.

      EXAMPLES
        clarus export Shop.sqlite > shop.json
        clarus export Shop.sqlite --format csv --out shop
        clarus export Shop.sqlite --format csv --entity Item | head
        clarus export Shop.sqlite --format sql | psql shop
        cp Shop.sqlite Copy.sqlite; clarus export Shop.sqlite --format sqlite-views | sqlite3 Copy.sqlite

      JSON
        { "clarus": {"format": 1, "type", "uuid"},
          "entities": {"Item": {"superentity", "properties": {"price": "Double", "category": "→ Category"}}},
          "objects": [{"$id": "Item/p1", "price": 1.5, "category": "Category/p3", "tags": ["Tag/p1"]}] }
        nil is null, data is base64, a date ISO 8601, or its seconds since 2001 where the text would not be exact; a decimal of \
      more than 15 digits is a text. A to-many relationship whose inverse is a to-one, and that has no order, is left out: its \
      members name their owner.
      """)

  @OptionGroup var options: StoreOptions

  @Option(name: .long, help: "The format.")
  var format: ExportFormat = .json

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "Only objects of this entity, sub-entities not included. May be repeated.", valueName: "name"))
  var entity: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp("The file to make; of CSV a folder. There must be none yet.", valueName: "path"),
    completion: .file())
  var out: String?

  func validate() throws {
    if format == .csv, out == nil, entity.count != 1 {
      throw ValidationError("CSV has a file for each entity: name a folder with --out, or one --entity.")
    }
  }

  func run() throws {
    let store = try OpenStore(
      path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true)
    if out != nil { Interruption.watch() }
    let engine: any StoreEngine = try store.open(readsMissingFilesAsNil: false)
    defer { try? engine.close() }
    if format == .views, try engine.readableViews() == nil {
      throw CommandFailure(
        "\(options.store): Stores of type \(store.file.type) have no tables to make views of.")
    }
    let entities: [EntityLayout] = try chosen(store, engine.layout)
    let progress = ProgressLine(beside: out == nil ? StandardOutput() : nil)
    progress.begin("Exporting", total: 0)
    let export = StoreExport(engine, entities: entities, progress: progress)
    func write(_ entity: EntityLayout?, _ output: StandardOutput) throws {
      if let entity { return try export.writeCSV(of: entity, to: output) }
      switch format {
      case .sql: try export.writeSQL(to: output)
      case .views: for view in try engine.readableViews() ?? [] { try output.writeLine(view) }
      case .json, .csv: try export.writeJSON(to: output, uuid: store.file.uuid, type: store.file.type)
      }
    }
    guard let out else {
      let output = StandardOutput()
      try write(format == .csv ? entities[0] : nil, output)
      try output.flush()
      return progress.end()
    }
    if format != .csv {
      try NewFile.write(out) { try write(nil, $0) }
    } else {
      try NewFile.folder(out) { folder in
        try NewFile.makeFolder(at: folder)
        for entity in entities {
          try NewFile.write(at: folder.appendingPathComponent("\(entity.name).csv")) { try write(entity, $0) }
        }
      }
    }
    progress.end()
  }

  private func chosen(_ store: OpenStore, _ layout: ModelLayout) throws -> [EntityLayout] {
    if !entity.isEmpty {
      return try naming("--entity") { try entity.map { try store.entity($0, in: layout) } }
    }
    let names: Set<String>? = store.model?.entityNames
    return layout.entities.filter { !$0.isAbstract && names?.contains($0.name) ?? true }
  }
}
