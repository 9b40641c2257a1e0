import CoreData
import Testing

/// Accessors of every type that programs declare (finding D).
@Suite
struct AccessorFormTests {
  static let stores: [String] = [NSSQLiteStoreType, NSInMemoryStoreType]

  /// Sets a property, saves, makes the object a fault, and reads the property back.
  private func roundTrip<Value: Equatable>(
    _ context: NSManagedObjectContext, _ keyPath: ReferenceWritableKeyPath<EveryType, Value>, _ value: Value,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let object = EveryType(context: context)
    // A key path reads a property before it is set, so those that are not optional must have a value.
    object.gradeOptional = .low
    (object.date, object.uuid, object.url) = (Date(), UUID(), URL(string: "a:"))
    (object.decimal, object.owner) = (1, object)
    object[keyPath: keyPath] = value
    #expect(object[keyPath: keyPath] == value, "before the save", sourceLocation: location)
    try context.save()
    context.refresh(object, mergeChanges: false)
    #expect(object[keyPath: keyPath] == value, "read back", sourceLocation: location)
  }

  @Test(arguments: stores) func `numbers`(store: String) throws {
    let context: NSManagedObjectContext = try EveryType.makeContext(store)
    try context.performAndWait {
      try roundTrip(context, \.i16, -7)
      try roundTrip(context, \.i16Optional, -7)
      try roundTrip(context, \.i16Optional, nil)
      try roundTrip(context, \.i16AsInt, 300)
      try roundTrip(context, \.i16AsIntOptional, nil)
      try roundTrip(context, \.i16AsDouble, 12)
      try roundTrip(context, \.i16Unsigned, 12)
      try roundTrip(context, \.i16Byte, 200)
      try roundTrip(context, \.i16Byte, nil)
      try roundTrip(context, \.i16Number, 5)
      try roundTrip(context, \.i16Number, nil)
      try roundTrip(context, \.i32, 70000)
      try roundTrip(context, \.i32Optional, 70000)
      try roundTrip(context, \.i32Optional, nil)
      try roundTrip(context, \.i32Unsigned, 65535)
      try roundTrip(context, \.i64, 1 << 40)
      try roundTrip(context, \.i64Optional, nil)
      try roundTrip(context, \.i64AsInt, -1)
      try roundTrip(context, \.i64Unsigned, 4_000_000_000)
      try roundTrip(context, \.bool, true)
      try roundTrip(context, \.boolOptional, false)
      try roundTrip(context, \.boolOptional, nil)
      try roundTrip(context, \.boolNumber, true)
      try roundTrip(context, \.float, 1.5)
      try roundTrip(context, \.floatOptional, nil)
      try roundTrip(context, \.double, 0.1)
      try roundTrip(context, \.doubleOptional, nil)
      try roundTrip(context, \.decimal, NSDecimalNumber(string: "12.34"))
      try roundTrip(context, \.decimalValue, Decimal(string: "12.34")!)
      try roundTrip(context, \.decimalOptional, nil)
    }
  }

  @Test(arguments: stores) func `text, dates, bytes, ids and URLs`(store: String) throws {
    let context: NSManagedObjectContext = try EveryType.makeContext(store)
    let date = Date(timeIntervalSinceReferenceDate: 12.5)
    let uuid = UUID()
    let url: URL = try #require(URL(string: "https://example.org/a"))
    try context.performAndWait {
      try roundTrip(context, \.string, "a")
      try roundTrip(context, \.string, nil)
      try roundTrip(context, \.stringRequired, "a")
      try roundTrip(context, \.stringObject, "a")
      try roundTrip(context, \.date, date)
      try roundTrip(context, \.dateRequired, date)
      try roundTrip(context, \.dateObject, date as NSDate)
      try roundTrip(context, \.dateObject, nil)
      try roundTrip(context, \.dateScalar, 12.5)
      try roundTrip(context, \.data, Data([1]))
      try roundTrip(context, \.dataRequired, Data([1]))
      try roundTrip(context, \.dataObject, Data([1]) as NSData)
      try roundTrip(context, \.uuid, uuid)
      try roundTrip(context, \.uuidRequired, uuid)
      try roundTrip(context, \.uuidObject, uuid as NSUUID)
      try roundTrip(context, \.url, url)
      try roundTrip(context, \.urlRequired, url)
      try roundTrip(context, \.urlObject, url as NSURL)
      try roundTrip(context, \.urlObject, nil)
    }
  }

