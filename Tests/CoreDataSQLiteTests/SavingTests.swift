import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite
struct SavingTests {
  let folder: TemporaryFolder
  let engine: SQLiteEngine

  init() throws {
    folder = try TemporaryFolder()
    engine = try SQLiteEngine.open(
      url: folder.file("Zoo.sqlite"), layout: ModelLayout(model: Zoo.model()))
  }

  @Test func `an update writes the changed columns and counts the version up`() throws {
    let id: RowID = try engine.insert("Owner", [["name": .text("A"), "email": .text("a@b")]])[0]
    let update: RowUpdate = try engine.update(id, ["name": .text("B")])
    try engine.execute("UPDATE ZOWNER SET ZEMAIL = 'behind'")
    try engine.save { $0.updates = [update] }
    #expect(try engine.values(id) == ["name": .text("B"), "email": .text("behind")])
    #expect(try engine.row(id)?.version == 2)
  }

  @Test func `a stale version is a conflict that carries the stored row, and nothing is written`() throws {
    let ids: [RowID] = try engine.insert("Owner", [["name": .text("A")], ["name": .text("B")]])
    let stale: RowUpdate = try engine.update(ids[0], ["name": .text("mine")])
    let fresh: RowUpdate = try engine.update(ids[0], ["name": .text("theirs")])
    try engine.save { $0.updates = [fresh] }
    let other: RowUpdate = try engine.update(ids[1], ["name": .text("also")])
    do {
      try engine.save {
        $0.updates = [other, stale]
        $0.deletes = [RowDelete(id: RowID(entity: Int(ids[0].entity), key: 99), expectedVersion: 1)]
      }
      Issue.record("no conflict was found")
    } catch StoreError.conflicts(let conflicts) {
      #expect(conflicts.map(\.id.key) == [99, ids[0].key])
      #expect(conflicts[0].stored == nil)
      #expect(conflicts[1].stored?.values(engine.entity("Owner"))["name"] == .text("theirs"))
      #expect(conflicts[1].stored?.version == 2)
    }
    #expect(try engine.values(ids[1]) == ["name": .text("B")])
  }

  @Test func `of rows that are deleted together, exactly those that are not as read are conflicts`() throws {
    let ids: [RowID] = try engine.insert("Owner", (0..<60).map { ["name": .text("\($0)")] })
    let theirs: RowUpdate = try engine.update(ids[5], ["name": .text("theirs")])
    try engine.save {
      $0.updates = [theirs]
      $0.deletes = [RowDelete(id: ids[50], expectedVersion: 1)]
    }
    // Odd keys are a list, the others a range.
    for places in [Array(0..<60), Array(stride(from: 0, to: 60, by: 2)) + [5]] {
      let slab = RowSlab(layout: engine.entity("Owner"), family: false, rowCapacity: 1)
      do {
        try engine.save { plan in
          slab.add(engine.entity("Owner"), key: plan.provisionalKey(in: engine.entity("Owner")), [:])
          plan.inserts = [(engine.entity("Owner"), RowBatch(slabs: [slab]))]
          plan.deletes = places.map { RowDelete(id: ids[$0], expectedVersion: 1) }
        }
        Issue.record("no conflict was found")
      } catch StoreError.conflicts(let conflicts) {
        let sorted: [RowConflict] = conflicts.sorted { $0.id.key < $1.id.key }
        #expect(sorted.map(\.id) == [ids[5], ids[50]])
        #expect(sorted.map { $0.stored?.version } == [2, nil])
      }
      #expect(try engine.fetchIDs(FetchPlan(entity: engine.entity("Owner"))).count == 59)
    }
    try engine.save { plan in
      plan.deletes = (0..<60).filter { $0 != 5 && $0 != 50 }.map {
        RowDelete(id: ids[$0], expectedVersion: 1)
      }
    }
    #expect(try engine.fetchIDs(FetchPlan(entity: engine.entity("Owner"))) == [ids[5]])
    // No key was used up.
    #expect(try engine.insert("Owner", [[:]])[0].key == 61)
  }

