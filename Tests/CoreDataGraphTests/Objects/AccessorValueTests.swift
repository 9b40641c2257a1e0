import CoreData
import Foundation
import StackSupport
import Testing

/// What accessors of a class's own can't take, what they give to validation, observers and names, and what
/// fetches make of them.
@Suite
struct AccessorValueTests {
  /// Gauge (name, visits, level, share, wide; transient: label, required).
  static let model: NSManagedObjectModel = {
    let label = World.attribute("label", .stringAttributeType)
    label.isTransient = true
    label.isOptional = false
    let gauge = World.entity(
      "Gauge",
      [
        World.attribute("name", .stringAttributeType), World.attribute("visits", .integer32AttributeType),
        World.attribute("level", .integer16AttributeType), World.attribute("share", .doubleAttributeType),
        World.attribute("plain", .integer16AttributeType), label,
      ])
    World.pair(gauge, "boss", .one, .nullifyDeleteRule, gauge, "staff", .many, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [gauge]
    return model
  }()

  private func stack(_ kind: StoreKind = .inMemory) throws -> Stack { try Stack(kind, model: Self.model) }

  private func gauge(_ context: NSManagedObjectContext, _ name: String) throws -> Gauge {
    try #require(context.make("Gauge", ["name": name]) as? Gauge)
  }

  @Test(arguments: StoreKind.allCases)
  func `a value that the accessor has no room for is kept, and refused by the save`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let gauge: Gauge = try gauge(context, "a")
      try context.save()
      let cases: [(String, Any, Any)] = [
        ("visits", 70_000, 12), ("level", 99, 2), ("level", -1, 0), ("share", 1e300, 0.5),
        ("visits", "many", Int16(7)), ("visits", Int.max, 1), ("level", [1], 1),
      ]
      for (key, wrong, right) in cases {
        gauge.setValue(wrong, forKey: key)
        let error: NSError? = errorThrown { try context.save() }
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == key, "\(key) \(wrong)")
        #expect(
          (error?.userInfo[NSValidationValueErrorKey] as? NSObject) == (wrong as? NSObject), "\(key) \(wrong)"
        )
        gauge.setValue(right, forKey: key)
        try context.save()
        #expect(gauge.primitiveValue(forKey: key) as? NSNumber == right as? NSNumber, "\(key) \(wrong)")
      }
    }
  }

  @Test func `nil for a number without an accessor removes it and asks nobody`() throws {
    try stack().run { context in
      let gauge: Gauge = try gauge(context, "a")
      gauge.setValue(3, forKey: "plain")
      gauge.setValue(nil, forKey: "plain")
      #expect(gauge.primitiveValue(forKey: "plain") == nil)
      #expect(gauge.nils == [])
      gauge.setValue(nil, forKey: "visits")
      #expect(gauge.nils == ["visits"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a required transient attribute is what its accessor gives at each save`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let gauge: Gauge = try gauge(context, "a")
      gauge.labelText = nil
      #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
      gauge.setPrimitiveValue("held", forKey: "label")
      #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
      gauge.labelText = "x"
      try context.save()
      gauge.labelText = nil
      gauge.setValue("b", forKey: "name")
      #expect(
        codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError, "untouched slot")
      gauge.labelText = "y"
      try context.save()
    }
  }

  // MARK: Running

  @Test func `a getter asks itself along a long chain of objects`() throws {
    try stack().run { context in
      var boss: Gauge?
      for place in 0..<200 {
        let made: Gauge = try gauge(context, "\(place)")
        made.setValue(boss, forKey: "boss")
        boss = made
      }
      #expect(boss?.value(forKey: "rank") as? Int == 199)
      #expect(boss?.value(forKey: "echo") as? String == "nothing")
    }
  }

  @Test func `what a getter starts is not within it`() async throws {
    let stack = try stack()
    let context: NSManagedObjectContext = stack.context
    let (task, id): (Task<String?, Never>, NSManagedObjectID) = try await context.perform {
      let gauge: Gauge = try self.gauge(context, "a")
      _ = gauge.value(forKey: "later")
      return (try #require(gauge.task), gauge.objectID)
    }
    let seen: String? = await task.value
    #expect(seen == "fresh", "\(id)")
  }

  @Test func `a refusal is thrown whatever an override makes of it`() throws {
    try stack().run { context in
      let gauge: Gauge = try gauge(context, "a")
      for key in ["swallowed", "nmae"] {
        let error: (any Error)? = #expect(throws: (any Error).self, "\(key)") {
          try gauge.readValue(forKey: key)
        }
        #expect("\(try #require(error))".contains(key))
      }
      #expect(gauge.seen.allSatisfy { $0 == nil }, "code of the program sees no marker")
      let known: Any? = try gauge.readValue(forKey: "colour")
      #expect(known as? String == "red")
    }
  }

  @Test func `an unknown key can't be validated, and says so`() throws {
    try stack().run { context in
      let gauge: Gauge = try gauge(context, "a")
      let error: (any Error)? = #expect(throws: (any Error).self) {
        var value: Any? = "x"
        try gauge.validateValue(&value, forKey: "nmae")
      }
      #expect("\(try #require(error))".contains("name"))
    }
  }

  // MARK: Names

  @Test func `a property with two keys is named by the one that the model has`() throws {
    _ = try stack()
    for _ in 0..<3 {
      #expect(NSSortDescriptor(keyPath: \Gauge.level, ascending: true).key == "level")
      #expect(NSSortDescriptor(keyPath: \Gauge.rank, ascending: true).key == "arank")
    }
  }

  // MARK: Observation

  @Test func `an accessor's key that the model lacks is told of by will and did`() throws {
    try stack().run { context in
      let gauge: Gauge = try gauge(context, "a")
      var seen: [String] = []
      let byKey: NSKeyValueObservation = gauge.observe("mood", options: [.old, .new]) { _, change in
        seen.append("\(change.oldValue ?? "-")>\(change.newValue ?? "-")")
      }
      let byPath: NSKeyValueObservation = gauge.observe(\.mood, options: [.new, .initial]) { _, change in
        seen.append(change.newValue ?? "")
      }
      gauge.mood = "good"
      gauge.setValue("bad", forKey: "mood")
      #expect(seen == ["calm", "calm>good", "good", "good>bad", "bad"])
      try context.save()
      context.refresh(gauge, mergeChanges: false)
      byKey.invalidate()
      byPath.invalidate()
      gauge.mood = "calm"
      #expect(seen.count == 5)
      #expect(!gauge.hasChanges, "not a property of the model")
    }
  }

  // MARK: Fetching

  @Test(arguments: StoreKind.allCases)
  func `order and filter of a fetch are the same with and without unsaved objects`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      for name in ["b", "A", "C"] { _ = try gauge(context, name) }
      try context.save()
      let sorts: [NSSortDescriptor] = [
        NSSortDescriptor(key: "name", ascending: true),
        NSSortDescriptor(keyPath: \Gauge.name, ascending: true),
        NSSortDescriptor(SortDescriptor(\Gauge.name, comparator: .lexical)),
      ]
      func fetched(_ sort: NSSortDescriptor, _ format: String, _ limit: Int) throws -> [String] {
        let request = NSFetchRequest<Gauge>(entityName: "Gauge")
        request.sortDescriptors = [sort]
        request.predicate = NSPredicate(format: format)
        request.fetchLimit = limit
        return try context.fetch(request).compactMap { $0.primitiveValue(forKey: "name") as? String }
      }
      let isAsked = NSPredicate(format: "name == 'B'")
      let clean: [[String]] = try sorts.map { try fetched($0, "name != 'unrelated'", 2) }
      #expect(clean == [["A", "C"], ["A", "C"], ["A", "C"]])
      let other: Gauge = try gauge(context, "unrelated")
      #expect(try sorts.map { try fetched($0, "name != 'unrelated'", 2) } == clean)
      #expect(try fetched(sorts[0], "name == 'B'", 0) == [])
      #expect(try fetched(sorts[0], "name == 'b'", 0) == ["b"])
      #expect(try fetched(sorts[0], "boss.name == 'B' OR name == 'unrelated'", 0) == ["unrelated"])
      // The program's own use asks the accessor.
      let all: [Gauge] = try context.all(Gauge.self, "Gauge")
      #expect(all.filter { isAsked.evaluate(with: $0) }.count == 1)
      let sorted: [Any] = (all as NSArray).sortedArray(using: [sorts[0]])
      #expect(sorted.compactMap { ($0 as? Gauge)?.name } == ["A", "B", "C", "UNRELATED"])
      context.delete(other)
      try context.save()
      #expect(try sorts.map { try fetched($0, "name != 'unrelated'", 2) } == clean)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a fetched results controller places changed objects as its fetch does`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let gauges: [Gauge] = try ["b", "A", "C"].map { try gauge(context, $0) }
      try context.save()
      let request = NSFetchRequest<Gauge>(entityName: "Gauge")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      request.predicate = NSPredicate(format: "name != 'B'")
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Following()
      controller.delegate = delegate
      try controller.performFetch()
      gauges[2].setPrimitiveValue("C", forKey: "name")
      gauges[2].setValue(1, forKey: "visits")
      gauges[0].setValue(1, forKey: "visits")
      context.processPendingChanges()
      let names: [String?]? = controller.fetchedObjects?.map { $0.primitiveValue(forKey: "name") as? String }
      #expect(names == ["A", "C", "b"])
      #expect(try context.fetch(request) == controller.fetchedObjects)
    }
  }

  // MARK: Mistakes

  private func check(_ result: ExitTest.Result?, _ parts: [String]) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for part in parts { #expect(text.contains(part), "\(text)") }
  }

  @Test func `tables of accessors that can't be right stop`() async {
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = try Stack(.inMemory, model: AccessorValueTests.mistaken("GaugeOfAnother"))
      }, ["GaugeOfAnother.customAccessors", "'name'", "Gauge"])
    check(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        alarm(60)
        _ = try Stack(.inMemory, model: AccessorValueTests.mistaken("GaugeOfModels"))
      }, ["GaugeOfModels.customAccessors", "model"])
  }

  fileprivate static func mistaken(_ name: String) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = [World.entity(name, [World.attribute("name", .stringAttributeType)])]
    return model
  }
}