  @Test(arguments: stores) func `raw values, transformable and composite attributes`(store: String) throws {
    let context: NSManagedObjectContext = try EveryType.makeContext(store)
    try context.performAndWait {
      try roundTrip(context, \.grade, .high)
      try roundTrip(context, \.gradeOptional, .low)
      try roundTrip(context, \.gradeOptional, nil)
      try roundTrip(context, \.kind, .odd)
      try roundTrip(context, \.kind, nil)
      try roundTrip(context, \.marks, [.first, .second])
      try roundTrip(context, \.marks, [])
      try roundTrip(context, \.words, ["a", "b"])
      try roundTrip(context, \.words, nil)
      try roundTrip(context, \.wordsRequired, ["a"])
      let object = EveryType(context: context)
      #expect(object.wordsRequired == [] && object.dataRequired.isEmpty && object.stringRequired.isEmpty)
      #expect(object.i32 == 0 && !object.bool && object.marks == [])
      object.spot = EveryType.Spot(3)
      #expect(object.spotObject == EveryType.Spot(3))
      object.anything = EveryType.Spot(4)
      #expect(object.spot?.place == 4)
      object.address = ["city": "Rome"]
      #expect(object.address?["city"] as? String == "Rome")
      object.setValue(9, forKey: "grade")
      #expect(object.gradeOptional == nil)
    }
  }

  @Test(arguments: stores) func `relationships`(store: String) throws {
    let context: NSManagedObjectContext = try EveryType.makeContext(store)
    try context.performAndWait {
      let a = EveryType(context: context)
      let b = EveryType(context: context)
      try roundTrip(context, \.owner, a)
      try roundTrip(context, \.owner, nil)
      try roundTrip(context, \.ownerRequired, a)
      try roundTrip(context, \.ownerForced, a)
      try roundTrip(context, \.ownerAsValue, a)
      try roundTrip(context, \.members, [a, b])
      try roundTrip(context, \.membersOptional, [a])
      try roundTrip(context, \.membersSet, NSSet(array: [a, b]))
      try roundTrip(context, \.membersSetRequired, NSSet(object: a))
      try roundTrip(context, \.membersAsValue, [b])
      try roundTrip(context, \.parts, [b, a])
      try roundTrip(context, \.partsOptional, [a, b])
      try roundTrip(context, \.partsSet, NSOrderedSet(array: [b, a]))
      try roundTrip(context, \.partsSetRequired, NSOrderedSet(object: a))
      try roundTrip(context, \.partsAsValue, [b, a])
      try roundTrip(context, \.partsSetAsValue, NSOrderedSet(array: [b, a]))
      let c = EveryType(context: context)
      c.parts = [a]
      c.partsOptional = nil
      c.members = [a]
      c.membersSet = nil
      #expect(c.parts.isEmpty && c.members.isEmpty)
    }
  }

