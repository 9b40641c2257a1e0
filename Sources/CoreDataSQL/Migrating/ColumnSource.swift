import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Where a column of the new schema gets its values from, for the rows of one entity.
struct ColumnSource: Hashable {
  enum Value: Hashable {
    /// A column of the row in the old table.
    case column(String)
    case constant(SQLValue)
    /// Computed when all rows are in their new tables.
    case later
  }

  enum Change: Hashable {
    case none
    /// A reference to a row whose key changes.
    case shift(Int64)
    /// The number of a row's entity, old → new.
    case numbers([Int: Int])
    /// A value that gets or loses the tag of external data.
    case tag, untag
  }

  var value: Value
  var change: Change = .none
  /// Instead of a missing value.
  var whenNil: SQLValue?

  static let null = ColumnSource(value: .constant(.null))
  static let later = ColumnSource(value: .later)

  static func column(_ name: String, _ change: Change = .none, whenNil: SQLValue? = nil) -> ColumnSource {
    ColumnSource(value: .column(name), change: change, whenNil: whenNil)
  }

  /// The old column, if the values are its own, unchanged but for missing ones.
  var column: String? {
    if case .column(let name) = value { return name }
    return nil
  }

  var isPlain: Bool { change == .none && whenNil == nil }

  /// The value as an expression. `column`: the column as it is called when the statement runs.
  func expression(_ column: (String) -> SQLExpression) -> SQLExpression {
    switch value {
    case .constant(let value): return value == .null ? .null : .bound(value)
    case .later: return .null
    case .column(let name):
      let changed: SQLExpression = change.expression(column(name))
      return whenNil.map { .builtin(SQLiteDialect().firstPresent, [changed, .bound($0)]) } ?? changed
    }
  }
}

extension ColumnSource.Change {
  func expression(_ value: SQLExpression) -> SQLExpression {
    switch self {
    case .none: value
    case .shift(let offset): offset == 0 ? value : .binary(.add, value, .integer(offset))
    case .numbers(let numbers): Self.renumbered(value, numbers)
    case .tag: .builtin(MigrationFunction.tagged, [value])
    case .untag: .builtin(MigrationFunction.untagged, [value])
    }
  }

  /// The same number plus a constant, if one serves all; otherwise one constant for each group.
  static func renumbered(_ value: SQLExpression, _ numbers: [Int: Int]) -> SQLExpression {
    let groups: [Int: [Int]] = Dictionary(grouping: numbers.keys, by: { numbers[$0]! - $0 })
    func moved(_ delta: Int) -> SQLExpression {
      delta == 0
        ? value
        : .binary(delta > 0 ? .add : .subtract, value, .integer(Int64(abs(delta))))
    }
    if groups.count == 1, let delta = groups.keys.first { return moved(delta) }
    return groups.sorted { $0.key < $1.key }.reduce(value) { rest, group in
      group.key == 0
        ? rest
        : .choice(
          when: value.isOne(of: group.value.sorted()), then: moved(group.key),
          otherwise: rest)
    }
  }
}

/// Finds the sources of all columns, and what keeps a property from being taken over in place.
struct ColumnSources {
  let plan: SchemaPlan
  let moves: EntityMoves
  private(set) var obstacles: [String] = []

  private var old: StoreSchema { moves.old }
  private var new: StoreSchema { moves.new }

  init(_ plan: SchemaPlan, _ moves: EntityMoves) {
    self.plan = plan
    self.moves = moves
  }

  /// Whether rows of an entity have values in a column.
  func applies(_ column: ColumnSchema, to entity: Int) -> Bool {
    let owner: EntityLayout = new.layout.entities[column.owner]
    let slot: PropertySlot = owner.slots[column.slot]
    guard slot.role == .toMany else { return owner.family.contains(entity) }
    return slot.destination.map { new.layout.entities[$0].family.contains(entity) } ?? false
  }

  mutating func source(of column: ColumnSchema, _ pair: EntityMoves.Pair) -> ColumnSource {
    switch column.purpose {
    case .attribute: return attribute(column, pair)
    case .toOneKey, .toOneEntity, .order, .hiddenKey:
      guard let reference = reference(column, pair),
        let shift = moves.shift(reference.oldTarget, reference.newTarget)
      else { return .null }
      switch column.purpose {
      case .toOneKey, .hiddenKey: return .column(reference.columns.key, shift == 0 ? .none : .shift(shift))
      case .order: return reference.columns.order.map { .column($0) } ?? .later
      default:
        guard let entity = reference.columns.entity else { return .later }
        let numbers: [Int: Int] = moves.numbers(reference.oldTarget, reference.newTarget)
        return .column(entity, numbers.allSatisfy { $0.key == $0.value } ? .none : .numbers(numbers))
      }
    }
  }

  /// The new entity that a reference leads to, if it may lead to an object that is gone.
  mutating func targetThatLosesRows(_ column: ColumnSchema, _ pair: EntityMoves.Pair) -> Int? {
    guard column.purpose == .toOneKey || column.purpose == .hiddenKey,
      let reference = reference(column, pair), moves.shift(reference.oldTarget, reference.newTarget) != nil,
      moves.losesRows(reference.oldTarget, reference.newTarget)
    else { return nil }
    return reference.newTarget
  }

  // MARK: References

  /// The old columns of a reference, and the entities that it leads to.
  private struct Reference {
    var columns: ToOneColumns
    var oldTarget: Int
    var newTarget: Int
  }

