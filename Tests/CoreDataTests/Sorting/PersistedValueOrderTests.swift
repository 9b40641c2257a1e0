import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

/// Getters that insist on a value, or show another one for nil.
final class StoredPart: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let rankKey = ManagedKey("rank")

  /// Insists.
  var name: String {
    get { managedValue(Self.nameKey)! }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  /// Shows nil as the last.
  var shownName: String? {
    get { managedValue(Self.nameKey) ?? "zzz" }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  var rank: Int32 {
    get { managedValue(Self.rankKey) }
    set { setManagedValue(newValue, Self.rankKey) }
  }
}

// Finding B18.
/// Managed objects are ordered by what is stored, whatever getters make of it.
struct PersistedValueOrderTests {
  private static func stack(_ kind: StoreKind) throws -> Stack {
    let entity = World.entity(
      "Part",
      [World.attribute("name", .stringAttributeType), World.attribute("rank", .integer32AttributeType)])
    entity.managedObjectClassName = NSStringFromClass(StoredPart.self)
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      for (rank, name) in ["b", nil, "c", "a", nil].enumerated() {
        _ = context.make("Part", ["rank": rank, "name": name as Any?].compactMapValues { $0 })
        try context.save()
      }
    }
    return stack
  }

  static var descriptors: [(NSSortDescriptor, [Int32])] {
    [
      (NSSortDescriptor(keyPath: \StoredPart.name, ascending: true), [1, 4, 3, 0, 2]),
      (NSSortDescriptor(keyPath: \StoredPart.name, ascending: false), [2, 0, 3, 1, 4]),
      (NSSortDescriptor(keyPath: \StoredPart.shownName, ascending: true), [1, 4, 3, 0, 2]),
      (NSSortDescriptor(SortDescriptor(\StoredPart.name)), [1, 4, 3, 0, 2]),
      (NSSortDescriptor(SortDescriptor(\StoredPart.name, order: .reverse)), [2, 0, 3, 1, 4]),
      (NSSortDescriptor(SortDescriptor(\StoredPart.shownName)), [1, 4, 3, 0, 2]),
      (NSSortDescriptor(SortDescriptor(\StoredPart.name, comparator: .lexical)), [1, 4, 3, 0, 2]),
    ]
  }

  @Test(arguments: StoreKind.allCases, descriptors.indices)
  func `the order is that of the stored values, with and without unsaved changes`(
    _ kind: StoreKind, _ number: Int
  ) throws {
    let (descriptor, order): (NSSortDescriptor, [Int32]) = Self.descriptors[number]
    try Self.stack(kind).elsewhere { context in
      let request = NSFetchRequest<StoredPart>(entityName: "Part")
      request.sortDescriptors = [descriptor]
      let parts: [StoredPart] = try context.fetch(request)
      #expect(parts.map(\.rank) == order)
      // Unrelated edits.
      for part in parts { part.rank += 10 }
      let edited: [Int32] = try context.fetch(request).map(\.rank)
      #expect(edited == order.map { $0 + 10 })
      let byRank: [StoredPart] = parts.sorted { $0.rank < $1.rank }
      let sorted: [StoredPart] = try byRank.sortedThrowing(using: [descriptor])
      #expect(sorted.map(\.rank) == order.map { $0 + 10 })
      let array: [StoredPart]? = NSArray(array: byRank).sortedArray(using: [descriptor]) as? [StoredPart]
      #expect(array?.map(\.rank) == order.map { $0 + 10 })
      let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
      let back: [StoredPart]? = NSArray(array: byRank).sortedArray(using: [reversed]) as? [StoredPart]
      let names: [String?]? = back?.map { $0.value(forKey: "name") as? String }
      #expect(names == array?.reversed().map { $0.value(forKey: "name") as? String })
      try context.save()
      let saved: [Int32] = try context.fetch(request).map(\.rank)
      #expect(saved == order.map { $0 + 10 })
    }
  }

  @Test(arguments: StoreKind.allCases, descriptors.indices)
  func `controllers keep the order of the stored values`(_ kind: StoreKind, _ number: Int) throws {
    let (descriptor, order): (NSSortDescriptor, [Int32]) = Self.descriptors[number]
    final class Listener: NSObject, NSFetchedResultsControllerDelegate {
      var count: Int = 0
      func controllerDidChangeContent(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>
      ) { count += 1 }
    }
    try Self.stack(kind).elsewhere { context in
      let request = NSFetchRequest<StoredPart>(entityName: "Part")
      request.sortDescriptors = [descriptor]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let listener = Listener()
      controller.delegate = listener
      try controller.performFetch()
      for part in controller.fetchedObjects ?? [] { part.rank += 10 }
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.map(\.rank) == order.map { $0 + 10 })
      #expect(listener.count == 1)
    }
  }

  @Test func `a descriptor keeps its name, and other classes their order`() throws {
    let descriptor = NSSortDescriptor(keyPath: \StoredPart.name, ascending: false)
    #expect(descriptor.key == "name")
    #expect(descriptor.sortTerm == SortTerm(key: "name", ascending: false))
    final class Plain: NSObject {
      let name: String
      init(_ name: String) { self.name = name }
    }
    let sorted: [Any] = NSArray(array: [Plain("a"), Plain("b")])
      .sortedArray(using: [NSSortDescriptor(keyPath: \Plain.name, ascending: false)])
    #expect((sorted as? [Plain])?.map(\.name) == ["b", "a"])
  }
}
