import CoreData
import Foundation
import Observation
import StackSupport
import Synchronization
import Testing

/// Swift's Observation over managed objects, and closures with old and new values.
@Suite
struct ObservationTests {
  /// Counts what a scope is told.
  private final class Bell: Sendable {
    private let rings = Atomic<Int>(0)
    func ring() { rings.add(1, ordering: .relaxed) }
    var count: Int { rings.load(ordering: .relaxed) }
  }

  /// What closures were given, as text.
  private final class Log {
    var lines: [String] = []
    var held: [NSKeyValueObservation] = []

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }

    func watch<Object: NSManagedObject, Value>(
      _ object: Object, _ keyPath: KeyPath<Object, Value>, as name: String
    ) {
      held.append(
        object.observe(keyPath, options: [.old, .new]) { [unowned self] _, change in
          lines.append("\(name) \(Self.text(change.oldValue)) → \(Self.text(change.newValue))")
        })
    }

    func watch(_ object: NSManagedObject, key: String) {
      held.append(
        object.observe(key, options: [.old, .new]) { [unowned self] _, change in
          lines.append("\(key) \(Self.text(change.oldValue)) → \(Self.text(change.newValue))")
        })
    }

    private static func text(_ value: Any?) -> String { value.map(plain) ?? "nil" }

