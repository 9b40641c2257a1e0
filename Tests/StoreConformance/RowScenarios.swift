import CoreDataStorage
import Foundation

/// Values go in and come out unchanged.
extension StoreScenario {
  static let rowScenarios: [StoreScenario] = [
    StoreScenario("a row keeps every value of every type") { world in
      let uuid = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF")!
      // Microseconds of this century fit a double.
      let date = Date(timeIntervalSinceReferenceDate: 812_345_678.123456)
      let id: RowID = try world.insertOne(
        "Everything",
        [
          "int16": Int(Int16.min), "int32": Int(Int32.max), "int64": Int.min, "bool": true,
          "double": 0.1, "float": 0.1, "date": date, "decimal": Decimal(string: "12345678901234.5678")!,
          "string": "naïve 日本 🧵\u{0}end", "uri": URL(string: "https://example.org/a%20b?c#d")!,
          "uuid": uuid, "data": Data([0, 255, 1, 254]),
        ])
      try world.reopen()
      let row: RowRef = try world.row(id)
      try expect(row.version, 1)
      try expect(row.id, id)
      func word(_ name: String) throws -> Int {
        guard case .stored(_, let word) = world.entity("Everything").slot(named: name)?.role else {
          throw ConformanceFailure(description: "\(name) is not stored")
        }
        try expect(row.hasValue(word), "\(name) has a value")
        return word
      }
      try expect(row.integer(word("int16")), Int64(Int16.min))
      try expect(row.integer(word("int32")), Int64(Int32.max))
      try expect(row.integer(word("int64")), Int64.min)
      try expect(row.word(word("bool")), 1)
      try expect(row.double(word("double")), 0.1)
      try expect(row.double(word("float")), Double(Float(0.1)))
      try expect(row.double(word("date")), date.timeIntervalSinceReferenceDate)
      try expect(Decimal(string: row.string(word("decimal"))), Decimal(string: "12345678901234.5678"))
      try expect(row.string(word("string")), "naïve 日本 🧵\u{0}end")
      try expect(row.string(word("uri")), "https://example.org/a%20b?c#d")
      try expect(row.data(word("uuid")), withUnsafeBytes(of: uuid.uuid) { Data($0) })
      try expect(row.data(word("data")), Data([0, 255, 1, 254]))
    },
    StoreScenario("a row without values is nil throughout, and empty is not nil") { world in
      let empty: RowID = try world.insertOne("Everything", [:])
      let blank: RowID = try world.insertOne("Everything", ["string": "", "data": Data()])
      try world.reopen()
      let row: RowRef = try world.row(empty)
      for slot in world.entity("Everything").slots {
        guard case .stored(_, let word) = slot.role else { continue }
        try expect(!row.hasValue(word), "\(slot.name) is nil")
      }
      let second: RowRef = try world.row(blank)
      try expect(world.text(second, "string"), "")
      guard case .stored(_, let data) = world.entity("Everything").slot(named: "data")?.role else { return }
      try expect(second.hasValue(data), "empty data is a value")
      try expect(second.data(data).count, 0)
    },
    StoreScenario("an update writes its values, moves the version and leaves the rest") { world in
      let id: RowID = try world.insertOne("Item", ["title": "Milk", "priority": 3, "isDone": false])
      try world.update(id, ["title": "Oat milk", "priority": nil])
      try expect(world.row(id).version, 2)
      try world.reopen()
      let row: RowRef = try world.row(id)
      if world.keeps(.versions) { try expect(row.version, 2) }
      try expect(world.text(row, "title"), "Oat milk")
      try expect(world.fetch("title", of: "Item", where: "priority == nil AND isDone == NO"), ["Oat milk"])
    },
    StoreScenario("a deleted row is gone and its key is not given out again") { world in
      let ids: [RowID] = try world.insert("Item", [["title": "a"], ["title": "b"], ["title": "c"]])
      try world.delete([ids[1], ids[2]])
      try world.reopen()
      try expect(world.fetch("title", of: "Item"), ["a"])
      try expect(world.engine.rows(of: world.entity("Item"), keys: ids.map(\.key)).count, 1)
      let next: RowID = try world.insertOne("Item", ["title": "d"])
      try expect(next.key > ids[2].key, "the key \(next.key) is new")
    },
    StoreScenario("a hierarchy shares one sequence of keys") { world in
      let cat: RowID = try world.insertOne("Cat", ["name": "Tom"])
      let dog: RowID = try world.insertOne("Dog", ["name": "Rex"])
      let item: RowID = try world.insertOne("Item", [:])
      try expect(dog.key, cat.key + 1)
      if world.engine.hasOneKeySequence { return try expect(item.key, cat.key + 2) }
      try expect(cat.key, 1)
      try expect(item.key, 1)
    },
    StoreScenario("rows are found by key in the hierarchy, missing keys left out") { world in
      let cat: RowID = try world.insertOne("HouseCat", ["name": "Tom", "sofa": "red", "lives": 9])
      let batch: RowBatch = try world.engine.rows(of: world.entity("Animal"), keys: [cat.key, 77])
      try expect(batch.count, 1)
      try expect(batch.first?.id, cat)
      try expect(world.text(batch.first!, "sofa"), "red")
    },
    StoreScenario("thousands of rows with long texts keep their order and their texts") { world in
      let texts: [String] = (0..<3000).map { "\($0) " + String(repeating: "x", count: $0 % 700) }
      try world.insert("Note", texts.map { ["text": $0] })
      try world.reopen()
      try expect(world.fetch("text", of: "Note") == texts, "all 3,000 texts come back in order")
    },
    StoreScenario("metadata of the application is kept") { world in
      var metadata: [String: Any] = world.engine.metadata
      metadata["Shop"] = "corner"
      try world.engine.setMetadata(metadata)
      try world.save { _ in }
      try world.reopen()
      try expect(world.engine.metadata["Shop"] as? String, "corner")
      try expect(world.engine.metadata["NSStoreUUID"] as? String, world.engine.identifier)
      try expect(UUID(uuidString: world.engine.identifier)?.uuidString, world.engine.identifier)
    },
  ]
}
