import CoreDataGraph
import CoreDataStorage
import Foundation

/// What `clarus check` prints.
struct CheckReport {
  let path: String
  /// nil for a store that can't be opened.
  let store: OpenStore?
  let ids: ObjectIDs?
  let counts: [(name: String, count: Int)]
  let problems: [StoreProblem]

  var isSound: Bool { problems.allSatisfy(\.kind.isWarning) }

  var json: JSONText {
    .object([
      (
        "store",
        .object([
          ("path", .string(path)), ("type", .optional(store?.file.type)),
          ("uuid", .optional(store?.file.uuid)),
        ])
      ),
      ("entities", EntityCounts.json(counts)), ("sound", .bool(isSound)),
      ("problems", ProblemText(ids: ids).json(problems)),
    ])
  }

  func write(to output: StandardOutput) throws {
    for problem in problems { try output.writeLine(ProblemText(ids: ids).line(problem)) }
    let rows: Int = counts.reduce(0) { $0 + $1.count }
    let examined: String =
      store == nil
      ? ""
      : " in \(Counted.text(counts.count, "entity", "entities")) with \(Counted.text(rows, "row", "rows"))"
    let errors: Int = problems.count { !$0.kind.isWarning }
    let warnings: Int = problems.count - errors
    let found: String =
      problems.isEmpty
      ? "Nothing is wrong"
      : [
        errors > 0 ? Counted.text(errors, "problem", "problems") : nil,
        warnings > 0 ? Counted.text(warnings, "warning", "warnings") : nil,
      ].compactMap { $0 }.joined(separator: " and ")
    try output.writeLine(found + examined + ".")
  }
}

/// What `clarus check --repair` prints.
struct RepairReport {
  let store: OpenStore
  let out: String
  let type: String
  let report: StoreRepairReport
  let ids: ObjectIDs

  private var outcome: StoreRepair.Outcome { report.outcome }
  private var problems: [StoreProblem] { report.problemsFound }
  private var saved: Int { outcome.entities.reduce(0) { $0 + $1.saved } }
  var isComplete: Bool { report.isComplete }

  var json: JSONText {
    .object([
      (
        "store",
        .object([
          ("path", .string(store.path)), ("type", .string(store.file.type)),
          ("uuid", .string(store.file.uuid)),
        ])
      ),
      ("to", .object([("path", .string(out)), ("type", .string(type))])),
      (
        "entities",
        .array(
          outcome.entities.map { entity in
            .object([
              ("name", .string(entity.name)), ("saved", .integer(Int64(entity.saved))),
              ("lost", .array(entity.lost.map { .integer($0) })),
              ("lostWithoutKey", .integer(Int64(entity.lostWithoutKey))),
            ])
          })
      ),
      (
        "lostRows",
        .array(
          outcome.unreachable.map { rows in
            .object([
              ("table", .string(rows.table)), ("keys", .array(rows.keys.map { .integer($0) })),
              ("reason", .string(rows.reason)),
            ])
          })
      ),
      (
        "damagedTables",
        .array(
          outcome.damaged.map { table in
            .object([
              ("table", .string(table.table)), ("entity", .optional(table.entity)),
              ("reason", .optional(table.reason)),
              ("unreadablePages", .integer(Int64(table.unreadablePages))),
              ("unreadableRows", .integer(Int64(table.unreadableRows))),
              ("recoveredPages", .integer(Int64(table.recoveredPages))),
              ("recoveredRows", .integer(Int64(table.recoveredRows))),
              ("recoveredKeys", .array(table.recoveredKeys.map { .integer($0) })),
            ])
          })
      ),
      ("changes", ProblemText(ids: ids).json(outcome.changes)),
      ("invalid", ProblemText(ids: ids).json(outcome.invalid)),
      ("problems", ProblemText(ids: ids).json(problems)), ("complete", .bool(isComplete)),
    ])
  }

