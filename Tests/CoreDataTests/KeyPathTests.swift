import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

struct KeyPathTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String?
    let keyPath: AnyKeyPath & Sendable
    var testDescription: String { name ?? "no name" }
  }

  private static func row(_ name: String?, _ keyPath: AnyKeyPath & Sendable) -> Row {
    Row(name: name, keyPath: keyPath)
  }

  static let named: [Row] = [
    row("name", \Worker.name), row("nick", \Worker.nick), row("age", \Worker.age),
    row("points", \Worker.points), row("pay", \Worker.pay), row("share", \Worker.share),
    row("active", \Worker.active), row("vip", \Worker.vip), row("hired", \Worker.hired),
    row("left", \Worker.left), row("id", \Worker.id), row("badge", \Worker.badge),
    row("home", \Worker.home), row("cost", \Worker.cost), row("gradeNumber", \Worker.grade),
    row("moodName", \Worker.mood), row("labels", \Worker.labels), row("boss", \Worker.boss),
    row("squad", \Worker.squad), row("skills", \Worker.skills), row("jobs", \Squad.jobs),
    row("name", \Worker.oldName), row("age", \Worker.oldAge), row("boss", \Worker.oldBoss),
    row("skills", \Worker.oldSkills), row("squad.name", \Worker.squadName),
    row("objectID", \Worker.objectID), row("self", \Worker.self), row("self", \Double.self),
    // Inherited, and along several steps.
    row("name", \Chief.name), row("budget", \Chief.budget), row("boss.name", \Worker.boss?.name),
    row("boss.boss.squad.name", \Chief.boss?.boss?.squad?.name), row("squad.name", \Worker.squad!.name),
    row("boss.budget", \Worker.boss?.budget), row("boss.nick", \Worker.boss!.nick),
  ]

  static let unnamed: [Row] = [
    row(nil, \Worker.title), row(nil, \Worker.loudName), row(nil, \Worker.isOld), row(nil, \Worker.yearsLeft),
    row(nil, \Worker.effectiveAge), row(nil, \Worker.constant), row(nil, \Worker.firstSkill),
    row(nil, \Worker.hasChanges), row(nil, \Worker.boss?.title), row(nil, \Worker.skills.count),
    row(nil, \Worker.name.count),
  ]

  @Test(arguments: named) func `a key path of a managed property has the property's name`(_ row: Row) {
    #expect(KeyPathNames.name(of: row.keyPath) == row.name)
    // And again, from the memory of names.
    #expect(KeyPathNames.name(of: row.keyPath) == row.name)
  }

  @Test(arguments: unnamed) func `a property that computes its value has no name`(_ row: Row) throws {
    #expect(KeyPathNames.name(of: row.keyPath) == nil)
    let error = try #require(errorThrown { _ = try KeyPathNames.requireName(of: row.keyPath) })
    #expect(error.domain == CoreData.PredicateError.errorDomain)
    #expect(error.localizedDescription.contains("keyPathNames"))
    #expect(error.localizedDescription.contains("\(type(of: row.keyPath).rootType)"))
  }

  @Test func `the error says what the getter did`() throws {
    func reason(_ keyPath: AnyKeyPath) -> String {
      errorThrown { _ = try KeyPathNames.requireName(of: keyPath) }?.localizedDescription ?? ""
    }
    let thrown = errorThrown { _ = try CoreData.NSExpression(converting: \Worker.title) }
    #expect(thrown?.localizedDescription == reason(\Worker.title))
    let path: String = try CoreData.NSExpression(converting: \Worker.squadName).keyPath
    #expect(path == "squad.name")
    #expect(reason(\Worker.title).contains("asks for several managed values (name, nick)"))
    #expect(reason(\Worker.loudName).contains("makes something else of 'name'"))
    #expect(reason(\Worker.constant).contains("asks for no managed value"))
    #expect(reason(\Worker.title).contains(#"\Worker.<computed property of type String>"#))
  }

  // MARK: Collections

  /// Transformable attributes without optionals.
  class Bag: NSManagedObject {
    var words: [String] { managedObjectValue("words")! }
    var marks: [Double] { managedObjectValue("marks")! }
    var flags: Set<Int> { managedObjectValue("flags")! }
    var prices: [String: Decimal] { managedObjectValue("prices")! }
    var grid: [[Int16]] { managedObjectValue("grid")! }
    var shares: [Float] { managedObjectValue("shares")! }
    var codes: Set<UInt8> { managedObjectValue("codes")! }
    var louder: [String] { words.map { "\($0)?" } }
  }

  @Test(arguments: [
    row("words", \Bag.words), row("marks", \Bag.marks), row("flags", \Bag.flags),
    row("prices", \Bag.prices), row("grid", \Bag.grid), row("shares", \Bag.shares),
    row("codes", \Bag.codes), row(nil, \Bag.louder),
  ])
  func `collections that are no relationships have names too`(_ row: Row) {
    #expect(KeyPathNames.name(of: row.keyPath) == row.name)
  }

  // Found by PredicateKit's tests, which ask for the name of `\Data.tags[0].isEmpty`.
  class Labelled: NSManagedObject {
    var tags: [String] { value(forKey: "tags") as? [String] ?? [] }
    var sizes: [String: Int] { value(forKey: "sizes") as? [String: Int] ?? [:] }
    var pairs: [(Int, Int)] { [] }
    var point: Point { value(forKey: "point") as! Point }
    var parent: Labelled? { managedObject("parent") }
  }

  @Test(arguments: [
    row(nil, \Labelled.tags[0].isEmpty), row(nil, \Labelled.tags[0]), row(nil, \Labelled.tags.count),
    row(nil, \Labelled.sizes["a"]!), row(nil, \Labelled.parent?.tags[7].count),
    row(nil, \Labelled.parent!.parent?.tags.first!.count), row(nil, \Labelled.pairs[0].0),
    row(nil, \Labelled.point.x), row(nil, \Labelled.point.inner.y),
    row("parent.tags", \Labelled.parent?.tags),
  ])
  func `a key path that goes through what is no managed object has no name, and no getter is run`(_ row: Row)
    throws
  {
    #expect(KeyPathNames.name(of: row.keyPath) == row.name)
    if row.name != nil { return }
    let error = try #require(errorThrown { _ = try KeyPathNames.requireName(of: row.keyPath) })
    #expect(error.localizedDescription.contains("goes through a value"))
  }

  // MARK: Names given by hand

  /// Its getters stop on made-up values.
  class Careful: NSManagedObject {
    private static let codeKey = ManagedKey("code")
    var code: String {
      let text: String = managedValue(Self.codeKey)
      precondition(text.hasPrefix("CODE-"))
      return text
    }
    var number: Int { Int(code.dropFirst(5)) ?? 0 }

    override class var keyPathNames: [AnyKeyPath: String] {
      super.keyPathNames.merging([\Careful.code: "code", \Careful.number: "details.number"]) { $1 }
    }
  }

  class Plain: KeyPathNaming {
    var text: String = ""
    class var keyPathNames: [AnyKeyPath: String] { [\Plain.text: "text"] }
  }

  class Plainer: Plain {
    var other: String = ""
    override class var keyPathNames: [AnyKeyPath: String] {
      super.keyPathNames.merging([\Plainer.text: "text", \Plainer.other: "other"]) { $1 }
    }
  }

  struct Point {
    var x: Int
    var inner: Inner
    var double: Int { x * 2 }
    struct Inner { var y: Int? }
  }

  @Test func `names given by hand go first, and then no getter is run`() {
    #expect(KeyPathNames.name(of: \Careful.code) == "code")
    #expect(KeyPathNames.name(of: \Careful.number) == "details.number")
    #expect(KeyPathNames.name(of: \Plain.text) == "text")
    #expect(KeyPathNames.name(of: \Plainer.text) == "text")
    #expect(KeyPathNames.name(of: \Plainer.other) == "other")
  }

  @Test func `stored properties of structures have their names`() {
    #expect(KeyPathNames.name(of: \Point.x) == "x")
    #expect(KeyPathNames.name(of: \Point.inner.y) == "inner.y")
    #expect(KeyPathNames.name(of: \Point.double) == nil)
  }

  // MARK: Types with raw values

  enum Numbered: Int {
    case three = 3
    case nine = 9
  }
  enum Worded: String { case one, two }
  struct Wrapped: RawRepresentable { var rawValue: String }
  struct Choice: OptionSet { var rawValue: Int32 }

  class Raw: NSManagedObject {
    private static let aKey = ManagedKey("a")
    var numbered: Numbered { Numbered(rawValue: managedValue(Self.aKey))! }
    var worded: Worded { Worded(rawValue: managedValue(Self.aKey))! }
    var wrapped: Wrapped { Wrapped(rawValue: managedValue(Self.aKey)) }
    var choice: Choice { Choice(rawValue: managedValue(Self.aKey)) }
  }

  @Test func `properties with raw values are tried out with values that have a case`() {
    #expect(KeyPathNames.name(of: \Raw.numbered) == "a")
    #expect(KeyPathNames.name(of: \Raw.wrapped) == "a")
    #expect(KeyPathNames.name(of: \Raw.choice) == "a")
    // The cases of an enumeration of strings can't be guessed; the getter isn't run.
    #expect(KeyPathNames.name(of: \Raw.worded) == nil)
    let error = errorThrown { _ = try KeyPathNames.requireName(of: \Raw.worded) }
    #expect(error?.localizedDescription.contains("CaseIterable") == true)
  }

  // MARK: Recording leaves no trace

  class Lazy: NSManagedObject {
    private static let nameKey = ManagedKey("name")
    private static let partsKey = ManagedKey("parts")
    private static let ownerKey = ManagedKey("owner")
    /// Writes while it is read.
    var name: String? {
      setManagedValue("x", Self.nameKey)
      setManagedMembers([], Self.partsKey)
      setManagedObject(nil, Self.ownerKey)
      setPrimitiveValue(1, forKey: "count")
      willAccessValue(forKey: "name")
      defer { didAccessValue(forKey: "name") }
      return managedValue(Self.nameKey)
    }
  }

  @Test func `a getter may write while it is tried out`() {
    #expect(KeyPathNames.name(of: \Lazy.name) == "name")
  }

  @Test func `names are found on many threads at once`() async {
    let found: Set<String?> = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<200 {
        group.addTask { KeyPathNames.name(of: \Chief.boss?.squad?.name) }
        group.addTask { KeyPathNames.name(of: \Worker.squad?.name) }
      }
      return await group.reduce(into: []) { $0.insert($1) }
    }
    #expect(found == ["boss.squad.name", "squad.name"])
  }

  @Test func `finding names leaves the properties of real objects as they are`() throws {
    let stack = try Stack(.sqlite, model: TeamModel.shared)
    try stack.run { context in
      let worker = Worker(context: context)
      worker.name = "Ann"
      worker.age = 7
      try context.save()
      context.refresh(worker, mergeChanges: false)
      #expect(KeyPathNames.name(of: \Worker.loudName) == nil)
      #expect(KeyPathNames.name(of: \Worker.effectiveAge) == nil)
      #expect(worker.isFault)
      #expect(worker.name == "Ann")
      #expect(worker.age == 7)
    }
  }

  @Test func `an expression for a key path has its name`() {
    #expect(NSExpression(forKeyPath: \Worker.boss?.name).keyPath == "boss.name")
  }
}
