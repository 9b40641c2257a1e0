import CoreDataModel
import CoreDataPredicates
import Foundation

/// Recomputes derived attributes if a save has changed what they are derived from.
///
/// It examines the state before the plan is applied (which rows lost a member?) and after (which gained
/// one?). To find the attributes and rows affected it walks each expression's path backwards from the rows of
/// the plan; all other rows keep their values. A row is computed once for each save, however much of the save
/// affects it.
///
/// A save's rows come from objects, which do not hold the store's derived values: their derived words are
/// ignored. Copies of another store's rows keep the times that they have (`SavePlan.keepsTimes`).
struct InMemoryDerivation {
  private let plan: SavePlan
  private let schema: InMemorySchema
  private let now = Date()
  /// The rows that updates replace, by the index of the update.
  private let replaced: [RowRef?]
  /// By number of the derived attribute: the keys of the rows to compute.
  private var affected: [Set<Int64>]

  init(_ plan: SavePlan, before state: InMemoryState) {
    self.plan = plan
    schema = state.schema
    replaced = plan.updates.map { state.row($0.row.id) }
    affected = Array(repeating: [], count: state.schema.derived.count)
    collect(state)
  }

  /// Writes the derived values into the state after the plan.
  mutating func finish(_ state: inout InMemoryState) {
    collect(state)
    // root entity index → key → attributes to compute
    var work: [Int: [Int64: [Int]]] = [:]
    for (number, keys) in affected.enumerated() {
      let root: Int = schema.layout.entities[schema.derived[number].place.entity].rootIndex
      for key in keys { work[root, default: [:]][key, default: []].append(number) }
    }
    // Their rows contain the objects' words in any case.
    var old: [RowID: RowRef] = [:]
    for (place, update) in plan.updates.enumerated() where !schema.derivedOf[update.row.entity].isEmpty {
      let id: RowID = update.row.id
      old[id] = replaced[place]
      work[schema.layout.entities[update.row.entity].rootIndex, default: [:]][id.key, default: []] += []
    }
    for (root, rows) in work.sorted(by: { $0.key < $1.key }) {
      let writer = DerivedRowWriter(state: state, root: schema.layout.entities[root], now: now)
      for (key, numbers) in rows.sorted(by: { $0.key < $1.key }) {
        guard let row = state.row(RowID(entity: root, key: key)) else { continue }
        writer.write(row, numbers, old: old[row.id])
      }
      for slab in writer.slabs { state.tables[root]?.adopt(slab) }
    }
  }

  // MARK: Affected rows

  private mutating func collect(_ state: InMemoryState) {
    for (number, derived) in schema.derived.enumerated() {
      // Inserting a row computes everything; updating it computes what depends on the row itself.
      if derived.source != .now || !plan.keepsTimes {
        for insert in plan.inserts where family(derived.place.entity).contains(insert.layout.index) {
          insert.rows.forEach { affected[number].insert($0.key) }
        }
      }
      switch derived.source {
      case .now:
        for update in plan.updates where family(derived.place.entity).contains(update.row.entity) {
          affected[number].insert(update.row.key)
        }
      case .value(let path, let attribute, _):
        affected[number].formUnion(sources(of: attribute, along: path, state))
      case .count(let slot):
        affected[number].formUnion(owners(of: slot, derived.place.entity, summand: nil, state))
      case .sum(let slot, let attribute):
        affected[number].formUnion(owners(of: slot, derived.place.entity, summand: attribute.slot, state))
      }
    }
  }

  private func family(_ entity: Int) -> ClosedRange<Int> { schema.layout.entities[entity].family }

  /// The keys of rows that are new, deleted, or in which one of these slots has changed.
  private func touched(_ entity: Int, _ slots: [Int]) -> Set<Int64> {
    let family: ClosedRange<Int> = family(entity)
    var keys: Set<Int64> = []
    for update in plan.updates where family.contains(update.row.entity) {
      if slots.contains(where: update.changed.contains) { keys.insert(update.row.key) }
    }
    for insert in plan.inserts where family.contains(insert.layout.index) {
      insert.rows.forEach { keys.insert($0.key) }
    }
    for delete in plan.deletes where family.contains(Int(delete.id.entity)) { keys.insert(delete.id.key) }
    return keys
  }

  /// Walks a path of to-one relationships backwards from the changes on it.
  private func sources(
    of attribute: DerivedSlot.Place, along path: [DerivedSlot.Place], _ state: InMemoryState
  ) -> Set<Int64> {
    var keys: Set<Int64> = touched(attribute.entity, [attribute.slot])
    for step in path.reversed() {
      keys = state.sources(of: keys, step: step)
      keys.formUnion(touched(step.entity, [step.slot]))
    }
    return keys
  }

