import CoreDataModel
import CoreDataPredicates
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CoreDataStorage

@Suite struct InMemoryEngineTests {
  @Test(arguments: StoreScenario.all)
  func `the in-memory store behaves as every store does`(scenario: StoreScenario) throws {
    try scenario.run(on: StoreMaker { layout in try InMemoryEngine(layout: layout) })
  }

  // MARK: Memory

  private let layout = ModelLayout(model: makeModel([ModelEntity("Note", [("text", .stringAttributeType)])]))
  private var note: EntityLayout { layout.entities[0] }

  private func slab(_ rows: [(key: Int64, version: Int32, text: String)]) -> RowSlab {
    let slab = RowSlab(layout: note, family: false, rowCapacity: rows.count)
    for (key, version, text) in rows {
      let row = slab.appendRow(key: key, entity: 0, version: version)
      let bytes = Array(text.utf8)
      slab.set(row, word: 0, to: bytes.withUnsafeBytes { slab.appendTail($0.baseAddress, count: $0.count) })
    }
    return slab
  }

  private func insert(_ count: Int, into engine: InMemoryEngine, text: (Int64) -> String) throws {
    var plan = SavePlan()
    let first: Int64 = try engine.allocateKeys(for: note, count: count)
    let rows: [(key: Int64, version: Int32, text: String)] = (first..<first + Int64(count)).map {
      ($0, 1, text($0))
    }
    plan.inserts = [(note, RowBatch(slabs: [slab(rows)]))]
    _ = try engine.save(plan)
  }

  private func update(_ keys: [Int64], version: Int32, in engine: InMemoryEngine, text: String) throws {
    let slab: RowSlab = slab(keys.map { ($0, version + 1, text) })
    var plan = SavePlan()
    plan.updates = (0..<slab.count).map {
      RowUpdate(row: slab.row($0), changed: SlotSet([0]), expectedVersion: version)
    }
    _ = try engine.save(plan)
  }

  @Test func `a row changed a thousand times takes the room of one`() throws {
    let engine = try InMemoryEngine(layout: layout)
    try insert(1, into: engine) { _ in "first" }
    for version in 1...1000 as ClosedRange<Int32> {
      try update([1], version: version, in: engine, text: "version \(version + 1)")
    }
    let storage = engine.storage(of: note)
    #expect(storage.slabs <= 2)
    #expect(storage.rows <= 2)
    #expect(try engine.rows(of: note, keys: [1]).first?.string(0) == "version 1001")
  }

  @Test func `many small saves leave few slabs`() throws {
    let engine = try InMemoryEngine(layout: layout)
    for _ in 0..<2000 { try insert(1, into: engine) { "note \($0)" } }
    let storage = engine.storage(of: note)
    #expect(storage.slabs <= 16, "\(storage.slabs) slabs")
    #expect(storage.rows == 2000)
    #expect(try engine.count(FetchPlan(entity: note)) == 2000)
    #expect(try engine.rows(of: note, keys: [1234]).first?.string(0) == "note 1234")
  }

  @Test func `waste stays below what is alive`() throws {
    let engine = try InMemoryEngine(layout: layout)
    try insert(5000, into: engine) { "note \($0)" }
    for round in 1...6 as ClosedRange<Int32> {
      try update(Array(1...5000), version: round, in: engine, text: "round \(round)")
      #expect(engine.storage(of: note).rows <= 10_000)
    }
    var plan = SavePlan()
    plan.deletes = (1...4990).map { RowDelete(id: RowID(entity: 0, key: $0), expectedVersion: 7) }
    _ = try engine.save(plan)
    #expect(engine.storage(of: note).rows <= 20)
    #expect(try engine.fetchIDs(FetchPlan(entity: note)).map(\.key) == Array(4991...5000))
  }