  @Test func `files of values go with the rows that are deleted together`() throws {
    let big = [UInt8](repeating: 5, count: 150_000)
    let ids: [RowID] = try engine.insert("Kinds", (0..<20).map { _ in ["big": .bytes(big)] })
    #expect(files().count == 20)
    try engine.save { $0.deletes = ids[1..<18].map { RowDelete(id: $0, expectedVersion: 1) } }
    #expect(files().count == 3)
  }

  @Test func `a row written by hand without version can be changed and deleted`() throws {
    try engine.execute("INSERT INTO ZOWNER (Z_PK, Z_ENT, ZNAME) VALUES (7, 5, 'hand'), (8, 5, 'made')")
    let ids: [RowID] = try engine.fetchIDs(FetchPlan(entity: engine.entity("Owner")))
    #expect(ids.map(\.key) == [7, 8])
    let update: RowUpdate = try engine.update(ids[0], ["name": .text("changed")])
    try engine.save {
      $0.updates = [update]
      $0.deletes = [RowDelete(id: ids[1], expectedVersion: 0)]
    }
    #expect(try engine.values(ids[0]) == ["name": .text("changed")])
    #expect(try engine.row(ids[1]) == nil)
    // The counter lags behind the rows; a new key must not meet one.
    #expect(try engine.insert("Owner", [[:]])[0].key == 8)
  }

  @Test func `a broken uniqueness constraint names entity, properties and the other row`() throws {
    let ids: [RowID] = try engine.insert("Owner", [["email": .text("a")], ["email": .text("b")]])
    do {
      try engine.insert("Owner", [["email": .text("c")], ["email": .text("b")]])
      Issue.record("the duplicate was taken")
    } catch StoreError.uniqueness(let entity, let constraint, let row, _) {
      #expect(entity == "Owner")
      #expect(constraint == ["email"])
      #expect(row == ids[1])
    }
    #expect(try engine.count(FetchPlan(entity: engine.entity("Owner"))) == 2)
  }

  @Test func `two rows can swap unique values, and a deleted row's value is free`() throws {
    let ids: [RowID] = try engine.insert(
      "Owner", [["email": .text("a")], ["email": .text("b")], ["email": .text("c")]])
    let updates: [RowUpdate] = [
      try engine.update(ids[0], ["email": .text("b")]), try engine.update(ids[1], ["email": .text("c")]),
    ]
    try engine.save {
      $0.updates = updates
      $0.deletes = [RowDelete(id: ids[2], expectedVersion: 1)]
    }
    let back: [RowUpdate] = [
      try engine.update(ids[0], ["email": .text("c")]), try engine.update(ids[1], ["email": .text("b")]),
    ]
    try engine.save { $0.updates = back }
    #expect(try engine.values(ids[0])?["email"] == .text("c"))
    #expect(try engine.values(ids[1])?["email"] == .text("b"))
    #expect(try engine.row(ids[0])?.version == 3)
  }

  // MARK: Order

  private func orderKeys() throws -> [Int64?] {
    try engine.read { try Int64?.fetchAll($0, sql: "SELECT Z_FOK_KEEPER FROM ZANIMAL ORDER BY Z_PK") }
  }

  @Test func `order keys are sparse and only moved members get new ones`() throws {
    let owner: RowID = try engine.insert("Owner", [[:]])[0]
    let pets: [RowID] = try engine.insert("Dog", Array(repeating: ["keeper": .target(owner)], count: 4))
    let slot: Int = engine.entity("Owner").slotByName["pets"]!
    func order(_ members: [RowID]) throws {
      try engine.save {
        $0.toMany = [ToManyEdit(owner: owner, slot: slot, added: [], removed: [], ordering: members)]
      }
      #expect(try engine.members(owner, "pets") == members)
    }
    try order(pets)
    #expect(try orderKeys() == [2048, 3072, 4096, 5120])
    try order([pets[0], pets[3], pets[1], pets[2]])
    #expect(try orderKeys() == [2048, 3072, 4096, 2560])
    try order([pets[2], pets[0], pets[3], pets[1]])
    #expect(try orderKeys() == [2048, 3072, 1024, 2560])

    // A member that leaves loses its place.
    let leave: RowUpdate = try engine.update(pets[0], ["keeper": nil])
    try engine.save {
      $0.updates = [leave]
      $0.toMany = [
        ToManyEdit(
          owner: owner, slot: slot, added: [], removed: [pets[0]], ordering: [pets[2], pets[3], pets[1]])
      ]
    }
    #expect(try orderKeys() == [nil, 3072, 1024, 2560])
  }

