import ArgumentParser
import CoreDataGraph
import CoreDataModel
import CoreDataStorage
import Foundation

/// The formats of `clarus import`.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable { case json, csv }

/// `clarus import`: objects of a file into a store.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Brings objects of a JSON or CSV file, or of a folder of CSV files, into a store.",
    discussion: """
      Changes the store, as no other command but migrate does: in one save, all of it or nothing, with inverses, validation and uniqueness \
      constraints as in a program. --dry-run tells what it would do, and what the store would refuse. With --create a new, empty store is made first, by the \
      model that --model names.

      Without --match every record is a new object. With it a record changes the object with the same values of these \
      attributes, if there is one; properties that the record does not name stay. With --match unique a record of an entity without a \
      uniqueness constraint is an error. Relationships name records by their \
      "$id", or objects of file and store by the values of their match key: "category": "fruit", or an object with the key's \
      attributes; in CSV a column category.name does the same for any attribute, and members of to-many relationships stand \
      between spaces.

      JSON is what `clarus export` writes, an array of objects (with --entity, or "$entity" in each), or an object of such \
      arrays by entity. CSV has the names in its first line; a field without text is nil, and "" the empty text. A folder of CSV \
      files is what `clarus export --format csv --out` makes: each has the objects of the entity whose name it has, and they are \
      brought in together, so that relationships lead from file to file. Derived attributes are computed anew, the times of saves \
      too.

      EXAMPLES
        clarus import Shop.sqlite items.csv --entity Item --match Item=sku --dry-run
        clarus import Shop.sqlite shop.json --match unique --match Tag=label
        clarus import Shop.sqlite changes.json --match id
        clarus import Shop.sqlite items.csv --entity Item --match-where 'title ==[c] $title AND isDone == NO'
        clarus import New.sqlite shop.json --create --model Shop.momd
        clarus import New.sqlite shop --create --model Shop.momd

      JSON
        { "entities": [{"name", "inserted", "updated", "unchanged"}], "saved" }
      """)

  @OptionGroup var options: StoreOptions

  @Argument(help: "The file with the objects, or a folder of CSV files.", completion: .file())
  var file: String

  @Option(name: .long, help: ArgumentHelp("The entity of records that name none.", valueName: "name"))
  var entity: String?

  @Option(
    name: .long, parsing: .singleValue,
    help: ArgumentHelp(
      "How objects of the store are found: by attributes, by each entity's first uniqueness constraint, or by the id. May be repeated.",
      valueName: "Entity=a,b | unique | id"))
  var match: [String] = []

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp(
      "How objects of --entity are found: a predicate in which $attribute is the record's value.",
      valueName: "predicate"))
  var matchWhere: String?

  @Option(name: .long, help: "The format of the file; otherwise by its ending.")
  var format: ImportFormat?

  @Flag(
    name: .long,
    help: "Tell what would be done, and keep nothing of it; the store has to be writable all the same.")
  var dryRun = false

  @Flag(name: .long, help: "Make a new store. There must be no such file.")
  var create = false

  @OptionGroup var formatting: ReportOptions

  struct ReportOptions: ParsableArguments {
    @Flag(name: .long, help: "Print the report as JSON.")
    var json = false
  }

  func validate() throws {
    for term in match
    where term != "unique" && term != "id" && term.split(separator: "=", maxSplits: 1).count != 2 {
      throw ValidationError("--match \"\(term)\" is neither Entity=attribute,attribute nor unique nor id.")
    }
    if matchWhere != nil, entity == nil { throw ValidationError("--match-where needs --entity.") }
    if create, options.model == nil { throw ValidationError("--create needs --model.") }
    if create, !match.isEmpty, match.contains("id") {
      throw ValidationError("A new store has no ids to match.")
    }
  }

  func run() throws {
    Interruption.watch()
    if !create, !FileManager.default.fileExists(atPath: options.store) {
      throw CommandFailure(
        "\(options.store): There is no such file. With --create a new store is made, by the model that --model names."
      )
    }
    let records: [ImportRecord] = try ImportFile.records(
      at: file, isCSV: format.map { $0 == .csv }, entity: entity)
    let outcome: StoreImport.Outcome
    if create {
      let model: NSManagedObjectModel = try naming("--model") {
        try ModelArgument.load(options.model ?? "", version: options.modelVersion).model
      }
      let kind: any StoreEngineKind = try NewStoreKind.choose(
        nil, path: options.store, source: try NewStoreKind.standard())
      let staged = try StagedStore(at: URL(fileURLWithPath: options.store))
      defer { staged.discard() }
      outcome = try NewFile.naming(staged) {
        try bring(records, into: staged.temporary, kind, model, nil)
      }
      if !dryRun { try staged.publish() }
    } else {
      let store = try OpenStore(
        path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true)
      guard let model = store.model else { throw CommandFailure("\(options.store): There is no model.") }
      outcome = try bring(
        records, into: URL(fileURLWithPath: options.store), store.kind, model.model, model.entityNames)
    }
    try report(outcome)
  }

  private func bring(
    _ records: [ImportRecord], into url: URL, _ kind: any StoreEngineKind, _ model: NSManagedObjectModel,
    _ entityNames: Set<String>?
  ) throws -> StoreImport.Outcome {
    let configuration: String? = entityNames.flatMap { names in
      model.namedConfigurations.first { Set($0.value) == names }?.key
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: configuration, at: url,
      options: [
        NSIgnorePersistentStoreVersioningOption: !create,
        NSPersistentStoreTimeoutOption: OpenStore.busyTimeoutInSeconds,
        // A file's digits are all to be kept.
        ClarusExactDecimalsKey: true,
        // A new store is put in its place later, so a dry run may save to it.
        RehearsesSavesOption: dryRun && !create,
      ])
    defer { try? coordinator.remove(store) }
    if let reason = store.readOnlyReason {
      throw CommandFailure(
        "\(options.store): The store can't be written: \(reason.text(ofStoreAt: url)). "
          + reason.advice)
    }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    context.undoManager = nil
    let layout = ModelLayout(model: model)
    let terms: [String] = match.filter { $0 != "id" }
    let keys: [String: [String]] =
      terms.isEmpty ? [:] : try naming("--match") { try MatchKeys.read(terms, layout) }
    let predicate: MatchPredicate? = try matchWhere.map { try MatchPredicate($0, entity ?? "", layout) }
    let progress = ProgressLine()
    let work = StoreImport(
      context, store: store, layout: layout, keys: keys, matchesIDs: match.contains("id"),
      requiresKeys: match.contains("unique"),
      predicate: predicate, progress: progress)
    return try context.performAndWait {
      try Transformation.$passesData.withValue(true) { try run(work, records, progress) }
    }
  }

  /// On the queue of the context.
  private func run(_ work: StoreImport, _ records: [ImportRecord], _ progress: ProgressLine) throws
    -> StoreImport.Outcome
  {
    let outcome: StoreImport.Outcome = try ImportFile.located(file) { try work.run(records) }
    try Interruption.check()
    progress.end()
    do {
      // Also in a dry run: only a save finds what the store refuses.
      try ImportFile.located(file) { try work.saveIfChanged() }
    } catch is SaveRehearsed {}
    return outcome
  }

  private func report(_ outcome: StoreImport.Outcome) throws {
    let output = StandardOutput()
    let names: [String] = outcome.names
    if formatting.json {
      let entities: [JSONText] = names.map { name in
        .object([
          ("name", .string(name)), ("inserted", .integer(Int64(outcome.inserted[name] ?? 0))),
          ("updated", .integer(Int64(outcome.updated[name] ?? 0))),
          ("unchanged", .integer(Int64(outcome.unchanged[name] ?? 0))),
        ])
      }
      try output.writeLine(
        JSONText.object([("entities", .array(entities)), ("saved", .bool(!dryRun))]).pretty)
    } else {
      var table = TextTable([
        .init(title: "Entity"), .init(title: "Inserted", alignment: .right),
        .init(title: "Updated", alignment: .right), .init(title: "Unchanged", alignment: .right),
      ])
      for name in names {
        try table.add(
          [name] + [outcome.inserted, outcome.updated, outcome.unchanged].map { String($0[name] ?? 0) },
          to: output)
      }
      try table.finish(output)
      if dryRun { try output.writeLine("Nothing was written: this was a dry run.") }
    }
    try output.flush()
  }
}
