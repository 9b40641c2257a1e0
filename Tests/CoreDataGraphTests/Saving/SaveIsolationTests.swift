import CoreData
import Foundation
import StackSupport
import TestSupport
import Testing

/// What may happen while a context saves: nothing of a program's runs, and nothing is read for it, while a
/// store is being written. Each test runs in a process of its own, which an alarm ends if it hangs.
@Suite
struct SaveIsolationTests {
  private static let secondsToHang: UInt32 = 60

  // MARK: Members that are not loaded

  /// What lets members go after they were reordered.
  enum Unloading: String, CaseIterable, Codable, Sendable {
    case refreshAll, refresh, merge, conflict
  }

  /// Gives the list another order, lets its members go, and saves.
  private static func reorder(_ entity: String, _ unloading: Unloading, _ stack: Stack) throws {
    let context: NSManagedObjectContext = stack.context
    try context.performAndWait {
      let songs: [NSManagedObject] = ["a", "b", "c", "d"].map { context.make("Song", ["name": $0]) }
      let list: NSManagedObject = context.make(entity, ["name": "list"])
      list.setValue(NSOrderedSet(array: songs), forKey: "songs")
      try context.save()
      let moved = NSOrderedSet(array: [songs[2], songs[0], songs[3], songs[1]])
      list.setValue(moved, forKey: "songs")
      switch unloading {
      case .refreshAll: context.refreshAllObjects()
      case .refresh: context.refresh(list, mergeChanges: true)
      case .merge, .conflict:
        let other: NSManagedObjectContext = stack.other()
        let recorder = Recorder([.NSManagedObjectContextDidSave], of: other)
        let id: NSManagedObjectID = list.objectID
        try other.performAndWait {
          other.object(with: id).setValue("renamed", forKey: "name")
          try other.save()
        }
        if unloading == .merge {
          for note in recorder.received { context.mergeChanges(fromContextDidSave: note) }
        } else {
          context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        }
      }
      try context.save()
      try #require(!context.hasChanges)
    }
    try stack.elsewhere { context in
      let list: NSManagedObject = try #require(try context.all(NSManagedObject.self, entity).first)
      let songs = try #require(list.value(forKey: "songs") as? NSOrderedSet)
      let names: [String] = songs.array.compactMap {
        ($0 as? NSManagedObject)?.value(forKey: "name") as? String
      }
      try #require(names == ["c", "a", "d", "b"], "\(names)")
      let name: String? = unloading == .merge || unloading == .conflict ? "renamed" : "list"
      try #require(list.value(forKey: "name") as? String == name)
    }
  }