private final class Following: NSFetchedResultsControllerDelegate {}

enum GaugeLevel: Int16 { case low, middle, high }

final class Gauge: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let visitsKey = ManagedKey("visits")
  private static let levelKey = ManagedKey("level")
  private static let shareKey = ManagedKey("share")

  override class var customAccessors: [String: AnyKeyPath] {
    [
      "name": \Gauge.name, "visits": \Gauge.visits, "level": \Gauge.level, "alevel": \Gauge.level,
      "zlevel": \Gauge.level, "share": \Gauge.share, "label": \Gauge.label, "rank": \Gauge.rank,
      "arank": \Gauge.rank, "echo": \Gauge.echo, "later": \Gauge.later, "mood": \Gauge.mood,
    ]
  }

  var name: String? {
    get { (managedValue(Self.nameKey) as String?)?.uppercased() }
    set { setManagedValue(newValue, Self.nameKey) }
  }
  /// Narrower than its attribute.
  var visits: Int16 {
    get { Int16(truncatingIfNeeded: managedValue(Self.visitsKey) as Int32) }
    set { setManagedValue(Int32(newValue), Self.visitsKey) }
  }
  var level: GaugeLevel {
    get { GaugeLevel(rawValue: managedValue(Self.levelKey)) ?? .low }
    set { setManagedValue(newValue.rawValue, Self.levelKey) }
  }
  var share: Float {
    get { Float(managedValue(Self.shareKey) as Double) }
    set { setManagedValue(Double(newValue), Self.shareKey) }
  }
  var labelText: String? = "#"
  var label: String? { labelText }
  /// How many bosses there are above, found out by key-value coding.
  var rank: Int {
    guard let boss = value(forKey: "boss") as? Gauge else { return 0 }
    return 1 + ((boss.value(forKey: "rank") as? NSNumber)?.intValue ?? 0)
  }
  var echo: String { value(forKey: "echo") as? String ?? "nothing" }
  private(set) var task: Task<String?, Never>?
  /// Starts a task that asks for the same key.
  var later: String {
    guard task == nil, let context = managedObjectContext else { return "fresh" }
    nonisolated(unsafe) let gauge: Gauge = self
    task = Task { await context.perform { gauge.value(forKey: "later") as? String } }
    return "started"
  }
  private var kept = "calm"
  var mood: String {
    get { kept }
    set {
      willChangeValue(forKey: "mood")
      kept = newValue
      didChangeValue(forKey: "mood")
    }
  }

  private(set) var nils: [String] = []
  override func setNilValueForKey(_ key: String) { nils.append(key) }

  private(set) var seen: [Any?] = []
  override func value(forUndefinedKey key: String) -> Any? {
    if key == "colour" { return "red" }
    if key == "echo" { return nil }
    let given: Any? = super.value(forUndefinedKey: key)
    seen.append(given)
    return key == "swallowed" ? "default" : given
  }
}

final class GaugeOfAnother: NSManagedObject {
  override class var customAccessors: [String: AnyKeyPath] { ["name": \Gauge.name] }
}

final class GaugeOfModels: NSManagedObject {
  override class var customAccessors: [String: AnyKeyPath] {
    _ = NSManagedObject(entity: AccessorValueTests.mistaken("Other").entities[0], insertInto: nil)
    return [:]
  }
}
