import CoreData
import Foundation
import StackSupport
import Testing

/// Accessors of a class's own, which key-value coding calls as the Objective-C runtime does
/// on Apple's platforms.
@Suite
struct CustomAccessorTests {
  /// Club ←many→ Member (first, last, email, visits, level, points; transient: fullName, badge) ← Honorary.
  static let model: NSManagedObjectModel = {
    let transients: [NSAttributeDescription] = ["fullName", "badge"].map { name in
      let attribute = World.attribute(name, .stringAttributeType)
      attribute.isTransient = true
      return attribute
    }
    transients[1].isOptional = false
    transients[1].setValidationPredicates(
      [NSPredicate(format: "SELF BEGINSWITH '#'")], withValidationWarnings: ["has to begin with #"])
    let member = World.entity(
      "Member",
      [
        World.attribute("first", .stringAttributeType), World.attribute("last", .stringAttributeType),
        World.attribute("email", .stringAttributeType), World.attribute("visits", .integer32AttributeType),
        World.attribute("level", .integer16AttributeType), World.attribute("points", .integer64AttributeType),
      ] + transients)
    let honorary = World.entity("Honorary", [World.attribute("since", .dateAttributeType)])
    member.subentities = [honorary]
    let club = World.entity("Club", [World.attribute("name", .stringAttributeType)])
    World.pair(club, "members", .many, .cascadeDeleteRule, member, "club", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [member, honorary, club]
    return model
  }()

  private func stack(_ kind: StoreKind) throws -> Stack { try Stack(kind, model: Self.model) }

  private func member(
    _ context: NSManagedObjectContext, _ first: String, _ last: String, _ entity: String = "Member"
  ) throws -> Member {
    try #require(context.make(entity, ["first": first, "last": last, "badge": "#1"]) as? Member)
  }

  // MARK: Reading

  @Test(
    .rule(
      "ACC-5", "Key-Value Coding Programming Guide", "value(forKey:) calls the accessor of the class"),
    arguments: StoreKind.allCases)
  func `a getter that makes a transient value is called, once, and again after a refresh`(kind: StoreKind)
    throws
  {
    let stack = try stack(kind)
    try stack.run { context in
      let ann = try member(context, "Ann", "Lee")
      #expect(ann.primitiveValue(forKey: "fullName") == nil, "nobody has asked yet")
      #expect(ann.value(forKey: "fullName") as? String == "Ann Lee")
      #expect(ann.value(forKey: "fullName") as? String == "Ann Lee")
      #expect(ann.made == 1)
      #expect(ann.primitiveValue(forKey: "fullName") as? String == "Ann Lee")
      #expect(ann["fullName"] as? String == "Ann Lee")
      try context.save()
      context.refresh(ann, mergeChanges: false)
      #expect(ann.isFault)
      #expect(ann.value(forKey: "fullName") as? String == "Ann Lee")
      #expect(ann.made == 2)
      #expect(!ann.hasChanges)
    }
  }

  @Test func `values come as key-value coding gives them`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      let club: NSManagedObject = context.make("Club", ["name": "Chess", "members": NSSet(object: ann)])
      ann.level = .gold
      let cases: [(String, NSObject?)] = [
        ("initials", "AL" as NSString), ("visits", NSNumber(value: 0)), ("level", NSNumber(value: 2)),
        ("weight", NSDecimalNumber(string: "1.25")), ("isNew", NSNumber(value: true)), ("nothing", nil),
        ("friends", NSSet(object: ann)), ("size", NSNumber(value: Int16(7))), ("home", club),
      ]
      for (key, expected) in cases {
        let value: Any? = ann.value(forKey: key)
        #expect(value as? NSObject == expected, "\(key)")
        #expect(expected == nil || value is NSObject, "\(key)")
      }
      #expect(
        ann.dictionaryWithValues(forKeys: ["initials", "nothing", "first"]) as NSDictionary
          == ["initials": "AL", "nothing": NSNull(), "first": "Ann"] as NSDictionary)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `key paths, operators, predicates and sorts over objects go through accessors`(kind: StoreKind) throws
  {
    let stack = try stack(kind)
    try stack.run { context in
      let people = [("Zoe", "Abel"), ("Ann", "Lee"), ("Bob", "Lee"), ("Cleo", "May")]
      let club: NSManagedObject = context.make("Club", ["name": "Chess"])
      for (place, (first, last)) in people.enumerated() {
        let made = try member(context, first, last)
        made.setValue(club, forKey: "club")
        made.setValue(place, forKey: "points")
      }
      try context.save()
      context.reset()
    }
    try stack.run { context in
      let club: NSManagedObject = try #require(context.all(NSManagedObject.self, "Club").first)
      let members: [Member] = try context.all(Member.self, "Member", sort: ["first"])
      let names: Set<String>? = club.value(forKeyPath: "members.initials") as? Set<String>
      #expect(names == ["ZA", "AL", "BL", "CM"])
      #expect(club.value(forKeyPath: "members.@max.fullName") as? String == "Zoe Abel")
      // 10 for each of the points, as the getter has it.
      #expect((club.value(forKeyPath: "members.@sum.points") as? NSNumber)?.intValue == 60)
      #expect(members[0].value(forKeyPath: "club.members.@count") as? Int == 4)

      let filters: [(String, [String])] = [
        ("fullName ENDSWITH 'Lee'", ["Ann", "Bob"]), ("initials == 'CM'", ["Cleo"]),
        ("points > 10", ["Bob", "Cleo"]), ("points == 10 OR initials == 'ZA'", ["Ann", "Zoe"]),
        ("ANY club.members.initials == 'CM' AND fullName BEGINSWITH[c] 'a'", ["Ann"]),
        ("SUBQUERY(club.members, $m, $m.points == 30).@count == 1 AND points == 0", ["Zoe"]),
        ("isNew == YES OR visits > 0 OR level != 0", []),
      ]
      for (format, expected) in filters {
        let predicate = NSPredicate(format: format)
        let found: [String] = (members as NSArray).filtered(using: predicate).compactMap {
          ($0 as? Member)?.first
        }
        #expect(found.sorted() == expected, "\(format)")
        #expect(members.filter { predicate.evaluate(with: $0) }.compactMap(\.first).sorted() == expected)
      }
      let byName: [Any] = (members as NSArray).sortedArray(using: [
        NSSortDescriptor(key: "initials", ascending: false)
      ])
      #expect(byName.compactMap { ($0 as? Member)?.first } == ["Zoe", "Cleo", "Bob", "Ann"])
      let byPoints: [Any] = (members as NSArray).sortedArray(using: [
        NSSortDescriptor(key: "points", ascending: false), NSSortDescriptor(key: "first", ascending: true),
      ])
      #expect(byPoints.compactMap { ($0 as? Member)?.first } == ["Cleo", "Bob", "Ann", "Zoe"])
      #expect(club.value(forKeyPath: "members.@unionOfObjects.nothing") is NSArray)
    }
  }

