import CoreData
import CoreDataStoreTests
import Foundation
import ProgramStores
import Testing

/// What every store does, over every kind of store: a table.
struct StoreTableTests {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, sqliteInMemory, inMemory, xml, binary, atomic, incremental

    var testDescription: String { rawValue }

    var store: StoreUnderTest {
      switch self {
      case .sqlite: StoreUnderTest(type: NSSQLiteStoreType)
      case .sqliteInMemory:
        StoreUnderTest(
          type: NSSQLiteStoreType, features: .all.subtracting(.persistence),
          at: { _ in URL(fileURLWithPath: "/dev/null") })
      case .inMemory: StoreUnderTest(type: NSInMemoryStoreType, features: .all.subtracting(.persistence))
      case .xml: StoreUnderTest(type: NSXMLStoreType)
      case .binary: StoreUnderTest(type: NSBinaryStoreType)
      case .incremental:
        StoreUnderTest(
          RecordStore.self, type: RecordStore.storeType,
          features: .all.subtracting([.dictionaries, .uniqueness]))
      case .atomic: StoreUnderTest(ListStore.self, type: ListStore.storeType)
      }
    }
  }

  @Test(arguments: StoreTest.all, Kind.allCases)
  func `every kind of store behaves alike`(test: StoreTest, kind: Kind) throws {
    try test.run(on: kind.store)
  }
}
