import CoreData
import Foundation
import StackSupport
import Testing

/// Predicates and sort descriptors out of archives in fetch requests.
@Suite
struct ArchivedPredicateFetchTests {
  private func filled(_ kind: StoreKind) throws -> Stack {
    let stack = try Stack(kind)
    try stack.elsewhere { context in
      for (number, title) in ["b", "a", "c"].enumerated() {
        let item: Item = context.item(title)
        item.count = Int64(number)
      }
      try context.save()
    }
    return stack
  }

  private func predicate(_ format: String) throws -> NSPredicate {
    let data: Data = try NSKeyedArchiver.archivedData(
      withRootObject: NSPredicate(format: format), requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data))
  }

  private func descriptor(_ key: String) throws -> NSSortDescriptor {
    let data: Data = try NSKeyedArchiver.archivedData(
      withRootObject: NSSortDescriptor(key: key, ascending: true), requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSSortDescriptor.self, from: data))
  }

  private func expectRefusal(_ body: () throws -> Void) {
    let error = #expect(throws: (any Error).self, performing: body)
    #expect("\(String(describing: error))".contains("call allowEvaluation()"))
  }

  @Test(arguments: StoreKind.allCases)
  func `a decoded predicate fetches, counts and groups only once it is allowed`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: ["title"])
      let predicate: NSPredicate = try predicate("count > 0")
      request.predicate = predicate
      expectRefusal { _ = try context.fetch(request) }
      expectRefusal { _ = try context.count(for: request) }
      predicate.allowEvaluation()
      #expect(try context.fetch(request).map(\.title) == ["a", "c"])
      #expect(try context.count(for: request) == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a decoded sort descriptor sorts only once it is allowed`(kind: StoreKind) throws {
    let stack: Stack = try filled(kind)
    try stack.run { context in
      let request: NSFetchRequest<Item> = context.request(Item.self, "Item", sort: [])
      let descriptor: NSSortDescriptor = try descriptor("title")
      request.sortDescriptors = [descriptor]
      expectRefusal { _ = try context.fetch(request) }
      descriptor.allowEvaluation()
      #expect(try context.fetch(request).map(\.title) == ["a", "b", "c"])
    }
  }

  @Test func `a predicate with an object of a context can't be archived`() throws {
    let stack: Stack = try filled(.sqlite)
    try stack.run { context in
      let item: Item = context.item("d")
      for constant in [item, item.objectID] {
        let error = #expect(throws: (any Error).self) {
          try NSPredicate(format: "SELF == %@", constant).archivedData()
        }
        let text: String = String(describing: error)
        #expect(text.contains("\(type(of: constant))") && text.contains("$variable"))
      }
    }
  }
}