  @Test func `a sub-entity's accessor is called where the relationship promises the entity`() throws {
    try stack(.inMemory).run { context in
      let club: NSManagedObject = context.make("Club", ["name": "Chess"])
      let ann = try member(context, "Ann", "Lee")
      let bob = try member(context, "Bob", "May", "Honorary")
      club.setValue(NSSet(array: [ann, bob]), forKey: "members")
      // Member has no accessor of its own for `last`; Honorary has, and overrides `initials`.
      #expect(bob.value(forKey: "last") as? String == "Sir May")
      #expect(bob.primitiveValue(forKey: "last") as? String == "May")
      #expect(bob.value(forKey: "initials") as? String == "*")
      #expect(bob.value(forKey: "fullName") as? String == "Bob Sir May", "inherited")
      for (format, expected) in [
        ("ANY members.last == 'Sir May'", true), ("ANY members.last == 'May'", false),
        ("ANY members.last == 'Lee'", true), ("ANY members.initials == '*'", true),
      ] {
        #expect(NSPredicate(format: format).evaluate(with: club) == expected, "\(format)")
      }
      #expect(NSPredicate(format: "last == 'Sir May'").evaluate(with: bob))
      #expect(NSPredicate(format: "last == 'Lee'").evaluate(with: ann))
    }
  }

