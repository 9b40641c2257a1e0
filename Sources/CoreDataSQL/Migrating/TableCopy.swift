import CoreDataModel
import CoreDataStorage

/// Copies rows of one old table into a new one.
struct TableCopy {
  private let change: TableChange
  private let origin: EntityMoves.Origin
  private let moves: EntityMoves
  private let names: CurrentNames
  private let source: TableSchema

  init(_ change: TableChange, _ origin: EntityMoves.Origin, _ moves: EntityMoves, _ names: CurrentNames) {
    self.change = change
    self.origin = origin
    self.moves = moves
    self.names = names
    source = moves.old.tables[origin.table]
  }

  var tree: MigrationTree {
    let columns: [(String, SQLExpression)] =
      [
        (change.table.key, key), (AppleNames.entityNumber, entityNumber),
        (change.table.version, .column(nil, source.version)),
      ] + filled.map { (change.table.columns[$0].name, value($0)) }
    return .copy(
      into: change.table.name, columns.map(\.0), select(columns.map(\.1)), ignoresDuplicates: false)
  }

  /// Places of the columns that get values here.
  private var filled: [Int] {
    change.table.columns.indices.filter { place in
      origin.pairs.contains { pair in
        switch change.sources[place][pair]?.value {
        case .column: true
        case .constant(let value): value != .null
        case .later, nil: false
        }
      }
    }
  }

  private var key: SQLExpression {
    ColumnSource.Change.shift(origin.offset).expression(.column(nil, source.key))
  }

  private var entityNumber: SQLExpression {
    let numbers: [Int: Int] = Dictionary(
      origin.pairs.map { (moves.number($0), moves.new.entityNumbers[$0.new]) },
      uniquingKeysWith: { first, _ in first })
    return ColumnSource.Change.renumbered(.column(nil, AppleNames.entityNumber), numbers)
  }

  private func value(_ place: Int) -> SQLExpression {
    var groups: [(source: ColumnSource?, pairs: [EntityMoves.Pair])] = []
    for pair in origin.pairs {
      let source: ColumnSource? = change.sources[place][pair]
      if let known = groups.firstIndex(where: { $0.source == source }) {
        groups[known].pairs.append(pair)
      } else {
        groups.append((source, [pair]))
      }
    }
    // Entities without the property have nothing in the column.
    let sources: [ColumnSource] = groups.compactMap(\.source).filter { $0 != .null }
    let others: [EntityMoves.Pair] = groups.filter { $0.source == nil || $0.source == .null }.flatMap(\.pairs)
    if sources.count == 1, sources[0].whenNil == nil, let column = sources[0].column,
      !others.contains(where: { moves.old.mayHold(column, $0.old) })
    {
      groups = [(sources[0], origin.pairs)]
    }
    func expression(_ source: ColumnSource?) -> SQLExpression {
      source?.expression { .column(nil, names.column($0, of: self.source.name)) } ?? .null
    }
    guard let last = groups.last else { return .null }
    return groups.dropLast().reversed().reduce(expression(last.source)) { rest, group in
      .choice(
        when: TableChange.isOf(group.pairs.map(moves.number).sorted()), then: expression(group.source),
        otherwise: rest)
    }
  }

  private func select(_ columns: [SQLExpression]) -> SelectStatement {
    var select = SelectStatement(columns: columns, source: .table(names.table(source.name), alias: nil))
    let family: ClosedRange<Int> = moves.old.layout.entities[source.root].family
    if origin.pairs.count < family.count {
      select.condition = TableChange.isOf(origin.pairs.map(moves.number).sorted())
    }
    return select
  }

  /// The values of these columns that more than one row will have, `NULL` being equal to nothing; nil if they
  /// are not known before the migration.
  func repeated(_ places: [Int]) -> SelectStatement? {
    for source in places.flatMap({ change.sources[$0].values }) {
      switch source.change {
      case .none, .shift, .numbers: if source.value == .later { return nil }
      case .tag, .untag: return nil
      }
    }
    let values: [SQLExpression] = places.map(value)
    var select: SelectStatement = select([.integer(1)])
    select.condition = .conjunction(values.map { .isNotNull($0) } + [select.condition])
    select.groups = values
    select.having = .binary(.greater, .countRows, .integer(1))
    return select
  }

  // MARK: Proof

  /// Places of the columns whose values are compared: those that are written later are not.
  var provenColumns: [Int] {
    change.table.columns.indices.filter { !change.sources[$0].values.contains(.later) }
  }

  private func fingerprint(_ key: SQLExpression, _ value: SQLExpression) -> SQLExpression {
    .builtin(MigrationFunction.fingerprint, [key, value])
  }

  var fingerprint: SelectStatement {
    select([.countRows, fingerprint(key, entityNumber)] + provenColumns.map { fingerprint(key, value($0)) })
  }

  var resultFingerprint: SelectStatement {
    let key: SQLExpression = .column(nil, change.table.key)
    return SelectStatement(
      columns: [.countRows, fingerprint(key, .column(nil, AppleNames.entityNumber))]
        + provenColumns.map { fingerprint(key, .column(nil, change.table.columns[$0].name)) },
      source: .table(change.table.name, alias: nil))
  }
}
