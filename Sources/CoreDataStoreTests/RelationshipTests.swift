import CoreData
import Foundation

extension StoreTest {
  private static func author(_ name: String, _ titles: [String], in context: NSManagedObjectContext)
    -> NSManagedObject
  {
    let author: NSManagedObject = context.make("Author", ["name": name])
    for title in titles { _ = context.make("Book", ["title": title, "author": author]) }
    return author
  }

  static var relationshipTests: [StoreTest] {
    [
      StoreTest("both sides of a relationship are kept", needs: .relationships) { stack in
        try stack.save { _ = author("Woolf", ["Orlando", "The Waves"], in: $0) }
        try stack.save { _ = $0.make("Book", ["title": "Beowulf"]) }
        try stack.runTwice { context in
          let woolf: NSManagedObject = try context.one("Author")
          try expect(woolf.texts(of: "books", "title"), ["Orlando", "The Waves"])
          for book in try context.objects("Book") {
            let expected: NSManagedObject? = book.text("title") == "Beowulf" ? nil : woolf
            try expect(book.target("author") === expected, "the author of \(book.text("title"))")
          }
        }
      },
      StoreTest("an object changes its owner", needs: .relationships) { stack in
        try stack.save { context in
          _ = author("A", ["1", "2"], in: context)
          _ = author("B", [], in: context)
        }
        try stack.save { context in
          let authors: [NSManagedObject] = try context.objects("Author").sorted {
            $0.text("name") < $1.text("name")
          }
          let moved: NSManagedObject? = try context.objects("Book").first { $0.text("title") == "1" }
          moved?.setValue(authors[1], forKey: "author")
          try expect(authors[0].texts(of: "books", "title"), ["2"])
        }
        try stack.runTwice { context in
          for author in try context.objects("Author") {
            try expect(
              author.texts(of: "books", "title"), author.text("name") == "A" ? ["2"] : ["1"],
              "the books of \(author.text("name"))")
          }
        }
      },
      StoreTest("a relationship is cut", needs: .relationships) { stack in
        try stack.save { _ = author("A", ["1"], in: $0) }
        try stack.save { try $0.one("Book").setValue(nil, forKey: "author") }
        try stack.runTwice { context in
          try expect(try context.one("Book").target("author") == nil, "there is no author")
          try expect(try context.one("Author").texts(of: "books", "title"), [])
        }
      },
      StoreTest("members of many-to-many relationships are kept", needs: .relationships) { stack in
        try stack.save { context in
          let tags: [NSManagedObject] = ["x", "y", "z"].map { context.make("Tag", ["name": $0]) }
          let first: NSManagedObject = context.make("Book", ["title": "1"])
          let second: NSManagedObject = context.make("Book", ["title": "2"])
          first.mutableSetValue(forKey: "tags").addObjects(from: [tags[0], tags[1]])
          second.mutableSetValue(forKey: "tags").addObjects(from: [tags[1], tags[2]])
        }
        try stack.save { context in
          let tag: NSManagedObject = try require(
            try context.objects("Tag").first { $0.text("name") == "y" }, "tag")
          try expect(tag.texts(of: "books", "title"), ["1", "2"])
          let second: NSManagedObject = try require(
            try context.objects("Book").first { $0.text("title") == "2" }, "book")
          second.mutableSetValue(forKey: "tags").remove(tag)
        }
        try stack.runTwice { context in
          for (title, expected) in [("1", ["x", "y"]), ("2", ["z"])] {
            let book: NSManagedObject? = try context.objects("Book").first { $0.text("title") == title }
            try expect(book?.texts(of: "tags", "name") ?? [], expected, "the tags of \(title)")
          }
        }
      },
      StoreTest("an order is kept, and changed", needs: [.relationships, .ordering]) { stack in
        try stack.save { context in
          let shelf: NSManagedObject = context.make("Shelf", ["label": "A"])
          let books: [NSManagedObject] = ["c", "a", "d", "b"].map { context.make("Book", ["title": $0]) }
          shelf.setValue(NSOrderedSet(array: books), forKey: "books")
        }
        try stack.save { context in
          let shelf: NSManagedObject = try context.one("Shelf")
          try expect(shelf.texts(of: "books", "title"), ["c", "a", "d", "b"])
          let books: NSMutableOrderedSet = shelf.mutableOrderedSetValue(forKey: "books")
          let last: Any = books.object(at: 3)
          books.removeObject(at: 3)
          books.insert(last, at: 0)
        }
        try stack.save { context in
          let shelf: NSManagedObject = try context.one("Shelf")
          try expect(shelf.texts(of: "books", "title"), ["b", "c", "a", "d"])
          shelf.mutableOrderedSetValue(forKey: "books").removeObject(at: 1)
          shelf.mutableOrderedSetValue(forKey: "books").add(context.make("Book", ["title": "e"]))
        }
        try stack.runTwice { context in
          try expect(try context.one("Shelf").texts(of: "books", "title"), ["b", "a", "d", "e"])
        }
      },
      StoreTest("objects of one entity are related", needs: .relationships) { stack in
        try stack.save { context in
          let authors: [NSManagedObject] = ["a", "b", "c"].map { context.make("Author", ["name": $0]) }
          authors[1].setValue(authors[0], forKey: "mentor")
          authors[2].setValue(authors[0], forKey: "mentor")
          authors[0].setValue(authors[0], forKey: "mentor")
        }
        try stack.runTwice { context in
          let first: NSManagedObject = try require(
            try context.objects("Author").first { $0.text("name") == "a" }, "author")
          try expect(first.texts(of: "students", "name"), ["a", "b", "c"])
          try expect(first.target("mentor") === first, "a is its own mentor")
        }
      },
      StoreTest("deleting nullifies and cascades", needs: .relationships) { stack in
        try stack.save { context in
          let author: NSManagedObject = author("A", ["1", "2"], in: context)
          _ = context.make("Author", ["name": "student", "mentor": author])
          let tag: NSManagedObject = context.make("Tag", ["name": "x"])
          for book in context.insertedObjects where book.entity.name == "Book" {
            book.mutableSetValue(forKey: "tags").add(tag)
          }
          _ = context.make("Book", ["title": "other", "tags": NSSet(object: tag)])
        }
        try stack.save { context in
          let gone: NSManagedObject? = try context.objects("Author").first { $0.text("name") == "A" }
          context.delete(try require(gone, "author"))
        }
        try stack.runTwice { context in
          try expect(try context.titles(), ["other"])
          try expect(try context.one("Author").target("mentor") == nil, "there is no mentor any more")
          try expect(try context.one("Tag").texts(of: "books", "title"), ["other"])
        }
      },
      StoreTest("new objects are related to stored ones", needs: .relationships) { stack in
        try stack.save { _ = author("A", ["1"], in: $0) }
        try stack.save { context in
          let author: NSManagedObject = try context.one("Author")
          author.mutableSetValue(forKey: "books").add(context.make("Book", ["title": "2"]))
        }
        try stack.runTwice { context in
          try expect(try context.one("Author").texts(of: "books", "title"), ["1", "2"])
        }
      },
    ]
  }
}
