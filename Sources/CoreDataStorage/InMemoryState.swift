import Foundation

/// The whole state of an in-memory store. It is a value: a copy does not change, whatever is saved later.
struct InMemoryState: Sendable {
  let schema: InMemorySchema
  /// Root entity index → rows of its hierarchy; nil at the indexes of sub-entities.
  var tables: [InMemoryRowTable?]
  private(set) var links: [InMemoryLink]
  /// Constraint number → the values in use and the key of the row that has them.
  private var usedValues: [[UniqueValue: Int64]]
  /// Root entity index → the next key to allocate.
  private var nextKeys: [Int64]

  init(schema: InMemorySchema) {
    self.schema = schema
    tables = schema.layout.entities.map { entity in
      entity.rootIndex == entity.index ? InMemoryRowTable(schema: schema, root: entity) : nil
    }
    links = Array(repeating: InMemoryLink(), count: schema.links.count)
    usedValues = Array(repeating: [:], count: schema.constraints.count)
    nextKeys = Array(repeating: 1, count: schema.layout.entities.count)
  }

  // MARK: Reading

  func table(of entity: EntityLayout) -> InMemoryRowTable {
    guard let table = tables[entity.rootIndex] else {
      preconditionFailure("Entity \(entity.name) is no part of the store's layout.")
    }
    return table
  }

  /// The row of an id. Only the hierarchy and the key count: the row itself contains its entity.
  func row(_ id: RowID) -> RowRef? {
    let entity = Int(id.entity)
    guard schema.layout.entities.indices.contains(entity) else { return nil }
    return table(of: schema.layout.entities[entity]).row(id.key)
  }

  private func anyRow(_ key: Int64) -> RowRef? {
    for table in tables { if let found = table?.row(key) { return found } }
    return nil
  }

  /// The members of a to-many slot that have a row, in the relationship's order or by key.
  func members(of owner: RowID, slot: Int) -> [RowID] {
    guard let side = schema.sides[Int(owner.entity)][slot] else { return [] }
    let destination: EntityLayout = schema.layout.entities[side.destination]
    let table: InMemoryRowTable = table(of: destination)
    return links[side.link]
      .keys(of: owner.key, isForward: side.isForward, isOrdered: side.isOrdered)
      .compactMap { key in
        guard let id = table.row(key)?.id, destination.family.contains(Int(id.entity)) else { return nil }
        return id
      }
  }

  /// Whether a row is a member of a to-many slot. Costs a binary search.
  func isMember(_ member: RowID, of owner: RowID, slot: Int) -> Bool {
    guard let side = schema.sides[Int(owner.entity)][slot],
      links[side.link].contains(member.key, at: owner.key, isForward: side.isForward)
    else { return false }
    let destination: EntityLayout = schema.layout.entities[side.destination]
    return table(of: destination).row(member.key).map { destination.family.contains($0.entity) } ?? false
  }

  // MARK: Checking a plan

  /// Throws the errors that keep the plan from being applied. Changes nothing, and applying a plan that
  /// passes can't fail.
  func check(_ plan: SavePlan, requiresUniqueness: Bool = true) throws {
    try checkVersions(plan)
    if requiresUniqueness { try checkUniqueness(plan) }
    for edit in plan.toMany {
      let owner: EntityLayout = schema.layout.entities[Int(edit.owner.entity)]
      guard owner.slots.indices.contains(edit.slot), schema.sides[owner.index][edit.slot] != nil else {
        throw StoreError.unsupportedModel(
          entity: owner.name,
          property: owner.slots.indices.contains(edit.slot) ? owner.slots[edit.slot].name : nil,
          reason: "a change of a to-many relationship names a property that is none")
      }
    }
  }

  private func checkVersions(_ plan: SavePlan) throws {
    var conflicts: [RowConflict] = []
    func check(_ id: RowID, _ expected: Int32) {
      let stored: RowRef? = row(id)
      if stored?.version != expected || stored?.entity != Int(id.entity) {
        conflicts.append(RowConflict(id: id, expectedVersion: expected, stored: stored))
      }
    }
    for update in plan.updates { check(update.row.id, update.expectedVersion) }
    for row in plan.deletes + plan.checks { check(row.id, row.expectedVersion) }
    for target in plan.targets where row(target) == nil {
      conflicts.append(RowConflict(id: target, expectedVersion: 0, stored: nil))
    }
    for insert in plan.inserts {
      insert.rows.forEach { new in
        // A key that is in use: allocated by another store, or used twice.
        if let stored = row(new.id) ?? (schema.hasOneKeySequence ? anyRow(new.key) : nil) {
          conflicts.append(RowConflict(id: new.id, expectedVersion: 0, stored: stored))
        }
      }
    }
    if !conflicts.isEmpty { throw StoreError.conflicts(conflicts) }
  }

