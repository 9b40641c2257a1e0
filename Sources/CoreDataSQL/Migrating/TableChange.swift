import CoreDataModel
import CoreDataStorage

/// What becomes of the table of a hierarchy: either it is altered, or a new table is made and filled from
/// one or several old ones.
struct TableChange {
  /// By position in the new schema.
  let position: Int
  let table: TableSchema
  let origins: [EntityMoves.Origin]
  /// By place in the table's columns, then by pair: where the values come from.
  var sources: [[EntityMoves.Pair: ColumnSource]]
  /// nil for a table that is made.
  var kept: KeptTable?

  /// An old table that is altered.
  struct KeptTable {
    /// By position in the old schema.
    var position: Int
    /// In the order in which they are done: a name that is taken is given up first.
    var renames: [(from: String, to: String)] = []
    /// Old columns by the names that they have then, if these differ.
    var names: [String: String] = [:]
    var added: [ColumnSchema] = []
    /// By the names that they have then.
    var dropped: [String] = []
    var formerDropped: [String] = []
    var updates: [TableUpdate] = []
    /// The numbers of entities whose rows are deleted.
    var deleted: [Int] = []

    /// Whether no row changes.
    var isQuiet: Bool { updates.isEmpty && deleted.isEmpty }
  }
}

/// Rows of a table that get new values, by the entities' old numbers.
struct TableUpdate {
  var assignments: [UpdateStatement.Assignment]
  /// nil for all rows.
  var numbers: [Int]?
  /// Only rows that have no value in this column.
  var missing: String?
  var explanation: String
}

extension TableChange {
  /// A rebuild copies all rows once and makes all indexes again; each dropped column rewrites all rows.
  static let mostDroppedColumns: Int = 2

  init(_ position: Int, _ moves: EntityMoves, _ sources: inout ColumnSources, canAlter: (Int) -> Bool) {
    self.position = position
    table = moves.new.tables[position]
    origins = moves.origins[position]
    self.sources = []
    for column in table.columns {
      var own: [EntityMoves.Pair: ColumnSource] = [:]
      for pair in origins.flatMap(\.pairs) where sources.applies(column, to: pair.new) {
        own[pair] = sources.source(of: column, pair)
      }
      self.sources.append(own)
    }
    if origins.count == 1, canAlter(origins[0].table) { kept = altered(moves) }
  }

  /// The changes of the old table; nil if it has to be rebuilt.
  private func altered(_ moves: EntityMoves) -> KeptTable? {
    let origin: EntityMoves.Origin = origins[0]
    let old: TableSchema = moves.old.tables[origin.table]
    var result = KeptTable(position: origin.table)
    var bases: [String: Int] = [:]
    var base: [String?] = []
    for (place, column) in table.columns.enumerated() {
      let found: String? = candidate(place, column, old)
      if let found, bases[found] == nil {
        bases[found] = place
        base.append(found)
      } else {
        base.append(nil)
        result.added.append(column)
      }
    }
    let dropped: [String] = old.columns.map(\.name).filter { bases[$0] == nil }
    if dropped.count > Self.mostDroppedColumns { return nil }
    let renaming = NameChanges(
      renamed: bases.sorted { $0.value < $1.value }.map { ($0.key, table.columns[$0.value].name) },
      dropped: dropped, added: result.added.map(\.name))
    result.renames = renaming.steps
    result.names = renaming.names
    result.formerDropped = dropped
    result.dropped = dropped.map { renaming.names[$0] ?? $0 }
    let family: ClosedRange<Int> = moves.old.layout.entities[old.root].family
    let staying: Set<Int> = Set(origin.pairs.map(\.old))
    let leaving: [Int] = family.filter { !staying.contains($0) }
    result.deleted = leaving.map { moves.old.entityNumbers[$0] }
    for (place, column) in table.columns.enumerated() {
      for (source, pairs) in grouped(place, origin.pairs) {
        guard let update = update(column, base[place], source, pairs, result.names, moves) else { continue }
        // A column that is read for another one must not be overwritten before.
        if let changed = base[place] {
          let isRead: Bool = table.columns.indices.contains { other in
            other != place && sources[other].values.contains { $0.column == changed }
          }
          if isRead { return nil }
        }
        result.add(update)
      }
    }
    appendRenumbering(&result, origin, moves)
    return result
  }

  /// The old column that becomes the new one: that of most entities, if its type is the same.
  private func candidate(_ place: Int, _ column: ColumnSchema, _ old: TableSchema) -> String? {
    var counts: [String: Int] = [:]
    for name in sources[place].values.compactMap(\.column) { counts[name, default: 0] += 1 }
    guard let best = counts.min(by: { ($1.value, $0.key) < ($0.value, $1.key) })?.key,
      let former = old.columns.first(where: { $0.name == best }),
      AppleLayout().type(former.purpose, former.kind) == AppleLayout().type(column.purpose, column.kind)
    else { return nil }
    return best
  }

  /// The entities with the same source for a column; nil is the source of those that have no such property.
  private func grouped(
    _ place: Int, _ pairs: [EntityMoves.Pair]
  ) -> [(source: ColumnSource?, pairs: [EntityMoves.Pair])] {
    var result: [(source: ColumnSource?, pairs: [EntityMoves.Pair])] = []
    for pair in pairs {
      let source: ColumnSource? = sources[place][pair]
      if let known = result.firstIndex(where: { $0.source == source }) {
        result[known].pairs.append(pair)
      } else {
        result.append((source, [pair]))
      }
    }
    return result
  }

