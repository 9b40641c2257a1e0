import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

@Suite("A version that can't be read, such as one of Xcode 3, hides no other version")
struct UnreadableVersionTests {
  private func writeUnreadable(in folder: TemporaryFolder) throws {
    let version: URL = folder.file("Shop.xcdatamodeld/Shop 0.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    for name in ["elements", "layout"] { try Data("x".utf8).write(to: version.appendingPathComponent(name)) }
  }

  @Test(
    "a store is migrated from the version that wrote it, under its name",
    arguments: [StoreKind.sqlite, .xml])
  func migrates(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    let noted = Versions.first {
      $0.entitiesByName["Person"]!.properties.append(World.attribute("note", .stringAttributeType))
    }
    let program = try SourceModel.write([Versions.first(), noted], in: folder)
    try writeUnreadable(in: folder)
    let url: URL = try Versions.makeStore(kind, in: folder)
    let plan = try MigrationPlan(forStoreAt: url, to: program)
    #expect(plan.steps.map(\.source) == ["Shop 1"])
    #expect(plan.warnings == [])
    try plan.run(verifies: true)
    #expect(try Versions.using(program, kind, url) { try Versions.people($0).count } == 3)
  }

  @Test("where no version fits a store, the error says which could not be read")
  func refusal() throws {
    let folder = try TemporaryFolder()
    let narrow = Versions.first {
      $0.entitiesByName["Tag"]!.properties.removeAll { $0.name == "title" }
    }
    let program = try SourceModel.write([narrow], in: folder)
    try writeUnreadable(in: folder)
    let url: URL = try Versions.makeStore(.xml, in: folder)
    let error = errorThrown { _ = try MigrationPlan(forStoreAt: url, to: program) }
    #expect(error?.code == NSMigrationMissingSourceModelError)
    for words in ["Not read: ", "Shop 0.xcdatamodel", "Xcode 3"] {
      #expect(error?.localizedDescription.contains(words) == true, "\(error as Any)")
    }
  }
}
