import CoreDataModel
import Foundation

/// Copies what can be read of a store into a new one, and mends what is wrong with it: references to objects
/// that are not there become nil, one-to-one relationships that only one side knows are completed, and rows
/// that can't be read are left out.
package final class StoreRepair {
  package struct Outcome: Sendable {
    package struct Entity: Sendable {
      package var name: String
      package var saved: Int = 0
      /// Keys of rows that were found and could not be read, or not be written.
      package var lost: [Int64] = []
      /// How many objects were found beside these whose keys can't be read.
      package var lostWithoutKey: Int = 0
    }

    package var entities: [Entity] = []
    /// Whether the end of the file is missing, so that more objects may be lost than anybody can count.
    package var isCutOff: Bool = false
    /// Rows that were found and left out, because they stand for no object.
    package var unreachable: [UnreachableRows] = []
    /// Tables some of whose pages can't be read, and what was found of them nevertheless.
    package var damaged: [DamagedTable] = []
    /// What was changed, counted as problems are.
    package var changes: [StoreProblem] = []
    /// What the model requires and objects of the new store do not have.
    package var invalid: [StoreProblem] = []
  }

  private let source: any StoreEngine
  private let entityNames: Set<String>?
  private let entities: [EntityLayout]
  private let note: (_ objects: Int) throws -> Void
  private let writable: WritableValues
  private var outcome = Outcome()
  private var changes = StoreProblems()
  private var required: RequiredProperties
  /// Values that read as others than the file has.
  private var misread: [RowID: [UnwritableValue]] = [:]
  private var directory = ObjectDirectory([])
  /// To-one relationships that are to be set, by the object's id without its entity: root and key.
  private var completions: [RowID: [(word: Int, target: RowID)]] = [:]

  private static let pageSize: Int = 500

  /// `source` was opened to salvage, with values in missing files as nil.
  package init(
    of source: any StoreEngine, entityNames: Set<String>?,
    note: @escaping (_ objects: Int) throws -> Void = { _ in }
  ) {
    self.source = source
    writable = WritableValues(source.layout)
    required = RequiredProperties(source.layout)
    self.entityNames = entityNames
    entities = source.layout.entities.filter { !$0.isAbstract && entityNames?.contains($0.name) ?? true }
    self.note = note
  }

  /// Makes a store of a kind at a place where there is nothing. After an error nothing is left there.
  package func run(to url: URL, kind: any StoreEngineKind) throws -> Outcome {
    let staged = try StagedStore(at: url)
    defer { staged.discard() }
    var options = StoreOpeningOptions()
    options.entityNames = entityNames
    options.checksModel = false
    try staged.naming {
      let target: any StoreEngine = try kind.open(
        at: staged.temporary, layout: source.layout, options: options)
      do {
        try fill(target)
        try target.setMetadata(StoreConversion.ownMetadata(source.metadata))
        _ = try target.save(SavePlan())
        try target.close()
      } catch {
        try? target.close()
        throw error
      }
    }
    noteWhatIsMissing()
    try note(0)
    try staged.publish()
    outcome.changes = changes.all
    outcome.invalid = required.problems.all
    return outcome
  }

  private func fill(_ target: any StoreEngine) throws {
    outcome.entities = entities.map { Outcome.Entity(name: $0.name) }
    noteWhatWasLeftOut()
    outcome.unreachable = try source.unreachableRows()
    outcome.damaged = try source.damagedTables()
    for table in outcome.damaged { countLostRows(of: table) }
    // In a damaged file they may be impossible to find, and what is read is all there is.
    misread = (try? source.misreadValues()) ?? [:]
    let missing: [MissingProperty] = try source.missingProperties()
    let withoutMembers: Set<[String]> = Set(
      missing.filter { $0.part == .members }.map { [$0.entity, $0.property] })
    let lostRoots: Set<String> = Set(outcome.damaged.filter { $0.reason != nil }.compactMap(\.entity))
    var readable: [[Int64]] = []
    var unique = UniqueValues(source)
    for (place, entity) in entities.enumerated() {
      var keys: [Int64] = []
      let isLost: Bool = lostRoots.contains(source.layout.entities[entity.rootIndex].name)
      try forEachPage(isLost ? [] : try source.readableKeys(of: entity)) { page in
        let found: [RowRef] = rows(page, entity)
        var doubles: Set<Int64> = []
        for twins in try unique.twins(among: found) where doubles.insert(twins.second.key).inserted {
          note(twins)
        }
        let kept: [Int64] = found.map(\.key).filter { !doubles.contains($0) }
        keys += kept
        if kept.count < page.count {
          outcome.entities[place].lost += Set(page).subtracting(kept).sorted()
        }
        try note(0)
      }
      readable.append(keys)
    }
    directory = ObjectDirectory(zip(entities, readable).map { RowScan($0, keys: $1, in: source) })
    for (entity, keys) in zip(entities, readable) { planCompletions(of: entity, keys) }
    let writer = RepairWriter(target, source)
    try writer.allocate(zip(entities, readable).map { ($0.rootIndex, $1.last ?? 0) })
    for (place, entity) in entities.enumerated() {
      try forEachPage(readable[place]) { page in
        let rows: RowBatch = mended(rows(page, entity), entity)
        let lost: [Int64] = try writer.insert(rows, entity)
        for key in lost {
          changes.add(
            StoreProblem(
              .unique, entity: entity.name, objects: [RowID(entity: entity.index, key: key)],
              "\(entity.name) has values that the model wants to be unique, and that another object has; it was left out."
            ))
        }
        required.check(rows, of: entity, without: lost)
        outcome.entities[place].lost += lost
        outcome.entities[place].saved += page.count - lost.count
        try note(page.count)
      }
    }
    for (entity, keys) in zip(entities, readable) {
      required.check(countsOf: entity, keys)
      for slot in entity.slots.indices where StoreTransfer.isNeeded(entity.slots[slot]) {
        let declaring: String = source.layout.entities[entity.slots[slot].declaringEntity].name
        if withoutMembers.contains([declaring, entity.slots[slot].name]) {
          required.check(keys.map { (RowID(entity: entity.index, key: $0), 0) }, entity, slot)
          continue
        }
        try forEachPage(keys) { page in
          let owners: [RowID] = page.map { RowID(entity: entity.index, key: $0) }
          let members: [[RowID]] = members(owners, entity, slot)
          if !RequiredProperties.isCounted(entity.slots[slot], in: source.layout) {
            required.check(zip(owners, members).map { ($0, $1.count) }, entity, slot)
          }
          writer.add(StoreTransfer.edits(of: entity, slot, owners, members))
          try note(0)
        }
      }
    }
    try writer.finish()
    for property in missing { note(property) }
  }

  /// Rows without a key are those of the one entity that has its objects in the table; of several nobody can
  /// tell.
  private func countLostRows(of table: DamagedTable) {
    let places: [Int] = entities.indices.filter {
      source.layout.entities[entities[$0].rootIndex].name == table.entity
    }
    if places.count == 1 { outcome.entities[places[0]].lostWithoutKey += table.lostRows }
  }

  private func forEachPage(_ keys: [Int64], _ body: ([Int64]) throws -> Void) rethrows {
    for start in stride(from: 0, to: keys.count, by: Self.pageSize) {
      try body(Array(keys[start..<min(start + Self.pageSize, keys.count)]))
    }
  }

  /// Values whose files can't be read were read as nil, and pairs with one object are none. A file that is
  /// too damaged to be examined is reported as such.
  private func noteWhatIsMissing() {
    for problem in (try? source.ownProblems()) ?? [] {
      var change: StoreProblem = problem
      switch problem.kind {
      case .missingFile, .unreadableFile: change.message += " The value became nil."
      // Pairs: members are read without those of which one object is missing.
      case .dangling: change.message += " They were left out."
      case .value where isReference(problem): change.message += " The new store has the object's."
      default: continue
      }
      changes.add(change)
    }
  }

  private func isReference(_ problem: StoreProblem) -> Bool {
    guard let entity = problem.entity, let property = problem.property else { return false }
    return source.layout.byName[entity]?.slot(named: property)?.isToOne == true
  }

  /// What could not be read of a file, which is read as a whole when it is opened.
  private func noteWhatWasLeftOut() {
    let parts: LeftOutParts = source.partsLeftOut()
    outcome.isCutOff = parts.isCutOff
    for problem in parts.problems { changes.add(problem) }
    for object in parts.objects {
      guard let place = entities.firstIndex(where: { $0.index == Int(object.entity) }) else { continue }
      outcome.entities[place].lost.append(object.key)
    }
    for (name, objects) in parts.others.sorted(by: { $0.key < $1.key }) {
      let place: Int =
        outcome.entities.firstIndex { $0.name == name }
        ?? {
          outcome.entities.append(Outcome.Entity(name: name.isEmpty ? "?" : name))
          return outcome.entities.count - 1
        }()
      outcome.entities[place].lost += objects.keys
      outcome.entities[place].lostWithoutKey += objects.withoutKey
    }
  }

  /// An object that no kind of store takes beside the first one.
  private func note(_ twins: UniqueValues.Twins) {
    let first: EntityLayout = source.layout.entities[Int(twins.first.entity)]
    changes.add(
      StoreProblem(
        .unique, entity: twins.entity.name, property: twins.names.first, objects: [twins.second],
        "\(twins.entity.name) has an object with the same values (\(twins.pairs)) as \(first.name)/p\(twins.first.key), which "
          + "the model wants to be unique; no store can hold both, and it was left out."))
  }

  /// What a property held that the store has no place for any more.
  private func note(_ missing: MissingProperty) {
    guard let entity = source.layout.byName[missing.entity], let slot = entity.slot(named: missing.property)
    else { return }
    let family: Set<String> = Set(entity.family.map { source.layout.entities[$0].name })
    let count: Int = outcome.entities.filter { family.contains($0.name) }.reduce(0) { $0 + $1.saved }
    // The new store computes derived values, except the times of saves.
    if count == 0 || (slot.isDerived && !slot.isTimeOfSave) { return }
    let isRequired: Bool = !slot.property.isOptional && missing.part != .order
    let state: String =
      switch missing.part {
      case .value: "became nil"
      case .members: "is empty"
      case .order: "has lost its order"
      }
    let kind: StoreProblem.Kind =
      switch missing.part {
      case .value: .value
      case .members: .damage
      case .order: .order
      }
    changes.add(
      StoreProblem(
        kind, entity: missing.entity, property: missing.property, count: count,
        "\(missing.entity).\(missing.property) \(state) in \(count == 1 ? "the 1 object" : "all \(count) objects")"
          + "\(isRequired ? ", although the model requires it" : ""): \(missing.reason)."))
  }

  // MARK: Reading

  /// The rows that can be read, in the order of their keys.
  private func rows(_ keys: [Int64], _ entity: EntityLayout) -> [RowRef] {
    rows(ofFamily: entity, keys).filter { $0.entity == entity.index }
  }

  private func rows(ofFamily entity: EntityLayout, _ keys: [Int64]) -> [RowRef] {
    if keys.isEmpty { return [] }
    var rows: [RowRef] = []
    func append(_ batch: RowBatch) { batch.forEach { rows.append($0) } }
    if let batch = try? source.rows(of: entity, keys: keys) {
      append(batch)
    } else {
      for key in keys {
        if let batch = try? source.rows(of: entity, keys: [key]) { append(batch) }
      }
    }
    return rows.sorted { $0.key < $1.key }
  }

  /// Members that are there; none for a relationship that can't be read.
  private func members(_ owners: [RowID], _ entity: EntityLayout, _ slot: Int) -> [[RowID]] {
    let described: PropertySlot = entity.slots[slot]
    guard let destination = described.destination.map({ source.layout.entities[$0] }) else { return [] }
    let lists: [[RowID]] =
      (try? source.members(of: entity, slot: slot, owners: owners))
      ?? owners.map { owner in
        if let list = try? source.members(of: entity, slot: slot, owners: [owner]).first { return list }
        note(.damage, entity, described, owner, "could not be read, and is empty.")
        return []
      }
    return zip(owners, lists).map { owner, list in
      var seen: Set<Int64> = []
      return list.compactMap { member in
        guard case .found(let id) = directory.find(member.key, expected: destination) else {
          note(.dangling, entity, described, owner, "named an object that is not there.")
          return nil
        }
        return seen.insert(id.key).inserted ? id : nil
      }
    }
  }

  private func note(
    _ kind: StoreProblem.Kind, _ entity: EntityLayout, _ slot: PropertySlot, _ id: RowID, _ text: String
  ) {
    changes.add(
      StoreProblem(
        kind, entity: entity.name, property: slot.name, objects: [id], "\(entity.name).\(slot.name) \(text)"))
  }

  // MARK: Mending

  private enum Partner {
    case agrees
    /// The other side is nil.
    case none
    case another
  }

  /// A one-to-one relationship of which one side is nil is completed, unless two objects name that side.
  private func planCompletions(of entity: EntityLayout, _ keys: [Int64]) {
    for slot in entity.slots {
      guard case .stored(.toOne, let word) = slot.role, let back = inverse(slot) else { continue }
      forEachPage(keys) { page in
        let sound: [(RowRef, RowID)] = rows(page, entity).compactMap { row in
          target(row, word, slot).map { (row, $0) }
        }
        let partners: [Int64: Int64?] = self.partners(sound.map(\.1), back)
        for (row, target) in sound where partners[target.key] == .some(nil) {
          let place = RowID(entity: back.entity.rootIndex, key: target.key)
          if completions[place]?.contains(where: { $0.word == back.word }) ?? false { continue }
          completions[place, default: []].append((back.word, row.id))
          note(
            .inverse, back.entity, back.slot, target,
            "named no object, although one names it, and was set to that.")
        }
      }
    }
  }

  /// The inverse of a one-to-one relationship.
  private func inverse(_ slot: PropertySlot) -> (entity: EntityLayout, slot: PropertySlot, word: Int)? {
    guard let destination = slot.destination.map({ source.layout.entities[$0] }),
      let inverse = slot.inverseSlot, case .stored(.toOne, let word) = destination.slots[inverse].role
    else { return nil }
    return (destination, destination.slots[inverse], word)
  }

  private func target(_ row: RowRef, _ word: Int, _ slot: PropertySlot) -> RowID? {
    guard row.hasValue(word), let destination = slot.destination,
      case .found(let id) = directory.find(
        row.target(word).key, expected: source.layout.entities[destination])
    else { return nil }
    return id
  }

  /// What objects name in turn; nil for nothing.
  private func partners(
    _ targets: [RowID], _ back: (entity: EntityLayout, slot: PropertySlot, word: Int)
  ) -> [Int64: Int64?] {
    var partners: [Int64: Int64?] = [:]
    for row in rows(ofFamily: back.entity, Array(Set(targets.map(\.key)))) {
      partners[row.key] = .some(target(row, back.word, back.slot)?.key)
    }
    return partners
  }

  /// Copies of rows, without references to what is not there, and without values that nothing can read.
  private func mended(_ rows: [RowRef], _ entity: EntityLayout) -> RowBatch {
    var batch = RowBatch()
    let cleared: [Int: Set<Int64>] = disagreements(rows, entity)
    for row in rows {
      if batch.slabs.last?.isFull ?? true {
        batch.slabs.append(RowSlab(layout: entity, family: false, rowCapacity: 64))
      }
      let slab: RowSlab = batch.slabs[batch.slabs.count - 1]
      let copy: UnsafeMutableRawPointer = slab.appendCopy(of: row, layout: entity)
      for slot in entity.slots {
        guard case .stored(.toOne, let word) = slot.role, row.hasValue(word) else { continue }
        if let target = target(row, word, slot) {
          slab.set(copy, word: word, toTarget: target)
          if cleared[word]?.contains(row.key) ?? false {
            slab.clear(copy, word: word)
            note(.inverse, entity, slot, row.id, "named an object that names another one, and became nil.")
          }
        } else {
          slab.clear(copy, word: word)
          let isCompleted: Bool =
            completions[RowID(entity: entity.rootIndex, key: row.key)]?.contains { $0.word == word } ?? false
          note(
            .dangling, entity, slot, row.id,
            "named an object that is not there\(isCompleted ? "." : ", and became nil.")")
        }
      }
      let strange: [UnwritableValue] = misread[row.id] ?? []
      for value in strange { mend(value, of: row, entity, slab, copy, isOfAnotherType: true) }
      for value in writable.problems(of: row) where !strange.contains(where: { $0.slot == value.slot }) {
        mend(value, of: row, entity, slab, copy)
      }
      for (word, target) in completions[RowID(entity: entity.rootIndex, key: row.key)] ?? [] {
        slab.set(copy, word: word, toTarget: target)
      }
    }
    return batch
  }

  /// Text keeps the characters that it has; another value becomes nil.
  private func mend(
    _ value: UnwritableValue, of row: RowRef, _ entity: EntityLayout, _ slab: RowSlab,
    _ copy: UnsafeMutableRawPointer, isOfAnotherType: Bool = false
  ) {
    let slot: PropertySlot = entity.slots[value.slot]
    guard case .stored(let kind, let word) = slot.role else { return }
    guard kind == .string || kind == .uri else {
      slab.clear(copy, word: word)
      return note(.value, entity, slot, row.id, "could not be read (\(value.reason)), and became nil.")
    }
    let text: [UInt8] = Array(row.string(word).utf8)
    slab.set(
      copy, word: word, to: text.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
    note(
      .value, entity, slot, row.id,
      isOfAnotherType && UnwritableValue.isText(row.bytes(word))
        ? "is the text of its bytes: \(value.reason)."
        : "had bytes that are not UTF-8; U+FFFD stands in their places.")
  }

  /// By word: the keys of objects that name one that names another.
  private func disagreements(_ rows: [RowRef], _ entity: EntityLayout) -> [Int: Set<Int64>] {
    var result: [Int: Set<Int64>] = [:]
    for slot in entity.slots {
      guard case .stored(.toOne, let word) = slot.role, let back = inverse(slot) else { continue }
      let sound: [(RowRef, RowID)] = rows.compactMap { row in target(row, word, slot).map { (row, $0) } }
      let partners: [Int64: Int64?] = self.partners(sound.map(\.1), back)
      for (row, target) in sound {
        let completed: Int64? = completions[RowID(entity: back.entity.rootIndex, key: target.key)]?
          .first { $0.word == back.word }?.target.key
        if (partners[target.key] ?? nil) ?? completed != row.key { result[word, default: []].insert(row.key) }
      }
    }
    return result
  }
}
