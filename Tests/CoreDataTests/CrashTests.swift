import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A process that saves through the graph is killed at random moments; each transaction is whole
/// or not there.
///
/// Save n inserts a category with ten items tagged by the one tag, adds n to the tag's name and deletes the
/// category before.
@Suite(.serialized)
struct CrashTests {
  static func open(_ path: String, _ type: String = NSSQLiteStoreType) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.model())
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: URL(fileURLWithPath: path))
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// The child: saves for ever.
  static func write(_ path: String, _ type: String) throws {
    let context: NSManagedObjectContext = try open(path, type)
    try context.performAndWait {
      let tag: Tag
      if let known = try context.all(Tag.self, "Tag").first {
        tag = known
      } else {
        tag = Tag(context: context)
        tag.name = "0"
        try context.save()
      }
      var last: Category? = try context.all(Category.self, "Category").first
      for number in ((Int(tag.name ?? "") ?? 0) + 1)... {
        let category: Category = context.category("\(number)")
        for place in 0..<10 {
          let item: Item = context.item("\(place)", category)
          item.count = Int64(number)
          item.tags = [tag]
        }
        tag.name = "\(number)"
        if let last { context.delete(last) }
        try context.save()
        last = category
      }
    }
  }

  @Test(arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
  func `a killed writer leaves whole transactions`(type: String) async throws {
    let folder = try TemporaryFolder()
    let file: String = folder.file("crash.store").path
    var random = SeededRandom(seed: Crash.seed)
    var reached: Int = 0
    let rounds: Int = Soak.isOn ? 100 : 4
    var longest: UInt32 = 150_000
    var round: Int = 0
    // On a slow machine a process may die before its first save each time; then it gets longer.
    while round < rounds || (reached == 0 && longest < 10_000_000) {
      defer { round += 1 }
      if reached == 0, round > 0 { longest *= 2 }
      let path: String = file
      let microseconds: UInt32 = UInt32.random(in: 1_000...longest, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, type = type as String, microseconds = microseconds as UInt32] in
        Crash.comes(afterMicroseconds: microseconds)
        try CrashTests.write(path, type)
      }
      let note: Comment = "seed \(Crash.seed), round \(round), killed after \(microseconds) µs"
      let context: NSManagedObjectContext = try Self.open(path, type)
      try context.performAndWait {
        let number: Int = try context.all(Tag.self, "Tag").first.flatMap { Int($0.name ?? "") } ?? 0
        #expect(number >= reached, note)
        reached = number
        let categories: [Category] = try context.all(Category.self, "Category")
        let items: [Item] = try context.all(Item.self, "Item")
        #expect(categories.map(\.name) == (number == 0 ? [] : ["\(number)"]), note)
        #expect(items.count == (number == 0 ? 0 : 10), note)
        #expect(items.allSatisfy { $0.count == Int64(number) && $0.category === categories.first }, note)
        #expect(items.allSatisfy { $0.tags.count == 1 && $0.tags.first?.items.count == 10 }, note)
      }
      if type == NSSQLiteStoreType {
        #expect(try FileContents(URL(fileURLWithPath: path)).integrity == "ok", note)
      }
    }
    #expect(reached > 0, "no save got through; seed \(Crash.seed)")
  }
}
