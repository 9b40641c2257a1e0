import CoreDataModel
import Foundation

/// What a migration in place would do to a store, found by reading alone.
package struct PlannedMigration: Sendable, CustomStringConvertible {
  package struct Step: Sendable, Hashable {
    /// What the step does, in words.
    package var explanation: String
    /// The statement as the database gets it.
    package var statement: String
    /// How many rows it changes; nil if that was not counted.
    package var rows: Int64?

    package init(explanation: String, statement: String, rows: Int64?) {
      self.explanation = explanation
      self.statement = statement
      self.rows = rows
    }
  }

  /// In the order in which they run, all in one transaction.
  package var steps: [Step]
  /// Why the migration can't be done in place; empty if it can.
  package var obstacles: [String]
  /// What in the store's contents would stop it.
  package var problems: [MigrationProblem]
  /// What else is worth knowing before, in words.
  package var notes: [String]

  package var canRunInPlace: Bool { obstacles.isEmpty }

  package init(
    steps: [Step], obstacles: [String] = [], problems: [MigrationProblem] = [], notes: [String] = []
  ) {
    self.steps = steps
    self.obstacles = obstacles
    self.problems = problems
    self.notes = notes
  }

  package var description: String {
    if !canRunInPlace {
      return "can't be done in place:\n" + obstacles.map { "  \($0)\n" }.joined()
    }
    let found: String = problems.map { "problem: \($0.text)\n" }.joined()
    return found + notes.map { "note: \($0)\n" }.joined()
      + steps.map { step in
        let rows: String = step.rows.map { " (\($0) rows)" } ?? ""
        return "\(step.explanation)\(rows)\n  \(step.statement)\n"
      }.joined()
  }
}

/// How much a migration in place checks before it commits.
package enum MigrationVerification: Sendable {
  /// Tables, columns and indexes are those of the target model.
  case structure
  /// Besides, the number of rows of each entity in tables that were made or lost rows, and the values of
  /// copied columns.
  case rows
  /// Besides, the rows of all tables, and the whole file (`PRAGMA integrity_check`).
  case everything
}

/// How far a migration is.
package struct MigrationProgress: Sendable {
  package var step: Int
  package var stepCount: Int
  package var explanation: String

  package init(step: Int, stepCount: Int, explanation: String) {
    self.step = step
    self.stepCount = stepCount
    self.explanation = explanation
  }
}

/// What a migration in place has done.
package struct MigrationReport: Sendable {
  package enum Outcome: Sendable, Hashable {
    case migrated
    /// Another process had migrated the store before.
    case alreadyMigrated
  }

  package var outcome: Outcome
  /// The steps with the rows that they changed.
  package var steps: [PlannedMigration.Step]
  /// Rows of the target model's entities, as far as they were counted.
  package var rowCounts: [String: Int64]

  package init(
    _ outcome: Outcome, steps: [PlannedMigration.Step] = [], rowCounts: [String: Int64] = [:]
  ) {
    self.outcome = outcome
    self.steps = steps
    self.rowCounts = rowCounts
  }
}

/// Why a migration was not done. The store is as it was before.
package enum MigrationProblem: Error, Sendable, Hashable {
  /// The migration can't be done in place.
  case notInPlace(reasons: [String])
  /// Rows have no value for a property that is required, and the model has no default.
  case missingValues(entity: String, property: String, count: Int64)
  /// Rows have the same values for properties that are to be unique; `count` is the number of such values, if
  /// it is known.
  case duplicates(entity: String, properties: [String], count: Int64?)
  /// The entity becomes abstract, but there are rows of it.
  case abstractRows(entity: String, count: Int64)
  /// A comparison of what was written with what had been there failed. `triggers`: those of other programs.
  case proofFailed(String, triggers: [String] = [])

  package var text: String {
    switch self {
    case .notInPlace(let reasons):
      "It can't be done in place: " + reasons.joined(separator: " ")
    case .missingValues(let entity, let property, let count):
      "\(count) object(s) of \(entity) have no value for \(property), which the new model requires."
    case .duplicates(let entity, let properties, let count):
      "The values of \(properties.joined(separator: ", ")) are to be unique among the objects of \(entity), but "
        + (count.map { $0 == 1 ? "1 value occurs" : "\($0) values occur" } ?? "some occur")
        + " more than once."
    case .abstractRows(let entity, let count):
      "\(entity) is abstract in the new model, but the store has \(count) object(s) of it."
    case .proofFailed(let what, _):
      "The result was checked before it was to be written, and is not what it should be: \(what)"
    }
  }

  package var advice: String {
    switch self {
    case .notInPlace: "Migrate by copying into a new store."
    case .missingValues(_, let property, _):
      "Set values of \(property) with the version that the store has, or use a mapping model. A version that no store has yet "
        + "can make it optional or, if it is an attribute, give it a default value."
    case .duplicates:
      "Change or delete the objects with the version that the store has, or use a mapping model. A version that no store has "
        + "yet can give a new attribute no default value."
    case .abstractRows:
      "Delete the objects with the version that the store has, or map the entity to one that is not abstract."
    case .proofFailed(_, let triggers):
      triggers.isEmpty
        ? "Please report it, with both models."
        : "Triggers of another program may have changed rows meanwhile: drop \(triggers.joined(separator: ", ")), migrate the "
          + "store, and make them again."
    }
  }
}

extension StoreEngineKind {
  package func migrationPlan(at url: URL, plan: SchemaPlan, options: StoreOpeningOptions) throws
    -> PlannedMigration
  {
    PlannedMigration(
      steps: [], obstacles: ["A store of type \(type) can't change its schema; it is written as a whole."])
  }

  package func migrate(
    at url: URL, plan: SchemaPlan, options: StoreOpeningOptions, verification: MigrationVerification,
    progress: (MigrationProgress) throws -> Void
  ) throws -> MigrationReport {
    let planned: PlannedMigration = try migrationPlan(at: url, plan: plan, options: options)
    throw StoreError.migration(url: url, .notInPlace(reasons: planned.obstacles))
  }
}
