import CoreData
import Foundation

extension StoreTest {
  static var changeTests: [StoreTest] {
    [
      StoreTest("a changed value is saved, others stay") { stack in
        let id: NSManagedObjectID = try stack.save {
          $0.make("Book", ["title": "a", "pages": 1, "price": 2.5])
        }
        .objectID
        for pages in 2...4 {
          try stack.save { try $0.existingObject(with: id).setValue(pages, forKey: "pages") }
        }
        try stack.save { try $0.existingObject(with: id).setValue(nil, forKey: "price") }
        try stack.run { context in
          let book: NSManagedObject = try context.existingObject(with: id)
          try expect(book.text("title"), "a")
          try expect(book.value(forKey: "pages") as? Int, 4)
          try expect(book.value(forKey: "price") == nil, "price is nil")
        }
      },
      StoreTest("one object is changed and saved again and again in one context") { stack in
        try stack.run { context in
          let book: NSManagedObject = context.make("Book", ["title": "0"])
          for number in 1...5 {
            try context.save()
            try expect(!context.hasChanges, "nothing is left to save")
            book.setValue("\(number)", forKey: "title")
          }
          try context.save()
        }
        try expect(try stack.titles(), ["5"])
      },
      StoreTest("a deleted object is gone") { stack in
        try stack.books("a", "b", "c")
        try stack.save { context in
          for book in try context.objects("Book") where book.text("title") != "b" { context.delete(book) }
        }
        try expect(try stack.titles(), ["b"])
        try stack.run { context in
          let request: NSFetchRequest<NSManagedObject> = context.request("Book")
          try expect(try context.count(for: request), 1)
        }
      },
      StoreTest("insertions, changes and deletions are saved together") { stack in
        try stack.books("a", "b")
        try stack.save { context in
          for book in try context.objects("Book") {
            if book.text("title") == "a" { context.delete(book) } else { book.setValue("B", forKey: "title") }
          }
          _ = context.make("Book", ["title": "c"])
        }
        try expect(try stack.titles(), ["B", "c"])
      },
      StoreTest("what was discarded is not saved") { stack in
        try stack.books("a")
        try stack.run { context in
          context.delete(context.make("Book", ["title": "short-lived"]))
          try context.save()
          try context.objects("Book")[0].setValue("b", forKey: "title")
          _ = context.make("Book", ["title": "new"])
          context.rollback()
          try expect(!context.hasChanges, "nothing is left to save")
          try context.save()
          try expect(try context.titles(), ["a"])
        }
        try expect(try stack.titles(), ["a"])
      },
      StoreTest("a save that validation refuses writes nothing") { stack in
        try stack.run { context in
          _ = context.make("Book", ["title": "good"])
          let bad: NSManagedObject = context.make("Book", ["title": "bad"])
          bad.setValue(5, forKey: "title")
          _ = try errorThrown("a title is a text") { try context.save() }
          try expect(try stack.titles(), [])
          bad.setValue("better", forKey: "title")
          try context.save()
        }
        try expect(try stack.titles(), ["better", "good"])
      },
      StoreTest("a thousand objects are saved and found") { stack in
        try stack.save { context in
          for number in 0..<1000 { _ = context.make("Tag", ["name": "tag \(number)"]) }
        }
        try stack.run { context in
          let names: [String] = try context.objects("Tag").map { $0.text("name") }
          try expect(Set(names).count, 1000)
        }
      },
      StoreTest("two objects with one unique value are refused", needs: .uniqueness) { stack in
        try stack.save { _ = $0.make("Shelf", ["label": "A"]) }
        try stack.run { context in
          let second: NSManagedObject = context.make("Shelf", ["label": "A"])
          _ = try errorThrown("labels are unique") { try context.save() }
          second.setValue("B", forKey: "label")
          try context.save()
        }
        try expect(try stack.run { try $0.objects("Shelf").map { $0.text("label") }.sorted() }, ["A", "B"])
      },
    ]
  }
}
