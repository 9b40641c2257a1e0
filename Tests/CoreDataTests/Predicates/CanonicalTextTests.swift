import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

// Findings B8 and B15.
/// Text that Swift calls equal and that is not the same: composed and decomposed letters, `K` and
/// the Kelvin sign.
struct CanonicalTextTests {
  static let pairs: [(String, String)] = [
    ("é", "e\u{301}"), ("K", "\u{212A}"), ("Å", "\u{212B}"), ("ü", "u\u{308}"),
  ]

  @Test(arguments: pairs) func `patterns match the text that they are`(_ pair: (String, String)) throws {
    // Twice each, in both orders: a compiled pattern is kept.
    for (pattern, other) in [pair, (pair.1, pair.0), pair] {
      for format in ["text MATCHES pattern", "text MATCHES $p", "text LIKE pattern", "text LIKE $p"] {
        let predicate: NSPredicate = NSPredicate(format: format)
        for (text, holds) in [(pattern, true), (other, false)] {
          let result: Bool = try predicate.evaluateThrowing(
            with: ["text": text, "pattern": pattern], substitutionVariables: ["p": pattern])
          #expect(result == holds, "\(text.unicodeScalars) \(format) \(pattern.unicodeScalars)")
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases, pairs)
  func `fetches match the text that they are given`(_ kind: StoreKind, _ pair: (String, String)) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      context.item(pair.0).count = 1
      context.item(pair.1).count = 2
      try context.save()
    }
    try stack.elsewhere { context in
      for (pattern, count) in [(pair.0, 1), (pair.1, 2), (pair.0, 1)] {
        for format in ["title MATCHES %@", "title LIKE %@", "title == %@", "title IN {%@}"] {
          let predicate: NSPredicate = NSPredicate(format: format, pattern)
          let found: [Int64] = try context.all(Item.self, "Item", predicate).map(\.count)
          #expect(found == [Int64(count)], "\(format) \(pattern.unicodeScalars)")
        }
      }
      let request = NSFetchRequest<NSDictionary>(entityName: "Item")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["title"]
      request.propertiesToGroupBy = ["title"]
      let groups: Int = try context.fetch(request).count
      #expect(groups == 2)
    }
  }

  @Test(arguments: pairs) func `archives keep both`(_ pair: (String, String)) throws {
    let predicate: NSPredicate = NSPredicate(format: "a == %@ OR a == %@", pair.0, pair.1)
    let again: NSPredicate = try NSPredicate(archivedData: try predicate.archivedData())
    #expect(again == predicate)
    again.allowEvaluation()
    for text in [pair.0, pair.1] {
      let single: NSPredicate = NSPredicate(format: "a == %@", text)
      #expect(try NSPredicate(archivedData: try single.archivedData()) == single)
      let holds: Bool = try again.evaluateThrowing(with: ["a": text])
      #expect(holds)
    }
  }

  @Test(arguments: StoreKind.allCases) func `sections keep apart what is not the same`(_ kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      for title in ["é", "e\u{301}", "z", "e\u{301}"] { _ = context.item(title) }
      try context.save()
      let request = NSFetchRequest<Item>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
      try controller.performFetch()
      let counts: [Int] = controller.sections?.map(\.numberOfObjects) ?? []
      #expect(counts == [2, 1, 1])
    }
  }

  @Test(arguments: StoreKind.allCases) func `uniqueness goes by the text that is stored`(_ kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      _ = context.make("Unique", ["code": "é"])
      _ = context.make("Unique", ["code": "e\u{301}"])
      try context.save()
      _ = context.make("Unique", ["code": "é"])
      #expect(throws: (any Error).self) { try context.save() }
    }
  }

  // MARK: Names

  @Test(arguments: StoreKind.allCases, [0, 1, 2])
  func `names that Swift can't tell apart are refused`(_ kind: StoreKind, _ number: Int) throws {
    func attribute(_ name: String) -> NSAttributeDescription { World.attribute(name, .stringAttributeType) }
    let parent = World.entity("Thing", [attribute("é")])
    let model = NSManagedObjectModel()
    model.entities = [parent]
    switch number {
    case 0: parent.properties.append(attribute("e\u{301}"))
    case 1:
      let child = World.entity("Child", [attribute("e\u{301}")])
      parent.subentities = [child]
      model.entities.append(child)
    default: parent.properties = [attribute("\u{212A}"), attribute("K")]
    }
    let error: any Error = try #require(throws: (any Error).self) { try Stack(kind, model: model) }
    let text: String = "\(error)"
    #expect(text.contains(number == 1 ? "Child" : "Thing"))
    #expect(text.contains(number == 2 ? "U+212A" : "U+65 U+301"), "\(text)")
  }
}
