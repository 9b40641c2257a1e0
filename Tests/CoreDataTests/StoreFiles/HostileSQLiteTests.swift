import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// SQLite files of Apple's framework and of Clarus with bits flipped, cut off, with pages exchanged, with
/// large numbers where counts are.
@Suite
struct HostileSQLiteTests {
  private struct Source {
    let name: String
    let bytes: [UInt8]
    let model: NSManagedObjectModel
    let configuration: String?
    let pageSize: Int
  }

  private static let variants: Int = Soak.isOn ? 10_000 : 150

  /// The store of the project, and those of Apple's framework where they are at hand.
  private static func sources(_ folder: TemporaryFolder) throws -> [Source] {
    let library: URL = SharedFiles.package.appendingPathComponent("Examples/Stores/Library.sqlite")
    var urls: [URL] = [library]
    if let real = RealStores.folder {
      urls += RealStores.withModel.map { real.appendingPathComponent($0) }
    }
    return try urls.compactMap { url in
      let bytes = [UInt8](try Data(contentsOf: url))
      // Large files take long, and are damaged no differently.
      guard bytes.count < 400_000, bytes.count >= 4096 else { return nil }
      let copy: URL = folder.file("source.sqlite")
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: copy.path + suffix)
        if let data = FileManager.default.contents(atPath: url.path + suffix) {
          try data.write(to: URL(fileURLWithPath: copy.path + suffix))
        }
      }
      let (model, configuration) = try RealStores.model(at: copy)
      let pageSize: Int = Int(bytes[16]) << 8 | Int(bytes[17])
      return Source(
        name: url.lastPathComponent, bytes: bytes, model: model, configuration: configuration,
        pageSize: pageSize > 1 ? pageSize : 65536)
    }
  }

  private static func damaged(_ source: Source, _ random: inout SeededRandom) -> Data {
    var bytes: [UInt8] = source.bytes
    let page: Int = source.pageSize
    for _ in 0...Int.random(in: 0..<4, using: &random) where bytes.count > page {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let pages: Int = bytes.count / page
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1, 2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 3: bytes.removeSubrange(place...)
      case 4:
        let (one, other) = (
          Int.random(in: 0..<pages, using: &random) * page, Int.random(in: 0..<pages, using: &random) * page
        )
        for offset in 0..<page { bytes.swapAt(one + offset, other + offset) }
      case 5:
        // In the header of the file or of a page: cell counts, free lists, page numbers.
        let start: Int = Bool.random(using: &random) ? 16 + place % 84 : place / page * page + place % 16
        for offset in start..<min(start + 4, bytes.count) { bytes[offset] = 0xFF }
      case 6: for offset in place..<min(place + page / 4, bytes.count) { bytes[offset] = 0 }
      default:
        for offset in place..<min(place + 64, bytes.count) {
          bytes[offset] = UInt8.random(in: 0...255, using: &random)
        }
      }
    }
    return Data(bytes)
  }

  @Test func `a damaged SQLite file is read or refused with an error that names it`() throws {
    let folder = try TemporaryFolder()
    let sources: [Source] = try Self.sources(folder)
    let first: UInt64 = Seed.given ?? 0
    var (refused, read): (Int, Int) = (0, 0)
    for variant in 0..<Self.variants {
      let seed: UInt64 = first + UInt64(variant)
      var random = SeededRandom(seed: seed)
      let source: Source = sources[Int(seed) % sources.count]
      let url: URL = folder.file("damaged.sqlite")
      for suffix in ["-wal", "-shm", "-journal"] {
        try? FileManager.default.removeItem(atPath: url.path + suffix)
      }
      try Self.damaged(source, &random).write(to: url)
      do {
        try Self.use(url, source, isReadOnly: Bool.random(using: &random))
        read += 1
      } catch let error as NSError {
        refused += 1
        #expect(
          error.domain == NSCocoaErrorDomain || error.domain == NSSQLiteErrorDomain,
          "seed \(seed), \(source.name): \(error)")
        let names: Bool = error.localizedDescription.contains(url.path)
        #expect(
          names || error.userInfo[NSFilePathErrorKey] as? String == url.path,
          "seed \(seed), \(source.name): \(error)")
      }
    }
    print(
      "\(Self.variants) damaged SQLite files of \(sources.count): \(refused) refused, \(read) read; "
        + "first seed \(first)")
    print("peak memory \(PeakMemory.inMegabytes) MB")
    #expect(refused > 0 && read > 0)
  }

  /// Metadata, and every value of every entity. `DamageTests` saves to damaged files.
  private static func use(_ url: URL, _ source: Source, isReadOnly: Bool) throws {
    _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: source.model)
    let store: NSPersistentStore = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: source.configuration, at: url,
      options: [NSReadOnlyPersistentStoreOption: isReadOnly])
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for entity in context.heldEntities {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        for object in try context.fetch(request) {
          for attribute in entity.attributesByName.values
          // A value that its transformer can't read would stop the program, whatever the kind of store.
          where attribute.attributeType != .transformableAttributeType && !attribute.isTransient {
            _ = object.value(forKey: attribute.name)
          }
        }
      }
    }
  }
}
