import CoreData
import CrashScenarios
import Foundation
import StackSupport
import TestSupport
import Testing

/// Two steps object by object, of which a process that was killed has done the first one.
///
/// The folder is copied at the moment when the second step begins: what a process leaves that dies then.
@Suite(
  "A migration goes on where a killed process has stopped, if that has done what it would do", .serialized)
struct ResumeTests {
  static let scenarios: [MigrationScenario] = [.sqlite, .xml, .binary]

  /// A folder with a store of the first version and a complete first step.
  private static func begun(_ scenario: MigrationScenario, verifies: Bool = false) throws -> URL {
    let whole: URL = try TemporaryFolder().url
    try scenario.prepare(whole)
    let copy: URL = try TemporaryFolder().url.appendingPathComponent("left", isDirectory: true)
    let before: Int = MarkPolicy.steps
    try MarkPolicy.onBegin {
      if MarkPolicy.steps == before + 2 { try FileManager.default.copyItem(at: whole, to: copy) }
    } in: {
      try plan(scenario, whole).run(verifies: verifies)
    }
    #expect(FileManager.default.fileExists(atPath: staging(scenario, copy).path))
    return copy
  }

  private static func plan(_ scenario: MigrationScenario, _ folder: URL) throws -> MigrationPlan {
    try MigrationPlan(forStoreAt: scenario.url(in: folder), to: try MigrationScenario.program(folder))
  }

  private static func staging(_ scenario: MigrationScenario, _ folder: URL) -> URL {
    folder.appendingPathComponent(
      ".\(scenario.url(in: folder).lastPathComponent).migration", isDirectory: true)
  }

  /// Adds the store with the last version; returns how many steps were done, and what it holds.
  private static func migrate(_ scenario: MigrationScenario, _ folder: URL) throws -> (Int, [String]) {
    let before: Int = MarkPolicy.steps
    let state: [String] = try scenario.using(
      try MigrationScenario.program(folder), folder, MigrationScenario.automatic
    ) { try MigrationScenario.state($0) }
    return (MarkPolicy.steps - before, state)
  }

  private static func state(_ scenario: MigrationScenario, _ folder: URL) throws -> [String] {
    try scenario.using(scenario.versions[0], folder) { try MigrationScenario.state($0) }
  }

