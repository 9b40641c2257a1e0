import CoreDataModel
import CoreDataStorage
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CoreDataSQLite

/// Stores that Apple's framework wrote, some of them after migrations of its own, get another model.
@Suite(.enabled(if: SharedFiles.fixtures != nil, "\(SharedFiles.absence)"))
struct RealStoreMigrationTests {
  /// Renames an attribute of each entity, removes one, adds a required one, and adds an entity before all
  /// others, so that all numbers change.
  private static func changed(_ model: NSManagedObjectModel, addsEntity: Bool) throws -> NSManagedObjectModel
  {
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let words: String = copy.entities.flatMap(\.ownProperties).compactMap {
      ($0 as? NSDerivedAttributeDescription)?.derivationExpression?.description
    }.joined(separator: " ")
    let used: Set<String> = Self.usedNames(copy)
    for entity in copy.entities {
      let attributes: [NSAttributeDescription] = entity.ownProperties.compactMap {
        $0 as? NSAttributeDescription
      }
      let free: [NSAttributeDescription] = attributes.filter { attribute in
        if attribute.isTransient || attribute.attributeType == .undefinedAttributeType { return false }
        if attribute is NSDerivedAttributeDescription || attribute is NSCompositeAttributeDescription {
          return false
        }
        return !used.contains(attribute.name) && !words.contains(attribute.name)
      }.sorted { $0.name < $1.name }
      if let first = free.first {
        first.renamingIdentifier = first.name
        first.name = "clarus" + first.name.capitalized + (entity.name ?? "")
      }
      if free.count > 2 { entity.properties.removeAll { $0 === free[free.count - 1] } }
      if entity.superentity == nil {
        let added = NSAttributeDescription()
        added.name = "clarusAdded"
        added.attributeType = .stringAttributeType
        added.isOptional = false
        added.defaultValue = "new"
        entity.properties.append(added)
      }
    }
    if addsEntity {
      let entity = NSEntityDescription()
      entity.name = "AAAClarus"
      copy.entities.append(entity)
    }
    return copy
  }

  /// The names that indexes, constraints and notes of the model mention.
  private static func usedNames(_ model: NSManagedObjectModel) -> Set<String> {
    var result: Set<String> = []
    for entity in model.entities {
      result.formUnion(entity.uniquenessConstraintNames.flatMap(\.self))
      result.formUnion(entity.compoundIndexNames.flatMap(\.self))
      for index in entity.indexes {
        result.formUnion(index.elements.compactMap(\.propertyName))
        result.formUnion("\(index.partialIndexPredicate as Any)".split(separator: " ").map(String.init))
      }
      for property in entity.ownProperties {
        for note in property.userInfo?.values.map({ "\($0)" }) ?? [] {
          result.formUnion(note.split { !$0.isLetter && !$0.isNumber }.map(String.init))
        }
      }
    }
    return result
  }

  /// By which the version of a store is found that carries no model.
  @Test(arguments: SharedFiles.stores)
  func `the tables of a real store are those of its model, and not those of another`(path: String) throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = try RealFiles.copy(path, to: folder)
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    guard let model = file.model, file.metadataProblem == nil, let hashes = file.versions?.hashes else {
      return
    }
    func misfits(_ model: NSManagedObjectModel) throws -> [String]? {
      try SQLiteKind().misfits(
        of: ModelLayout(model: model), entities: Set(hashes.keys), at: url, options: StoreOpeningOptions())
    }
    #expect(try misfits(model) == [], "\(path)")
    #expect(try misfits(Self.changed(model, addsEntity: false)) != [], "\(path)")
  }

  @Test(arguments: SharedFiles.stores)
  func `a real store keeps all its objects`(path: String) throws {
    let folder: TemporaryFolder = try TemporaryFolder()
    let url: URL = try RealFiles.copy(path, to: folder)
    let file: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    guard let model = file.model, file.metadataProblem == nil else { return }
    let names: Set<String>? = RealStoreTests.entityNames(file, model)
    let source = ModelLayout(model: model)
    let target = ModelLayout(model: try Self.changed(model, addsEntity: names == nil))
    let plan = SchemaPlan(source: source, target: target)
    var options = StoreOpeningOptions()
    options.entityNames = names
    let planned: PlannedMigration = try SQLiteKind().migrationPlan(at: url, plan: plan, options: options)
    #expect(planned.canRunInPlace != file.hasHistory, "\(planned.obstacles) in \(path)")
    guard planned.canRunInPlace else { return }
    #expect(planned.problems == [], "\(path)")
    var reading = SQLiteOptions(isReadOnly: true)
    reading.missingExternalData = .isNil
    reading.entityNames = names
    func dump(_ layout: ModelLayout) throws -> StoreDump {
      let engine: SQLiteEngine = try SQLiteEngine.open(url: url, layout: layout, options: reading)
      defer { try? engine.close() }
      return try StoreDump(engine)
    }
    let before: StoreDump = try dump(source)
    let report: MigrationReport = try SQLiteKind().migrate(
      at: url, plan: plan, options: options, verification: .rows, progress: { _ in })
    #expect(report.outcome == .migrated)
    let found: StoreDump = try dump(target)
    let expected: StoreDump = before.migrated(plan)
    #expect(found == expected, "\(path)\n\(found.differences(from: expected))")
    let kept: SQLiteStoreFile = try SQLiteStoreFile.inspect(url: url)
    #expect(kept.uuid == file.uuid)
    #expect(kept.model?.entitiesByName.count == target.entities.count)
    let own: Set<String> = Set(file.metadata.keys).subtracting(StoreMetadata.Key.ofTheFile)
    #expect(own.isSubset(of: kept.metadata.keys))
  }
}