  @Test func `many-to-many pairs live in one table and go with either side`() throws {
    let animals: [RowID] = try engine.insert("Cat", [[:], [:], [:]])
    let slot: Int = engine.entity("Cat").slotByName["friends"]!
    try engine.save {
      $0.toMany = [
        ToManyEdit(
          owner: animals[0], slot: slot, added: [animals[1], animals[2]], removed: [],
          ordering: [animals[2], animals[1]])
      ]
    }
    #expect(try engine.members(animals[0], "friends") == [animals[2], animals[1]])
    #expect(try engine.members(animals[1], "friendOf") == [animals[0]])
    try engine.save { $0.deletes = [RowDelete(id: animals[2], expectedVersion: 1)] }
    #expect(try engine.members(animals[0], "friends") == [animals[1]])
    try engine.save { $0.deletes = [RowDelete(id: animals[0], expectedVersion: 1)] }
    #expect(try engine.members(animals[1], "friendOf") == [])
    let joins: [String] = engine.schema.joinTables.map(\.name)
    #expect(joins.count == 1)
    #expect(try engine.number("SELECT count(*) FROM \(joins[0])") == 0)
  }

  @Test func `a to-many without inverse keeps a hidden key`() throws {
    let owner: RowID = try engine.insert("Owner", [[:]])[0]
    let gifts: [RowID] = try engine.insert("Kinds", [[:], [:]])
    let slot: Int = engine.entity("Owner").slotByName["gifts"]!
    try engine.save {
      $0.toMany = [ToManyEdit(owner: owner, slot: slot, added: gifts, removed: [])]
    }
    #expect(try engine.members(owner, "gifts") == gifts)
    try engine.save {
      $0.toMany = [ToManyEdit(owner: owner, slot: slot, added: [], removed: [gifts[0]])]
    }
    #expect(try engine.members(owner, "gifts") == [gifts[1]])
    try engine.save { $0.deletes = [RowDelete(id: owner, expectedVersion: 1)] }
    #expect(try engine.number("SELECT count(*) FROM ZKINDS WHERE Z5GIFTS IS NOT NULL") == 0)
  }

  // MARK: External data

