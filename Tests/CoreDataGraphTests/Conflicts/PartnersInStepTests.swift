import CoreData
import Foundation
import StackSupport
import Testing

/// Whatever one context knew of the partners of a one-to-one relationship when it saved, both rows agree
/// afterwards (Decisions/0033). Each case is one that random deeds of four contexts have met.
@Suite
struct PartnersInStepTests {
  /// An item with a detail, another item, and another detail without one.
  private struct Pairs {
    let items: [Item]
    let details: [NSManagedObject]

    init(in context: NSManagedObjectContext) throws {
      items = ["i", "j"].map { context.item($0) }
      details = ["d", "e"].map { context.make("Detail", ["text": $0]) }
      items[0].detail = details[0]
      try context.save()
    }

    init(_ other: Pairs, in context: NSManagedObjectContext) throws {
      items = try other.items.map { try context.existingObject(with: $0.objectID) as! Item }
      details = try other.details.map { try context.existingObject(with: $0.objectID) }
    }
  }

  /// `i-d` for each key that the store keeps, of items and of details.
  private func stored(_ stack: Stack) throws -> [[String]] {
    try stack.elsewhere { context in
      func names(_ entity: String, _ own: String, _ path: String) throws -> [String] {
        try context.all(NSManagedObject.self, entity).compactMap { object in
          guard let partner = object.value(forKeyPath: path) as? String else { return nil }
          return [object.value(forKey: own) as? String ?? "", partner].sorted(by: >).joined(separator: "-")
        }.sorted()
      }
      return [try names("Item", "title", "detail.text"), try names("Detail", "text", "item.title")]
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a child gives an object a partner that has another one in the parent, unsaved`(kind: StoreKind) throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let pairs = try Pairs(in: context)
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let theirs = try Pairs(pairs, in: child)
        #expect(theirs.items[1].detail == nil && theirs.details[1].value(forKey: "item") == nil)
        theirs.items[1].detail = theirs.details[1]
        context.performAndWait { pairs.items[0].detail = pairs.details[1] }
        try child.save()
      }
      #expect(pairs.items[1].detail === pairs.details[1])
      #expect(pairs.items[0].detail == nil)
      #expect(pairs.details.map { $0.value(forKey: "item") as? Item } == [nil, pairs.items[1]])
      try context.save()
      #expect(try stored(stack) == [["j-e"], ["j-e"]])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a deleted object takes the key of the partner that others have given it`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let ids: [NSManagedObjectID] = try stack.elsewhere { context in
      let pairs = try Pairs(in: context)
      return [pairs.items[1], pairs.details[1], pairs.details[0]].map(\.objectID)
    }
    try stack.run { context in
      let item = try context.existingObject(with: ids[0]) as! Item
      item.detail = try context.existingObject(with: ids[1])
      try stack.elsewhere { other in
        try other.existingObject(with: ids[0]).setValue(other.existingObject(with: ids[2]), forKey: "detail")
        try other.save()
      }
      context.refresh(item, mergeChanges: true)
      context.delete(item)
      try context.save()
      #expect(try stored(stack) == [[], []])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of a pair of which one side was refreshed without its change the other side counts`(kind: StoreKind)
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let pairs = try Pairs(in: context)
      pairs.items[1].detail = pairs.details[0]
      context.refresh(pairs.details[0], mergeChanges: false)
      context.refresh(pairs.items[0], mergeChanges: false)
      #expect(pairs.details[0].value(forKey: "item") as? Item === pairs.items[0])
      try context.save()
      #expect(try stored(stack) == [["j-d"], ["j-d"]])
      #expect(pairs.items[0].detail == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a partner whose row here is too old to be written is written all the same`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let pairs = try Pairs(in: context)
      #expect(pairs.details[0].value(forKey: "item") as? Item === pairs.items[0])
      try stack.elsewhere { other in
        let theirs = try Pairs(pairs, in: other)
        theirs.items[1].detail = theirs.details[0]
        try other.save()
      }
      // It has no detail any more; the detail still says that it has this item.
      context.refresh(pairs.items[0], mergeChanges: false)
      #expect(pairs.items[0].detail == nil)
      pairs.items[0].detail = pairs.details[0]
      try context.save()
      #expect(try stored(stack) == [["i-d"], ["i-d"]])
    }
  }
}