    private static func plain(_ value: Any) -> String {
      switch value {
      case let items as Set<Item>: return "\(items.compactMap(\.title).sorted())"
      case let items as NSSet: return "\(items.compactMap { ($0 as? Item)?.title }.sorted())"
      case let category as Category: return category.name ?? "nil"
      case let text as String: return text
      case let number as NSNumber: return "\(number)"
      default:
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
          return mirror.children.first.map { plain($0.value) } ?? "nil"
        }
        return "\(value)"
      }
    }
  }

  private func track(_ read: () -> Void) -> Bell {
    let bell = Bell()
    withObservationTracking(read) { bell.ring() }
    return bell
  }

  private func run(_ kind: StoreKind, _ body: (NSManagedObjectContext, Stack) throws -> Void) throws {
    let stack = try Stack(kind)
    stack.context.tracksObservation = true
    try stack.run { try body($0, stack) }
  }

  // MARK: Swift's Observation

  @Test func `managed objects are Observable`() {
    func isObservable<Object>(_ type: Object.Type) -> Bool { type is any Observable.Type }
    #expect(isObservable(NSManagedObject.self) && isObservable(Item.self))
  }

  @Test(arguments: StoreKind.allCases)
  func `a scope hears of the properties it has read and of no others`(kind: StoreKind) throws {
    try run(kind) { context, _ in
      let item: Item = context.item("a", context.category("c"))
      try context.save()
      let reads: [(String, () -> Void)] = [
        ("title", { _ = item.title }), ("price", { _ = item.price }), ("done", { _ = item.done }),
        ("due", { _ = item.due }), ("note", { _ = item.note }), ("category", { _ = item.category }),
        ("tags", { _ = item.tags }), ("title", { _ = item.value(forKey: "title") }),
        ("category", { _ = item.value(forKeyPath: "category") }),
        ("tags", { _ = item.mutableSetValue(forKey: "tags").count }),
        ("tags", { _ = item.objectIDs(forRelationshipNamed: "tags") }),
        (
          "title",
          {
            item.willAccessValue(forKey: "title")
            item.didAccessValue(forKey: "title")
          }
        ),
      ]
      let writes: [(String, () -> Void)] = [
        ("title", { item.title = "b" }), ("price", { item.price = 2 }), ("done", { item.done.toggle() }),
        ("due", { item.due = Date(timeIntervalSinceReferenceDate: 1) }),
        ("note", { item.setValue("n", forKey: "note") }),
        ("category", { item.category = context.category("d") }),
        ("tags", { item.addToTags(Tag(context: context)) }),
        ("title", { item.setValue("c", forKey: "title") }),
      ]
      for (read, body) in reads {
        for (write, change) in writes {
          let bell: Bell = track(body)
          change()
          #expect(bell.count == (read == write ? 1 : 0), "\(read) read, \(write) written")
          change()
          #expect(bell.count <= 1, "told once")
        }
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `both sides of a relationship are told`(kind: StoreKind) throws {
    try run(kind) { context, _ in
      let (one, two) = (context.category("one"), context.category("two"))
      let item: Item = context.item("a", one)
      let bells: [Bell] = [
        track { _ = one.items }, track { _ = two.items }, track { _ = item.category },
        track { _ = item.title },
      ]
      item.category = two
      #expect(bells.map(\.count) == [1, 1, 1, 0])
      let back: [Bell] = [track { _ = item.category }, track { _ = two.items }, track { _ = one.items }]
      one.addToItems(item)
      #expect(back.map(\.count) == [1, 1, 1])
      let deleted: Bell = track { _ = one.items }
      context.delete(item)
      context.processPendingChanges()
      #expect(deleted.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `loading faults, saving and refreshing what is the same are no changes`(kind: StoreKind) throws {
    try run(kind) { context, _ in
      let item: Item = context.item("a", context.category("c"))
      try context.save()
      let log = Log()
      log.watch(item, \.title, as: "title")
      log.watch(item, \.category, as: "category")
      func readAll() -> Bell {
        track { _ = (item.title, item.price, item.category?.items.count, item.tags) }
      }
      let bell: Bell = readAll()
      context.refresh(item, mergeChanges: false)
      _ = item.title
      context.refresh(item, mergeChanges: true)
      context.refreshAllObjects()
      _ = item.tags
      try context.save()
      context.rollback()
      _ = try context.fetch(NSFetchRequest<Item>(entityName: "Item"))
      #expect(bell.count == 0)
      #expect(log.take().isEmpty)
      context.refresh(item, mergeChanges: false)
      let fresh: Bell = readAll()
      #expect(fresh.count == 0, "the scope's own loading")
      item.title = "b"
      #expect(fresh.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `undo, redo, rollback, refresh and merge tell of what differs`(kind: StoreKind) throws {
    try run(kind) { context, stack in
      context.undoManager = UndoManager()
      let (one, two) = (context.category("one"), context.category("two"))
      let item: Item = context.item("a", one)
      try context.save()
      let log = Log()
      log.watch(item, \.title, as: "title")
      log.watch(item, \.count, as: "count")
      log.watch(item, \.category, as: "category")
      log.watch(one, \.items, as: "items")
      func expect(_ lines: [String], _ what: String, _ change: () throws -> Void) rethrows {
        let bells: [Bell] = [track { _ = item.title }, track { _ = item.category }, track { _ = item.price }]
        _ = log.take()
        try change()
        #expect(log.take().sorted() == lines.sorted(), "\(what)")
        let told: [Int] = ["title", "category"].map { key in lines.contains { $0.hasPrefix(key) } ? 1 : 0 }
        #expect(bells.map(\.count) == told + [0], "\(what)")
      }
      item.title = "b"
      item.category = two
      context.processPendingChanges()
      expect(["title b → a", "category two → one", "items [] → [\"a\"]"], "undo") { context.undo() }
      expect(["title a → b", "category one → two", "items [\"b\"] → []"], "redo") { context.redo() }
      expect(["title b → a", "category two → one", "items [] → [\"a\"]"], "rollback") { context.rollback() }
      try expect(["title a → z"], "merge") {
        try stack.elsewhere { other in
          let theirs = try #require(other.existingObject(with: item.objectID) as? Item)
          theirs.title = "z"
          try other.save()
          let ids: Set<NSManagedObjectID> = [item.objectID]
          context.mergeChanges(
            fromContextDidSave: Notification(
              name: .NSManagedObjectContextDidSave, userInfo: [NSUpdatedObjectIDsKey: ids]))
        }
      }
      item.title = "mine"
      try expect(["count 7 → 8"], "refresh keeps what is changed here") {
        try stack.elsewhere { other in
          let theirs = try #require(other.existingObject(with: item.objectID) as? Item)
          (theirs.title, theirs.count) = ("theirs", 8)
          try other.save()
        }
        context.refresh(item, mergeChanges: true)
      }
      expect([], "a fault") { context.refresh(item, mergeChanges: false) }
      #expect(item.title == "theirs")
      #expect(log.take() == ["title mine → theirs"], "when the fault is loaded")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an observed fault is loaded by a merge, so that its observers hear of it`(kind: StoreKind) throws {
    try run(kind) { context, stack in
      let item: Item = context.item("a", context.category("c"))
      try context.save()
      let log = Log()
      log.watch(item, \.title, as: "title")
      context.refresh(item, mergeChanges: false)
      try stack.elsewhere { other in
        (try other.existingObject(with: item.objectID) as? Item)?.title = "b"
        try other.save()
      }
      let ids: Set<NSManagedObjectID> = [item.objectID]
      context.mergeChanges(
        fromContextDidSave: Notification(
          name: .NSManagedObjectContextDidSave, userInfo: [NSUpdatedObjectIDsKey: ids]))
      #expect(log.take() == ["title a → b"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a member that another context adds or deletes is told where the relationship was loaded`(
    kind: StoreKind
  ) throws {
    try run(kind) { context, stack in
      let category: Category = context.category("c")
      _ = context.item("a", category)
      try context.save()
      let log = Log()
      log.watch(category, \.items, as: "items")
      let name: Notification.Name = .NSManagedObjectContextDidSaveObjectIDs
      func merging(_ change: (NSManagedObjectContext, Category) throws -> Void) throws {
        let other: NSManagedObjectContext = stack.other()
        let recorder = Recorder([name], of: other)
        try other.performAndWait {
          try change(other, try #require(other.existingObject(with: category.objectID) as? Category))
          try other.save()
        }
        context.mergeChanges(fromContextDidSave: try #require(recorder.received.first))
      }
      try merging { other, theirs in _ = other.item("b", theirs) }
      #expect(log.take() == ["items [\"a\"] → [\"a\", \"b\"]"])
      try merging { other, theirs in theirs.items.filter { $0.title == "a" }.forEach { other.delete($0) } }
      #expect(category.items.count == 1)
      #expect(log.take().count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a private context tracks only when it is told to, a main-queue one by itself`(kind: StoreKind) throws
  {
    let stack = try Stack(kind)
    #expect(NSManagedObjectContext(.mainQueue).tracksObservation)
    try stack.run { context in
      #expect(!context.tracksObservation)
      let item: Item = context.item("a")
      let deaf: Bell = track { _ = item.title }
      item.title = "b"
      #expect(deaf.count == 0)
      context.tracksObservation = true
      let bell: Bell = track { _ = item.title }
      item.title = "c"
      #expect(bell.count == 1)
      try context.save()
      context.tracksObservation = false
      let late: Bell = track { _ = item.title }
      item.title = "d"
      #expect(late.count == 0)
    }
  }

  // MARK: Closures

  @Test(
    .rule(
      "ACC-3", "NSManagedObject.automaticallyNotifiesObservers(forKey:)",
      "managed properties tell of their changes themselves"), arguments: StoreKind.allCases)
  func `closures are given old and new values, typed or by key`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let (one, two) = (context.category("one"), context.category("two"))
      let item: Item = context.item("a", one)
      let log = Log()
      log.watch(item, \.title, as: "title")
      log.watch(item, key: "price")
      log.watch(item, key: "category")
      log.watch(two, key: "items")
      item.title = "b"
      item.title = nil
      item.price = 1.5
      item.setValue("c", forKey: "title")
      #expect(log.take() == ["title a → b", "title b → nil", "price nil → 1.5", "title nil → c"])
      item.category = two
      #expect(log.take().sorted() == ["category one → two", "items [] → [\"c\"]"])
      two.addToItems(item)
      two.removeFromItems(context.item("x"))
      #expect(log.take().isEmpty, "nothing to add, nothing to remove")
      two.items = []
      #expect(log.take().sorted() == ["category two → nil", "items [\"c\"] → []"])
      item.willChangeValue(forKey: "title")
      item.setPrimitiveValue("by hand", forKey: "title")
      item.didChangeValue(forKey: "title")
      item.setPrimitiveValue("quiet", forKey: "title")
      #expect(log.take() == ["title c → by hand"])
    }
  }

  @Test func `options say what a closure is given and when`() throws {
    try Stack(.inMemory).run { context in
      let item: Item = context.item("a")
      var calls: [String] = []
      let observation: NSKeyValueObservation = item.observe(\.title, options: [.initial, .prior, .new, .old])
      { item, change in
        calls.append(
          "\(change.isPrior) \(item.title ?? "nil") \(change.oldValue.map { $0 ?? "nil" } ?? "-") "
            + "\(change.newValue.map { $0 ?? "nil" } ?? "-") \(change.kind == .setting)")
      }
      item.title = "b"
      #expect(calls == ["false a - a true", "true a a - true", "false b a b true"])
      var plain: Int = 0
      let other: NSKeyValueObservation = item.observe(\.title) { _, change in
        #expect(change.oldValue == nil && change.newValue == nil)
        plain += 1
      }
      item.title = "b"
      #expect(plain == 1, "the same value again is a change, as it is for KVO")
      observation.invalidate()
      other.invalidate()
      item.title = "c"
      #expect(plain == 1 && calls.count == 5)
    }
  }

  @Test func `an observation ends when it is let go, and what its closure holds with it`() throws {
    try Stack(.inMemory).run { context in
      let item: Item = context.item("a")
      final class Held { var count: Int = 0 }
      weak var gone: Held?
      do {
        let held = Held()
        gone = held
        let observation: NSKeyValueObservation = item.observe(\.title) { _, _ in held.count += 1 }
        item.title = "b"
        #expect(held.count == 1)
        withExtendedLifetime(observation) {}
      }
      #expect(gone == nil)
      item.title = "c"
    }
  }

  @Test func `a closure may change the object and end its own observation`() throws {
    try Stack(.inMemory).run { context in
      let item: Item = context.item("a")
      var observations: [NSKeyValueObservation] = []
      var count: Int = 0
      for _ in 0..<3 {
        observations.append(
          item.observe(\.title) { item, _ in
            count += 1
            if item.price < 10 { item.price += 1 }
            observations.forEach { $0.invalidate() }
          })
      }
      observations.append(item.observe(\.price) { item, _ in item.note = "\(item.price)" })
      item.title = "b"
      #expect(count == 1)
      #expect(item.price == 1)
    }
  }

  @Test func `what can't be observed stops with an explanation`() async {
    let result: ExitTest.Result? = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try Stack(.inMemory).run { context in
        _ = context.item("a").observe("titel") { _, _ in }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("titel") && text.contains("title"), "\(text)")
  }
}
