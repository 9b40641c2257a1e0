import CoreData
import Foundation

extension StoreTest {
  static var identityTests: [StoreTest] {
    [
      StoreTest("a save makes ids permanent, each one its own") { stack in
        let ids: [NSManagedObjectID] = try stack.books("a", "b", "c")
        try expect(ids.allSatisfy { !$0.isTemporaryID }, "ids are permanent")
        try expect(Set(ids).count, 3)
        try expect(ids.allSatisfy { $0.entity.name == "Book" }, "ids have their entity")
        try expect(ids.allSatisfy { $0.persistentStore != nil }, "ids have their store")
      },
      StoreTest("an id leads to the same object in another context") { stack in
        let ids: [NSManagedObjectID] = try stack.books("a", "b")
        try stack.run { context in
          let object: NSManagedObject = try context.existingObject(with: ids[1])
          try expect(object.text("title"), "b")
          try expect(object.objectID, ids[1])
          try expect(try context.objects("Book").contains { $0 === object }, "a fetch finds the same object")
          try expect(try Set(context.objects("Book").map(\.objectID)), Set(ids))
        }
      },
      StoreTest("the URI of an id leads back to it") { stack in
        let ids: [NSManagedObjectID] = try stack.books("a", "b")
        for id in ids {
          let uri: URL = id.uriRepresentation()
          let found: NSManagedObjectID = try require(
            stack.coordinator.managedObjectID(forURIRepresentation: uri), "id of \(uri)")
          try expect(found, id)
        }
      },
      StoreTest("permanent ids can be had before a save, which keeps them") { stack in
        try stack.run { context in
          let books: [NSManagedObject] = ["a", "b"].map { context.make("Book", ["title": $0]) }
          try context.obtainPermanentIDs(for: books)
          let ids: [NSManagedObjectID] = books.map(\.objectID)
          try expect(ids.allSatisfy { !$0.isTemporaryID }, "ids are permanent")
          try expect(books.allSatisfy { $0.isInserted }, "objects are still unsaved")
          try expect(try stack.titles(), [], "nothing is stored yet")
          try context.save()
          try expect(books.map(\.objectID), ids)
        }
        try expect(try stack.titles(), ["a", "b"])
      },
      StoreTest("an object that does not exist is an error") { stack in
        let ids: [NSManagedObjectID] = try stack.books("a", "b")
        try stack.save { $0.delete(try $0.existingObject(with: ids[0])) }
        try stack.run { context in
          _ = try errorThrown("there is no such object") { _ = try context.existingObject(with: ids[0]) }
          try expect(try context.existingObject(with: ids[1]).text("title"), "b")
        }
      },
    ]
  }
}
