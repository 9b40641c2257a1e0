import CoreData
import Foundation

extension StoreTest {
  private static func fill(_ stack: TestStack) throws {
    try stack.save { context in
      for (title, pages) in [("Emma", 474), ("Persuasion", 249), ("Dubliners", 152), ("Ulysses", 730)] {
        _ = context.make("Book", ["title": title, "pages": pages, "isRead": pages < 300])
      }
    }
  }

  static var fetchTests: [StoreTest] {
    [
      StoreTest("a new store is empty") { stack in
        try stack.run { context in
          for entity in ["Author", "Book", "Shelf", "Tag"] {
            try expect(try context.objects(entity).count, 0, entity)
            let request: NSFetchRequest<NSManagedObject> = context.request(entity)
            try expect(try context.count(for: request), 0, entity)
          }
        }
      },
      StoreTest("a fetch returns what was saved, each object once") { stack in
        try fill(stack)
        try stack.run { context in
          let books: [NSManagedObject] = try context.objects("Book")
          try expect(Set(books).count, 4)
          try expect(try context.objects("Book").allSatisfy { books.contains($0) }, "objects are the same")
        }
      },
      StoreTest("a predicate chooses", needs: .predicates) { stack in
        try fill(stack)
        let cases: [(String, [Any], [String])] = [
          ("title == %@", ["Emma"], ["Emma"]),
          ("title != %@", ["Emma"], ["Dubliners", "Persuasion", "Ulysses"]),
          ("pages > 249", [], ["Emma", "Ulysses"]),
          ("pages BETWEEN {152, 474}", [], ["Dubliners", "Emma", "Persuasion"]),
          ("title BEGINSWITH[c] 'd'", [], ["Dubliners"]), ("title CONTAINS 'ss'", [], ["Ulysses"]),
          ("title LIKE '*s?s'", [], ["Ulysses"]),
          ("title IN %@", [["Emma", "Dubliners"]], ["Dubliners", "Emma"]),
          ("isRead == YES AND pages < 200", [], ["Dubliners"]),
          ("NOT (pages < 400) OR title == 'Persuasion'", [], ["Emma", "Persuasion", "Ulysses"]),
          ("price == nil", [], ["Dubliners", "Emma", "Persuasion", "Ulysses"]), ("FALSEPREDICATE", [], []),
        ]
        for (format, arguments, expected) in cases {
          try expect(try stack.titles(where: format, arguments, sort: []).sorted(), expected, format)
        }
      },
      StoreTest("results are sorted", needs: .sorting) { stack in
        try fill(stack)
        try expect(try stack.titles(sort: ["title"]), ["Dubliners", "Emma", "Persuasion", "Ulysses"])
        try expect(try stack.titles(sort: ["-pages"]), ["Ulysses", "Emma", "Persuasion", "Dubliners"])
        try expect(
          try stack.titles(sort: ["isRead", "-title"]), ["Ulysses", "Emma", "Persuasion", "Dubliners"])
      },
      StoreTest("limit and offset choose a page", needs: .sorting) { stack in
        try fill(stack)
        try stack.run { context in
          let request: NSFetchRequest<NSManagedObject> = context.request("Book", sort: ["title"])
          request.fetchLimit = 2
          request.fetchOffset = 1
          try expect(try context.fetch(request).map { $0.text("title") }, ["Emma", "Persuasion"])
          request.fetchOffset = 3
          try expect(try context.fetch(request).map { $0.text("title") }, ["Ulysses"])
        }
      },
      StoreTest("ids, counts and objects agree", needs: .predicates) { stack in
        try fill(stack)
        try stack.run { context in
          let objects: [NSManagedObject] = try context.objects("Book", where: "pages > 200")
          let ids: NSFetchRequest<NSManagedObjectID> = context.request("Book", where: "pages > 200")
          ids.resultType = .managedObjectIDResultType
          try expect(Set(try context.fetch(ids)), Set(objects.map(\.objectID)))
          let count: NSFetchRequest<NSNumber> = context.request("Book", where: "pages > 200")
          try expect(try context.count(for: count), 3)
          count.resultType = .countResultType
          try expect(try context.fetch(count), [3])
        }
      },
      StoreTest("dictionaries have the properties that were asked for", needs: .dictionaries) { stack in
        try fill(stack)
        try stack.run { context in
          let request: NSFetchRequest<NSDictionary> = context.request("Book", sort: ["title"])
          request.resultType = .dictionaryResultType
          request.propertiesToFetch = ["title", "pages"]
          request.fetchLimit = 2
          let found: [NSDictionary] = try context.fetch(request)
          let expected: [[String: Any]] = [
            ["title": "Dubliners", "pages": 152], ["title": "Emma", "pages": 474],
          ]
          try expect(found, expected.map { NSDictionary(dictionary: $0) })
        }
      },
      StoreTest("sub-entities are fetched with their entity, or without", needs: .subentities) { stack in
        try stack.save { context in
          _ = context.make("Book", ["title": "Walden"])
          _ = context.make("Novel", ["title": "Emma", "genre": "comedy"])
        }
        try stack.run { context in
          let request: NSFetchRequest<NSManagedObject> = context.request("Book", sort: ["title"])
          try expect(try context.fetch(request).map { $0.entity.name }, ["Novel", "Book"])
          request.includesSubentities = false
          try expect(try context.fetch(request).map { $0.text("title") }, ["Walden"])
          try expect(try context.count(for: request), 1)
          let novel: NSManagedObject = try context.one("Novel")
          try expect(novel.text("genre"), "comedy")
          try expect(novel.objectID.entity.name, "Novel")
        }
      },
      StoreTest("unsaved changes count in a fetch, and do not if they are not to", needs: .predicates) {
        stack in
        try fill(stack)
        try stack.run { context in
          try context.one("Book", where: "title == 'Emma'").setValue(10, forKey: "pages")
          _ = context.make("Book", ["title": "Maurice", "pages": 256])
          context.delete(try context.one("Book", where: "title == 'Ulysses'"))
          let request: NSFetchRequest<NSManagedObject> = context.request(
            "Book", where: "pages > 200", sort: ["title"])
          try expect(try context.fetch(request).map { $0.text("title") }, ["Maurice", "Persuasion"])
          try expect(try context.count(for: request), 2)
          request.includesPendingChanges = false
          try expect(
            Set(try context.fetch(request).map { $0.text("title") }), ["Emma", "Persuasion", "Ulysses"])
        }
      },
      StoreTest("objects of a relationship choose", needs: [.predicates, .relationships]) { stack in
        try stack.save { context in
          for name in ["Woolf", "Joyce"] {
            let author: NSManagedObject = context.make("Author", ["name": name])
            for number in 1...2 {
              _ = context.make("Book", ["title": "\(name) \(number)", "author": author, "pages": number])
            }
          }
        }
        try stack.run { context in
          let woolf: NSManagedObject = try context.one("Author", where: "name == 'Woolf'")
          let cases: [(String, String, [Any], [String])] = [
            ("Book", "author == %@", [woolf], ["Woolf 1", "Woolf 2"]),
            ("Book", "author.name BEGINSWITH 'J'", [], ["Joyce 1", "Joyce 2"]),
            (
              "Book", "SELF IN %@", [Array(try context.objects("Book", where: "pages == 2"))],
              ["Joyce 2", "Woolf 2"]
            ),
            ("Author", "ANY books.title == 'Joyce 2'", [], ["Joyce"]),
            ("Author", "books.@count == 2", [], ["Joyce", "Woolf"]),
            ("Author", "SUBQUERY(books, $b, $b.pages > 1).@count == 0", [], []),
          ]
          for (entity, format, arguments, expected) in cases {
            let key: String = entity == "Book" ? "title" : "name"
            let found: [String] = try context.objects(entity, where: format, arguments).map { $0.text(key) }
            try expect(found.sorted(), expected, format)
          }
        }
      },
    ]
  }
}
