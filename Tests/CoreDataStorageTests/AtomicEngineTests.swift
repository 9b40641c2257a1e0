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