  private static func uuid(_ scenario: MigrationScenario, _ folder: URL) throws -> String? {
    try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: scenario.type, at: scenario.url(in: folder), options: nil)[NSStoreUUIDKey] as? String
  }

  private static func left(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("migrat") }
  }

  @Test("the steps that are complete are not done again, and the plan says so", arguments: scenarios)
  func goesOn(_ scenario: MigrationScenario) throws {
    let folder: URL = try Self.begun(scenario)
    // Whoever reads the store with its version in between changes nothing.
    let (before, uuid) = (try Self.state(scenario, folder), try Self.uuid(scenario, folder))
    let plan = try Self.plan(scenario, folder)
    #expect(plan.completedSteps == 1)
    #expect(
      plan.description.hasPrefix(
        "Begun by a process that was killed: step 1 of 2 is done, the migration goes on with step 2."),
      "\(plan)")
    let (steps, state) = try Self.migrate(scenario, folder)
    #expect(steps == 1)
    #expect(state == before)
    #expect(try Self.uuid(scenario, folder) == uuid)
    #expect(try Self.left(folder) == [])
  }

  @Test("if the store was changed in between, it begins anew and the change is there", arguments: scenarios)
  func changed(_ scenario: MigrationScenario) throws {
    let folder: URL = try Self.begun(scenario)
    try scenario.using(scenario.versions[0], folder) { context in
      for person in try context.all(NSManagedObject.self, "Person") { person.setValue(7, forKey: "mark") }
      try context.save()
    }
    let before: [String] = try Self.state(scenario, folder)
    #expect(try Self.plan(scenario, folder).completedSteps == 0)
    let (steps, state) = try Self.migrate(scenario, folder)
    #expect(steps == 2)
    #expect(state == before)
    #expect(state.allSatisfy { $0.contains(" 7 ") }, "\(state)")
    #expect(try Self.left(folder) == [])
  }

  /// What differs from what the killed process did, or has happened to what it left.
  enum Difference: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case mapping, model, journalDamaged, journalMissing, journalOfAnotherFormat, storeMissing, storeDamaged
    var testDescription: String { rawValue }
  }

  private static func make(_ difference: Difference, _ scenario: MigrationScenario, _ folder: URL) throws {
    let journal: URL = staging(scenario, folder).appendingPathComponent("journal.plist")
    let made: URL = staging(scenario, folder).appendingPathComponent(
      "1/\(scenario.url(in: folder).lastPathComponent)")
    switch difference {
    case .mapping:
      let file: URL = folder.appendingPathComponent("1to2.cdm")
      let mapping = try NSMappingModel.load(contentsOf: file)
      for entity in mapping.entityMappings where entity.sourceEntityName == "Person" {
        entity.attributeMappings?.first { $0.name == "name" }?.valueExpression =
          NSExpression(format: "uppercase:($source.name)")
      }
      try mapping.archivedData().write(to: file)
    case .model:
      let versions: [NSManagedObjectModel] = scenario.versions
      for model in versions {
        model.entitiesByName["Person"]?.attributesByName["name"]?.defaultValue = "nobody"
      }
      try FileManager.default.removeItem(at: folder.appendingPathComponent("People.xcdatamodeld"))
      _ = try SourceModel.write(versions, in: try TemporaryFolder(keptAt: folder.path), name: "People")
    case .journalDamaged: try Data("<plist".utf8).write(to: journal)
    case .journalMissing: try FileManager.default.removeItem(at: journal)
    case .journalOfAnotherFormat:
      let text = try String(contentsOf: journal, encoding: .utf8)
      let other: String = text.replacingOccurrences(
        of: "<integer>1</integer>\n\t<key>source", with: "<integer>999</integer>\n\t<key>source")
      #expect(other != text)
      try Data(other.utf8).write(to: journal)
    case .storeMissing: try FileManager.default.removeItem(at: made)
    case .storeDamaged: try Data("SQLite format 3\0".utf8).write(to: made)
    }
  }

  @Test("what was done otherwise, or can't be used, is discarded", arguments: Difference.allCases)
  func discarded(_ difference: Difference) throws {
    for scenario in difference == .mapping ? Self.scenarios : [.sqlite] {
      let folder: URL = try Self.begun(scenario)
      let before: [String] = try Self.state(scenario, folder)
      try Self.make(difference, scenario, folder)
      #expect(try Self.plan(scenario, folder).completedSteps == 0)
      let (steps, state) = try Self.migrate(scenario, folder)
      #expect(steps == 2)
      #expect(
        state
          == (difference == .mapping
            ? before.map { $0.replacingOccurrences(of: "person", with: "PERSON") } : before))
      #expect(try Self.left(folder) == [])
    }
  }

  @Test("steps whose values were not compared are done again where they are to be", arguments: [true, false])
  func verified(_ wasVerified: Bool) throws {
    let folder: URL = try Self.begun(.xml, verifies: wasVerified)
    let before: Int = MarkPolicy.steps
    try Self.plan(.xml, folder).run(verifies: true)
    #expect(MarkPolicy.steps - before == (wasVerified ? 1 : 2))
  }

  private static func saveLatecomer(_ scenario: MigrationScenario, _ folder: URL) throws {
    try scenario.using(scenario.versions[0], folder) { context in
      _ = Versions.make("Person", ["name": "latecomer"], context)
      try context.save()
    }
  }

  @Test("what others save during a migration is not lost: it ends with an error", arguments: scenarios)
  func savedMeanwhile(_ scenario: MigrationScenario) throws {
    let folder: URL = try TemporaryFolder().url
    try scenario.prepare(folder)
    let before: Int = MarkPolicy.steps
    var error: NSError?
    try MarkPolicy.onBegin {
      if MarkPolicy.steps == before + 1 { try Self.saveLatecomer(scenario, folder) }
    } in: {
      error = errorThrown { try Self.plan(scenario, folder).run() }
    }
    #expect(error?.code == NSMigrationManagerSourceStoreError)
    #expect(error?.localizedDescription.contains("Another process has saved") == true, "\(error as Any)")
    #expect(try Self.state(scenario, folder).contains { $0.contains("latecomer") })
    #expect(try Self.left(folder) == [])
    let (steps, state) = try Self.migrate(scenario, folder)
    #expect(steps == 2)
    #expect(state.contains { $0.contains("latecomer") })
  }

  @Test(
    "an error of a step is that of others who have saved, if they have", arguments: scenarios, [true, false])
  func failedMeanwhile(_ scenario: MigrationScenario, _ savesMeanwhile: Bool) throws {
    let folder: URL = try TemporaryFolder().url
    try scenario.prepare(folder)
    let before: Int = MarkPolicy.steps
    var error: NSError?
    try MarkPolicy.onBegin {
      guard MarkPolicy.steps == before + 1 else { return }
      if !savesMeanwhile { throw CocoaError(.featureUnsupported) }
      try Self.saveLatecomer(scenario, folder)
      // The code is that of a cancelled migration, and the domain a program's.
      throw NSError(domain: "Program", code: NSMigrationCancelledError)
    } in: {
      error = errorThrown { try Self.plan(scenario, folder).run() }
    }
    #expect(
      error?.localizedDescription.contains("Another process has saved") == savesMeanwhile, "\(error as Any)")
    #expect(try Self.left(folder) == [])
  }

  @Test("opening a store that was migrated removes what is left beside it, and nothing else")
  func leftovers() throws {
    let scenario: MigrationScenario = .xml
    let folder: URL = try Self.begun(scenario)
    let store: URL = scenario.url(in: folder)
    // The old version may still be opened: what was done is kept for the next migration.
    _ = try Self.state(scenario, folder)
    #expect(FileManager.default.fileExists(atPath: Self.staging(scenario, folder).path))
    let other: URL = try TemporaryFolder().url.appendingPathComponent("other", isDirectory: true)
    try FileManager.default.copyItem(at: folder, to: other)
    _ = try Self.migrate(scenario, other)
    // As if the process had died after the exchange.
    try FileManager.default.removeItem(at: store)
    try FileManager.default.copyItem(at: scenario.url(in: other), to: store)
    try scenario.using(scenario.versions[2], folder) { _ in }
    #expect(try Self.left(folder) == [])
  }
}
