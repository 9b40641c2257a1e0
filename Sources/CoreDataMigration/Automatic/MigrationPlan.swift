import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// What the migration of a store will do: to be printed, and then to be run. An addition of Clarus.
///
/// ```swift
/// let plan = try MigrationPlan(forStoreAt: url, to: model)
/// print(plan)
/// if plan.isNeeded { try plan.run(keepingOriginalAt: backup) }
/// ```
///
/// Making a plan reads the store and the models, and changes nothing.
public struct MigrationPlan: CustomStringConvertible {
  /// From one version of the model to the next.
  public struct Step {
    /// The versions, by the names of their files, or else by their identifiers or checksums.
    public let source: String
    public let destination: String
    /// Whether the mapping model is inferred; false for one of the program's.
    public let isInferred: Bool
    /// The file of the mapping model, given or found beside the model; nil for one that is inferred, or that
    /// the program has made.
    public let mappingFile: URL?
    /// What is done to each entity.
    public let entities: [Entity]
    /// The statements, each with what it does and the rows that it changes, if the step is done in place; nil
    /// if objects are copied to a new file.
    public let statements: [Statement]?
    /// Why objects are copied to a new file and the store is not changed in place, a sentence each; none if
    /// it is.
    public let reasonsForCopy: [String]
    /// What in the store stands in the way; not known for a later step.
    public let problems: [String]
    /// What the step needs of the objects, and checks; an object that lacks it ends the migration.
    public let conditions: [String]
    /// Whether the objects were copied on trial, if objects are copied; nil if the step is done in place.
    public let dryRun: DryRun?
    let losses: [String]
    let step: MigrationStep
  }

  /// A copy of all objects into a store in memory, validated there, for the problems of a step.
  public enum DryRun: Sendable, Hashable {
    /// Every object was copied, and is valid.
    case passed
    /// The migration would end with an error: the step's ``Step/problems`` have it.
    case failed
    /// There was none. The reason is a sentence: the store is too large, the program's policies would be
    /// called, other problems were found before, or the plan was to have none.
    case omitted(reason: String)
  }

  /// A statement of a migration in place.
  public struct Statement: Sendable {
    public let explanation: String
    public let sql: String
    public let rows: Int?
  }

  /// What a step does to an entity.
  public struct Entity {
    public enum Kind: String, Sendable { case added, removed, copied, transformed, custom }
    public let kind: Kind
    /// nil for an entity that is added.
    public let source: String?
    /// nil for an entity that is removed.
    public let destination: String?
    /// The number of its objects. Of a later step's that are made by an earlier one it is not known: nil.
    public let objects: Int?
    /// The class of its policy, if it is one of the program's.
    public let policy: String?
    /// The changes of its properties, in words.
    public let changes: [String]
    /// The properties of the source that nothing reads.
    let dropped: [String]
  }

  public let url: URL
  /// In the order in which they are run; none if the store has the model already.
  public let steps: [Step]
  /// What is lost: the objects of entities and the values of properties that the new model does not have; if
  /// objects are copied, also tables and columns of other programs, references whose objects are not in the
  /// store, and of computed values those of which an expression makes none and numbers that an attribute cuts
  /// off. Of what the store has no object or value of nothing is lost; where that is not known, in a later
  /// step, it counts. Expressions are evaluated for 10,000 objects of each entity at most.
  public let losses: [String]
  /// What is worth knowing before, a sentence each: too little space, another process that has the store
  /// open, indexes that the store lacks, references that lead nowhere; of a store that needs no migration,
  /// names that were exchanged without a trace in the version hashes.
  public let warnings: [String]
  /// Why the store can't be brought back by a migration down to its present version with all values as they
  /// are now, a sentence each; none if it can.
  public let obstaclesToReturn: [String]
  /// The bytes that the migration needs beside the store at most, until it is done.
  public let neededSpace: Int64
  /// A guess, from the number of objects and of bytes, for a machine with a fast disk.
  public let seconds: Double
  /// How many of the steps are done already, by a process that was killed before the new store took the old
  /// one's place: ``run(verifies:keepingOriginalAt:progress:)`` goes on after them. If it is to verify values
  /// and that process did not, it begins anew.
  public let completedSteps: Int
  private let migration: AutomaticMigration

