import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// Another process writes between this one's reading and its saving.
@Suite(.serialized)
struct TwoProcessTests {
  /// What both processes do with one row. Its number is the item's price, which nobody changes.
  private enum Deed: Int, CaseIterable {
    case changed, deletedThere, deletedHere, deletedTwice

    var isDeletedThere: Bool { self == .deletedThere || self == .deletedTwice }
    var isDeletedHere: Bool { self == .deletedHere || self == .deletedTwice }

    /// What is stored afterwards.
    func wanted(_ type: NSMergePolicyType) -> String? {
      let (theirs, mine, merged): (String, String, [String]) = (
        "b 2 false", "c 1 true", ["b 2 true", "c 2 true"]
      )
      let objectWins: Bool =
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
      switch self {
      case .changed:
        switch type {
        case .mergeByPropertyStoreTrumpMergePolicyType: return merged[0]
        case .mergeByPropertyObjectTrumpMergePolicyType: return merged[1]
        case .overwriteMergePolicyType: return mine
        default: return theirs
        }
      case .deletedThere: return objectWins ? mine : nil
      case .deletedHere: return objectWins ? nil : theirs
      case .deletedTwice: return nil
      }
    }
  }

  private static let policies: [NSMergePolicyType] = [
    .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
    .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
  ]

  private static func item(of deed: Deed, _ context: NSManagedObjectContext) throws -> Item? {
    try context.all(Item.self, "Item", NSPredicate(format: "price == %d", deed.rawValue)).first
  }

  /// The other process.
  private static func act(_ path: String) throws {
    let context: NSManagedObjectContext = try CrashTests.open(path)
    try context.performAndWait {
      for deed in Deed.allCases {
        let item: Item = try #require(try item(of: deed, context))
        if deed.isDeletedThere { context.delete(item) } else { (item.title, item.count) = ("b", 2) }
      }
      _ = context.make("Unique", ["code": "x", "note": "there"])
      try context.save()
    }
  }

  @Test(arguments: TwoProcessTests.policies)
  func `what another process has saved since is met as the merge policy says`(type: NSMergePolicyType)
    async throws
  {
    let folder = try TemporaryFolder()
    let path: String = folder.file("shared.sqlite").path
    let coordinator: NSPersistentStoreCoordinator = try #require(
      try CrashTests.open(path).persistentStoreCoordinator)
    func make() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      context.mergePolicy = NSMergePolicy(merge: type)
      return context
    }
    let contexts: [NSManagedObjectContext] = Deed.allCases.map { _ in make() }
    let first: NSManagedObjectContext = make()
    try first.performAndWait {
      for deed in Deed.allCases {
        let item: Item = first.item("a")
        item.price = Double(deed.rawValue)
        item.count = 1
        item.done = false
      }
      try first.save()
    }
    nonisolated(unsafe) let items: [Item] = try zip(Deed.allCases, contexts).map { deed, context in
      try context.performAndWait {
        let item: Item = try #require(try Self.item(of: deed, context))
        #expect(item.title == "a")
        return item
      }
    }
    await #expect(processExitsWith: .success) { [path = path as String] in try TwoProcessTests.act(path) }
    for (place, deed) in Deed.allCases.enumerated() {
      let (item, context): (Item, NSManagedObjectContext) = (items[place], contexts[place])
      context.performAndWait {
        if deed.isDeletedHere { context.delete(item) } else { (item.title, item.done) = ("c", true) }
        let error: NSError? = errorThrown { try context.save() }
        if type == .errorMergePolicyType {
          #expect(error?.code == NSManagedObjectMergeError, "\(deed)")
          let conflict = (error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?
            .first
          #expect(conflict?.sourceObject === item && conflict?.oldVersionNumber == 1)
          #expect(conflict?.newVersionNumber == (deed.isDeletedThere ? 0 : 2), "\(deed)")
          #expect(conflict?.persistedSnapshot?["title"] as? String == (deed.isDeletedThere ? nil : "b"))
          #expect(context.hasChanges)
        } else {
          #expect(error == nil && !context.hasChanges, "\(deed) \(String(describing: error))")
        }
      }
      let fresh: NSManagedObjectContext = make()
      let stored: String? = try fresh.performAndWait {
        try Self.item(of: deed, fresh).map { "\($0.title ?? "") \($0.count) \($0.done)" }
      }
      #expect(stored == deed.wanted(type), "\(deed)")
    }
    try insertTwin(make(), type)
  }

  /// The other process has inserted a row with the same unique value.
  private func insertTwin(_ context: NSManagedObjectContext, _ type: NSMergePolicyType) throws {
    try context.performAndWait {
      let twin: NSManagedObject = context.make("Unique", ["code": "x", "note": "here"])
      let code: Int = codeThrown { try context.save() }
      #expect(code == (type == .errorMergePolicyType ? NSManagedObjectConstraintMergeError : 0))
      if type == .errorMergePolicyType {
        #expect(twin.isInserted)
        context.rollback()
      }
      let notes = try context.all(NSManagedObject.self, "Unique").map { $0.value(forKey: "note") as? String }
      let objectWins: Bool =
        type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
      #expect(notes == [objectWins ? "here" : "there"])
    }
  }
}
