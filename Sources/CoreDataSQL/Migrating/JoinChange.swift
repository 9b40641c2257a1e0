import CoreDataModel
import CoreDataStorage

/// What becomes of the pairs of a many-to-many relationship: an old join table is renamed, or a new one is
/// made and filled from an old one, or from the keys of a relationship that led to one object.
struct JoinChange {
  let join: JoinTable
  /// The sides' columns in the new table.
  let members: JoinTableMembers
  let sources: [PairSource]
  /// The old table that is renamed; nil for one that is made.
  var kept: JoinTable?
  /// The objects of the two sides, by their entities.
  let owner: Int
  let member: Int
  /// Whether pairs may refer to objects that are gone.
  let losesRows: Bool
  /// Whether both sides take over the same relationship, as far as they take over any.
  let isConsistent: Bool
}

/// Pairs of keys in the old database, as a table holds them.
struct PairSource: Hashable {
  var table: String
  var isJoinTable: Bool
  var owner: String
  var member: String
  var order: String?
  var inverseOrder: String?
  /// For a table of entities: the numbers of those whose rows count; nil for all.
  var numbers: [Int]?
  var ownerShift: Int64 = 0
  var memberShift: Int64 = 0

  var flipped: PairSource {
    PairSource(
      table: table, isJoinTable: isJoinTable, owner: member, member: owner, order: inverseOrder,
      inverseOrder: order, numbers: numbers, ownerShift: memberShift, memberShift: ownerShift)
  }
}

extension JoinChange {
  /// nil if the table is of no relationship, which does not occur.
  init?(_ join: JoinTable, _ plan: SchemaPlan, _ moves: EntityMoves, taken: inout Set<String>) {
    let owner: EntityLayout = moves.new.layout.entities[join.entity]
    let slot: PropertySlot = owner.slots[join.slot]
    guard case .toMany(.joinTable(let members)) = moves.new.storage(of: join.entity, slot: join.slot),
      let destination = slot.destination
    else { return nil }
    var search = PairSearch(plan: plan, moves: moves)
    search.look(join.slot, of: join.entity, to: destination, isFlipped: false)
    var isConsistent: Bool = true
    if let back = slot.inverseSlot, !members.isReflexive {
      var other = PairSearch(plan: plan, moves: moves)
      other.look(back, of: destination, to: join.entity, isFlipped: true)
      if search.found.isEmpty {
        search = other
      } else {
        isConsistent = other.relationships.isSubset(of: search.relationships)
      }
    }
    self.isConsistent = isConsistent
    self.join = join
    self.members = members
    self.owner = join.entity
    member = destination
    sources = search.found
    losesRows = search.losesRows
    kept = nil
    guard let only = sources.first, sources.count == 1, only.isJoinTable, only.ownerShift == 0,
      only.memberShift == 0,
      let table = moves.old.joinTables.first(where: { $0.name == only.table }),
      // The key of the table begins with the same side.
      table.ownerKey == only.owner, table.targetKey == only.member,
      (only.order == nil) == (members.order == nil),
      (only.inverseOrder == nil) == (members.inverseOrder == nil),
      taken.insert(table.name).inserted
    else { return }
    kept = table
  }

  var isMade: Bool { kept == nil }

  /// The columns of the kept table that get other names.
  var renames: [(from: String, to: String)] {
    guard let only = sources.first else { return [] }
    return [
      (only.owner, members.owner), (only.member, members.member),
    ]
      + [(only.order, members.order), (only.inverseOrder, members.inverseOrder)].compactMap {
        guard let from = $0.0, let to = $0.1 else { return nil }
        return (from, to)
      }
  }

  /// The statement that copies pairs. `names`: names of tables and columns when it runs.
  func copy(_ source: PairSource, _ names: CurrentNames) -> MigrationTree {
    func column(_ name: String, _ shift: Int64) -> SQLExpression {
      ColumnSource.Change.shift(shift).expression(.column(nil, names.column(name, of: source.table)))
    }
    var columns: [(String, SQLExpression)] = [
      (members.owner, column(source.owner, source.ownerShift)),
      (members.member, column(source.member, source.memberShift)),
    ]
    if let to = members.order, let from = source.order { columns.append((to, column(from, 0))) }
    if let to = members.inverseOrder, let from = source.inverseOrder { columns.append((to, column(from, 0))) }
    var select = SelectStatement(
      columns: columns.map(\.1), source: .table(names.table(source.table), alias: nil))
    select.condition = .conjunction(
      [source.owner, source.member].filter { $0 != AppleNames.key }.map {
        .isNotNull(.column(nil, names.column($0, of: source.table)))
      } + (source.numbers.map { [TableChange.isOf($0)] } ?? []))
    return .copy(into: join.name, columns.map(\.0), select, ignoresDuplicates: true)
  }
}

extension TableChange {
  /// The rows of entities, by their numbers.
  static func isOf(_ numbers: [Int], _ alias: String? = nil) -> SQLExpression {
    SQLExpression.column(alias, AppleNames.entityNumber).isOne(of: numbers)
  }
}

/// Looks for the pairs of a relationship in the old database.
private struct PairSearch {
  let plan: SchemaPlan
  let moves: EntityMoves
  var found: [PairSource] = []
  var losesRows: Bool = false
  /// The old relationships, each by one of its sides.
  var relationships: Set<ObjectIdentifier> = []

  mutating func look(_ slot: Int, of entity: Int, to destination: Int, isFlipped: Bool) {
    for heir in moves.new.layout.entities[entity].family {
      guard let former = moves.source[heir], case .slot(let number, _) = plan.entities[heir].slots[slot],
        let oldDestination = moves.old.layout.entities[former].slots[number].destination,
        let memberShift = moves.shift(oldDestination, destination)
      else { continue }
      let declaring: Int = moves.old.layout.entities[former].slots[number].declaringEntity
      guard let ownerShift = moves.shift(declaring, entity), let position = moves.old.tablePosition[former]
      else { continue }
      losesRows =
        losesRows || moves.losesRows(oldDestination, destination) || moves.losesRows(declaring, entity)
      var source: PairSource
      switch moves.old.storage(of: former, slot: number) {
      case .toMany(.joinTable(let members)):
        source = PairSource(
          table: members.table, isJoinTable: true, owner: members.owner, member: members.member,
          order: members.order, inverseOrder: members.inverseOrder)
      case .toOne(let columns):
        source = PairSource(
          table: moves.old.tables[position].name, isJoinTable: false, owner: AppleNames.key,
          member: columns.key, inverseOrder: columns.order, numbers: [moves.old.entityNumbers[former]])
      case .toMany(.foreignKey(let members)):
        source = PairSource(
          table: members.table, isJoinTable: false, owner: members.key, member: AppleNames.key,
          order: members.order)
      case .none, .attribute: continue
      }
      if let relationship = moves.old.layout.entities[former].slots[number].relationship {
        let sides: [NSRelationshipDescription?] = [relationship, relationship.inverseRelationship]
        relationships.formUnion(sides.compactMap(\.self).map(ObjectIdentifier.init).min().map { [$0] } ?? [])
      }
      source.ownerShift = ownerShift
      source.memberShift = memberShift
      if isFlipped { source = source.flipped }
      add(source)
    }
  }

  private mutating func add(_ source: PairSource) {
    var other: PairSource = source
    other.numbers = nil
    let known: Int? = found.firstIndex { candidate in
      var candidate: PairSource = candidate
      candidate.numbers = nil
      return candidate == other
    }
    guard let known else { return found.append(source) }
    if let more = source.numbers { found[known].numbers = ((found[known].numbers ?? []) + more).sorted() }
  }
}
