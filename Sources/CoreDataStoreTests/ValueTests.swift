import CoreData
import Foundation

extension StoreTest {
  /// One value of each kind of attribute.
  private static var book: [String: Any] {
    [
      "title": "The Sea, the Sea", "pages": 502, "edition": 3, "sold": 1_000_000_000_000, "price": 12.25,
      "rating": Float(4.5), "cost": NSDecimalNumber(string: "7.35"), "isRead": true,
      "published": Date(timeIntervalSinceReferenceDate: 86_400), "cover": Data([0, 1, 254, 255]),
      "number": UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") ?? UUID(),
      "link": URL(string: "https://example.org/sea?a=b#c") ?? URL(fileURLWithPath: "/"),
    ]
  }

  static var valueTests: [StoreTest] {
    [
      StoreTest("a value of each kind of attribute is kept") { stack in
        try stack.save { $0.make("Book", book) }
        try stack.runTwice { context in
          let object: NSManagedObject = try context.one("Book")
          for (key, value) in book.sorted(by: { $0.key < $1.key }) {
            let stored = try require(object.value(forKey: key) as? NSObject, "value of \(key)")
            let expected = try require(value as? NSObject, "object of \(key)")
            try expect(stored.isEqual(expected), "\(key) is \(expected), it is \(stored)")
          }
        }
      },
      StoreTest("values that are nil stay nil") { stack in
        try stack.save { _ = $0.make("Book") }
        try stack.runTwice { context in
          let object: NSManagedObject = try context.one("Book")
          for key in book.keys.sorted() {
            try expect(object.value(forKey: key) == nil, "\(key) is nil")
          }
        }
      },
      StoreTest("extreme values are kept") { stack in
        let texts: [String] = ["", " ", "42", "a\nb\t\"c\",;", "Ångström – 北京 👩‍👩‍👧", "e\u{301}"]
        let numbers: [Int64] = [.min, -1, 0, .max]
        try stack.save { context in
          for text in texts { _ = context.make("Book", ["title": text, "isRead": false]) }
          for number in numbers { _ = context.make("Author", ["name": "\(number)"]) }
          for number in numbers { _ = context.make("Tag", ["name": "\(number)"]) }
          _ = context.make("Shelf", ["label": "empty"])
        }
        try stack.runTwice { context in
          let found: [[UInt8]] = try context.objects("Book").map { Array($0.text("title").utf8) }
          try expect(Set(found), Set(texts.map { Array($0.utf8) }), "the bytes of the titles")
        }
        try stack.save { context in
          for object in try context.objects("Book") { context.delete(object) }
        }
        try stack.save { context in
          for number in numbers {
            _ = context.make(
              "Book",
              [
                "sold": number, "pages": Int32(clamping: number), "edition": Int16(clamping: number),
                "price": number < 0 ? -Double.greatestFiniteMagnitude : Double.leastNonzeroMagnitude,
                "cover": Data(),
              ])
          }
        }
        try stack.runTwice { context in
          let books: [NSManagedObject] = try context.objects("Book")
          try expect(Set(books.compactMap { $0.value(forKey: "sold") as? Int64 }), Set(numbers))
          try expect(
            Set(books.compactMap { $0.value(forKey: "edition") as? Int }), [-32768, -1, 0, 32767])
          try expect(
            Set(books.compactMap { $0.value(forKey: "price") as? Double }),
            [-Double.greatestFiniteMagnitude, .leastNonzeroMagnitude])
          try expect(
            books.allSatisfy { $0.value(forKey: "cover") as? Data == Data() }, "empty data stays empty")
        }
      },
      StoreTest("a transformable attribute is kept", needs: .transformables) { stack in
        try stack.save { _ = $0.make("Book", ["keywords": ["sea", "theatre"] as NSArray]) }
        try stack.runTwice { context in
          let words: [String]? = try context.one("Book").value(forKey: "keywords") as? [String]
          try expect(words ?? [], ["sea", "theatre"])
        }
      },
    ]
  }
}
