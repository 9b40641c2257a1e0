import CoreData
import Foundation
import StackSupport
import Testing

/// Both rows of a one-to-one relationship hold a key, and two contexts give one object different partners
/// (Decisions/0033; finding A5).
@Suite
struct OneToOneConflictTests {
  private static let policies: [NSMergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  /// An item, and two details of which the other context gives it the first; both are read here before that.
  private func withPartners(
    _ kind: StoreKind,
    _ body: (Stack, NSManagedObjectContext, Item, [NSManagedObject], Notification) throws -> Void
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("i")
      let details: [NSManagedObject] = ["1", "2"].map { context.make("Detail", ["text": $0]) }
      try context.save()
      #expect(item.detail == nil && details.allSatisfy { $0.value(forKey: "item") == nil })
      let other: NSManagedObjectContext = stack.other()
      let recorder = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: other)
      try other.performAndWait {
        let theirs: NSManagedObject = try other.existingObject(with: item.objectID)
        theirs.setValue(try other.existingObject(with: details[0].objectID), forKey: "detail")
        try other.save()
      }
      try body(stack, context, item, details, try #require(recorder.received.first))
    }
  }

  /// Which detail the item has, and which details say so; as stored and as the context has it.
  private func expect(
    _ wanted: String?, _ stack: Stack, _ item: Item, _ details: [NSManagedObject],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let stored: [String?] = try stack.elsewhere { fresh in
      let stored = try fresh.existingObject(with: item.objectID) as! Item
      let owners: [NSManagedObject] = try fresh.all(NSManagedObject.self, "Detail").filter {
        $0.value(forKey: "item") != nil
      }
      return [stored.detail?.value(forKey: "text") as? String]
        + owners.map { $0.value(forKey: "text") as? String }
    }
    #expect(stored == (wanted.map { [$0, $0] } ?? [nil]), sourceLocation: sourceLocation)
    #expect(item.detail?.value(forKey: "text") as? String == wanted, sourceLocation: sourceLocation)
    for detail in details {
      let isOwner: Bool = detail.value(forKey: "text") as? String == wanted
      #expect(
        detail.value(forKey: "item") as? Item === (isOwner ? item : nil), sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `the policy says which partner stays, and the other one loses its key`(
    kind: StoreKind, isSetOnPartner: Bool
  ) throws {
    for policy in Self.policies {
      try withPartners(kind) { stack, context, item, details, _ in
        context.mergePolicy = policy
        if isSetOnPartner { details[1].setValue(item, forKey: "item") } else { item.detail = details[1] }
        let code: Int = codeThrown { try context.save() }
        #expect(code == (policy == .error ? NSManagedObjectMergeError : 0))
        if policy == .error {
          context.rollback()
          context.refreshAllObjects()
        }
        let objectWins: Bool = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        try expect(objectWins ? "2" : "1", stack, item, details)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what was set here and merged with another partner is saved with both sides in step`(kind: StoreKind)
    throws
  {
    try withPartners(kind) { stack, context, item, details, saved in
      item.detail = details[1]
      context.mergeChanges(
        fromContextDidSave: Notification(
          name: .NSManagedObjectContextDidSave, object: nil, userInfo: saved.userInfo))
      try context.save()
      try expect("2", stack, item, details)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `a partner whose row here is older loses its key too`(kind: StoreKind, isDeleted: Bool) throws {
    try withPartners(kind) { stack, context, item, details, _ in
      context.refresh(details[0], mergeChanges: true)
      #expect(item.detail == nil, "not read anew")
      details[0].setValue(nil, forKey: "item")
      if isDeleted { context.delete(details[0]) }
      try context.save()
      try expect(nil, stack, item, isDeleted ? [details[1]] : details)
    }
  }

  // Each round of the preparation looked the partner up, and told anew that it is gone.
  @Test(arguments: StoreKind.allCases)
  func `a former partner that others have deleted and nobody holds is no change`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    let id: NSManagedObjectID = try stack.elsewhere { context in
      let item: Item = context.item("i")
      item.detail = context.make("Detail", ["text": "1"])
      try context.save()
      return item.objectID
    }
    try stack.run { context in
      let item = try context.existingObject(with: id) as! Item
      #expect(item.title == "i")
      try stack.elsewhere { other in
        let theirs = try other.existingObject(with: id) as! Item
        other.delete(try #require(theirs.detail))
        try other.save()
      }
      let detail: NSManagedObject = context.make("Detail", ["text": "2"])
      context.mergePolicy = NSMergePolicy.overwrite
      item.setPrimitiveValue(detail, forKey: "detail")
      detail.setPrimitiveValue(item, forKey: "item")
      item.price = 1
      try context.save()
      try expect("2", stack, item, [detail])
    }
  }
}