  @Test func `accessors by key-value coding work, and in key paths`() throws {
    let context: NSManagedObjectContext = try EveryType.makeContext(NSSQLiteStoreType)
    try context.performAndWait {
      let owner = EveryType(context: context)
      let object = EveryType(context: context)
      object.codedNumber = 5
      object.codedDate = Date(timeIntervalSinceReferenceDate: 9)
      object.codedURL = URL(string: "a://b")!
      object.codedData = Data([2])
      object.codedOwner = owner
      object.codedWords = ["x"]
      object.string = "text"
      #expect(object.codedNumber == 5 && object.codedData == Data([2]) && object.codedOwner == owner)
      #expect(owner.codedMembers == [object] && owner.codedSet == NSSet(object: object))
      #expect(object.codedURL.absoluteString == "a://b" && object.codedWords == ["x"])
      #expect(owner.memberCount == 1 && object.yearOfDate == 9 && object.lengthOfText == 4)
      try context.save()
      #expect(NSSortDescriptor(keyPath: \EveryType.codedNumber, ascending: true).key == "i32")
      #expect(NSSortDescriptor(keyPath: \EveryType.codedDate, ascending: true).key == "date")
      #expect(NSExpression(forKeyPath: \EveryType.codedURL).keyPath == "url")
      #expect(NSExpression(forKeyPath: \EveryType.codedOwner).keyPath == "owner")
      #expect(NSExpression(forKeyPath: \EveryType.codedOwner.codedNumber).keyPath == "owner.i32")
      #expect(NSExpression(forKeyPath: \EveryType.codedMembers).keyPath == "members")
      let request = NSFetchRequest<EveryType>(entityName: "EveryType")
      request.sortDescriptors = [NSSortDescriptor(keyPath: \EveryType.codedNumber, ascending: true)]
      #expect(try context.fetch(request).last == object)
    }
  }

  @Test func `key paths of accessors of every type have names`() {
    let names: [(found: String?, wanted: String)] = [
      (name(\EveryType.i16), "i16"), (name(\EveryType.i16Optional), "i16"),
      (name(\EveryType.i16AsInt), "i16"),
      (name(\EveryType.i16Unsigned), "i16"), (name(\EveryType.i16Byte), "i16"),
      (name(\EveryType.i16Number), "i16"),
      (name(\EveryType.i32Optional), "i32"), (name(\EveryType.i64Unsigned), "i64"),
      (name(\EveryType.boolOptional), "bool"),
      (name(\EveryType.boolNumber), "bool"), (name(\EveryType.floatOptional), "float"),
      (name(\EveryType.decimal), "decimal"),
      (name(\EveryType.decimalValue), "decimal"), (name(\EveryType.stringObject), "string"),
      (name(\EveryType.dateRequired), "date"),
      (name(\EveryType.dateObject), "date"), (name(\EveryType.dateScalar), "date"),
      (name(\EveryType.dataRequired), "data"),
      (name(\EveryType.dataObject), "data"), (name(\EveryType.uuidRequired), "uuid"),
      (name(\EveryType.uuidObject), "uuid"),
      (name(\EveryType.urlRequired), "url"), (name(\EveryType.urlObject), "url"),
      (name(\EveryType.grade), "grade"),
      (name(\EveryType.gradeOptional), "grade"), (name(\EveryType.kind), "kind"),
      (name(\EveryType.marks), "marks"),
      (name(\EveryType.words), "words"), (name(\EveryType.wordsRequired), "words"),
      (name(\EveryType.owner), "owner"),
      (name(\EveryType.ownerRequired), "owner"), (name(\EveryType.ownerForced), "owner"),
      (name(\EveryType.ownerAsValue), "owner"),
      (name(\EveryType.members), "members"), (name(\EveryType.membersSet), "members"),
      (name(\EveryType.membersOptional), "members"),
      (name(\EveryType.membersAsValue), "members"), (name(\EveryType.partsSet), "parts"),
      (name(\EveryType.partsAsValue), "parts"),
      (name(\EveryType.ownerRequired.grade), "owner.grade"),
    ]
    for name in names { #expect(name.found == name.wanted) }
  }

  private func name<Value>(_ keyPath: KeyPath<EveryType, Value>) -> String? {
    do {
      return try NSExpression(converting: keyPath).keyPath
    } catch {
      return "\(error)"
    }
  }
}
