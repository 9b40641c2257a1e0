import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Documents beyond the limits of the XML library under Foundation's parser, which are at 10 MB.
@Suite
struct LargeDocumentTests {
  private static func open(_ url: URL) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: World.shared)
    try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(arguments: [([11_000_000], 0), ([], 9_000_000), (Array(repeating: 500_000, count: 25), 0)])
  func `texts and bytes of any length are read again`(texts: [Int], bytes: Int) throws {
    let folder = try TemporaryFolder()
    let url: URL = folder.file("a.xml")
    let context: NSManagedObjectContext = try Self.open(url)
    try context.performAndWait {
      for length in texts { _ = context.item(String(repeating: "ä<& ]]>\n", count: length / 9)) }
      if bytes > 0 { _ = context.make("Kinds", ["bytes": Data(repeating: 7, count: bytes)]) }
      try context.save()
    }
    let again: NSManagedObjectContext = try Self.open(url)
    try again.performAndWait {
      let titles: [String?] = try again.all(Item.self, "Item").map(\.title)
      #expect(titles.count == texts.count)
      for (length, title) in zip(texts, titles) {
        #expect(title == String(repeating: "ä<& ]]>\n", count: length / 9))
      }
      let kinds: [NSManagedObject] = try again.all(NSManagedObject.self, "Kinds")
      #expect(kinds.map { ($0.value(forKey: "bytes") as? Data)?.count } == (bytes > 0 ? [bytes] : []))
    }
  }
}