  private func files() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: engine.external.folder.path)) ?? []).sorted()
  }

  @Test func `large values live in files that come and go with their rows`() throws {
    let big: [UInt8] = [UInt8](repeating: 5, count: 150_000)
    let id: RowID = try engine.insert("Kinds", [["big": .bytes(big)]])[0]
    let first: [String] = files()
    #expect(first.count == 1)
    #expect(engine.external.folder.path.hasSuffix(".Zoo_SUPPORT/_EXTERNAL_DATA"))
    #expect(try engine.number("SELECT length(ZBIG) FROM ZKINDS") == 38)

    let stale: RowUpdate = try engine.update(id, ["big": .bytes(big + [1])], expectedVersion: 9)
    #expect(throws: StoreError.self) { try engine.save { $0.updates = [stale] } }
    #expect(files() == first)

    let update: RowUpdate = try engine.update(id, ["big": .bytes(big + [2])])
    try engine.save { $0.updates = [update] }
    #expect(files().count == 1)
    #expect(files() != first)
    #expect(try engine.values(id)?["big"] == .bytes(big + [2]))

    let small: RowUpdate = try engine.update(id, ["big": .bytes([1, 2])])
    try engine.save { $0.updates = [small] }
    #expect(files().isEmpty)
    let again: RowUpdate = try engine.update(id, ["big": .bytes(big)])
    try engine.save { $0.updates = [again] }
    try engine.save { $0.deletes = [RowDelete(id: id, expectedVersion: 4)] }
    #expect(files().isEmpty)
  }

  @Test func `what runs beside deletions is made when an entity first needs it`() throws {
    #expect(engine.texts.deletionCount == 0)
    let owners: [RowID] = try engine.insert("Owner", [["name": .text("A")], ["name": .text("B")]])
    let kind: RowID = try engine.insert("Kinds", [["big": .bytes([1])]])[0]
    let plain: RowUpdate = try engine.update(owners[0], ["name": .text("C")])
    try engine.save { $0.updates = [plain] }
    #expect(engine.texts.deletionCount == 0)
    let tagged: RowUpdate = try engine.update(kind, ["big": .bytes([2])])
    try engine.save { $0.updates = [tagged] }
    #expect(engine.texts.deletionCount == 0)
    try engine.save {
      $0.deletes = [
        RowDelete(id: owners[0], expectedVersion: 2), RowDelete(id: owners[1], expectedVersion: 1),
        RowDelete(id: kind, expectedVersion: 2),
      ]
    }
    #expect(engine.texts.deletionCount == 2)
  }

  @Test func `a missing data file is an error of a fetch, which names it, or nil if asked for`() throws {
    let id: RowID = try engine.insert("Kinds", [["big": .bytes([UInt8](repeating: 5, count: 150_000))]])[0]
    let name: String = files()[0]
    try FileManager.default.removeItem(at: engine.external.folder)
    do {
      _ = try engine.fetch(FetchPlan(entity: engine.entity("Kinds")))
      Issue.record("the row was read")
    } catch StoreError.missingValue(_, let property, let row, let path, _, _, _) {
      #expect(property == "Kinds.big" && row == id && path.hasSuffix(name))
    }
    // A fault has nobody to tell.
    #expect(try engine.values(id) == [:])
    var options = SQLiteOptions(isReadOnly: true)
    options.missingExternalData = .isNil
    let reader = try SQLiteEngine.open(url: engine.url, layout: engine.layout, options: options)
    #expect(try reader.values(id) == [:])
  }

  @Test func `a file name that leads out of the folder is data, not a path`() throws {
    let id: RowID = try engine.insert("Kinds", [[:]])[0]
    let name: String = "../../../../../../../etc/passwd" + String(repeating: "x", count: 5)
    #expect(name.utf8.count == 36)
    try engine.execute("UPDATE ZKINDS SET ZBIG = CAST(x'02' || '\(name)' || x'00' AS BLOB)")
    #expect(try engine.values(id)?["big"] == .bytes([2] + Array(name.utf8) + [0]))
  }

  // MARK: Metadata and locks

  @Test func `metadata survives, Apple's keys can't be lost, and writing it needs a save`() throws {
    var metadata: [String: Any] = engine.metadata
    metadata["mine"] = ["a": 1, "b": [Date(timeIntervalSinceReferenceDate: 5), Data([1])]] as [String: Any]
    metadata["NSStoreModelVersionHashes"] = nil
    try engine.setMetadata(metadata)
    try engine.save { _ in }
    try engine.close()
    let again = try SQLiteEngine.open(url: engine.url, layout: engine.layout)
    let mine: [String: Any]? = again.metadata["mine"] as? [String: Any]
    #expect(mine?["a"] as? Int == 1)
    #expect((mine?["b"] as? [Any])?.first as? Date == Date(timeIntervalSinceReferenceDate: 5))
    #expect((again.metadata["NSStoreModelVersionHashes"] as? [String: Data])?.count == 5)
    #expect(again.metadata["NSStoreUUID"] as? String == again.identifier)
    #expect(again.identifier == engine.identifier)
    #expect(throws: StoreError.self) { try again.setMetadata(["x": NSObject()]) }
  }

  @Test func `metadata that is set while a save commits is written by the next save`() throws {
    var options = SQLiteOptions()
    options.pragmas = ["journal_mode": "DELETE"]
    try self.engine.close()
    let engine = try SQLiteEngine.open(url: engine.url, layout: engine.layout, options: options)
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    // One who reads keeps a save without a log at its commit; who comes then has to wait.
    let reader = try DatabaseQueue(path: engine.url.path, configuration: configuration)
    let late = try DatabaseQueue(path: engine.url.path)
    try reader.unsafeRead { try $0.execute(sql: "BEGIN; SELECT count(*) FROM ZKINDS") }
    try engine.setMetadata(["mine": 1])
    let saving = DispatchGroup()
    DispatchQueue.global().async(group: saving) { try? engine.save { _ in } }
    func canRead() -> Bool {
      (try? late.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZKINDS") }) != nil
    }
    while canRead() { sched_yield() }
    try engine.setMetadata(["mine": 2])
    try reader.unsafeRead { try $0.execute(sql: "COMMIT") }
    saving.wait()
    func stored() throws -> Int? { try SQLiteStoreFile.inspect(url: engine.url).metadata["mine"] as? Int }
    #expect(try stored() == 1)
    #expect(engine.hasUnsavedMetadata)
    try engine.save { _ in }
    #expect(try stored() == 2)
    #expect(!engine.hasUnsavedMetadata)
  }

  @Test func `a store locked by another process is an error with advice, and nothing is lost`() throws {
    var options = SQLiteOptions()
    options.busyTimeoutInSeconds = 0.05
    let other = try SQLiteEngine.open(url: engine.url, layout: engine.layout, options: options)
    let writer = try DatabaseQueue(path: engine.url.path)
    try writer.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        do {
          try other.insert("Owner", [[:]])
          Issue.record("two writers at once")
        } catch let error as StoreError {
          guard case .database(let code, _, _, _) = error else { throw error }
          #expect(code == 5)
          #expect(error.message().advice?.contains("try again") == true)
        }
        #expect(throws: StoreError.self) { try other.checkWritable() }
        return .rollback
      }
    }
    try other.insert("Owner", [[:]])
    #expect(try engine.count(FetchPlan(entity: engine.entity("Owner"))) == 1)
  }

  @Test func `a disk is full only if it can be written and has no space left`() {
    typealias Disk = SQLiteErrors.Disk
    for (flags, available, expected) in [
      (0, 0, Disk.full), (0, 9, .other), (1, 0, .readOnly), (1, 9, .readOnly),
    ] {
      var info = statvfs()
      info.f_flag = UInt(flags)
      info.f_bavail = .init(available)
      #expect(Disk(info) == expected)
    }
  }

  @Test func `a failed save gives its keys back`() throws {
    #expect(throws: StoreError.self) {
      try engine.insert("Owner", [["email": .text("a")], ["email": .text("a")]])
    }
    #expect(try engine.insert("Owner", [[:]])[0].key == 1)
    #expect(try engine.allocateKeys(for: engine.entity("Owner"), count: 5) == 2)
    #expect(try engine.insert("Owner", [[:]])[0].key == 7)
  }

  @Test func `no save gives the key of a row that it deletes again, where the counter lags either`() throws {
    let ids: [RowID] = try engine.insert("Owner", [["name": .text("A")], ["name": .text("B")]])
    try engine.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
    let owner: EntityLayout = engine.entity("Owner")
    let slab = RowSlab(layout: owner, family: false, rowCapacity: 1)
    try engine.save { plan in
      _ = slab.appendRow(key: plan.provisionalKey(in: owner), entity: owner.index, version: 1)
      plan.inserts = [(owner, RowBatch(slabs: [slab]))]
      plan.deletes = [RowDelete(id: ids[1], expectedVersion: 1)]
    }
    #expect(slab.row(0).key > ids[1].key)
  }

  @Test func `after closing everything says so`() throws {
    try engine.close()
    try engine.close()
    func isClosed(_ body: () throws -> Void) -> Bool {
      do {
        try body()
        return false
      } catch StoreError.closed {
        return true
      } catch {
        return false
      }
    }
    #expect(isClosed { _ = try engine.fetch(FetchPlan(entity: engine.entity("Owner"))) })
    #expect(isClosed { try engine.insert("Owner", [[:]]) })
  }
}