  /// The owners that gained or lost members, or (for a sum) whose members changed their value.
  private func owners(_ ends: Set<Int64>, _ side: InMemorySchema.Side, _ state: InMemoryState) -> Set<Int64> {
    let link: InMemoryLink = state.links[side.link]
    let isSymmetric: Bool = schema.links[side.link].kind == .symmetric
    var owners: Set<Int64> = []
    for key in ends {
      owners.formUnion(
        link.keys(of: key, isForward: isSymmetric ? true : !side.isForward, isOrdered: false))
    }
    return owners
  }

  private func owners(
    of slot: Int, _ entity: Int, summand: Int?, _ state: InMemoryState
  ) -> Set<Int64> {
    guard let side = schema.sides[entity][slot] else { return [] }
    let summands: [Int] = summand.map { [$0] } ?? []
    if case .toOne(_, let word) = schema.links[side.link].kind {
      guard let back = schema.layout.entities[entity].slots[slot].inverseSlot else { return [] }
      var owners: Set<Int64> = []
      for key in touched(side.destination, [back] + summands) {
        guard let row = state.row(RowID(entity: side.destination, key: key)), row.hasValue(word) else {
          continue
        }
        owners.insert(row.target(word).key)
      }
      return owners
    }
    var owners: Set<Int64> = self.owners(touched(side.destination, summands), side, state)
    for edit in plan.toMany {
      guard let other = schema.sides[Int(edit.owner.entity)][edit.slot], other.link == side.link else {
        continue
      }
      let isSymmetric: Bool = schema.links[side.link].kind == .symmetric
      if isSymmetric || other.isForward == side.isForward { owners.insert(edit.owner.key) }
      if isSymmetric || other.isForward != side.isForward {
        for member in edit.added + edit.removed { owners.insert(member.key) }
      }
      // Without an inverse, a member added to this owner is removed from another one.
      if schema.links[side.link].kind == .hidden {
        owners.formUnion(self.owners(Set(edit.added.map(\.key)), side, state))
      }
    }
    return owners
  }
}

extension InMemoryState {
  /// The keys of the rows whose to-one leads to one of these. Rows of a relationship with a to-many inverse
  /// are looked up; for others every row of the hierarchy is scanned.
  func sources(of targets: Set<Int64>, step: DerivedSlot.Place) -> Set<Int64> {
    guard !targets.isEmpty else { return [] }
    let entity: EntityLayout = schema.layout.entities[step.entity]
    let slot: PropertySlot = entity.slots[step.slot]
    guard case .stored(_, let word) = slot.role else { return [] }
    let address = InMemorySchema.Address(entity: slot.declaringEntity, slot: word)
    var found: Set<Int64> = []
    if let index = schema.indexByWord[address] {
      for target in targets {
        found.formUnion(links[index].keys(of: target, isForward: true, isOrdered: false))
      }
      return found
    }
    table(of: entity).forEach { row in
      guard entity.family.contains(row.entity), row.hasValue(word) else { return }
      if targets.contains(row.target(word).key) { found.insert(row.key) }
    }
    return found
  }
}

/// Writes copies of rows with derived values into separate slabs.
private final class DerivedRowWriter {
  private let state: InMemoryState
  private let root: EntityLayout
  private let now: Date
  private(set) var slabs: [RowSlab] = []

  init(state: InMemoryState, root: EntityLayout, now: Date) {
    self.state = state
    self.root = root
    self.now = now
  }

  /// - Parameters:
  ///   - numbers: the attributes to compute.
  ///   - old: the row before the save; if given, its values of all other derived attributes are kept.
  func write(_ row: RowRef, _ numbers: [Int], old: RowRef?) {
    let schema: InMemorySchema = state.schema
    if slabs.last?.isFull ?? true { slabs.append(RowSlab(layout: root, family: true, rowCapacity: 16)) }
    guard let slab = slabs.last else { return }
    let copy: UnsafeMutableRawPointer = slab.appendCopy(of: row, layout: schema.layout.entities[row.entity])
    for number in schema.derivedOf[row.entity] {
      let derived: DerivedSlot = schema.derived[number]
      if numbers.contains(number) {
        slab.clear(copy, word: derived.word)
        compute(derived, of: row, into: slab, copy)
      } else if let old {
        slab.clear(copy, word: derived.word)
        transfer(old, word: derived.word, derived.kind, into: slab, copy, word: derived.word, derived.kind)
      }
    }
  }