  /// Whether the store has another model.
  public var isNeeded: Bool { !steps.isEmpty }

  /// Whether files of a migration lie beside the store whose process was killed when the store had the model
  /// already: ``run(verifies:keepingOriginalAt:progress:)`` removes them.
  package var hasLeftovers: Bool {
    !isNeeded && (MigrationLock.exists(for: url) || StagingFolder(for: url).exists)
  }

  /// The plan for a store, of the kind that its file is of.
  ///
  /// - Parameters:
  ///   - mapping: the mapping model to use; nil to use one of the bundles' and of the folder of the model's
  ///     file, and if there is none to infer it.
  ///   - configuration: that of the model which the store holds; nil for all entities.
  ///   - options: those with which a coordinator would add the store.
  ///   - isDown: whether `model` is an earlier version than the store's. Then what the store's version has
  ///     renamed keeps its values: renaming identifiers are read the other way round. No mapping model is
  ///     looked for.
  ///   - triesCopy: whether a first step that copies objects is tried out in memory (``DryRun``), for stores
  ///     of up to 50,000 objects and 64 MB, unless policies of the program would be called. It takes as long
  ///     as the migration; without it a plan evaluates expressions and counts values, and does not find all
  ///     that ends a migration.
  ///
  /// Throws a `CocoaError`: 134130 if the model of the store is not found, 134140 and 134190 if no way leads
  /// to the model, with the reasons, 134110 if the model is an earlier version and `isDown` is false and no
  /// mapping model leads to it, or the other way round, and errors of reading the file.
  public init(
    forStoreAt url: URL, to model: NSManagedObjectModel, mapping: NSMappingModel? = nil,
    configuration: String? = nil, options: [AnyHashable: Any] = [:], isDown: Bool = false,
    triesCopy: Bool = true
  ) throws {
    try self.init(
      forStoreAt: url, to: model, mapping: mapping, configuration: configuration, options: options,
      isDown: isDown, triesCopy: triesCopy, showsUnfinished: false)
  }

  /// `showsUnfinished`: whether there is a plan with problems too where an inferred step lacks nothing but
  /// values of required attributes; to run it throws 134190.
  package init(
    forStoreAt url: URL, to model: NSManagedObjectModel, mapping: NSMappingModel?,
    configuration: String? = nil, options: [AnyHashable: Any], isDown: Bool, triesCopy: Bool,
    showsUnfinished: Bool
  ) throws {
    var all: [AnyHashable: Any] = options
    all[NSInferMappingModelAutomaticallyOption] = options[NSInferMappingModelAutomaticallyOption] ?? true
    self = try withMigrationErrors(of: url) {
      let file: StoreInspection = try Self.inspect(url, options)
      var migration = AutomaticMigration(
        OutdatedStore(
          coordinator: NSPersistentStoreCoordinator(managedObjectModel: model), type: file.type,
          configuration: configuration, url: url, options: all))
      migration.mapping = mapping
      migration.goesDown = isDown
      migration.refusesEarlier = true
      migration.showsUnfinished = showsUnfinished
      return try MigrationPlan(migration, file, triesCopy: triesCopy)
    }
  }