  func write(to output: StandardOutput) throws {
    let text = ProblemText(ids: ids)
    for problem in problems + outcome.changes { try output.writeLine(text.line(problem)) }
    for line in outcome.damaged.flatMap(lines) { try output.writeLine(ErrorText.oneLine(line)) }
    for rows in outcome.unreachable {
      let count: String = Counted.text(rows.keys.count, "row", "rows")
      try output.writeLine(
        ErrorText.oneLine(
          "error: \(count) of the table \(rows.table) could not be saved: they \(rows.reason). Z_PK \(rows.shownKeys(20))"
        ))
    }
    for problem in outcome.invalid { try output.writeLine(text.line(problem)) }
    var table = TextTable([
      .init(title: "Entity"), .init(title: "Saved", alignment: .right),
      .init(title: "Lost", alignment: .right),
    ])
    for entity in report.entities {
      let lost: String =
        String(entity.lost.count + entity.lostWithoutKey) + (entity.mayHaveLostMore ? " or more" : "")
      try table.add([entity.name, String(entity.saved), lost], to: output)
    }
    try table.finish(output)
    try output.writeLine(
      DisplayWidth.escaped("\(out): \(type) store with \(Counted.text(saved, "row", "rows"))")
        + (isComplete ? "; nothing was lost." : "."))
  }
}

extension RepairReport {
  private func lines(_ table: DamagedTable) -> [String] {
    var lines: [String] = []
    if let reason = table.reason {
      lines.append(
        "error: The rows of the table \(table.table), and relationships to them, are lost: \(reason).")
    }
    if table.unreadablePages > 0 {
      lines.append(
        "error: \(Counted.text(table.unreadablePages, "page", "pages")) of the table \(table.table) can't be read. "
          + "The rows that may have been there are lost, and nothing tells their number.")
    }
    if table.unreadableRows > 0 {
      lines.append(
        "error: \(Counted.text(table.unreadableRows, "row", "rows")) of the table \(table.table) "
          + "\(table.unreadableRows == 1 ? "is" : "are") damaged or cut off, and can't be read.")
    }
    if table.recoveredRows > 0 {
      let keys: String = table.recoveredKeys.prefix(20).map(String.init).joined(separator: ", ")
      lines.append(
        "warning: \(Counted.text(table.recoveredRows, "row", "rows")) of the table \(table.table) were recovered from "
          + "\(Counted.text(table.recoveredPages, "page", "pages")) that no page refers to any more. "
          + "They may be former versions of these rows."
          + (keys.isEmpty ? "" : " Z_PK \(keys)\(table.recoveredKeys.count > 20 ? ", …" : "")"))
    }
    return lines
  }
}

/// Problems of stores in words and as JSON.
struct ProblemText {
  /// nil for a store that has no model.
  let ids: ObjectIDs?

  private func short(_ problem: StoreProblem) -> [String] {
    problem.objects.prefix(StoreProblem.objectsKept).map { ids?.short($0) ?? String($0.key) }
  }

  /// `error: Item.owner names an object that does not exist. 12 times: Item/p1, Item/p2, …`
  func line(_ problem: StoreProblem) -> String {
    line(problem, as: problem.kind.isWarning ? "warning" : "error")
  }

  func line(_ problem: StoreProblem, as word: String) -> String {
    var line: String = "\(word): \(problem.text)"
    let objects: [String] = short(problem)
    if !objects.isEmpty {
      let list: String = objects.joined(separator: ", ") + (problem.count > objects.count ? ", …" : "")
      line += problem.count > 1 ? " \(problem.count) times: \(list)" : " \(list)"
    }
    return ErrorText.oneLine(line)
  }

  func json(_ problems: [StoreProblem]) -> JSONText {
    .array(
      problems.map { problem in
        .object(
          [
            ("kind", .string(problem.kind.rawValue)),
            ("severity", .string(problem.kind.isWarning ? "warning" : "error")),
          ] + entries(problem))
      })
  }

  /// What was found where.
  func entries(_ problem: StoreProblem) -> [(String, JSONText)] {
    [
      ("entity", .optional(problem.entity)), ("property", .optional(problem.property)),
      ("count", .integer(Int64(problem.count))), ("objects", .strings(short(problem))),
      ("message", .string(problem.text)),
    ]
  }
}
