import CoreData
import Foundation
import StackSupport
import Testing

/// Saves that meet rows changed meanwhile, or values that must be unique.
@Suite
struct MergePolicyTests {
  private static let byProperty: [NSMergePolicy] = [.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump]
  private static let merging: [NSMergePolicy] = byProperty + [.overwrite, .rollback]

  /// What another context does.
  private enum There {
    case retitled, retitledAndCounted, repriced, deleted

    func change(_ item: Item, _ context: NSManagedObjectContext) {
      switch self {
      case .retitled: item.title = "b"
      case .retitledAndCounted: (item.title, item.count) = ("b", 2)
      case .repriced: item.price = 7
      case .deleted: context.delete(item)
      }
    }
  }

  /// An item that one context has read and another has changed since.
  private func withConflict(
    _ kind: StoreKind, _ policy: NSMergePolicy, there: There,
    _ body: (Stack, NSManagedObjectContext, Item) throws -> Void
  ) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { other in
      let item: Item = other.item("a")
      item.price = 1
      item.count = 1
      try other.save()
    }
    try stack.run { context in
      context.mergePolicy = policy
      let item: Item = try #require(try context.all(Item.self, "Item").first)
      #expect(item.title == "a")
      try stack.elsewhere { other in
        there.change(try #require(try other.all(Item.self, "Item").first), other)
        try other.save()
      }
      try body(stack, context, item)
    }
  }

  /// What is stored of the one item, nil when there is none.
  private func stored(_ stack: Stack) throws -> String? {
    try stack.elsewhere { context in
      try context.all(Item.self, "Item").first.map { "\($0.title ?? "-") \($0.price) \($0.count)" }
    }
  }

  // MARK: Optimistic locking