  private func update(
    _ column: ColumnSchema, _ base: String?, _ source: ColumnSource?, _ pairs: [EntityMoves.Pair],
    _ names: [String: String], _ moves: EntityMoves
  ) -> TableUpdate? {
    let value: SQLExpression
    var missing: String?
    if let source, let read = source.column {
      if read == base {
        if source.isPlain { return nil }
        if source.change == .none, let filler = source.whenNil {
          missing = column.name
          value = .bound(filler)
        } else {
          value = source.expression { _ in .column(nil, column.name) }
        }
      } else {
        value = source.expression { .column(nil, names[$0] ?? $0) }
      }
    } else if let source, case .constant(let constant) = source.value, constant != .null {
      value = .bound(constant)
    } else {
      // No value: but the column may have had one for these entities.
      guard let base, pairs.contains(where: { moves.old.mayHold(base, $0.old) }) else { return nil }
      value = .null
    }
    let layout: EntityLayout = moves.new.layout.entities[column.owner]
    let name: String = "\(layout.name).\(layout.slots[column.slot].name)"
    let words: String =
      value == .null
      ? "remove values that are not those of \(name)"
      : missing != nil
        ? "give \(name) its default value where it has none"
        : base == nil ? "fill \(name)" : "rewrite \(name)"
    return TableUpdate(
      assignments: [.init(column.name, value)],
      numbers: pairs.count == origins[0].pairs.count ? nil : pairs.map(moves.number).sorted(),
      missing: missing,
      explanation: words)
  }

  /// The entities' own numbers, together with a change of all rows if there is one.
  private func appendRenumbering(
    _ kept: inout KeptTable, _ origin: EntityMoves.Origin, _ moves: EntityMoves
  ) {
    guard let column = table.entity else { return }
    let numbers: [Int: Int] = Dictionary(
      origin.pairs.map { (moves.old.entityNumbers[$0.old], moves.new.entityNumbers[$0.new]) },
      uniquingKeysWith: { first, _ in first })
    if numbers.allSatisfy({ $0.key == $0.value }) { return }
    let assignment = UpdateStatement.Assignment(
      column, ColumnSource.Change.renumbered(.column(nil, column), numbers))
    let words: String = "number the entities as in the new model"
    let last: [TableUpdate] = kept.updates.filter { $0.numbers == nil && $0.missing == nil }
    kept.updates.removeAll { $0.numbers == nil && $0.missing == nil }
    kept.updates.append(
      TableUpdate(
        assignments: last.flatMap(\.assignments) + [assignment], numbers: nil, missing: nil,
        explanation: (last.map(\.explanation) + [words]).joined(separator: ", ")))
  }
}

extension StoreSchema {
  /// Whether rows of an entity may have values in a column of their table. Hidden keys are not looked for:
  /// any row may have them.
  func mayHold(_ column: String, _ entity: Int) -> Bool {
    let isOwn: Bool = storage[entity].contains { storage in
      switch storage {
      case .attribute(let own): own.name == column
      case .toOne(let columns): columns.key == column || columns.entity == column || columns.order == column
      case .none, .toMany: false
      }
    }
    guard !isOwn, let position = tablePosition[entity] else { return isOwn }
    return tables[position].columns.contains {
      $0.name == column && layout.entities[$0.owner].slots[$0.slot].role == .toMany
    }
  }
}

extension TableChange.KeptTable {
  /// Whether all rows keep their keys and what they have in these columns, by their new names.
  func keepsValues(of columns: [String]) -> Bool {
    let changed: Set<String> = Set(
      updates.flatMap(\.assignments).map(\.column) + renames.map(\.to) + added.map(\.name))
    return deleted.isEmpty && changed.isDisjoint(with: columns)
  }

  /// Adds an update, to one of the same rows if there is one.
  fileprivate mutating func add(_ update: TableUpdate) {
    let known: Int? = updates.firstIndex {
      $0.numbers == update.numbers && $0.missing == nil && update.missing == nil
    }
    guard let known else { return updates.append(update) }
    updates[known].assignments += update.assignments
    updates[known].explanation += ", " + update.explanation
  }
}

/// The order of renaming columns or tables: a new name may still be that of one that gets another name, or is
/// dropped.
struct NameChanges {
  private(set) var steps: [(from: String, to: String)] = []
  /// Former name → name after the steps, where they differ.
  private(set) var names: [String: String] = [:]

  init(
    renamed: [(from: String, to: String)], dropped: [String], added: [String],
    _ formerName: (Int) -> String = AppleNames.formerColumn
  ) {
    func fold(_ name: String) -> String { DatabaseNames.fold(name) }
    let changed = renamed.filter { fold($0.from) != fold($0.to) }
    let wanted: Set<String> = Set((renamed.map(\.to) + added).map(fold))
    var count: Int = 0
    var last: [(from: String, to: String)] = []
    func makeWay(_ name: String) -> String {
      count += 1
      steps.append((name, formerName(count)))
      return formerName(count)
    }
    for name in dropped where wanted.contains(fold(name)) { names[name] = makeWay(name) }
    for (from, to) in changed {
      names[from] = to
      last.append((wanted.contains(fold(from)) ? makeWay(from) : from, to))
    }
    steps += last
  }
}
