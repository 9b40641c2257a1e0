import CoreData
import Foundation
import StackSupport
import Testing

/// What a merge policy changes during a save is announced and checked like any other change before the save
/// is tried again.
@Suite
struct MergedSaveTests {
  private static func model() -> NSManagedObjectModel {
    let bounds: NSEntityDescription = World.entity(
      "Bounds",
      [World.attribute("low", .integer32AttributeType), World.attribute("high", .integer32AttributeType)])
    let model = NSManagedObjectModel()
    model.entities = [bounds]
    return model
  }

  private static let merging: [NSMergePolicy] = [
    .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite,
  ]

  @Test(arguments: StoreSetting.allCases)
  func `a merge does not delete what was given to another before its owner was deleted`(
    setting: StoreSetting
  ) throws {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      func newDetail() -> NSManagedObject {
        NSEntityDescription.insertNewObject(forEntityName: "Detail", into: context)
      }
      let item: Item = context.item("a")
      let kept: NSManagedObject = newDetail()
      kept.setValue(item, forKey: "item")
      try context.save()
      // The new detail takes the place of the saved one, and is deleted with the item.
      newDetail().setValue(item, forKey: "item")
      context.delete(item)
      context.processPendingChanges()
      try stack.elsewhere { other in
        try #require(other.object(with: item.objectID) as? Item).price = 1850
        try other.save()
      }
      context.refresh(item, mergeChanges: true)
      context.processPendingChanges()
      #expect(item.isDeleted && !kept.isDeleted && kept.value(forKey: "item") == nil)
      try context.save()
      #expect(try context.all(NSManagedObject.self, "Detail") == [kept])
    }
  }

  @Test(arguments: StoreSetting.files)
  func `a deletion reaches objects that are known only as they were before`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting)
    let (item, shelf): (NSManagedObjectID, NSManagedObject) = try stack.run { context in
      let item: Item = context.item("a")
      let shelf = NSEntityDescription.insertNewObject(forEntityName: "Shelf", into: context)
      try context.save()
      context.refreshAllObjects()
      return (item.objectID, shelf)
    }
    // The row that this context saves is kept, and the item of the first context will be filled from it.
    let other: NSManagedObjectContext = stack.other()
    let kept: Item = try other.performAndWait {
      let item: Item = try #require(other.object(with: item) as? Item)
      item.price = 7
      try other.save()
      return item
    }
    let stranger: NSManagedObjectContext = try stack.stranger()
    try stranger.performAndWait {
      let items: [Item] = try stranger.all(Item.self, "Item")
      items[0].setValue(try stranger.all(NSManagedObject.self, "Shelf")[0], forKey: "shelf")
      try stranger.save()
    }
    try stack.run { context in
      context.mergePolicy = NSMergePolicy.overwrite
      context.delete(shelf)
      try context.save()
    }
    let file: URL = try #require(stack.store.url)
    #expect(try DanglingReferences.all(in: file, of: World.shared) == [])
    withExtendedLifetime(kept) {}
  }

  // Finding B6, OBS-7
  @Test(arguments: StoreSetting.allCases)
  func `objects that were merged are told of the save again, others are not`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      let items: [Item] = ["a", "b"].map { context.item($0) }
      try context.save()
      try stack.elsewhere { other in
        let theirs: Item = try #require(other.object(with: items[0].objectID) as? Item)
        theirs.price = 10
        try other.save()
      }
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      for item in items { item.title = "mine" }
      stack.journal.lines = []
      var told: [String: [Double]] = [:]
      stack.journal.onWillSave = { object in
        guard let item = object as? Item else { return }
        told[item === items[0] ? "merged" : "other", default: []].append(item.price)
        // Follows from another property, as such code is written.
        if item.count != Int64(item.price) * 2 { item.count = Int64(item.price) * 2 }
      }
      try context.save()
      stack.journal.onWillSave = nil
      // Each once more than it changed itself.
      #expect(told == ["merged": [0, 0, 10, 10], "other": [0, 0]])
      #expect(stack.journal.count("didSave Item") == 2)
      #expect(!context.hasChanges)
    }
    try stack.elsewhere { context in
      let stored: [Item] = try context.all(Item.self, "Item", sort: ["price"])
      #expect(stored.map(\.count) == [0, 20] && stored.map(\.title) == ["mine", "mine"])
    }
  }

  // Finding B6, OBS-7
  @Test(arguments: StoreSetting.allCases)
  func `what a merge has made invalid is not saved`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting, model: Self.model())
    try stack.run { context in
      let mine = Bounds(context: context)
      (mine.low, mine.high) = (0, 100)
      try context.save()
      try stack.elsewhere { other in
        let theirs: Bounds = try #require(other.object(with: mine.objectID) as? Bounds)
        theirs.low = 50
        try other.save()
      }
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      mine.high = 10
      #expect(throws: Bounds.Reversed.self) { try context.save() }
      #expect(mine.isUpdated && mine.low == 50 && mine.high == 10)
      mine.high = 60
      try context.save()
    }
    try stack.elsewhere { context in
      let stored: Bounds = try #require(try context.all(Bounds.self, "Bounds").first)
      #expect(stored.low == 50 && stored.high == 60)
    }
  }

  // Finding B6, OBS-7: a unique value that is taken.
  @Test(arguments: StoreSetting.allCases)
  func `an object that lost its unique value is told that it goes`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      let old: NSManagedObject = context.make("Unique", ["code": "x", "note": "old"])
      try context.save()
      let id: NSManagedObjectID = old.objectID
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let new: NSManagedObject = context.make("Unique", ["code": "x", "note": "new"])
      try context.save()
      #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      #expect(!new.isInserted && new.value(forKey: "note") as? String == "new")
    }
    #expect(try stack.count("Unique") == 1)
  }

  /// Sets off a new conflict with each `willSave`.
  // Finding B6: the rounds are bounded.
  @Test(arguments: StoreSetting.allCases)
  func `a store that changes with every try ends the save with the conflict`(setting: StoreSetting) throws {
    let stack = try Stack(setting: setting)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let other: NSManagedObjectContext = stack.other()
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      item.title = "mine"
      var rounds: Int = 0
      stack.journal.onWillSave = { _ in
        rounds += 1
        other.performAndWait {
          guard let theirs = other.object(with: item.objectID) as? Item else { return }
          theirs.price = Double(rounds)
          try? other.save()
        }
      }
      #expect(codeThrown { try context.save() } == NSManagedObjectMergeError)
      stack.journal.onWillSave = nil
      #expect(rounds == 100)
      #expect(item.isUpdated && item.title == "mine")
      try context.save()
    }
    #expect(try stack.titles() == ["mine"])
  }
}

/// A range whose bounds are checked together.
final class Bounds: NSManagedObject {
  private static let lowKey = ManagedKey("low")
  private static let highKey = ManagedKey("high")

  var low: Int32 {
    get { managedValue(Self.lowKey) }
    set { setManagedValue(newValue, Self.lowKey) }
  }
  var high: Int32 {
    get { managedValue(Self.highKey) }
    set { setManagedValue(newValue, Self.highKey) }
  }

  struct Reversed: Error {}

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    if low > high { throw Reversed() }
  }
}
