import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A store with the shop model, and short words for what scenarios do to it. Other tests fill their stores
/// with it too.
package final class StoreWorld {
  package let layout: ModelLayout
  package private(set) var engine: any TestedStore
  private let maker: StoreMaker

  /// What a store that is opened again has kept, beside its rows.
  func keeps(_ what: StoreMaker.Keeps) -> Bool { maker.reopen == nil || maker.keeps.contains(what) }

  package init(_ maker: StoreMaker) throws {
    self.maker = maker
    layout = ModelLayout(model: ShopModel.make())
    engine = try maker.make(layout)
  }

  /// Opens the store anew where the kind allows it, so that what follows reads what was really kept.
  func reopen() throws {
    if let reopen = maker.reopen { engine = try reopen(engine) }
  }

  func entity(_ name: String) -> EntityLayout {
    guard let entity = layout.byName[name] else { preconditionFailure("the shop has no entity \(name)") }
    return entity
  }

  func slot(_ entity: String, _ property: String) -> Int {
    guard let slot = self.entity(entity).slotByName[property] else {
      preconditionFailure("\(entity) has no property \(property)")
    }
    return slot
  }

  // MARK: Writing

  /// Inserts rows in one save and returns their ids. Values: Int, Double, Bool, Date, Decimal, String, URL,
  /// UUID, Data, RowID.
  @discardableResult
  package func insert(_ entityName: String, _ rows: [[String: any Sendable]]) throws -> [RowID] {
    let entity: EntityLayout = entity(entityName)
    var plan = SavePlan()
    let slab = RowSlab(layout: entity, family: false, rowCapacity: rows.count)
    for values in rows {
      let row = slab.appendRow(key: plan.provisionalKey(in: entity), entity: entity.index, version: 1)
      for (name, value) in values { StoreWorld.set(value, name, in: row, slab, entity) }
    }
    plan.inserts = [(entity, RowBatch(slabs: [slab]))]
    _ = try engine.save(plan)
    return (0..<slab.count).map { slab.row($0).id }
  }

  @discardableResult
  package func insertOne(_ entityName: String, _ values: [String: any Sendable]) throws -> RowID {
    try insert(entityName, [values])[0]
  }

  /// A plan's update of one row: current values with some replaced; nil sets nil.
  func updating(
    _ id: RowID, _ values: [String: (any Sendable)?], expectedVersion: Int32? = nil
  ) throws -> RowUpdate {
    let entity: EntityLayout = layout.entities[Int(id.entity)]
    let current: RowRef = try row(id)
    let expected: Int32 = expectedVersion ?? current.version
    let slab = RowSlab(layout: entity, family: false, rowCapacity: 1)
    let new = slab.appendRow(key: id.key, entity: entity.index, version: expected + 1)
    var changed = SlotSet()
    for (number, slot) in entity.slots.enumerated() {
      if let value = values[slot.name] {
        changed.insert(number)
        if let value { StoreWorld.set(value, slot.name, in: new, slab, entity) }
      } else if case .stored(let kind, let word) = slot.role, current.hasValue(word) {
        if kind == .toOne {
          slab.set(new, word: word, toTarget: current.target(word))
        } else if kind.isInTail {
          let bytes: UnsafeRawBufferPointer = current.bytes(word)
          slab.set(new, word: word, to: slab.appendTail(bytes.baseAddress, count: bytes.count))
        } else {
          slab.set(new, word: word, to: current.word(word))
        }
      }
    }
    return RowUpdate(row: slab.row(0), changed: changed, expectedVersion: expected)
  }

  func save(_ change: (inout SavePlan) throws -> Void) throws {
    var plan = SavePlan()
    try change(&plan)
    _ = try engine.save(plan)
  }

  package func update(_ id: RowID, _ values: [String: (any Sendable)?]) throws {
    let update: RowUpdate = try updating(id, values)
    try save { $0.updates = [update] }
  }

  package func delete(_ ids: [RowID]) throws {
    let deletes: [RowDelete] = try ids.map { RowDelete(id: $0, expectedVersion: try row($0).version) }
    try save { $0.deletes = deletes }
  }

  /// Changes a to-many relationship as the graph does: the owner's version moves with it.
  package func edit(
    _ owner: RowID, _ property: String, add: [RowID] = [], remove: [RowID] = [], order: [RowID]? = nil
  ) throws {
    let name: String = layout.entities[Int(owner.entity)].name
    let update: RowUpdate = try updating(owner, [:])
    try save { plan in
      plan.updates = [update]
      plan.toMany = [
        ToManyEdit(owner: owner, slot: slot(name, property), added: add, removed: remove, ordering: order)
      ]
    }
  }

  static func set(
    _ value: any Sendable, _ name: String, in row: UnsafeMutableRawPointer, _ slab: RowSlab,
    _ entity: EntityLayout
  ) {
    guard let slot = entity.slot(named: name), case .stored(let kind, let word) = slot.role else {
      preconditionFailure("\(entity.name).\(name) is no stored property")
    }
    func tail(_ bytes: some Collection<UInt8>) {
      let word64: UInt64 = Array(bytes).withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) }
      slab.set(row, word: word, to: word64)
    }
    switch (kind, value) {
    case (.int16, let value as Int), (.int32, let value as Int), (.int64, let value as Int):
      slab.set(row, word: word, toInteger: Int64(value))
    case (.bool, let value as Bool): slab.set(row, word: word, to: value ? 1 : 0)
    case (.double, let value as Double): slab.set(row, word: word, toDouble: value)
    case (.float, let value as Double): slab.set(row, word: word, toDouble: Double(Float(value)))
    case (.date, let value as Date):
      slab.set(row, word: word, toDouble: value.timeIntervalSinceReferenceDate)
    case (.decimal, let value as Decimal): tail(value.description.utf8)
    case (.string, let value as String): tail(value.utf8)
    case (.uri, let value as URL): tail(value.absoluteString.utf8)
    case (.uuid, let value as UUID): tail(withUnsafeBytes(of: value.uuid) { Array($0) })
    case (.data, let value as Data), (.transformable, let value as Data): tail(value)
    case (.toOne, let value as RowID): slab.set(row, word: word, toTarget: value)
    default: preconditionFailure("\(entity.name).\(name) can't hold \(value)")
    }
  }

  // MARK: Reading

  func row(_ id: RowID) throws -> RowRef {
    let batch: RowBatch = try engine.rows(of: layout.entities[Int(id.entity)], keys: [id.key])
    guard let row = batch.first else { throw ConformanceFailure(description: "there is no row \(id)") }
    return row
  }

  func text(_ row: RowRef, _ property: String) throws -> String? {
    let entity: EntityLayout = layout.entities[row.entity]
    guard let slot = entity.slot(named: property), case .stored(.string, let word) = slot.role else {
      throw ConformanceFailure(description: "\(entity.name).\(property) is no string")
    }
    return row.hasValue(word) ? row.string(word) : nil
  }

  func members(_ owner: RowID, _ property: String) throws -> [RowID] {
    let entity: EntityLayout = layout.entities[Int(owner.entity)]
    return try engine.members(of: entity, slot: slot(entity.name, property), owners: [owner])[0]
  }

  func plan(
    _ entityName: String, where format: String? = nil, _ arguments: [Any?] = [], sort: [String] = [],
    limit: Int = 0, offset: Int = 0, includesSubentities: Bool = true
  ) throws -> FetchPlan {
    var plan = FetchPlan(entity: entity(entityName))
    plan.includesSubentities = includesSubentities
    // Objects reach an engine as references to rows.
    let arguments: [Any?] = arguments.map(StoreWorld.reference)
    plan.predicate = try format.map { try NSPredicate(parsing: $0, arguments: arguments).predicateNode() }
    plan.order = sort.map { term in
      let isDescending: Bool = term.hasPrefix("-")
      return FetchOrder(keyPath: isDescending ? String(term.dropFirst()) : term, ascending: !isDescending)
    }
    plan.limit = limit
    plan.offset = offset
    return plan
  }

  private static func reference(_ argument: Any?) -> Any? {
    switch argument {
    case let id as RowID: PredicateValue.object(ObjectBox(ObjectReference(id: id)))
    case let ids as [RowID]:
      PredicateValue.array(ids.map { .object(ObjectBox(ObjectReference(id: $0))) })
    default: argument
    }
  }

  /// The values of a string property of the rows a fetch gives, in its order; checks that ids
  /// and count agree.
  func fetch(
    _ property: String, of entityName: String, where format: String? = nil, _ arguments: [Any?] = [],
    sort: [String] = [], limit: Int = 0, offset: Int = 0, includesSubentities: Bool = true
  ) throws -> [String] {
    let plan: FetchPlan = try plan(
      entityName, where: format, arguments, sort: sort, limit: limit, offset: offset,
      includesSubentities: includesSubentities)
    var texts: [String] = []
    var ids: [RowID] = []
    try engine.fetch(plan).forEach { row in
      texts.append(try text(row, property) ?? "nil")
      ids.append(row.id)
    }
    try expect(engine.fetchIDs(plan), ids, "fetchIDs agrees with fetch")
    try expect(engine.count(plan), ids.count, "count agrees with fetch")
    return texts
  }
}