  @Test func `Swift's predicates and sort descriptors name what the class names`() throws {
    try stack(.inMemory).run { context in
      _ = try member(context, "Ann", "Lee")
      let bob = try member(context, "Bob", "May")
      let predicate: NSPredicate = try #require(NSPredicate(#Predicate<Member> { $0.initials == "BM" }))
      #expect(predicate.formatText == "initials == \"BM\"")
      #expect(predicate.evaluate(with: bob))
      #expect(NSSortDescriptor(keyPath: \Member.fullName, ascending: true).key == "fullName")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a key path names the primitive accessor, and not the attribute behind it`(kind: StoreKind) throws {
    let order = NSSortDescriptor(keyPath: \Fossil.primitiveAge, ascending: true)
    #expect(order.key == "primitiveAge")
    #expect(NSSortDescriptor(keyPath: \Fossil.age, ascending: true).key == "age")
    let model = NSManagedObjectModel()
    model.entities = [
      World.entity("Fossil", ["age", "primitiveAge"].map { World.attribute($0, .stringAttributeType) })
    ]
    try Stack(kind, model: model).run { context in
      for (age, primitiveAge) in [("1", "c"), ("2", "a"), ("3", "b")] {
        _ = context.make("Fossil", ["age": age, "primitiveAge": primitiveAge])
      }
      let request = NSFetchRequest<Fossil>(entityName: "Fossil")
      request.sortDescriptors = [order]
      #expect(try context.fetch(request).map(\.age) == ["2", "3", "1"], "unsaved")
      try context.save()
      context.reset()
      #expect(try context.fetch(request).map(\.age) == ["2", "3", "1"])
      request.predicate = NSPredicate(#Predicate<Fossil> { $0.primitiveAge == "b" })
      #expect(try context.fetch(request).map(\.age) == ["3"])
    }
  }

  // MARK: Fetching

  @Test(arguments: StoreKind.allCases)
  func `a fetch goes by the stored value, also of objects with changes`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      let ann = try member(context, "Ann", "Lee", "Honorary")
      ann.setValue("Ann@X.org", forKey: "email")
      try context.save()
      let stored = NSPredicate(format: "last == 'Lee'")
      let made = NSPredicate(format: "last == 'Sir Lee'")
      #expect(try context.all(Member.self, "Member", stored).count == 1)
      #expect(try context.all(Member.self, "Member", made).isEmpty)
      ann.setValue(3, forKey: "visits")
      #expect(try context.all(Member.self, "Member", stored).count == 1)
      #expect(try context.all(Member.self, "Member", made).isEmpty)
      #expect(made.evaluate(with: ann))
      let unknown: NSError? = errorThrown {
        _ = try context.all(Member.self, "Member", NSPredicate(format: "initials == 'AL'"))
      }
      #expect(unknown?.localizedDescription.contains("initials") == true)
    }
  }

  // MARK: Writing

  @Test(arguments: StoreKind.allCases)
  func `a setter is called, converted for, and what it stores is saved`(kind: StoreKind) throws {
    let stack = try stack(kind)
    try stack.run { context in
      let ann = try member(context, "Ann", "Lee")
      ann.setValue("Ann@Example.ORG", forKey: "email")
      #expect(ann.email == "ann@example.org")
      ann.setValue(NSNumber(value: -4), forKey: "visits")
      #expect(ann.visits == 0)
      ann.setValue(Int16(12), forKey: "visits")
      #expect(ann.visits == 12)
      ann.setValue(7.9, forKey: "visits")
      #expect(ann.visits == 7)
      ann.setValue(2, forKey: "level")
      #expect(ann.level == .gold)
      ann.setValue("bits", forKeyPath: "nickname")
      #expect(ann.nickname == "BITS", "a property that is not in the model")
      ann.setValuesForKeys(["email": "B@C.D", "nickname": "x"])
      #expect(ann.email == "b@c.d")
      #expect(ann.nickname == "X")
      ann.setValue(nil, forKey: "nickname")
      #expect(ann.nickname == nil)
      ann.setValue("Ann Lee-May", forKey: "fullName")
      #expect(ann.primitiveValue(forKey: "fullName") as? String == "Ann Lee-May", "no setter: the slot")
      try context.save()
    }
    try stack.elsewhere { context in
      let ann = try #require(context.all(Member.self, "Member").first)
      #expect(ann.email == "b@c.d")
      #expect(ann.visits == 7)
      #expect(ann.level == .gold)
    }
  }