  private init(_ migration: AutomaticMigration, _ file: StoreInspection, triesCopy: Bool) throws {
    let store: OutdatedStore = migration.store
    let found: [MigrationStep] = try migration.steps()
    let choice: InPlaceStep.Choice = try InPlaceStep.choice(found, of: store, counting: true)
    let inPlace: InPlaceStep? = choice.step
    let contents: SurveyedContents? = found.first.map { SurveyedContents($0, of: store) }
    var (problems, doubts): ([String], [String]) = ([], [])
    if let step = found.first, let contents {
      // Nothing but a copy is validated.
      if inPlace == nil {
        (problems, doubts) = try MigrationProblems(step, of: store, contents).found()
      } else {
        doubts = try RefusedValues(step, PreparedMapping.plain(of: step), contents).warnings()
      }
    }
    let lost = try LostReferences(found.first, inPlace == nil ? contents : nil)
    url = store.url
    var refusing: AutomaticMigration = migration
    refusing.showsUnfinished = false
    self.migration = refusing
    problems += lost.problems
    let forbidden: [String] = ForbiddenFile.all(ofStoreAt: store.url, writing: true).map(\.sentence)
    steps = found.enumerated().map { number, step in
      let isFirst: Bool = number == 0
      return Step(
        step, isFirst ? file : nil, isFirst ? contents : nil, choice, isFirst ? forbidden + problems : [],
        isFirst && triesCopy ? MigrationDryRun(step, of: store, known: migration.known) : nil,
        known: migration.known)
    }
    // The file of an open store is not read for the digest of its contents.
    contents?.close()
    let survey = MigrationSurvey(store, file, steps, inPlace?.planned)
    let drift: [StoreDrift] = try survey.drift()
    let foreign: [String] = survey.isInPlace ? [] : drift.filter { $0.kind == .foreign }.map(\.text)
    losses =
      steps.flatMap { step in
        let place: String = found.count > 1 ? " (in the step from \(step.source) to \(step.destination))" : ""
        return step.losses.map { $0 + place }
      } + lost.losses + (inPlace == nil ? doubts : []) + foreign
    warnings =
      steps.isEmpty
      ? ExchangedNames(store, file, migration.known).warnings()
      : survey.warnings(drift) + (inPlace == nil ? [] : doubts)
        + Self.sentences(of: steps, givenMapping: migration.mapping)
        + steps.compactMap(Self.rivals) + Self.unreadable(steps)
    obstaclesToReturn = survey.obstaclesToReturn + foreign
    (neededSpace, seconds) = (survey.neededSpace, survey.seconds)
    completedSteps = migration.completed(of: found)
  }

  /// Where the mapping model that was given is used, if it leads part of the way only.
  private static func sentences(of steps: [Step], givenMapping mapping: NSMappingModel?) -> [String] {
    guard steps.count > 1, let mapping, let own = steps.first(where: { $0.step.mapping === mapping }) else {
      return []
    }
    let others: [String] = steps.filter { $0.step.mapping !== mapping }.map { step in
      "from \(step.source) to \(step.destination)\(step.isInferred ? "" : " by \(step.mappingTitle)")"
    }
    return [
      "The mapping model that was given leads from \(own.source) to \(own.destination); the store goes "
        + "\(others.joined(separator: ", ")) without it."
    ]
  }

  /// The warnings of several mapping models for one step.
  package var rivals: [String] { steps.compactMap(Self.rivals) }

  private static func rivals(of step: Step) -> String? {
    if step.step.rivals.isEmpty { return nil }
    let others: String = step.step.rivals.map(\.path).sorted().joined(separator: ", ")
    return
      "Several mapping models lead from \(step.source) to \(step.destination): \(step.mappingTitle) is taken, not "
      + "\(others). \(MigrationWords.text(command: "Name one by --mapping", program: "Give one as `mapping`")), or remove "
      + "the others."
  }

  private static func unreadable(_ steps: [Step]) -> [String] {
    let errors = Set(steps.flatMap(\.step.unreadable))
    return errors.sorted().map { "A mapping model can't be read and is passed over. \($0)" }
  }

  private static func inspect(_ url: URL, _ options: [AnyHashable: Any]) throws -> StoreInspection {
    do {
      return try StoreRegistry.inspect(url, options: options)
    } catch {
      throw MigrationFailure.sourceStore(url, MigrationFailure.text(of: error))
    }
  }

  /// Migrates the store as planned. If another process has migrated it meanwhile, nothing is done.
  ///
  /// - Parameters:
  ///   - verifies: whether to read the new store again before it takes the old one's place, and to compare
  ///     each value and relationship that the mapping models copy; costs about half of the migration again.
  ///   - original: a place for a copy of the store as it was; there must be nothing yet, or a copy of the
  ///     store as it is, and the folder must be there, which is checked before anything else. After an error a
  ///     copy that was made is removed if the store is as it was.
  ///   - progress: called with the numbers of objects that are done and of all; what it throws ends the
  ///     migration.
  ///
  /// Throws, with the store as it was, the errors of
  /// ``NSMigrationManager/migrateStore(from:type:options:mapping:to:type:options:)``.
  public func run(
    verifies: Bool = false, keepingOriginalAt original: URL? = nil,
    progress: ((_ done: Int, _ total: Int) throws -> Void)? = nil
  ) throws {
    try withMigrationErrors(of: url) {
      var migration: AutomaticMigration = migration
      migration.verifiesValues = verifies
      migration.note = progress
      guard let original else { return try migration.run() }
      let copy = OriginalCopy(of: migration.store, at: original)
      let isKept: Bool = try copy.requirePlace()
      let version: String = try versionOfStore()
      if !isKept { try copy.make() }
      do {
        try migration.run()
      } catch {
        // A commit that has failed may be complete in the log: only a store that is as it was needs no copy.
        if !isKept, FileObstacle(error) == .isLocked || (try? versionOfStore()) == version {
          copy.remove()
        }
        throw error
      }
    }
  }