  @Test(arguments: 0..<8)
  func `the engine agrees with a dictionary under random saves`(round: Int) throws {
    let seed: UInt64 = .random(in: 0...(.max)) &+ UInt64(round)
    var random = SeededRandom(seed: seed)
    let engine = try InMemoryEngine(layout: layout)
    var model: [Int64: (version: Int32, text: String)] = [:]
    for step in 0..<300 {
      let keys: [Int64] = model.keys.sorted()
      var plan = SavePlan()
      let count = Int.random(in: 0...20, using: &random)
      var texts: [String] = []
      if count > 0, Bool.random(using: &random) {
        texts = (0..<count).map { _ in String(repeating: "é", count: Int.random(in: 0..<300, using: &random))
        }
        let rows: [(key: Int64, version: Int32, text: String)] = texts.map { text in
          (plan.provisionalKey(in: note), 1, text)
        }
        plan.inserts = [(note, RowBatch(slabs: [slab(rows)]))]
      }
      for key in keys {
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          plan.deletes.append(
            RowDelete(id: RowID(entity: 0, key: key), expectedVersion: model[key]!.version))
          model[key] = nil
        case 1:
          let version: Int32 = model[key]!.version
          let text = "step \(step)"
          plan.updates.append(
            RowUpdate(
              row: slab([(key, version + 1, text)]).row(0), changed: SlotSet([0]), expectedVersion: version)
          )
          model[key] = (version + 1, text)
        default: break
        }
      }
      let outcome: SaveOutcome = try engine.save(plan)
      for (place, text) in texts.enumerated() {
        model[outcome.keys.key(-Int64(place + 1), root: note.index)] = (1, text)
      }
    }
    var stored: [Int64: String] = [:]
    try engine.fetch(FetchPlan(entity: note)).forEach { row in
      stored[row.key] = row.string(0)
      #expect(row.version == model[row.key]?.version, "seed \(seed)")
    }
    #expect(stored == model.mapValues(\.text), "seed \(seed)")
  }

  // MARK: Threads

  @Test func `readers see the state before or after a save, never half of one`() async throws {
    let engine = try InMemoryEngine(layout: layout)
    try insert(200, into: engine) { _ in "0" }
    let keys: [Int64] = Array(1...200)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for version in 1...200 as ClosedRange<Int32> {
          try update(keys, version: version, in: engine, text: "\(version)")
        }
      }
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<200 {
            var texts: Set<String> = []
            var versions: Set<Int32> = []
            try engine.fetch(FetchPlan(entity: note)).forEach {
              texts.insert($0.string(0))
              versions.insert($0.version)
            }
            #expect(texts.count == 1)
            #expect(versions.count == 1)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try engine.rows(of: note, keys: [200]).first?.version == 201)
  }

  @Test func `of two savers with the same version one wins and the other hears of it`() async throws {
    let engine = try InMemoryEngine(layout: layout)
    try insert(1, into: engine) { _ in "start" }
    var conflicts: Int = 0
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          do {
            try update([1], version: 1, in: engine, text: "saver \(number)")
            return true
          } catch StoreError.conflicts {
            return false
          }
        }
      }
      for try await won in group where !won { conflicts += 1 }
    }
    #expect(conflicts == 7)
    #expect(try engine.rows(of: note, keys: [1]).first?.version == 2)
  }

  // MARK: Constraints

  @Test func `a constraint over something not stored is refused when the store is made`() throws {
    let layout = ModelLayout(
      model: makeModel([ModelEntity("A", [("x", .integer16AttributeType)])]) {
        $0["A"]!.uniquenessConstraints = [["x", "nothing"]]
      })
    #expect {
      _ = try InMemoryEngine(layout: layout)
    } throws: { error in
      guard case .unsupportedModel(let entity, let property, _)? = error as? StoreError else { return false }
      return entity == "A" && property == "nothing"
    }
  }

  @Test func `a read-only store takes nothing`() throws {
    let engine = try InMemoryEngine(layout: layout, isReadOnly: true)
    #expect(throws: StoreError.self) { try insert(1, into: engine) { _ in "x" } }
    #expect(throws: StoreError.self) { try engine.setMetadata([:]) }
    #expect(throws: StoreError.self) { try engine.allocateKeys(for: note, count: 1) }
    #expect(try engine.count(FetchPlan(entity: note)) == 0)
  }
}