  @Test(
    .rule("ACC-6", "setNilValueForKey(_:)", "nil for a property that takes none"),
    arguments: StoreKind.allCases)
  func `nil for an accessor that takes none goes to setNilValueForKey`(kind: StoreKind) throws {
    try stack(kind).run { context in
      let ann = try member(context, "Ann", "Lee")
      ann.visits = 5
      ann.setValue(nil, forKey: "visits")
      #expect(ann.visits == 0, "what the class puts in place of nil")
      #expect(ann.nils == ["visits"])
      ann.setValue(3, forKey: "points")
      ann.setValue(NSNull(), forKey: "points")
      #expect(ann.primitiveValue(forKey: "points") == nil, "an attribute without a setter of the class's own")
      ann.setValue(nil, forKey: "email")
      #expect(ann.email == nil)
      #expect(ann.nils == ["visits"])
    }
  }

  @Test func `a value of a wrong type is refused by the save that it would reach`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      ann.setValue(["no", "address"], forKey: "email")
      let error: NSError? = errorThrown { try context.save() }
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "email")
      ann.setValue("a@b", forKey: "email")
      try context.save()
    }
  }

  @Test func `a getter that asks for its own key comes to an end`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      #expect(ann.value(forKey: "xEcho") as? String == "nothing")
      #expect(ann.xEcho == "nothing")
    }
  }

  // MARK: Undefined keys

  @Test(.rule("ACC-7", "value(forUndefinedKey:)", "keys that stand for nothing"))
  func `keys that stand for nothing are the class's to answer`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      #expect(ann.value(forKey: "x-colour") as? String == nil)
      ann.setValue("red", forKey: "x-colour")
      #expect(ann.extras == ["x-colour": "red"])
      #expect(ann.value(forKey: "x-colour") as? String == "red")
      ann.setValue("big", forKey: "x_size")
      #expect(NSPredicate(format: "x_size == 'big'").evaluate(with: ann))
      let error: (any Error)? = #expect(throws: (any Error).self) {
        try NSPredicate(format: "lst == 'Lee'").evaluateThrowing(with: ann, substitutionVariables: nil)
      }
      #expect("\(try #require(error))".contains("last"), "super's refusal is thrown, with the nearest names")
    }
  }

  @Test func `the members of an NSSet are a set of their class`() throws {
    try stack(.inMemory).run { context in
      let (ann, bob) = (try member(context, "Ann", "Lee"), try member(context, "Bob", "May"))
      let members: NSSet? = NSSet(array: [ann, bob])
      #expect(members.map(Set<NSManagedObject>.init) == [ann, bob])
    }
  }

  // Finding: a program that sets "Date" works on Apple's platforms, and was ended here.
  @Test func `a key whose setter is that of a property sets the property`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      let known: String = try #require(ann.entity.attributesByName.keys.contains("last") ? "last" : nil)
      ann.setValue("May", forKey: "Last")
      #expect(ann.value(forKey: known) as? String == "May")
    }
  }

  @Test func `the state of an object is a key, and so are stored properties of inherited classes`() throws {
    try stack(.inMemory).run { context in
      let bob = try member(context, "Bob", "May", "Honorary")
      #expect(NSPredicate(format: "isInserted == YES AND hasChanges == YES").evaluate(with: bob))
      try context.save()
      #expect(NSPredicate(format: "isInserted == NO AND isDeleted == NO").evaluate(with: bob))
      #expect(bob.value(forKey: "nils") as? [String] == [], "declared by Member")
      #expect(bob.value(forKey: "managedObjectContext") as? NSManagedObjectContext === context)
    }
  }

  // MARK: Validation and observation

  @Test(arguments: StoreKind.allCases)
  func `a transient attribute is validated as its accessor gives it, a stored one as it is stored`(
    kind: StoreKind
  ) throws {
    try stack(kind).run { context in
      let bob = try #require(try member(context, "Bob", "May", "Honorary") as? Honorary)
      bob.setPrimitiveValue(nil, forKey: "badge")
      bob.badgeText = "#7"
      try context.save()
      bob.badgeText = "7"
      bob.setValue("other", forKey: "badge")
      let error: NSError? = errorThrown { try context.save() }
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "badge")
      #expect(error?.userInfo[NSValidationValueErrorKey] as? String == "7")
      var initials: Any? = "anything"
      try bob.validateValue(&initials, forKey: "initials")
    }
  }

  @Test func `observers by name are given what the accessor gives`() throws {
    try stack(.inMemory).run { context in
      let ann = try member(context, "Ann", "Lee")
      var seen: [Int?] = []
      let observation: NSKeyValueObservation = ann.observe("points", options: [.new]) { _, change in
        seen.append((change.newValue as? NSNumber)?.intValue)
      }
      ann.setValue(2, forKey: "points")
      observation.invalidate()
      #expect(seen == [20])
    }
  }
}

