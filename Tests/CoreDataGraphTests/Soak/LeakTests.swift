import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// Rounds of everything leave the heap as it was. In a process of its own, where nobody else allocates.
  @Suite
  struct LeakTests {
    @Test(
      .disabled(if: Sanitizer.isOn, "ThreadSanitizer's allocator does not say what is in use"),
      arguments: StoreKind.allCases)
    func `rounds of inserting, fetching, changing, undoing, saving and resetting leave memory flat`(
      kind: StoreKind
    ) async throws {
      let rounds: Int = Soak.isOn ? 1000 : 60
      let report: String = try TemporaryFolder().file("report").path
      await #expect(processExitsWith: .success) {
        [kind = kind.rawValue as String, rounds = rounds as Int, report = report as String] in
        let stack = try Stack(try #require(StoreKind(rawValue: kind)))
        // Caches fill in the first rounds: statements, layouts, key paths.
        for _ in 0..<(rounds / 4) { try LeakTests.round(stack) }
        let before: Int = LeakTests.bytesInUse
        for _ in 0..<rounds { try LeakTests.round(stack) }
        try "\(before) \(LeakTests.bytesInUse)".write(toFile: report, atomically: true, encoding: .utf8)
      }
      let sizes: [Int] = try String(contentsOfFile: report, encoding: .utf8).split(separator: " ")
        .compactMap { Int($0) }
      try #require(sizes.count == 2 && sizes[0] > 0)
      let growth: Int = sizes[1] - sizes[0]
      if Soak.isOn {
        print("\(kind.rawValue): \(rounds) rounds, the heap grew by \(growth) bytes from \(sizes[0])")
      }
      // Each round handles 22 objects: eight bytes kept of each would be more. The rest is for caches that
      // grow by doubling.
      #expect(growth < 65_536 + rounds * 22 * 8, "from \(sizes[0]) bytes to \(sizes[1]) in \(rounds) rounds")
    }

    /// What the allocator has handed out, by its own report; glibc's module doesn't declare `malloc_info`.
    private static var bytesInUse: Int {
      typealias Report = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
      guard let symbol = dlsym(nil, "malloc_info"), let file = tmpfile() else { return 0 }
      defer { fclose(file) }
      guard unsafeBitCast(symbol, to: Report.self)(0, file) == 0 else { return 0 }
      rewind(file)
      var text: [UInt8] = Array(repeating: 0, count: 1 << 20)
      text.removeLast(text.count - fread(&text, 1, text.count, file))
      let lines: [Substring] = String(decoding: text, as: UTF8.self).split(separator: "\n")
      // The last lines of a kind are those of all heaps together.
      func size(_ kind: String) -> Int {
        let line: Substring = lines.last { $0.hasPrefix(kind) } ?? ""
        return line.split(separator: "\"").last { Int($0) != nil }.flatMap { Int($0) } ?? 0
      }
      return size("<system type=\"current\"") - size("<total type=\"fast\"") - size("<total type=\"rest\"")
        + size("<total type=\"mmap\"")
    }

    private static func round(_ stack: Stack) throws {
      let context: NSManagedObjectContext = stack.other()
      try context.performAndWait {
        let manager = UndoManager()
        context.undoManager = manager
        let category: Category = context.category("c")
        let items: [Item] = (0..<20).map { context.item("item \($0)", category) }
        let tag: NSManagedObject = context.make("Tag", ["name": "t"])
        for item in items { item.addToTags(tag as! Tag) }
        try context.save()
        let ids: [NSManagedObjectID] = items.map(\.objectID)
        context.reset()
        let found: [Item] = try context.all(
          Item.self, "Item", NSPredicate(format: "ANY tags.name == 't' AND self IN %@", ids), sort: ["title"])
        for item in found {
          item.price += 1
          item.category = nil
        }
        context.processPendingChanges()
        context.undo()
        context.redo()
        try context.save()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try child.performAndWait {
          for id in ids { child.object(with: id).setValue("changed", forKey: "title") }
          try child.save()
        }
        context.rollback()
        // The store doesn't grow: with it, its caches would.
        for item in found { context.delete(item) }
        for entity in ["Category", "Tag"] {
          for object in try context.all(NSManagedObject.self, entity) { context.delete(object) }
        }
        try context.save()
        context.reset()
      }
    }
  }
#endif