  // Finding A1
  @Test(arguments: StoreSetting.allCases, Unloading.allCases)
  func `members that were reordered and let go are loaded before the store is written`(
    setting: StoreSetting, unloading: Unloading
  ) async {
    await #expect(processExitsWith: .success) {
      [setting = setting as StoreSetting, unloading = unloading as Unloading] in
      alarm(Self.secondsToHang)
      for entity in ["Album", "Playlist"] {
        try Self.reorder(entity, unloading, try Stack(setting: setting))
      }
    }
  }

  // MARK: Value transformers

  /// Archives values; does something of the test's each time a value is to be stored.
  final class ActingTransformer: ValueTransformer, @unchecked Sendable {
    // Sendable: as the tests use it, on the queue that saves.
    nonisolated(unsafe) static var onStore: ((Any?) throws -> Void)?
    nonisolated(unsafe) static var failure: (any Error)?
    nonisolated(unsafe) static var calls: Int = 0

    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
      Self.calls += 1
      do { try Self.onStore?(value) } catch { Self.failure = error }
      return (value as? String).map { Data($0.utf8) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Each transformable, beside a text and a relationship.
  private static func model() -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    let holders: [NSEntityDescription] = ["Holder", "Keeper"].map { name in
      let thing: NSAttributeDescription = World.attribute("thing", .transformableAttributeType)
      thing.valueTransformerName = "ActingTransformer"
      return World.entity(name, [thing, World.attribute("text", .stringAttributeType)])
    }
    World.pair(
      holders[0], "inner", .ordered, .nullifyDeleteRule, holders[0], "outer", .one, .nullifyDeleteRule)
    model.entities = holders
    return model
  }

  /// What a transformer does to the stores, or to the context, whose value it is about to store.
  enum Deed: String, CaseIterable, Codable, Sendable {
    case saveAnother, changeThere, fetch, fetchElsewhere, count, obtainIDs, insert, setProperty, setOther,
      delete, refresh, save
  }

  private struct Scene {
    let stack: Stack
    let context: NSManagedObjectContext
    /// Saved before, and changed with each save.
    let saved: NSManagedObject
    let bystander: NSManagedObject

    init(_ setting: StoreSetting) throws {
      stack = try Stack(setting: setting, model: SaveIsolationTests.model())
      context = stack.context
      let context: NSManagedObjectContext = context
      (saved, bystander) = try context.performAndWait {
        let saved: NSManagedObject = context.make("Holder", ["thing": "old", "text": "old"])
        let bystander: NSManagedObject = context.make("Holder", ["thing": "by", "text": "by"])
        try context.save()
        return (saved, bystander)
      }
    }

    /// Inside the transformer, once: the next time it has been done.
    func act(_ deed: Deed, _ new: NSManagedObject) throws {
      switch deed {
      case .saveAnother:
        let other: NSManagedObjectContext = stack.other()
        try other.performAndWait {
          _ = other.make("Keeper", ["text": "another"])
          try other.save()
        }
      case .changeThere:
        let other: NSManagedObjectContext = stack.other()
        let id: NSManagedObjectID = saved.objectID
        try other.performAndWait {
          other.object(with: id).setValue("theirs", forKey: "text")
          try other.save()
        }
      case .fetch:
        let found: [NSManagedObject] = try context.all(NSManagedObject.self, "Holder")
        try #require(found.count == 3)
      case .fetchElsewhere:
        try #require(try stack.count("Holder") == 2)
      case .count:
        try #require(try context.count(for: context.request(NSManagedObject.self, "Holder")) == 3)
      case .obtainIDs:
        try context.obtainPermanentIDs(for: [new])
        try #require(!new.objectID.isTemporaryID)
      case .insert: _ = context.make("Keeper", ["text": "made", "thing": "made"])
      case .setProperty:
        new.setValue("set", forKey: "text")
        saved.setValue("set", forKey: "text")
      case .setOther: bystander.setValue("set", forKey: "text")
      case .delete: context.delete(bystander)
      case .refresh: context.refreshAllObjects()
      case .save:
        // Apple ends such a save as it is refused here: finding A2 asks for no hang.
        #expect(throws: CocoaError.self) { try context.save() }
      }
    }

    private func texts(_ entity: String) throws -> [String] {
      try stack.elsewhere { context in
        try context.all(NSManagedObject.self, entity, sort: ["text"]).map {
          "\($0.value(forKey: "text") as? String ?? "nil") \($0.value(forKey: "thing") as? String ?? "nil")"
        }
      }
    }

    /// What is stored after it: everything that the deed has done is either saved or still to be saved.
    func check(_ deed: Deed, _ new: NSManagedObject) throws {
      try context.performAndWait {
        try #require(!new.objectID.isTemporaryID && !new.isInserted && !new.hasChanges)
        try #require(!context.hasChanges, "\(deed)")
        let again: NSManagedObject = try context.existingObject(with: new.objectID)
        try #require(again === new && new.value(forKey: "thing") as? String == "new")
      }
      var holders: [String] = ["by by", "new new", "old changed"]
      switch deed {
      case .setProperty: holders = ["by by", "set changed", "set new"]
      case .setOther: holders = ["new new", "old changed", "set by"]
      case .delete: holders = ["new new", "old changed"]
      case .changeThere: holders = ["by by", "new new", "theirs changed"]
      default: break
      }
      let found: [String] = try texts("Holder")
      try #require(found == holders.sorted(), "\(deed): \(found)")
      let keepers: [String] = try texts("Keeper")
      let wanted: [String] = deed == .insert ? ["made made"] : deed == .saveAnother ? ["another nil"] : []
      try #require(keepers == wanted, "\(deed): \(keepers)")
    }
  }

  private static func save(_ deed: Deed, _ setting: StoreSetting) throws {
    let scene = try Scene(setting)
    let context: NSManagedObjectContext = scene.context
    let new: NSManagedObject = try context.performAndWait {
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let new: NSManagedObject = context.make("Holder", ["thing": "new", "text": "new"])
      scene.saved.setValue("changed", forKey: "thing")
      var isDone = false
      ActingTransformer.onStore = { _ in
        if isDone { return }
        isDone = true
        try scene.act(deed, new)
      }
      try context.save()
      try #require(isDone)
      ActingTransformer.onStore = nil
      if let failure = ActingTransformer.failure { throw failure }
      return new
    }
    try scene.check(deed, new)
  }

  // Finding A2
  @Test(arguments: StoreSetting.allCases, Deed.allCases)
  func `a value transformer may do anything but save the same context`(setting: StoreSetting, deed: Deed)
    async
  {
    await #expect(processExitsWith: .success) { [setting = setting as StoreSetting, deed = deed as Deed] in
      alarm(Self.secondsToHang)
      ValueTransformer.setValueTransformer(
        ActingTransformer(), forName: NSValueTransformerName("ActingTransformer"))
      try Self.save(deed, setting)
    }
  }

  // Finding A2: it does it again each time it is called.
  @Test(arguments: StoreSetting.allCases)
  func `a transformer that sets a property whenever it is called comes to an end`(setting: StoreSetting) async
  {
    await #expect(processExitsWith: .success) { [setting = setting as StoreSetting] in
      alarm(Self.secondsToHang)
      ValueTransformer.setValueTransformer(
        ActingTransformer(), forName: NSValueTransformerName("ActingTransformer"))
      let stack = try Stack(setting: setting, model: Self.model())
      try stack.run { context in
        let holder: NSManagedObject = context.make("Holder", ["thing": "a"])
        var number: Int = 0
        ActingTransformer.onStore = { _ in
          number += 1
          holder.setValue("text \(number)", forKey: "text")
        }
        try context.save()
        try #require(number == 1)
        // One that always sets another value of the same kind has no end of its own.
        ActingTransformer.onStore = { _ in
          number += 1
          holder.setValue("thing \(number)", forKey: "thing")
        }
        holder.setValue("b", forKey: "thing")
        let error: NSError = try #require(errorThrown { try context.save() })
        try #require(error.code == NSCoreDataError && error.localizedDescription.contains("Holder"))
        try #require(context.hasChanges && holder.isUpdated)
        ActingTransformer.onStore = nil
        try context.save()
        try #require(holder.value(forKey: "thing") as? String == "thing \(number)")
      }
      try stack.elsewhere { context in
        let holder: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Holder").first)
        try #require(holder.value(forKey: "text") as? String == "text 1")
      }
    }
  }

  // Finding A2
  @Test func `what a transformer sets during a child's save reaches the parent`() throws {
    let thing: NSAttributeDescription = World.attribute("thing", .transformableAttributeType)
    thing.valueTransformerName = "SettingTransformer"
    let model = NSManagedObjectModel()
    model.entities = [World.entity("Holder", [thing, World.attribute("text", .stringAttributeType)])]
    ValueTransformer.setValueTransformer(
      SettingTransformer(), forName: NSValueTransformerName("SettingTransformer"))
    let stack = try Stack(.sqlite, model: model)
    try stack.run { parent in
      let theirs: NSManagedObject = parent.make("Holder", ["thing": "a"])
      try parent.save()
      // A row is all that the child is given: it compares what would be stored.
      parent.refresh(theirs, mergeChanges: false)
      let child = NSManagedObjectContext(.privateQueue)
      child.parent = parent
      try child.performAndWait {
        let mine: NSManagedObject = child.object(with: theirs.objectID)
        mine.setValue("b", forKey: "thing")
        SettingTransformer.target = mine
        defer { SettingTransformer.target = nil }
        try child.save()
        #expect(mine.value(forKey: "text") as? String == "set")
        #expect(theirs.value(forKey: "text") as? String == "set" || child.hasChanges)
      }
    }
  }

  /// Two contexts of one coordinator, each of which saves into a store of its own and reads
  /// the other's meanwhile.
  private static func cross(_ setting: StoreSetting, rounds: Int) throws {
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    let stores: [NSPersistentStore] = try ["a", "b"].map {
      try setting.addStore(to: coordinator, in: folder, named: $0)
    }
    func fetch(_ store: NSPersistentStore) throws -> Int {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return try context.performAndWait {
        let request: NSFetchRequest<NSManagedObject> = context.request(NSManagedObject.self, "Holder")
        request.affectedStores = [store]
        return try context.fetch(request).count
      }
    }
    ActingTransformer.onStore = { value in
      let own: Int = value as? String == "a" ? 0 : 1
      _ = try fetch(stores[1 - own])
      _ = try fetch(stores[own])
    }
    let done = DispatchGroup()
    for (place, name) in ["a", "b"].enumerated() {
      done.enter()
      let store: NSPersistentStore = stores[place]
      Thread.detachNewThread {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        for _ in 0..<rounds {
          context.performAndWait {
            let holder: NSManagedObject = context.make("Holder", ["thing": name])
            context.assign(holder, to: store)
            do { try context.save() } catch { ActingTransformer.failure = error }
          }
        }
        done.leave()
      }
    }
    done.wait()
    ActingTransformer.onStore = nil
    if let failure = ActingTransformer.failure { throw failure }
    for store in stores { try #require(try fetch(store) == rounds) }
  }

  // Finding A2
  @Test(arguments: StoreSetting.allCases)
  func `transformers of two saves at once read each other's stores`(setting: StoreSetting) async {
    await #expect(processExitsWith: .success) { [setting = setting as StoreSetting] in
      alarm(Self.secondsToHang)
      ValueTransformer.setValueTransformer(
        ActingTransformer(), forName: NSValueTransformerName("ActingTransformer"))
      try Self.cross(setting, rounds: 30)
    }
  }
}

/// Sets a property of an object while its value is stored.
private final class SettingTransformer: ValueTransformer, @unchecked Sendable {
  // Sendable: `target` is set and used on the queue of the context that saves.
  nonisolated(unsafe) static var target: NSManagedObject?

  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? {
    Self.target?.setValue("set", forKey: "text")
    return (value as? String).map { Data($0.utf8) }
  }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0, as: UTF8.self) }
  }
}
