import CoreData
import Foundation

extension StoreTest {
  static var contextTests: [StoreTest] {
    [
      StoreTest("a child context reads and saves through its parent") { stack in
        try stack.books("a")
        let parent: NSManagedObjectContext = stack.context()
        let child: NSManagedObjectContext = stack.context(parent: parent)
        try child.performAndWait {
          try child.objects("Book")[0].setValue("b", forKey: "title")
          _ = child.make("Book", ["title": "c"])
          try child.save()
          try expect(try child.titles(), ["b", "c"])
        }
        try expect(try stack.titles(), ["a"], "a child's save reaches no store")
        try parent.performAndWait { try parent.save() }
        try expect(try stack.titles(), ["b", "c"])
      },
      StoreTest("a refresh shows what another context has saved") { stack in
        let id: NSManagedObjectID = try stack.books("a")[0]
        try stack.run { context in
          let book: NSManagedObject = try context.existingObject(with: id)
          try stack.save { try $0.existingObject(with: id).setValue("b", forKey: "title") }
          try expect(book.text("title"), "a", "an object keeps what it has read")
          context.refresh(book, mergeChanges: false)
          try expect(book.text("title"), "b")
          try stack.save { try $0.existingObject(with: id).setValue("c", forKey: "title") }
          book.setValue(7, forKey: "pages")
          context.refresh(book, mergeChanges: true)
          try expect(book.text("title"), "c")
          try expect(book.value(forKey: "pages") as? Int, 7)
          try context.save()
        }
        try expect(try stack.titles(where: nil), ["c"])
      },
      StoreTest("a context that merges automatically shows what others save") { stack in
        let id: NSManagedObjectID = try stack.books("a")[0]
        let context: NSManagedObjectContext = stack.context()
        context.automaticallyMergesChangesFromParent = true
        let book: NSManagedObject = try context.performAndWait {
          let book: NSManagedObject = try context.existingObject(with: id)
          _ = book.text("title")
          return book
        }
        try stack.save { try $0.existingObject(with: id).setValue("b", forKey: "title") }
        try context.performAndWait { try expect(book.text("title"), "b") }
      },
      StoreTest("a change of what another context has changed is a conflict", needs: .conflicts) { stack in
        let id: NSManagedObjectID = try stack.books("a")[0]
        try stack.run { context in
          let book: NSManagedObject = try context.existingObject(with: id)
          _ = book.text("title")
          try stack.save { try $0.existingObject(with: id).setValue("theirs", forKey: "title") }
          book.setValue("mine", forKey: "title")
          let error: NSError = try errorThrown("both have changed the title") { try context.save() }
          try expect(error.code, NSManagedObjectMergeError)
          try expect(try stack.titles(), ["theirs"])
          context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
          try context.save()
        }
        try expect(try stack.titles(), ["mine"])
      },
      StoreTest("the store's values prevail by policy", needs: .conflicts) { stack in
        let id: NSManagedObjectID = try stack.books("a")[0]
        try stack.run { context in
          context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
          let book: NSManagedObject = try context.existingObject(with: id)
          _ = book.text("title")
          try stack.save { try $0.existingObject(with: id).setValue("theirs", forKey: "title") }
          book.setValue("mine", forKey: "title")
          book.setValue(3, forKey: "pages")
          try context.save()
          try expect(book.text("title"), "theirs")
        }
        try stack.run { context in
          let book: NSManagedObject = try context.existingObject(with: id)
          try expect(book.text("title"), "theirs")
          try expect(book.value(forKey: "pages") as? Int, 3)
        }
      },
      StoreTest("contexts on many threads save their objects") { stack in
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 8) { number in
          do {
            try stack.save { context in
              for book in 0..<5 { _ = context.make("Book", ["title": "\(number)/\(book)"]) }
            }
            _ = try stack.titles(sort: [])
          } catch {
            failures.add(error)
          }
        }
        if let first = failures.first { throw first }
        try expect(Set(try stack.titles()).count, 40)
      },
    ]
  }

  private final class Failures: @unchecked Sendable {
    // Sendable: guarded by `lock`.
    private let lock = NSLock()
    private var errors: [any Error] = []
    func add(_ error: any Error) { lock.withLock { errors.append(error) } }
    var first: (any Error)? { lock.withLock { errors.first } }
  }
}