  @Test(
    .rule("CONF-1", "NSMergeConflict"), .rule("CONF-5", "NSMergePolicy.error"), arguments: StoreKind.every)
  func `the default policy fails with the conflict, and nothing changes`(kind: StoreKind) throws {
    try withConflict(kind, .error, there: .retitled) { stack, context, item in
      item.price = 5
      let error: CocoaError = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSManagedObjectMergeError)
      let conflicts: [NSMergeConflict] = try #require(
        error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])
      let conflict: NSMergeConflict = try #require(conflicts.first)
      #expect(conflicts.count == 1 && conflict.sourceObject === item)
      #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
      #expect(conflict.cachedSnapshot?["title"] as? String == "b", "what the other context saved")
      #expect(conflict.cachedSnapshot?["price"] as? Double == 1)
      #expect(conflict.persistedSnapshot == nil)
      #expect(conflict.objectSnapshot?["price"] as? Double == 5)
      #expect(conflict.objectSnapshot?["category"] is NSNull && conflict.objectSnapshot?["tags"] == nil)
      #expect(error.localizedDescription.contains("mergePolicy"))
      #expect(item.price == 5 && item.isUpdated && context.hasChanges)
      #expect(try stored(stack) == "b 1.0 1")
    }
  }

  @Test(
    .rule("CONF-6", "NSMergePolicy.mergeByPropertyStoreTrump, mergeByPropertyObjectTrump"),
    .rule("CONF-7", "NSMergePolicy.overwrite, rollback"),
    arguments: StoreKind.every,
    [
      (NSMergePolicy.mergeByPropertyStoreTrump, "b 5.0 2"), (.mergeByPropertyObjectTrump, "c 5.0 2"),
      (.overwrite, "c 5.0 1"), (.rollback, "b 1.0 2"),
    ])
  func `each policy merges what both sides changed`(
    kind: StoreKind, expected: (policy: NSMergePolicy, row: String)
  ) throws {
    // There: title and count. Here: title and price.
    try withConflict(kind, expected.policy, there: .retitledAndCounted) { stack, context, item in
      item.title = "c"
      item.price = 5
      try context.save()
      #expect(try stored(stack) == expected.row)
      #expect("\(item.title ?? "-") \(item.price) \(item.count)" == expected.row, "memory is the store")
      #expect(!context.hasChanges)
      item.price = 9
      try context.save()
      #expect(try stored(stack)?.contains("9.0") == true)
    }
  }

  @Test(arguments: StoreKind.every, merging)
  func `an object deleted there and changed here is kept only where the object wins`(
    kind: StoreKind, policy: NSMergePolicy
  ) throws {
    try withConflict(kind, policy, there: .deleted) { stack, context, item in
      item.price = 5
      let id: NSManagedObjectID = item.objectID
      try context.save()
      if policy == .mergeByPropertyObjectTrump || policy == .overwrite {
        #expect(try stored(stack) == "a 5.0 1")
        #expect(item.objectID == id && !item.hasChanges)
      } else {
        #expect(try stored(stack) == nil)
        #expect(item.managedObjectContext == nil && !context.hasChanges)
      }
    }
  }

  @Test(arguments: StoreKind.every, merging)
  func `an object deleted here and changed there is deleted only where the object wins`(
    kind: StoreKind, policy: NSMergePolicy
  ) throws {
    try withConflict(kind, policy, there: .repriced) { stack, context, item in
      context.delete(item)
      try context.save()
      let wins: Bool = policy == .mergeByPropertyObjectTrump || policy == .overwrite
      #expect(try stored(stack) == (wins ? nil : "a 7.0 1"))
      #expect(!context.hasChanges)
      if !wins { #expect(!item.isDeleted && item.price == 7) }
    }
  }

  @Test(arguments: StoreKind.every, merging)
  func `an object deleted on both sides is gone`(kind: StoreKind, policy: NSMergePolicy) throws {
    try withConflict(kind, policy, there: .deleted) { stack, context, item in
      context.delete(item)
      try context.save()
      #expect(try stored(stack) == nil && !context.hasChanges && item.managedObjectContext == nil)
    }
  }

  @Test(
    .rule("CONF-8", "NSMergePolicy.resolve(optimisticLockingConflicts:)", "to-many relationships"),
    arguments: StoreKind.every)
  func `members that were added on both sides are all there after a merge`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { other in
      _ = other.make("Tag", ["name": "t"])
      for title in ["a", "b", "c"] { _ = other.item(title) }
      try other.save()
    }
    func tag(_ context: NSManagedObjectContext) throws -> Tag {
      try #require(try context.all(Tag.self, "Tag").first)
    }
    func item(_ context: NSManagedObjectContext, _ title: String) throws -> Item {
      try #require(try context.all(Item.self, "Item", NSPredicate(format: "title == %@", title)).first)
    }
    try stack.run { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let here: Tag = try tag(context)
      _ = here.items
      try stack.elsewhere { other in
        try tag(other).items = [try item(other, "a"), try item(other, "b")]
        try tag(other).name = "there"
        try other.save()
      }
      here.items = [try item(context, "c")]
      try context.save()
      #expect(here.items.compactMap(\.title).sorted() == ["a", "b", "c"] && here.name == "there")
      try stack.elsewhere { other in
        let there: [String] = try tag(other).items.compactMap(\.title).sorted()
        #expect(there == ["a", "b", "c"])
      }
    }
  }

  @Test(.rule("CONF-4", "NSManagedObjectContext.detectConflicts(for:)"), arguments: StoreKind.every)
  func `an unchanged object is checked when one asks for it`(kind: StoreKind) throws {
    try withConflict(kind, .error, there: .retitled) { stack, context, item in
      _ = context.item("new")
      context.detectConflicts(for: item)
      let error: CocoaError = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSManagedObjectMergeError)
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try context.save()
      #expect(item.title == "b")
      #expect(try stack.titles() == ["b", "new"])
    }
  }

  @Test(.rule("CONF-8", "NSMergePolicy.resolve(optimisticLockingConflicts:)"), arguments: StoreKind.every)
  func `a policy of one's own sees the conflicts and changes the outcome`(kind: StoreKind) throws {
    final class Joining: NSMergePolicy, @unchecked Sendable {
      // Sendable: used on the context's queue only.
      var seen: [String] = []
      override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        seen += list.map { "\($0.oldVersionNumber)-\($0.newVersionNumber)" }
        try super.resolve(optimisticLockingConflicts: list)
        for conflict in list {
          let theirs: String = conflict.cachedSnapshot?["title"] as? String ?? ""
          let mine: String = conflict.objectSnapshot?["title"] as? String ?? ""
          conflict.sourceObject.setValue("\(mine)+\(theirs)", forKey: "title")
        }
      }
    }
    let policy = Joining(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    try withConflict(kind, policy, there: .retitled) { stack, context, item in
      item.title = "c"
      try context.save()
      #expect(item.title == "c+b" && policy.seen == ["1-2"])
      #expect(try stack.titles() == ["c+b"])
    }
  }

  @Test(arguments: StoreKind.every)
  func `what a policy throws is what the save throws`(kind: StoreKind) throws {
    struct Refused: Error {}
    final class Refusing: NSMergePolicy, @unchecked Sendable {
      // Sendable: has no state.
      override func resolve(mergeConflicts list: [Any]) throws { throw Refused() }
    }
    let policy = Refusing(merge: .overwriteMergePolicyType)
    try withConflict(kind, policy, there: .retitled) { stack, context, item in
      item.title = "c"
      #expect(throws: Refused.self) { try context.save() }
      let stored: [String?] = try stack.titles()
      #expect(item.title == "c" && item.isUpdated && stored == ["b"])
    }
  }

  @Test func `two coordinators over one file merge as two contexts do`() throws {
    let stack = try Stack(.sqlite)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let other: NSManagedObjectContext = try stack.stranger()
      try other.performAndWait {
        let theirs: Item = try #require(try other.all(Item.self, "Item").first)
        theirs.price = 4
        try other.save()
      }
      item.title = "b"
      #expect(throws: CocoaError.self) { try context.save() }
      context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
      try context.save()
      #expect(item.title == "b" && item.price == 4)
    }
  }

  // MARK: Uniqueness

  private func unique(_ context: NSManagedObjectContext, _ code: String?, _ note: String? = nil)
    -> NSManagedObject
  {
    let object: NSManagedObject = context.make("Unique")
    if let code { object.setValue(code, forKey: "code") }
    if let note { object.setValue(note, forKey: "note") }
    return object
  }

  private func codes(_ stack: Stack) throws -> [String] {
    try stack.elsewhere { context in
      try context.all(NSManagedObject.self, "Unique", sort: ["code", "note"]).map {
        "\($0.value(forKey: "code") ?? "nil")/\($0.value(forKey: "note") ?? "nil")"
      }
    }
  }

  @Test(
    .rule("UNIQ-1", "NSConstraintConflict"), .rule("UNIQ-3", "NSManagedObjectConstraintMergeError"),
    arguments: StoreKind.computing)
  func `the error policy tells every broken constraint with its objects`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { other in
      _ = unique(other, "a", "stored")
      try other.save()
    }
    try stack.run { context in
      let new: NSManagedObject = unique(context, "a", "new")
      let (b1, b2) = (unique(context, "b", "1"), unique(context, "b", "2"))
      _ = (unique(context, nil), unique(context, nil))
      let error: CocoaError = try #require(throws: CocoaError.self) { try context.save() }
      #expect(error.code.rawValue == NSManagedObjectConstraintMergeError)
      let conflicts: [NSConstraintConflict] = try #require(
        error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict])
      #expect(conflicts.count == 2)
      let stored: NSConstraintConflict = try #require(conflicts.first { $0.databaseObject != nil })
      #expect(stored.constraint == ["code"] && stored.constraintValues["code"] as? String == "a")
      #expect(stored.databaseSnapshot?["note"] as? String == "stored" && stored.conflictingObjects == [new])
      let among: NSConstraintConflict = try #require(conflicts.first { $0.databaseObject == nil })
      #expect(among.conflictingObjects == [b1, b2] && among.databaseSnapshot == nil)
      #expect(
        (among.conflictingSnapshots as? [[String: Any]])?.compactMap { $0["note"] as? String } == ["1", "2"])
      #expect(context.insertedObjects.count == 5, "nothing was lost")
      #expect(try codes(stack) == ["a/stored"])
    }
  }

  @Test(
    .rule("UNIQ-4", "NSMergePolicy.resolve(constraintConflicts:)"),
    arguments: StoreKind.computing,
    [
      (NSMergePolicy.mergeByPropertyStoreTrump, ["nil/nil", "a/stored", "b/1"]),
      (.rollback, ["nil/nil", "a/stored", "b/1"]),
      (.mergeByPropertyObjectTrump, ["nil/nil", "a/new", "b/2"]),
      (.overwrite, ["nil/nil", "a/new", "b/2"]),
    ])
  func `of several objects with one unique value one stays`(
    kind: StoreKind, expected: (policy: NSMergePolicy, rows: [String])
  ) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { other in
      _ = unique(other, "a", "stored")
      try other.save()
    }
    try stack.run { context in
      context.mergePolicy = expected.policy
      _ = unique(context, "a", "new")
      _ = (unique(context, "b", "1"), unique(context, "b", "2"), unique(context, nil))
      try context.save()
      #expect(!context.hasChanges)
      #expect(try codes(stack) == expected.rows)
    }
  }

  @Test(arguments: StoreKind.computing)
  func `the object that wins takes over attributes it was never given`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.elsewhere { other in
      _ = unique(other, "a", "stored")
      try other.save()
    }
    try stack.run { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let new: NSManagedObject = unique(context, "a")
      try context.save()
      #expect(new.value(forKey: "note") as? String == "stored")
      #expect(try codes(stack) == ["a/stored"])
    }
  }

  @Test(arguments: StoreKind.computing)
  func `a changed value that collides goes back, or pushes the other object out`(kind: StoreKind) throws {
    for policy in Self.merging {
      let stack = try Stack(kind)
      try stack.run { context in
        context.mergePolicy = policy
        let first: NSManagedObject = unique(context, "a", "1")
        let second: NSManagedObject = unique(context, "b", "2")
        try context.save()
        second.setValue("a", forKey: "code")
        try context.save()
        let wins: Bool = policy == .mergeByPropertyObjectTrump || policy == .overwrite
        #expect(try codes(stack) == (wins ? ["a/2"] : ["a/1", "b/2"]), "\(policy)")
        #expect((first.managedObjectContext == nil) == wins)
        #expect(second.value(forKey: "code") as? String == (wins ? "a" : "b"))
      }
    }
  }

  @Test(arguments: StoreKind.computing)
  func `importing the same rows twice updates them`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    for round in ["first", "second"] {
      try stack.elsewhere { context in
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        for number in 0..<200 { _ = unique(context, "code\(number)", round) }
        try context.save()
      }
    }
    let rows: [String] = try codes(stack)
    #expect(rows.count == 200 && rows.allSatisfy { $0.hasSuffix("/second") })
  }

  /// Members with a unique e-mail address, their posts and their club.
  private static func clubModel() -> NSManagedObjectModel {
    let email: NSAttributeDescription = World.attribute("email", .stringAttributeType)
    let member: NSEntityDescription = World.entity("Member", [email])
    member.uniquenessConstraints = [["email"]]
    let post: NSEntityDescription = World.entity("Post", [World.attribute("text", .stringAttributeType)])
    let club: NSEntityDescription = World.entity("Club", [World.attribute("name", .stringAttributeType)])
    World.pair(member, "posts", .many, .cascadeDeleteRule, post, "author", .one, .nullifyDeleteRule)
    World.pair(club, "members", .many, .nullifyDeleteRule, member, "club", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [member, post, club]
    return model
  }

  @Test(.rule("UNIQ-4", "NSMergePolicy.resolve(constraintConflicts:)"), arguments: StoreKind.computing)
  func `whoever stays takes over the relationships of whoever goes`(kind: StoreKind) throws {
    for policy in Self.byProperty {
      let stack = try Stack(kind, model: Self.clubModel())
      try stack.run { context in
        context.mergePolicy = policy
        let old: NSManagedObject = context.make("Member", ["email": "a"])
        old.setValue(context.make("Club", ["name": "chess"]), forKey: "club")
        context.make("Post", ["text": "old"]).setValue(old, forKey: "author")
        try context.save()
        let new: NSManagedObject = context.make("Member", ["email": "a"])
        context.make("Post", ["text": "new"]).setValue(new, forKey: "author")
        try context.save()
        let wins: NSManagedObject = policy == .mergeByPropertyObjectTrump ? new : old
        #expect(wins.managedObjectContext != nil)
        #expect((wins.value(forKey: "club") as? NSManagedObject)?.value(forKey: "name") as? String == "chess")
      }
      try stack.elsewhere { context in
        let members: [NSManagedObject] = try context.all(NSManagedObject.self, "Member")
        let posts: [String] = try context.all(NSManagedObject.self, "Post", sort: ["text"]).map {
          "\($0.value(forKey: "text") ?? "") \($0.value(forKeyPath: "author.email") ?? "nil")"
        }
        #expect(members.count == 1 && posts == ["new a", "old a"], "\(policy)")
      }
    }
  }
}
