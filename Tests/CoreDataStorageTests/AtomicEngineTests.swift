import CoreDataModel
import CoreDataStorage
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Stores that are one file, as engines.
@Suite struct AtomicEngineTests {
  @Test(arguments: StoreScenario.all)
  func `an XML store behaves as every store does`(scenario: StoreScenario) throws {
    let folder = try TemporaryFolder()
    try scenario.run(on: Self.maker(folder, .xml))
  }

  @Test(arguments: StoreScenario.all)
  func `a binary store behaves as every store does`(scenario: StoreScenario) throws {
    let folder = try TemporaryFolder()
    try scenario.run(on: Self.maker(folder, .binary))
  }

  @Test(arguments: [AtomicKind.xml.type, AtomicKind.binary.type], [false, true])
  func `the file of a copy appears when it has everything, or not at all`(type: String, fails: Bool) throws {
    let kind: AtomicKind = type == AtomicKind.xml.type ? .xml : .binary
    let folder = try TemporaryFolder()
    let url: URL = folder.file("Copy")
    let layout = ModelLayout(model: makeModel([ModelEntity("Note", [("text", .stringAttributeType)])]))
    let make: () throws -> any StoreEngine = {
      try kind.makeStore(at: url, layout: layout, options: StoreOpeningOptions(), copying: nil) { target in
        for _ in 0..<2 {
          let slab = RowSlab(layout: layout.entities[0], family: false, rowCapacity: 1)
          var plan = SavePlan()
          _ = slab.appendRow(key: plan.provisionalKey(in: layout.entities[0]), entity: 0, version: 1)
          plan.inserts = [(layout.entities[0], RowBatch(slabs: [slab]))]
          _ = try target.save(plan)
          #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
        }
        if fails { throw CocoaError(.userCancelled) }
      }
    }
    if fails {
      #expect(throws: CocoaError.self) { try make() }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    } else {
      try make().close()
      let again = try kind.open(at: url, layout: layout, options: StoreOpeningOptions())
      #expect(try again.count(FetchPlan(entity: layout.entities[0])) == 2)
    }
  }

  @Test(arguments: [
    ("1", true), ("-12.50", true), ("+1e3", true), (".5", true), ("5.", true), ("1E-7", true),
    ("0x10", false),
    ("1\u{1F}", false), (" 1", false), ("1 ", false), ("inf", false), ("1e", false), ("", false),
    ("-", false),
    ("1.2.3", false), ("1,5", false), ("twelve", false),
  ])
  func `a decimal is a number and nothing else`(text: String, isNumber: Bool) {
    #expect(DecimalText.isNumber(text) == isNumber)
  }

  /// A longer text in a file counts as damage.
  @Test(arguments: [("Entity", 1023), ("Entity", 1024), ("relationship", 1023), ("relationship", 1024)])
  func `a binary store has names that it can read again, or is not made`(what: String, length: Int) throws {
    let folder = try TemporaryFolder()
    // Of two bytes each, but for the first.
    let name: String =
      (what == "Entity" ? "E" : "e") + String(repeating: "ü", count: (length - 1) / 2)
      + (length % 2 == 0 ? "x" : "")
    #expect(name.utf8.count == length)
    let entity = NSEntityDescription()
    entity.name = what == "Entity" ? name : "Thing"
    let other = NSRelationshipDescription()
    other.name = what == "Entity" ? "other" : name
    (other.destinationEntity, other.maxCount) = (entity, 1)
    entity.properties = [other]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let layout = ModelLayout(model: model)
    let url: URL = folder.file("Long.binary")
    func open() throws -> any StoreEngine {
      try AtomicKind.binary.open(at: url, layout: layout, options: StoreOpeningOptions())
    }
    if length > 1023 {
      let error = #expect(throws: StoreError.self) { try open() }
      let text: String = error?.message().description ?? ""
      #expect(text.contains("1024 bytes") && text.contains("at most 1023"), "\(text)")
      #expect(text.utf8.count < 600)
      #expect(!FileManager.default.fileExists(atPath: url.path))
      return
    }
    let engine: any StoreEngine = try open()
    let slab = RowSlab(layout: layout.entities[0], family: false, rowCapacity: 2)
    for key in [Int64(1), 2] {
      let row = slab.appendRow(key: key, entity: 0, version: 1)
      guard case .stored(_, let word) = layout.entities[0].slots[0].role else { continue }
      slab.set(row, word: word, toTarget: RowID(entity: 0, key: 3 - key))
    }
    var plan = SavePlan()
    plan.inserts = [(layout.entities[0], RowBatch(slabs: [slab]))]
    _ = try engine.save(plan)
    try engine.close()
    let again: any StoreEngine = try open()
    #expect(try again.count(FetchPlan(entity: layout.entities[0])) == 2)
    try again.close()
  }

  private static func maker(_ folder: TemporaryFolder, _ kind: AtomicKind) -> StoreMaker {
    // The files have no place for versions; what was allocated is written with the next save.
    StoreMaker(
      keeps: [],
      make: { layout in
        let url: URL = folder.file("\(UUID().uuidString).\(kind.type)")
        return try kind.open(at: url, layout: layout, options: StoreOpeningOptions())
      },
      reopen: { store in
        let url: URL = (store as! AtomicEngine).url
        try store.close()
        return try kind.open(at: url, layout: store.layout, options: StoreOpeningOptions())
      })
  }
}