  private mutating func reference(_ column: ColumnSchema, _ pair: EntityMoves.Pair) -> Reference? {
    let owner: EntityLayout = new.layout.entities[column.owner]
    let slot: PropertySlot = owner.slots[column.slot]
    if slot.role == .toMany { return members(of: owner, column.slot, in: pair) }
    guard let target = slot.destination else { return nil }
    if case .slot(let number, _) = plan.entities[pair.new].slots[column.slot] {
      let former: PropertySlot = old.layout.entities[pair.old].slots[number]
      if case .toOne(let columns) = old.storage(of: pair.old, slot: number),
        let oldTarget = former.destination
      {
        return Reference(columns: columns, oldTarget: oldTarget, newTarget: target)
      }
      object(
        former.isToMany
          ? "\(owner.name).\(slot.name) leads to one object, but led to many." : mismatch(former, slot, owner)
      )
      return nil
    }
    // A to-many relationship without inverse gets one: the key is in the members' table already.
    guard let back = slot.inverseSlot else { return nil }
    for entity in new.layout.entities[target].family {
      guard let former = moves.source[entity],
        case .slot(let number, _) = plan.entities[entity].slots[back],
        case .toMany(.foreignKey(let members)) = old.storage(of: former, slot: number), members.isHidden,
        members.table == old.tables[old.tablePosition[pair.old]!].name
      else { continue }
      return Reference(
        columns: ToOneColumns(key: members.key, entity: nil, order: members.order),
        oldTarget: former, newTarget: entity)
    }
    return nil
  }

  /// The key of the owner in the members' table, of a to-many relationship without inverse.
  private mutating func members(of owner: EntityLayout, _ slot: Int, in pair: EntityMoves.Pair) -> Reference?
  {
    var found: [Reference] = []
    for entity in owner.family {
      guard let former = moves.source[entity],
        case .slot(let number, _) = plan.entities[entity].slots[slot]
      else { continue }
      switch old.storage(of: former, slot: number) {
      case .toMany(.foreignKey(let members))
      where members.table == old.tables[old.tablePosition[pair.old]!].name:
        let declaring: Int = old.layout.entities[former].slots[number].declaringEntity
        if found.contains(where: { $0.columns.key == members.key }) { continue }
        found.append(
          Reference(
            columns: ToOneColumns(key: members.key, entity: nil, order: members.order),
            oldTarget: declaring, newTarget: owner.index))
      case .toMany(.foreignKey), .none: continue
      case .toMany(.joinTable):
        object(
          "\(owner.name).\(owner.slots[slot].name) has no inverse, so an object can have one owner; it could have "
            + "several.")
      case .toOne, .attribute:
        object(mismatch(old.layout.entities[former].slots[number], owner.slots[slot], owner))
      }
    }
    if found.count > 1 {
      object("\(owner.name).\(owner.slots[slot].name) combines several relationships.")
    }
    return found.first
  }

  // MARK: Attributes

  private mutating func attribute(_ column: ColumnSchema, _ pair: EntityMoves.Pair) -> ColumnSource {
    let entity: EntityLayout = new.layout.entities[pair.new]
    let slot: PropertySlot = entity.slots[column.slot]
    guard case .attribute(let to) = new.storage(of: pair.new, slot: column.slot) else { return .null }
    switch plan.entities[pair.new].slots[column.slot] {
    case .constant(let value):
      if slot.isDerived { return .null }
      return ColumnSource(value: .constant(stored(value, to, slot, entity)))
    case .slot(let number, let whenNil):
      let former: PropertySlot = old.layout.entities[pair.old].slots[number]
      guard case .attribute(let from) = old.storage(of: pair.old, slot: number) else {
        object(mismatch(former, slot, entity))
        return .null
      }
      guard let type = slot.attribute?.attributeType, let oldType = former.attribute?.attributeType,
        type.holdsEveryValue(of: oldType)
      else {
        object("\(entity.name).\(slot.name) changes its type, and not every value fits the new one.")
        return .null
      }
      if former.attribute?.valueTransformerName != slot.attribute?.valueTransformerName,
        to.kind == .transformable
      {
        object("\(entity.name).\(slot.name) is converted by another value transformer.")
      }
      let filler: SQLValue? = whenNil.map { stored($0, to, slot, entity) }
      let change: ColumnSource.Change = from.isTagged == to.isTagged ? .none : to.isTagged ? .tag : .untag
      return .column(from.name, change, whenNil: filler == .null ? nil : filler)
    }
  }

  /// A default value in the form of its column.
  private mutating func stored(
    _ value: PredicateValue, _ column: AttributeColumn, _ slot: PropertySlot, _ entity: EntityLayout
  ) -> SQLValue {
    if value.isNull { return .null }
    if let kind = column.kind.scalarKind, case let type = ValueType(kind),
      case .value(let stored) = AppleEncoding().bind(value, as: type, comparedBy: .equal)
    {
      switch (column.kind, stored) {
      case (.float, .real(let number)): return .real(Double(Float(number)))
      case (.int16, .integer(let number)) where Int16(exactly: number) == nil,
        (.int32, .integer(let number)) where Int32(exactly: number) == nil:
        object("The default value of \(entity.name).\(slot.name), \(number), is none that its type takes.")
        return .null
      case (.data, .blob(let data)) where column.isTagged: return .blob(Data([1]) + data)
      default: return stored
      }
    }
    object("The default value of \(entity.name).\(slot.name) can't be written by SQL.")
    return .null
  }

  private func mismatch(_ former: PropertySlot, _ slot: PropertySlot, _ entity: EntityLayout) -> String {
    "\(entity.name).\(slot.name) is another kind of property than \(former.name) was."
  }

  private mutating func object(_ reason: String) {
    if !obstacles.contains(reason) { obstacles.append(reason) }
  }
}

extension SQLExpression {
  func isOne(of numbers: [Int]) -> SQLExpression {
    numbers.count == 1
      ? .binary(.equal, self, .integer(Int64(numbers[0])))
      : .inList(self, numbers.map { .integer(Int64($0)) })
  }
}