  private func checkUniqueness(_ plan: SavePlan) throws {
    guard !schema.constraints.isEmpty else { return }
    // Values that the plan releases are free for its other rows, as if all changes happened at once.
    var freed: [Set<UniqueValue>] = Array(repeating: [], count: usedValues.count)
    func free(_ row: RowRef?) {
      guard let row else { return }
      for number in schema.constraintsOf[row.entity] {
        if let value = UniqueValue(row, schema.constraints[number]) { freed[number].insert(value) }
      }
    }
    for update in plan.updates { free(row(update.row.id)) }
    for delete in plan.deletes { free(row(delete.id)) }

    var claimed: [Set<UniqueValue>] = Array(repeating: [], count: usedValues.count)
    func claim(_ row: RowRef) throws {
      for number in schema.constraintsOf[row.entity] {
        let constraint: InMemorySchema.Constraint = schema.constraints[number]
        guard let value = UniqueValue(row, constraint) else { continue }
        let isUsed: Bool = usedValues[number][value] != nil && !freed[number].contains(value)
        guard !isUsed, claimed[number].insert(value).inserted else {
          let other: RowRef? = usedValues[number][value].flatMap {
            table(of: schema.layout.entities[constraint.entity]).row($0)
          }
          throw StoreError.uniqueness(
            entity: schema.layout.entities[constraint.entity].name, constraint: constraint.names,
            row: other?.id, database: "the in-memory store")
        }
      }
    }
    for update in plan.updates { try claim(update.row) }
    for insert in plan.inserts { try insert.rows.forEach(claim) }
  }

  // MARK: Applying a plan

  /// Allocates keys, which are never allocated again.
  mutating func allocateKeys(root: Int, count: Int) -> Int64 {
    let sequence: Int = sequence(of: root)
    defer { nextKeys[sequence] += Int64(count) }
    return nextKeys[sequence]
  }

  private func sequence(of root: Int) -> Int { schema.hasOneKeySequence ? 0 : root }

  /// The highest key that was allocated or is in use.
  var highestKey: Int64 { (nextKeys.max() ?? 1) - 1 }

  /// Keys up to this one are not allocated any more. For stores with one sequence.
  mutating func useUp(keysTo highest: Int64) {
    if !nextKeys.isEmpty, nextKeys[0] <= highest, highest < .max { nextKeys[0] = highest + 1 }
  }

  /// Applies rows first, because to-one words decide memberships; then pairs, then positions, and last the
  /// derived values.
  mutating func apply(_ plan: SavePlan) {
    var derivation: InMemoryDerivation? =
      schema.derived.isEmpty ? nil : InMemoryDerivation(plan, before: self)
    applyRows(plan)
    for edit in plan.toMany { applyPairs(edit) }
    for edit in plan.toMany { applyOrder(edit) }
    derivation?.finish(&self)
  }

  private mutating func applyRows(_ plan: SavePlan) {
    for delete in plan.deletes { remove(delete.id) }
    var copiesByRoot: [Int: [RowRef]] = [:]
    for update in plan.updates {
      replace(row(update.row.id), by: update.row)
      copiesByRoot[schema.layout.entities[update.row.entity].rootIndex, default: []].append(update.row)
    }
    for (root, rows) in copiesByRoot { tables[root]?.adopt(copiesOf: rows) }
    for insert in plan.inserts {
      let root: Int = insert.layout.rootIndex
      let sequence: Int = sequence(of: root)
      for slab in insert.rows.slabs {
        for position in 0..<slab.count {
          let row: RowRef = slab.row(position)
          replace(nil, by: row)
          if row.key >= nextKeys[sequence] { nextKeys[sequence] = row.key + 1 }
        }
        tables[root]?.adopt(slab)
      }
    }
  }

  private mutating func remove(_ id: RowID) {
    guard let old = row(id) else { return }
    replace(old, by: nil)
    for (link, isForward) in schema.pairLinks[old.entity] {
      links[link].removeAllPairs(
        of: id.key, isForward: isForward, isSymmetric: schema.links[link].kind == .symmetric)
    }
    tables[schema.layout.entities[old.entity].rootIndex]?.remove(id.key)
  }