  /// A digest of the versions of the entities that the store has now.
  private func versionOfStore() throws -> String {
    MigrationJournal.digest(
      ofVersions: try NSPersistentStoreCoordinator.metadataForPersistentStore(
        ofType: migration.store.type, at: url, options: migration.store.options))
  }

  /// What a process that was killed has done already.
  private var begun: String? {
    guard completedSteps > 0 else { return nil }
    let done: String =
      steps.count == 1
      ? "its step is"
      : completedSteps == 1 ? "step 1 of \(steps.count) is" : "\(completedSteps) of \(steps.count) steps are"
    return "Begun by a process that was killed: \(done) done, "
      + (completedSteps < steps.count
        ? "the migration goes on with step \(completedSteps + 1)."
        : "the new store only has to take the old one's place.")
  }

  public var description: String {
    if steps.isEmpty {
      return (["\(url.lastPathComponent) has this model already."] + warnings.map { "Beware: \($0)" })
        .joined(separator: "\n")
    }
    var lines: [String] = []
    if let begun { lines.append(begun) }
    for step in steps {
      lines.append(
        "\(step.source) → \(step.destination), by \(step.mappingTitle)")
      for entity in step.entities { lines += entity.lines.map { "  \($0)" } }
      lines += step.problems.map { "  problem: \($0)" }
      if step.isUnfinished {
        lines.append("  in place, or object by object, as what gives the values needs it")
      } else if let statements = step.statements {
        lines.append("  in place, in one transaction:")
        for statement in statements {
          let rows: String = statement.rows.map { ", \($0) \($0 == 1 ? "row" : "rows")" } ?? ""
          lines += ["    \(statement.explanation)\(rows)", "      \(statement.sql)"]
        }
      } else {
        lines.append("  object by object, into a new file that then takes the store's place, because:")
        lines += step.reasonsForCopy.map { "    \($0)" }
        switch step.dryRun {
        case .passed: lines.append("  dry run in memory: every object was copied, and is valid")
        case .omitted(let reason): lines.append("  no dry run in memory: \(reason)")
        case .failed, nil: break
        }
      }
    }
    func list(_ title: String, _ sentences: [String]) {
      if !sentences.isEmpty { lines.append(title) }
      lines += sentences.map { "  \($0)" }
    }
    list("Lost:", losses)
    list("Needed:", steps.flatMap(\.conditions))
    list("Beware:", warnings)
    if steps.contains(where: \.isUnfinished) { return lines.joined(separator: "\n") }
    if obstaclesToReturn.isEmpty {
      lines.append("Way back: a migration \(migration.goesDown ? "up" : "down"), with all values.")
    } else {
      list("No way back with all values, so keep the original:", obstaclesToReturn)
    }
    lines.append(
      "Space: up to \(MigrationSurvey.text(bytes: neededSpace)) beside the store. Time: \(MigrationSurvey.text(seconds: seconds))."
    )
    return lines.joined(separator: "\n")
  }
}

extension MigrationPlan.Entity {
  fileprivate var lines: [String] {
    let names: String =
      switch (source, destination) {
      case (let source?, let destination?):
        source == destination ? source : "\(source) becomes \(destination)"
      case (let source?, nil): source
      case (nil, let destination?): destination
      case (nil, nil): "nothing"
      }
    let count: String = objects.map { ", \($0) \($0 == 1 ? "object" : "objects")" } ?? ""
    let by: String = policy.map { ", by \($0)" } ?? ""
    return ["\(kind.rawValue) \(names)\(count)\(by)"] + changes.map { "  \($0)" }
  }
}
