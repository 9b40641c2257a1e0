import CoreDataModel

/// What `clarus model diff` prints.
struct ModelDifferenceReport {
  private let difference: ModelDifference
  private let inference: MappingInference
  /// Hashing costs as much as both models, so that it is done once, not for each change.
  private let changesVersionHashes: Bool
  /// By what they concern: `Item` or `Item.title`.
  private let refusals: [String: [MappingInference.Refusal]]

  init(_ difference: ModelDifference) {
    self.difference = difference
    inference = MappingInference(difference)
    changesVersionHashes = difference.changesVersionHashes
    refusals = Dictionary(
      grouping: inference.refusals,
      by: { refusal in
        refusal.property.map { "\(refusal.entity).\($0)" } ?? refusal.entity
      })
  }

  var isEmpty: Bool { difference.changes.isEmpty && difference.conflicts.isEmpty }

  private var changed: [EntityDifference] { difference.entities.filter { !$0.allChanges.isEmpty } }

  /// Names that are exchanged without a trace in the version hashes: a sentence each.
  private var exchanges: [String] {
    if changesVersionHashes { return [] }
    let known: [RenamingExchange] = RenamingExchange.all(in: difference.source)
    return RenamingExchange.all(in: difference.destination).filter { !known.contains($0) }.map { exchange in
      "\(exchange.subject) exchange their names and are alike in all else, so that each value stays under its former "
        + "name. Give one of them a hash modifier."
    }
  }

  private func needsMigration(_ change: ModelChange) -> Bool {
    change.changesVersionHash && changesVersionHashes
  }

  // MARK: Text

  var lines: [String] {
    if isEmpty { return ["The models are equal."] }
    var lines: [String] = []
    for entity in changed {
      for change in entity.allChanges {
        lines.append((needsMigration(change) ? "* " : "  ") + DisplayWidth.escaped(change.sentence))
      }
    }
    lines.append("")
    if !changesVersionHashes {
      lines.append("Stores of the source open with the destination; nothing has to be migrated.")
      return lines + exchanges.map { "  - " + DisplayWidth.escaped($0) }
    }
    if inference.refusals.isEmpty {
      lines.append("A mapping model can be inferred.")
      lines += (inference.conditions.map(\.description) + inference.omissions).map {
        "  - " + DisplayWidth.escaped($0)
      }
    } else {
      lines.append("No mapping model can be inferred:")
      lines += inference.refusals.map { "  - " + DisplayWidth.escaped($0.description) }
    }
    return lines
  }

  // MARK: JSON

  var json: JSONText {
    let refusals: [JSONText] = inference.refusals.map {
      .object([
        ("entity", .string($0.entity)), ("property", .optional($0.property)), ("reason", .string($0.reason)),
        ("advice", .string($0.advice)),
      ])
    }
    let conditions: [JSONText] = inference.conditions.map {
      .object([("entity", .string($0.entity)), ("condition", .string($0.description))])
    }
    return .object([
      ("entities", .array(changed.map(json))), ("inferable", .bool(inference.refusals.isEmpty)),
      ("refusals", .array(refusals)), ("conditions", .array(conditions)),
      ("omissions", .strings(inference.omissions)), ("exchanges", .strings(exchanges)),
    ])
  }

  private func json(_ entity: EntityDifference) -> JSONText {
    let changes: [JSONText] = entity.allChanges.map { change in
      .object([
        ("subject", .string(change.subject)), ("change", .string(change.kind.name)),
        ("sentence", .string(change.sentence)), ("needsMigration", .bool(needsMigration(change))),
        ("inferred", needsMigration(change) ? .bool(refusals[change.subject] == nil) : .null),
      ])
    }
    return .object([
      ("entity", .string(entity.name)), ("source", .optional(entity.source?.name)),
      ("needsMigration", .bool(entity.changesVersionHash)), ("changes", .array(changes)),
    ])
  }
}