  /// Updates the indexes over to-one words and the constraints for a changed row.
  private mutating func replace(_ old: RowRef?, by new: RowRef?) {
    guard let either = new ?? old else { return }
    func target(_ row: RowRef?, _ word: Int) -> Int64? {
      guard let row, row.hasValue(word) else { return nil }
      return row.integer(word)
    }
    for (word, link) in schema.indexedWords[either.entity] {
      links[link].move(member: either.key, from: target(old, word), to: target(new, word))
    }
    for number in schema.constraintsOf[either.entity] {
      let constraint: InMemorySchema.Constraint = schema.constraints[number]
      let before: UniqueValue? = old.flatMap { UniqueValue($0, constraint) }
      let after: UniqueValue? = new.flatMap { UniqueValue($0, constraint) }
      guard before != after else { continue }
      // Another row of the same plan may have this value already.
      if let before, usedValues[number][before] == either.key { usedValues[number][before] = nil }
      if let after { usedValues[number][after] = either.key }
    }
  }

  private mutating func applyPairs(_ edit: ToManyEdit) {
    guard let side = schema.sides[Int(edit.owner.entity)][edit.slot] else { return }
    let kind: InMemorySchema.LinkKind = schema.links[side.link].kind
    func pair(_ member: RowID) -> (owner: Int64, member: Int64) {
      side.isForward ? (edit.owner.key, member.key) : (member.key, edit.owner.key)
    }
    switch kind {
    case .toOne: return
    case .symmetric:
      for member in edit.removed { links[side.link].removeSymmetricPair(edit.owner.key, member.key) }
      for member in edit.added { links[side.link].addSymmetricPair(edit.owner.key, member.key) }
    case .join, .hidden:
      for member in edit.removed {
        let (owner, member) = pair(member)
        links[side.link].removePair(owner: owner, member: member)
      }
      for member in edit.added {
        let (owner, member) = pair(member)
        links[side.link].addPair(owner: owner, member: member, isHidden: kind == .hidden)
      }
    }
  }

  private mutating func applyOrder(_ edit: ToManyEdit) {
    guard let side = schema.sides[Int(edit.owner.entity)][edit.slot] else { return }
    if side.isOrdered {
      if let ordering = edit.ordering {
        links[side.link].setOrder(
          of: edit.owner.key, to: ordering.map(\.key), isForward: side.isForward)
      } else {
        links[side.link].appendToOrder(
          of: edit.owner.key, added: edit.appended.map(\.key), isForward: side.isForward)
      }
    }
    // The other side of a pair may be ordered without an edit of its own: the owner is appended there.
    let link: InMemorySchema.Link = schema.links[side.link]
    guard link.kind == .join, side.isForward ? link.isBackwardOrdered : link.isForwardOrdered else { return }
    for member in edit.added {
      links[side.link].appendToOrder(
        of: member.key, added: [edit.owner.key], isForward: !side.isForward, keepsPlaces: true)
    }
  }
}

/// The values of one row under one uniqueness constraint, as bytes that are equal when the values are.
///
/// A constraint does not apply to a row with a nil among these values, as in SQL.
struct UniqueValue: Hashable, Sendable {
  private var bytes: [UInt8] = []

  init?(_ row: RowRef, _ constraint: InMemorySchema.Constraint) {
    for (kind, word) in constraint.columns {
      guard row.hasValue(word) else { return nil }
      switch kind {
      case .double, .float, .date:
        // 0 and -0 are one value.
        let value: Double = row.double(word)
        append(value == 0 ? 0 : value.bitPattern)
      case .decimal:
        // 1.0 and 1.00 are one value.
        let text: String = row.string(word)
        append(Array((Decimal(string: text)?.description ?? text).utf8))
      case .int16, .int32, .int64, .bool, .toOne:
        append(row.word(word))
      case .string, .uri, .uuid, .data, .transformable:
        append(Array(row.bytes(word)))
      }
    }
  }

  private mutating func append(_ word: UInt64) {
    withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
  }

  /// The length comes first, so that ("ab", "c") and ("a", "bc") differ.
  private mutating func append(_ text: [UInt8]) {
    append(UInt64(text.count))
    bytes.append(contentsOf: text)
  }
}