enum MemberLevel: Int16, CaseIterable { case plain, silver, gold }

class Member: NSManagedObject {
  private static let firstKey = ManagedKey("first")
  private static let lastKey = ManagedKey("last")
  private static let emailKey = ManagedKey("email")
  private static let visitsKey = ManagedKey("visits")
  private static let levelKey = ManagedKey("level")

  override class var customAccessors: [String: AnyKeyPath] {
    [
      "fullName": \Member.fullName, "email": \Member.email, "visits": \Member.visits, "level": \Member.level,
      "points": \Member.points, "initials": \Member.initials, "nickname": \Member.nickname,
      "weight": \Member.weight, "isNew": \Member.isNew, "nothing": \Member.nothing, "size": \Member.size,
      "friends": \Member.friends, "home": \Member.home, "xEcho": \Member.xEcho,
    ]
  }

  var first: String? {
    get { managedValue(Self.firstKey) }
    set { setManagedValue(newValue, Self.firstKey) }
  }
  var last: String? {
    get { managedValue(Self.lastKey) }
    set { setManagedValue(newValue, Self.lastKey) }
  }
  /// As Apple's guide writes a transient value that is made when it is asked for.
  var fullName: String {
    willAccessValue(forKey: "fullName")
    defer { didAccessValue(forKey: "fullName") }
    if let known = primitiveValue(forKey: "fullName") as? String { return known }
    made += 1
    let name = "\(first ?? "") \(last ?? "")"
    setPrimitiveValue(name, forKey: "fullName")
    return name
  }
  var email: String? {
    get { managedValue(Self.emailKey) }
    set { setManagedValue(newValue?.lowercased(), Self.emailKey) }
  }
  var visits: Int32 {
    get { managedValue(Self.visitsKey) }
    set { setManagedValue(max(0, newValue), Self.visitsKey) }
  }
  var level: MemberLevel {
    get { MemberLevel(rawValue: managedValue(Self.levelKey)) ?? .plain }
    set { setManagedValue(newValue.rawValue, Self.levelKey) }
  }
  var points: Int { 10 * ((primitiveValue(forKey: "points") as? NSNumber)?.intValue ?? 0) }
  /// A mistake: it asks for itself.
  var xEcho: String { value(forKey: "xEcho") as? String ?? "nothing" }
  var initials: String { [first, last].compactMap { $0?.first.map(String.init) }.joined() }
  var nickname: String? {
    get { shout }
    set { shout = newValue?.uppercased() }
  }
  var weight: Decimal { 1.25 }
  var isNew: Bool { objectID.isTemporaryID }
  var nothing: Date? { nil }
  var size: Int16 { 7 }
  var friends: Set<Member> { [self] }
  var home: NSManagedObject? { value(forKey: "club") as? NSManagedObject }

  private var shout: String?
  private(set) var made = 0
  private(set) var nils: [String] = []
  private(set) var extras: [String: String] = [:]

  override func setNilValueForKey(_ key: String) {
    nils.append(key)
    if key == "visits" { visits = 0 } else { super.setNilValueForKey(key) }
  }

  override func value(forUndefinedKey key: String) -> Any? {
    key.hasPrefix("x") ? extras[key] : super.value(forUndefinedKey: key)
  }

  override func setValue(_ value: Any?, forUndefinedKey key: String) {
    guard key.hasPrefix("x") else { return super.setValue(value, forUndefinedKey: key) }
    extras[key] = value as? String
  }
}

class Honorary: Member {
  private static let lastKey = ManagedKey("last")

  override class var customAccessors: [String: AnyKeyPath] {
    ["last": \Honorary.last, "badge": \Honorary.badge]
  }

  override var last: String? {
    get { (managedValue(Self.lastKey) as String?).map { "Sir " + $0 } }
    set { setManagedValue(newValue, Self.lastKey) }
  }
  override var initials: String { "*" }
  var badgeText = "#1"
  var badge: String { badgeText }
}

/// Its attribute has the name that Apple's primitive accessors have.
class Fossil: NSManagedObject {
  private static let ageKey = ManagedKey("age")
  private static let primitiveAgeKey = ManagedKey("primitiveAge")

  var age: String? { managedValue(Self.ageKey) }
  var primitiveAge: String? { managedPrimitiveValue(Self.ageKey, Self.primitiveAgeKey) }
}
