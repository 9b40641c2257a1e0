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

/// Finding A8: what a killed process leaves in the folder of large values is removed, and nothing else.
@Suite(.serialized)
struct ExternalDataCrashTests {
  private static func large(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: PhotoStore.size)
  }

  /// Each save makes a photo, changes one and deletes one.
  private static func save(_ number: Int, _ context: NSManagedObjectContext) throws {
    let photos: [NSManagedObject] = try context.all(NSManagedObject.self, "Photo", sort: ["title"])
    let title: String = String(number + 1_000_000)
    _ = context.make("Photo", ["title": title, "data": large(number), "thing": large(number + 1)])
    photos.last?.setValue(large(number + 2), forKey: "data")
    if photos.count > 3 { context.delete(photos[0]) }
    try context.save()
  }

  /// The child: saves for ever.
  static func write(_ url: URL) throws {
    let context: NSManagedObjectContext = try PhotoStore(url: url).open()
    try context.performAndWait { for number in 0... { try save(number, context) } }
  }

  @Test(arguments: ["WAL", "DELETE"])
  func `after a process was killed while it saved, opening leaves the files that rows refer to`(mode: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    try photos.close(try photos.open([NSSQLitePragmasOption: ["journal_mode": mode]]))
    var random = SeededRandom(seed: Crash.seed)
    var left: Int = 0
    var saved: Int = 0
    let rounds: Int = Soak.isOn ? 60 : 4
    var longest: UInt32 = 200_000
    var round: Int = 0
    // On a slow machine a process may die before its first save each time; then it gets longer.
    while round < rounds || (saved == 0 && longest < 10_000_000) {
      defer { round += 1 }
      if saved == 0, round > 0 { longest *= 2 }
      let path: String = photos.url.path
      let microseconds: UInt32 = UInt32.random(in: 20_000...longest, using: &random)
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, microseconds = microseconds as UInt32] in
        Crash.comes(afterMicroseconds: microseconds)
        try ExternalDataCrashTests.write(URL(fileURLWithPath: path))
      }
      let note: Comment = "seed \(Crash.seed), round \(round), \(mode), killed after \(microseconds) µs"
      let before: [String] = photos.names
      let context: NSManagedObjectContext = try photos.open()
      let referred: [String] = try photos.referredNames()
      #expect(photos.names == referred, note)
      left += before.count - referred.count
      saved += referred.count
      #expect(photos.notes.isEmpty, note)
      try context.performAndWait {
        for photo in try context.all(NSManagedObject.self, "Photo") {
          for key in ["data", "thing"] {
            let data: Data = try #require(photo.value(forKey: key) as? Data, note)
            #expect(data.count == PhotoStore.size && data.first == data.last, note)
          }
        }
      }
      try photos.close(context)
    }
    #expect(saved > 0, "no save got through; seed \(Crash.seed)")
    print("\(left) files were left behind and removed; seed \(Crash.seed), \(mode)")
  }

  @Test func `opening while others save takes nothing away from them`() async throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let writer: NSManagedObjectContext = try photos.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 0..<40 { try await writer.perform { try Self.save(number, writer) } }
      }
      group.addTask {
        for _ in 0..<40 { try photos.close(try photos.open()) }
      }
      try await group.waitForAll()
    }
    #expect(photos.names == (try photos.referredNames()))
    #expect(photos.notes.isEmpty)
  }

  @Test func `files that no save of Clarus has left stay where they are`() throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let context: NSManagedObjectContext = try photos.open()
    try context.performAndWait { try Self.save(0, context) }
    try photos.close(context)
    // Of a newer copy of the store, say, that is put back tomorrow.
    let strangers: [String] = [UUID().uuidString, "notes.txt", "\(UUID().uuidString).tmp"]
    for name in strangers { try Data([1]).write(to: photos.folder.appendingPathComponent(name)) }
    let again: NSManagedObjectContext = try photos.open()
    try again.performAndWait { try Self.save(1, again) }
    #expect(Set(photos.names).isSuperset(of: strangers))
  }

  @Test func `a save that fails leaves no files`() throws {
    let folder = try TemporaryFolder()
    let photos = PhotoStore(url: folder.file("Photos.sqlite"))
    let mine: NSManagedObjectContext = try photos.open()
    let theirs: NSManagedObjectContext = try photos.open()
    try mine.performAndWait { try Self.save(0, mine) }
    let photo: NSManagedObject = try theirs.performAndWait {
      try theirs.all(NSManagedObject.self, "Photo")[0]
    }
    try mine.performAndWait { try Self.save(1, mine) }
    let before: [String] = photos.names
    theirs.performAndWait {
      photo.setValue(Self.large(9), forKey: "data")
      #expect(codeThrown { try theirs.save() } == NSManagedObjectMergeError)
    }
    #expect(photos.names == before)
    #expect(photos.notes.isEmpty)
  }
}
