import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The objects of a store, as far as a plan asks about them. The store is opened with the first question,
/// read-only, with the model that it has. Cost: a question is a statement; an XML or binary file is read
/// whole by the first one.
final class SurveyedContents {
  private let step: MigrationStep
  private let store: OutdatedStore
  private var opened: Result<MigrationSide, any Error>?

  /// `step`: the first one.
  init(_ step: MigrationStep, of store: OutdatedStore) { (self.step, self.store) = (step, store) }

  deinit { close() }

  func close() {
    try? opened?.get().close()
    opened = nil
  }

  private func side() throws -> MigrationSide {
    if let opened { return try opened.get() }
    let result: Result<MigrationSide, any Error> = Result {
      try MigrationSide(
        StorePlace(store.url, store.type, step.sourceOptions(store)), step.source,
        options: [NSReadOnlyPersistentStoreOption: true, CreatesStoreIfMissingOption: false])
    }
    opened = result
    return try result.get()
  }

  /// How many objects of the entity itself a predicate is true for.
  func count(_ entity: String, _ predicate: NSPredicate) throws -> Int {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.includesSubentities = false
    request.predicate = predicate
    let side: MigrationSide = try side()
    return try side.context.count(for: request)
  }

  /// Calls `body` with values of each object of the entity itself; of a to-one relationship the value is the
  /// id of its object. Cost: a statement for some thousand objects.
  func forEachObject(of entity: String, reading keys: [String], _ body: ([String: Any]) throws -> Void) throws
  {
    try forEachPage(of: entity) { side, ids in
      let request = NSFetchRequest<NSDictionary>(entityName: entity)
      request.includesSubentities = false
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = keys
      request.predicate = NSPredicate(format: "SELF IN %@", ids)
      for row in try side.context.fetch(request) { try body(row as? [String: Any] ?? [:]) }
    }
  }

  /// The ids of the objects of the entity itself.
  func ids(of entity: String) throws -> [NSManagedObjectID] {
    let all = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    all.includesSubentities = false
    return try side().context.objectIDs(all)
  }

  /// Adds to each object how often it is at the end of a relationship of the objects of the entity itself.
  /// Cost: reads these objects, some thousand at a time.
  func countReferences(of entity: String, by key: String, in numbers: inout [NSManagedObjectID: Int]) throws {
    try forEachObject(of: entity, prefetching: [key]) { object in
      guard let value = try object.readValue(forKey: key) else { return }
      for case let member as NSManagedObject in Members.list(value) ?? [value] {
        numbers[member.objectID, default: 0] += 1
      }
    }
  }

  /// Calls `body` with the objects of the entity itself, or with the first ones. Cost: a statement for some
  /// thousand objects, which are released after it.
  func forEachObject(
    of entity: String, atMost count: Int = .max, prefetching keys: [String] = [],
    _ body: (NSManagedObject) throws -> Void
  ) throws {
    try forEachPage(of: entity, atMost: count) { side, ids in
      try side.objects(ids.map(\.instance), prefetching: keys).forEach(body)
    }
  }

  private func forEachPage(
    of entity: String, atMost count: Int = .max,
    _ body: (MigrationSide, [NSManagedObjectID]) throws -> Void
  ) throws {
    let ids: ArraySlice<NSManagedObjectID> = try ids(of: entity).prefix(count)
    for start in stride(from: 0, to: ids.count, by: Self.objectsAtATime) {
      try body(side(), Array(ids[start..<min(start + Self.objectsAtATime, ids.count)]))
    }
  }

  private static let objectsAtATime: Int = 5000

  /// Whether an object of the entity itself has a value of a property, or of an element of one; true where
  /// that can't be told.
  func hasValue(_ entity: String, _ path: String) -> Bool {
    let property: NSPropertyDescription? = step.source.entitiesByName[entity]?.propertiesByName[path]
    let isToMany: Bool = (property as? NSRelationshipDescription)?.isToMany == true
    let predicate: NSPredicate =
      isToMany ? NSPredicate(format: "%K.@count > 0", path) : NSPredicate(format: "%K != nil", path)
    return (try? count(entity, predicate)).map { $0 > 0 } ?? true
  }

  /// References to objects that are not there: in the copies of their objects they are nil.
  func lostReferences() throws -> [StoreProblem] { try side().store.lostReferences() }

  /// Why a value can't be copied because it reads as another one; nil if there is none. Only SQLite stores
  /// may have such values.
  func misreadValue() throws -> String? {
    guard store.type == NSSQLiteStoreType else { return nil }
    let store: NSPersistentStore = try side().store
    do {
      try store.refuseMisreadValues()
      return nil
    } catch {
      return MigrationFailure.text(of: error)
    }
  }

  /// Rows that stand for no object: nothing would copy them.
  func unreachableRows() throws -> [UnreachableRows] { try side().store.unreachableRows() }

  /// Files of values that are missing, or can't be read.
  func fileProblems() throws -> [StoreProblem] { try side().store.fileProblems() }
}
