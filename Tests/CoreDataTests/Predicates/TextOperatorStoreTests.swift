import CoreData
import Foundation
import StackSupport
import Testing

/// Text operators in statements prepare a constant at the first row; what changes from row to row
/// is prepared for each.
struct TextOperatorStoreTests {
  private static let texts: [String] = [
    "", "a", "Anna", "ANNA banana", "Élodie", "e\u{301}lodie", "nÁ", "Straße", "日本", "a\u{FFFD}b", "a*", "[",
    "ŉ",
  ]

  @Test(arguments: ["", "c", "cd", "n", "l"])
  func `statements find what memory finds`(letters: String) throws {
    let pair: NSEntityDescription = World.entity(
      "Pair",
      [World.attribute("text", .stringAttributeType), World.attribute("part", .stringAttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [pair]
    let stack = try Stack(.sqlite, model: model)
    try stack.run { context in
      for text in Self.texts + [nil] {
        for part in Self.texts + [nil] {
          let object = NSEntityDescription.insertNewObject(forEntityName: "Pair", into: context)
          object.setValue(text, forKey: "text")
          object.setValue(part, forKey: "part")
        }
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Pair")
      let all: [NSManagedObject] = try context.fetch(request)
      for predicate in Self.predicates(letters) {
        request.predicate = predicate
        let found: Set<NSManagedObject> = Set(try context.fetch(request))
        #expect(try found == Set(all.filterThrowing(using: predicate)), "\(predicate)")
      }
    }
  }

  private static func predicates(_ letters: String) -> [NSPredicate] {
    let options: String = letters.isEmpty ? "" : "[\(letters)]"
    return ["==", "!=", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"].flatMap { symbol in
      // A constant that is no regular expression is an error. One that a row holds is an error
      // in memory only.
      let isExpression: Bool = symbol == "MATCHES"
      let constants: [String] = texts.filter { !isExpression || !["", "["].contains($0) }
      return constants.map { NSPredicate(format: "text \(symbol)\(options) %@", $0) }
        + (isExpression ? [] : [NSPredicate(format: "text \(symbol)\(options) part")])
    }
  }
}
