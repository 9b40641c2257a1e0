import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Reads the nodes of an atomic store into the plan of one save into an empty store in memory.
struct NodeLoader {
  let store: NSAtomicStore
  private let loader: AtomicStoreLoader

  init(_ store: NSAtomicStore) {
    self.store = store
    var options = StoreOpeningOptions()
    options.entityNames = store.runtime.layout.model.heldEntityNames(
      ofConfiguration: store.givenConfiguration)
    loader = AtomicStoreLoader(
      layout: store.runtime.layout, options: options, url: store.url ?? URL(fileURLWithPath: "/dev/null"))
  }

  /// Throws for nodes with values of wrong types, and for relationships with objects that have no node.
  func plan() throws -> SavePlan {
    for node in store.nodes.all.sorted(by: { $0.objectID.key < $1.objectID.key }) { try read(node) }
    return try loader.finish()
  }

  private func read(_ node: NSAtomicStoreCacheNode) throws {
    let whole: ClosedRange<Int> = 0...store.runtime.layout.entities.count - 1
    let id: RowID = try store.rowID(
      of: node.objectID, in: whole, store.references, StoreAnswer(store, "load()"))
    let runtime: EntityRuntime = store.runtime.entities[Int(id.entity)]
    let answer = StoreAnswer(store, "load()", entity: runtime.layout.name)
    let values = NodeValues(
      runtime: runtime, answer: answer, keepsExactDecimals: store.keepsExactDecimals
    ) { node.value(forKey: $0) }
    let place: AtomicStoreLoader.Place = try loader.begin(runtime.layout, key: id.key)
    for (number, slot) in runtime.layout.slots.enumerated() {
      if slot.relationship != nil {
        if slot.role == .transient { continue }
        try loader.set(place, slot: number, to: try related(slot, node, answer))
      } else if case .stored(_, let word) = slot.role {
        set(place, word, to: try values.attribute(number))
      }
    }
  }

  private func set(_ place: AtomicStoreLoader.Place, _ word: Int, to value: SlotValue) {
    func set(_ bytes: some Collection<UInt8>) {
      Array(bytes).withUnsafeBytes { loader.set(place, word: word, to: $0) }
    }
    switch value {
    case .unset, .null: return
    case .integer(let number): loader.set(place, word: word, to: UInt64(bitPattern: number))
    case .double(let number): loader.set(place, word: word, to: number.bitPattern)
    case .string(let text): set(text.utf8)
    case .object(let object):
      switch object {
      case let box as Box<Decimal>: set(box.value.description.utf8)
      case let box as Box<Data>: set(box.value)
      case let box as Box<UUID>: withUnsafeBytes(of: box.value.uuid) { set(Array($0)) }
      case let box as Box<URL>: set(box.value.absoluteString.utf8)
      default: return
      }
    }
  }

  /// The keys of the related objects.
  private func related(_ slot: PropertySlot, _ node: NSAtomicStoreCacheNode, _ answer: StoreAnswer) throws
    -> [Int64]
  {
    guard let destination = slot.destination, let value = SlotValue.unwrapped(node.value(forKey: slot.name))
    else { return [] }
    let family: ClosedRange<Int> = store.runtime.layout.entities[destination].family
    let members: [Any] = slot.isToMany ? try collection(value, slot, answer) : [value]
    let keys: [Int64] = try members.map { member in
      let id: NSManagedObjectID? =
        (member as? NSAtomicStoreCacheNode)?.objectID ?? (member as? NSManagedObjectID)
      guard let id else {
        throw answer.wrong(
          "a node with a \(type(of: member)) in '\(slot.name)'",
          expected: "nodes whose relationships hold nodes or NSManagedObjectIDs")
      }
      let row: RowID = try store.rowID(of: id, in: family, store.references, answer)
      guard store.nodes[row.key] != nil else {
        throw answer.wrong(
          "a node of \(name(node.objectID)) whose '\(slot.name)' holds \(name(id)), of which there is no node",
          expected: "nodes for all related objects")
      }
      return row.key
    }
    return slot.relationship?.isOrdered == true ? keys : keys.sorted()
  }

  private func collection(_ value: Any, _ slot: PropertySlot, _ answer: StoreAnswer) throws -> [Any] {
    if let members = IncrementalOperations.collection(value) { return members }
    throw answer.wrong(
      "a node with a \(type(of: value)) in the to-many relationship '\(slot.name)'",
      expected: "nodes whose to-many relationships hold sets or arrays")
  }

  private func name(_ id: NSManagedObjectID) -> String {
    "\(id.runtime.layout.name) '\(store.references[id.key].map { "\($0.reference)" } ?? "")'"
  }
}
