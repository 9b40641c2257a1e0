import ArgumentParser
import CoreDataGraph
import CoreDataMigration
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// `clarus migrate`: a store becomes one of another version of its model.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a store to another version of its model.",
    discussion: """
      The store itself changes: in place, in one transaction, if it is a SQLite store and the mapping is inferred, else into a \
      new file that takes its place when it is complete. After an error, or Ctrl-C, it is as it was. --plan prints what would be \
      done, what would be lost and what stands in the way, whether there is a way back, the space and the time, and changes \
      nothing. --down says that --to is an earlier version than the store's: what was renamed since keeps its values. \
      If the process is killed, the same command goes on after the last step that was complete.

      The model that the store was written with is its own copy; for a store that carries none it is looked for among the \
      versions beside --to. The mapping model is inferred unless --mapping names one or one lies beside --to; the models that an \
      .xcmappingmodel names are looked for beside it, and beside --to. Policies of a program can't run here.

      EXAMPLES
        clarus migrate Shop.sqlite --to Shop.xcdatamodeld --plan
        clarus migrate Shop.sqlite --to Shop.momd --model-version 'Shop 3' --keep-original Shop.before.sqlite --verify
        clarus migrate Shop.sqlite --to Shop.momd --model-version 'Shop 2' --down
        clarus migrate Shop.xml --to Shop.xcdatamodeld --mapping Shop1to2.xcmappingmodel

      EXIT STATUS
        0 the store has the model, or with --plan: nothing stands in the way   1 not, as standard error says   2 wrong usage

      JSON
        { "store", "needed", "done", "completedSteps", "losses": [], "warnings": [], "obstaclesToReturn": [], "neededSpace", "seconds",
          "steps": [{"from", "to", "inferred", "mapping", "inPlace", "reasonsForCopy": [], "problems": [],
            "conditions": [],
            "dryRun": "passed", "failed", a reason why there was none, or null,
            "entities": [{"change", "from", "to", "objects", "policy", "changes": []}],
            "statements": [{"explanation", "sql", "rows"}] or null}] }
      """)

  @Argument(help: "The store file.", completion: .file())
  var store: String

  @Option(
    name: .long,
    help: ArgumentHelp("The model to migrate to; of several versions the current one.", valueName: "model"),
    completion: .file())
  var to: String

  @Option(name: .long, help: ArgumentHelp("The version of the model to migrate to.", valueName: "name"))
  var modelVersion: String?

  @Option(
    name: .long, help: ArgumentHelp("The mapping model: a .cdm or .xcmappingmodel.", valueName: "path"),
    completion: .file())
  var mapping: String?

  @Flag(name: .long, help: "Go back to an earlier version of the model.")
  var down = false

  @Flag(name: .long, help: "Print what would be done, and change nothing.")
  var plan = false

  @Flag(name: .long, help: "Read the result again and compare it with the store before it counts.")
  var verify = false

  @Option(
    name: .long, help: ArgumentHelp("Keep a copy of the store as it was there.", valueName: "path"),
    completion: .file())
  var keepOriginal: String?

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func validate() throws {
    if down, mapping != nil {
      throw ValidationError("--down infers the way back; leave one of --down and --mapping out.")
    }
  }

  func run() throws {
    _ = try FileContent.recognize(store).storeKind(at: store)
    let model: NSManagedObjectModel = try naming("--to") {
      try ModelArgument.load(to, version: modelVersion).model
    }
    let url = URL(fileURLWithPath: store)
    let chosen: NSMappingModel? = try mapping.map { path in
      try naming("--mapping") {
        try NSMappingModel.load(
          contentsOf: URL(fileURLWithPath: path), modelsBeside: [URL(fileURLWithPath: to)])
      }
    }
    let planned: MigrationPlan = try Transformation.$passesData.withValue(true) {
      try withAdvice { try runNewestPlan(at: url, to: model, by: chosen) }
    }
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(json(planned).pretty)
    } else if plan || !planned.isNeeded {
      for line in planned.description.split(separator: "\n", omittingEmptySubsequences: false) {
        try output.writeLine(DisplayWidth.escaped(String(line)))
      }
      for line in WaysOut(planned, to: to, model).lines(store: store) {
        try output.writeLine(DisplayWidth.escaped(line))
      }
    } else {
      let count: Int = planned.steps.count
      try output.writeLine(
        DisplayWidth.escaped(
          "\(store): migrated to \(planned.steps.last?.destination ?? "") in \(Counted.text(count, "step", "steps"))"
        ))
      // What a mapping model does to values is its author's doing, so that one that was found is named.
      for warning in planned.rivals {
        writeToStandardError("warning: \(ErrorText.oneLine(warning))")
      }
      if count > 1 || (mapping == nil && planned.steps.contains { !$0.isInferred }) {
        for step in planned.steps {
          let line: String = "step: \(step.source) → \(step.destination), by \(step.mappingTitle)"
          try output.writeLine(DisplayWidth.escaped(line))
        }
      }
      for loss in planned.losses {
        try output.writeLine(DisplayWidth.escaped("lost: \(loss)"))
      }
    }
    try output.flush()
    let problems: Int = planned.steps.reduce(0) { $0 + $1.problems.count }
    if plan, problems > 0 {
      throw CommandFailure(
        "\(store): The migration would end with an error, for \(Counted.text(problems, "reason", "reasons")): see each "
          + "problem in the plan.")
    }
  }

  /// Plans again if another process has migrated the store meanwhile: a plan that was made of two versions
  /// ends with an error of neither.
  private func runNewestPlan(at url: URL, to model: NSManagedObjectModel, by mapping: NSMappingModel?) throws
    -> MigrationPlan
  {
    var planned: [String: Data]? = version(of: url)
    while true {
      do {
        return try runPlan(at: url, to: model, by: mapping)
      } catch {
        let present: [String: Data]? = version(of: url)
        if present == planned { throw error }
        planned = present
      }
    }
  }

  /// The hashes of the version that a store has; nil if they can't be read now. Does not wait for a lock: the
  /// plan does.
  private func version(of url: URL) -> [String: Data]? {
    let options: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.05]
    let found: StoreInspection? = try? StoreRegistry.inspect(url, countsRows: false, options: options)
    return found?.metadata[NSStoreModelVersionHashesKey] as? [String: Data]
  }

  private func runPlan(at url: URL, to model: NSManagedObjectModel, by mapping: NSMappingModel?) throws
    -> MigrationPlan
  {
    func make(showsUnfinished: Bool) throws -> MigrationPlan {
      try MigrationPlan(
        forStoreAt: url, to: model, mapping: mapping,
        options: [NSPersistentStoreTimeoutOption: OpenStore.busyTimeoutInSeconds], isDown: down,
        triesCopy: plan, showsUnfinished: showsUnfinished)
    }
    let planned: MigrationPlan
    do {
      planned = try make(showsUnfinished: plan)
    } catch {
      guard error.ofCocoa?.code.rawValue == NSInferredMappingModelError, !plan,
        (try? make(showsUnfinished: true)) != nil
      else { throw error }
      throw CommandFailure(
        "\(ErrorText.oneLine((error as NSError).localizedDescription)) --plan prints the steps and the ways out."
      )
    }
    guard planned.isNeeded else {
      if !plan, planned.hasLeftovers { try planned.run() }
      return planned
    }
    if let keepOriginal {
      try naming("--keep-original") {
        try withAdvice { try OriginalCopy.requirePlace(URL(fileURLWithPath: keepOriginal), ofStoreAt: url) }
      }
    }
    if !plan { try migrate(planned) }
    return planned
  }

  /// The errors of migrations say in their advice what to do with the store.
  private func withAdvice<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      // A CommandFailure says all.
      guard let error = error.ofCocoa else { throw error }
      if error.code.rawValue == NSEntityMigrationPolicyError {
        throw CommandFailure(
          ErrorText.oneLine(
            "\(store): \(ErrorText.line(for: error)) This command has no classes of a program: let the program that has it "
              + "migrate the store."))
      }
      throw CommandFailure(ErrorText.oneLine(error.localizedDescription))
    }
  }

  private func migrate(_ planned: MigrationPlan) throws {
    Interruption.watch()
    let progress = ProgressLine()
    var last: Int = 0
    var isShown = false
    try planned.run(
      verifies: verify, keepingOriginalAt: keepOriginal.map { URL(fileURLWithPath: $0) }
    ) { done, total in
      if !isShown { progress.begin("Migrating", total: total) }
      isShown = true
      try progress.advance(by: max(0, done - last))
      last = done
    }
    progress.end()
  }

  private static func word(for dryRun: MigrationPlan.DryRun?) -> String? {
    switch dryRun {
    case .passed: "passed"
    case .failed: "failed"
    case .omitted(let reason): reason
    case nil: nil
    }
  }

  private func json(_ planned: MigrationPlan) -> JSONText {
    func text(_ value: String?) -> JSONText { value.map { .string($0) } ?? .null }
    func number(_ value: Int?) -> JSONText { value.map { .integer(Int64($0)) } ?? .null }
    func texts(_ values: [String]) -> JSONText { .array(values.map { .string($0) }) }
    let steps: [JSONText] = planned.steps.map { step in
      let entities: [JSONText] = step.entities.map { entity in
        .object([
          ("change", .string(entity.kind.rawValue)), ("from", text(entity.source)),
          ("to", text(entity.destination)), ("objects", number(entity.objects)),
          ("policy", text(entity.policy)), ("changes", texts(entity.changes)),
        ])
      }
      let statements: JSONText =
        step.statements.map { statements in
          .array(
            statements.map {
              .object([
                ("explanation", .string($0.explanation)), ("sql", .string($0.sql)), ("rows", number($0.rows)),
              ])
            })
        } ?? .null
      return .object([
        ("from", .string(step.source)), ("to", .string(step.destination)),
        ("inferred", .bool(step.isInferred)), ("mapping", text(step.mappingFile?.path)),
        ("inPlace", .bool(step.statements != nil)), ("reasonsForCopy", texts(step.reasonsForCopy)),
        ("problems", texts(step.problems)), ("conditions", texts(step.conditions)),
        ("dryRun", text(Self.word(for: step.dryRun))),
        ("entities", .array(entities)), ("statements", statements),
      ])
    }
    return .object([
      ("store", .string(store)), ("needed", .bool(planned.isNeeded)),
      ("done", .bool(!plan && planned.isNeeded)), ("completedSteps", .integer(Int64(planned.completedSteps))),
      ("losses", texts(planned.losses)),
      ("warnings", texts(planned.warnings)), ("obstaclesToReturn", texts(planned.obstaclesToReturn)),
      ("neededSpace", .integer(planned.neededSpace)), ("seconds", .double(planned.seconds)),
      ("steps", .array(steps)),
    ])
  }
}