  private func compute(
    _ derived: DerivedSlot, of row: RowRef, into slab: RowSlab, _ copy: UnsafeMutableRawPointer
  ) {
    switch derived.source {
    case .now: slab.set(copy, word: derived.word, toDouble: now.timeIntervalSinceReferenceDate)
    case .count(let slot):
      let count: Int = state.members(of: row.id, slot: slot).count
      set(derived, to: .integer(Int64(count)), into: slab, copy)
    case .sum(let slot, let attribute):
      set(derived, to: sum(attribute, over: state.members(of: row.id, slot: slot)), into: slab, copy)
    case .value(let path, let attribute, let function):
      guard let (end, word, kind) = end(of: path, attribute, from: row), end.hasValue(word) else { return }
      guard let function else {
        return transfer(end, word: word, kind, into: slab, copy, word: derived.word, derived.kind)
      }
      guard case .string(var result)? = try? function.builtin.call([.string(end.string(word))]) else {
        return
      }
      let place: UInt64 = result.withUTF8 { slab.appendTail($0.baseAddress, count: $0.count) }
      slab.set(copy, word: derived.word, to: place)
    }
  }

  /// The row at the end of a path, and the attribute's kind and word in it.
  private func end(
    of path: [DerivedSlot.Place], _ attribute: DerivedSlot.Place, from row: RowRef
  ) -> (RowRef, Int, ColumnKind)? {
    var row: RowRef = row
    let entities: [EntityLayout] = state.schema.layout.entities
    for step in path {
      guard case .stored(_, let word) = entities[step.entity].slots[step.slot].role, row.hasValue(word),
        let next = state.row(row.target(word))
      else { return nil }
      row = next
    }
    guard case .stored(let kind, let word) = entities[attribute.entity].slots[attribute.slot].role else {
      return nil
    }
    return (row, word, kind)
  }

  private func sum(_ attribute: DerivedSlot.Place, over members: [RowID]) -> PredicateValue {
    let slots: [PropertySlot] = state.schema.layout.entities[attribute.entity].slots
    guard case .stored(let kind, let word) = slots[attribute.slot].role else { return .integer(0) }
    var total = RunningSum(kind)
    for member in members {
      if let row = state.row(member), row.hasValue(word) { total.add(row, word) }
    }
    return total.value
  }

  private func set(
    _ derived: DerivedSlot, to value: PredicateValue, into slab: RowSlab, _ copy: UnsafeMutableRawPointer
  ) {
    switch derived.kind {
    case .double, .float:
      slab.set(copy, word: derived.word, toDouble: NumberComparison.double(value) ?? 0)
    case .decimal:
      let number: Decimal
      switch value {
      case .decimal(let exact): number = exact
      case .integer(let whole): number = Decimal(whole)
      default: number = Decimal(string: "\(NumberComparison.double(value) ?? 0)") ?? .nan
      }
      // Like triggers in a database, this adds reals.
      var text: String = DecimalText.kept(number.description)
      let place: UInt64 = text.withUTF8 { slab.appendTail($0.baseAddress, count: $0.count) }
      slab.set(copy, word: derived.word, to: place)
    default: slab.set(copy, word: derived.word, toInteger: NumberComparison.integer(value) ?? 0)
    }
  }

  /// Copies a word of one row into another one, of the same kind or one that can represent all its values.
  private func transfer(
    _ row: RowRef, word: Int, _ kind: ColumnKind, into slab: RowSlab, _ copy: UnsafeMutableRawPointer,
    word target: Int, _ targetKind: ColumnKind
  ) {
    guard row.hasValue(word) else { return }
    if kind.isInTail {
      let bytes: UnsafeRawBufferPointer = row.bytes(word)
      slab.set(copy, word: target, to: slab.appendTail(bytes.baseAddress, count: bytes.count))
    } else if targetKind == .double, kind == .int16 || kind == .int32 {
      slab.set(copy, word: target, toDouble: Double(row.integer(word)))
    } else {
      slab.set(copy, word: target, to: row.word(word))
    }
  }
}

/// A sum of integers, reals or decimals. An integer sum that exceeds 64 bits stays at the limit.
private struct RunningSum {
  private let kind: ColumnKind
  private var whole: Int64 = 0
  private var real: Double = 0
  private var exact: Decimal = 0

  init(_ kind: ColumnKind) { self.kind = kind }

  mutating func add(_ row: RowRef, _ word: Int) {
    switch kind {
    case .double, .float: real += row.double(word)
    case .decimal:
      if case .decimal(let number) = ColumnKind.decimal.predicateValue(row, word) { exact += number }
    default:
      let (sum, overflow) = whole.addingReportingOverflow(row.integer(word))
      whole = overflow ? (whole < 0 ? .min : .max) : sum
    }
  }

  var value: PredicateValue {
    switch kind {
    case .double, .float: .double(real)
    case .decimal: .decimal(exact)
    default: .integer(whole)
    }
  }
}
