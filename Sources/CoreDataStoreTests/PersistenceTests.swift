import CoreData
import Foundation

extension StoreTest {
  static var persistenceTests: [StoreTest] {
    [
      StoreTest("metadata has the store's type and UUID, and keeps the program's values") { stack in
        let store: NSPersistentStore = try stack.opened
        let metadata: [String: Any] = stack.coordinator.metadata(for: store)
        try expect(metadata[NSStoreTypeKey] as? String, stack.store.type)
        try expect(metadata[NSStoreUUIDKey] as? String, store.identifier)
        try expect(!(store.identifier ?? "").isEmpty, "the store has a UUID")
        stack.coordinator.setMetadata(metadata.merging(["owner": "tests"]) { $1 }, for: store)
        try stack.save { _ = $0.make("Tag") }
        try expect(stack.coordinator.metadata(for: store)["owner"] as? String, "tests")
      },
      StoreTest("a store that is added again has the same objects and ids", needs: .persistence) { stack in
        let uris: [URL] = try stack.save { context in
          let books: [NSManagedObject] = ["a", "b", "c"].map {
            context.make("Book", ["title": $0, "pages": 7])
          }
          if stack.store.features.contains(.relationships) {
            let author: NSManagedObject = context.make("Author", ["name": "A"])
            author.setValue(NSSet(array: Array(books.prefix(2))), forKey: "books")
          }
          return books
        }.map { (book: NSManagedObject) in book.objectID.uriRepresentation() }
        let identifier: String? = try stack.opened.identifier
        try stack.reopen()
        try expect(try stack.opened.identifier, identifier)
        try expect(try stack.titles(), ["a", "b", "c"])
        try stack.run { context in
          for (uri, title) in zip(uris, ["a", "b", "c"]) {
            let id: NSManagedObjectID = try require(
              stack.coordinator.managedObjectID(forURIRepresentation: uri), "id of \(uri)")
            let book: NSManagedObject = try context.existingObject(with: id)
            try expect(book.text("title"), title)
            try expect(book.value(forKey: "pages") as? Int, 7)
          }
          if stack.store.features.contains(.relationships) {
            try expect(try context.one("Author").texts(of: "books", "title"), ["a", "b"])
          }
        }
      },
      StoreTest("a store that is added again is changed further", needs: .persistence) { stack in
        try stack.books("a", "b")
        try stack.reopen()
        try stack.save { context in
          for book in try context.objects("Book") {
            if book.text("title") == "a" { context.delete(book) } else { book.setValue("B", forKey: "title") }
          }
          _ = context.make("Book", ["title": "c"])
        }
        try stack.reopen()
        try expect(try stack.titles(), ["B", "c"])
        let ids: [NSManagedObjectID] = try stack.run { try $0.objects("Book").map(\.objectID) }
        try expect(Set(ids).count, 2)
      },
      StoreTest("the program's metadata is kept", needs: .persistence) { stack in
        let store: NSPersistentStore = try stack.opened
        let metadata: [String: Any] = stack.coordinator.metadata(for: store)
        stack.coordinator.setMetadata(metadata.merging(["owner": "tests"]) { $1 }, for: store)
        // A save without changes writes it.
        try stack.save { _ in }
        try stack.reopen()
        try expect(try stack.opened.metadata["owner"] as? String, "tests")
      },
      StoreTest("nothing is saved to a store that was removed") { stack in
        let context: NSManagedObjectContext = stack.context()
        try context.performAndWait {
          _ = context.make("Book", ["title": "late"])
          for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
          _ = try errorThrown("there is no store") { try context.save() }
        }
      },
    ]
  }
}
