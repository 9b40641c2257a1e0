import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Attributes that are dictionaries of named elements.
@Suite
struct CompositeAttributeTests {
  private func place(_ context: NSManagedObjectContext, _ name: String, _ address: [String: Any]?) -> Place {
    let place = Place(context: context)
    place.name = name
    place.address = address
    return place
  }

  private static var home: [String: Any] {
    ["street": "Kö", "zip": "1", "position": ["latitude": 51.5, "longitude": 7]]
  }

  @Test(
    .rule(
      "STORE-17", "NSCompositeAttributeDescription",
      "composite attributes appear as dictionaries and support key paths in predicates"),
    arguments: StoreKind.composite)
  func `a composite attribute is a dictionary, its elements are stored and found by key path`(kind: StoreKind)
    throws
  {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      let made: Place = place(context, "Home", Self.home)
      #expect(made.street == "Kö" && made.latitude == 51.5)
      _ = place(context, "Nowhere", nil)
      _ = place(context, "Post", ["zip": "2"])
      try context.save()
      #expect(made.street == "Kö" && made.latitude == 51.5)
    }
    try stack.elsewhere { context in
      func names(_ format: String, sort: [String] = ["name"]) throws -> [String?] {
        try context.all(Place.self, "Place", NSPredicate(format: format), sort: sort).map(\.name)
      }
      #expect(try names("address.street = 'Kö'") == ["Home"])
      #expect(try names("address.position.latitude > 51 AND address.zip BEGINSWITH '1'") == ["Home"])
      #expect(try names("address.zip != nil", sort: ["-address.zip"]) == ["Post", "Home"])
      #expect(try names("address.position.latitude = nil") == ["Nowhere", "Post"])
      #expect(try names("address.street.length = 2") == ["Home"])
      #expect(try names("address = nil") == ["Nowhere"])
      #expect(try names("score.stars = 3").count == 3)
      let home = try #require(
        try context.all(Place.self, "Place", NSPredicate(format: "name = 'Home'")).first)
      let position: [String: Any]? = home.address?["position"] as? [String: Any]
      #expect(position?["longitude"] as? Double == 7 && home.address?.count == 3)
      #expect(home.value(forKeyPath: "address.zip") as? String == "1")
      #expect((home.primitiveValue(forKey: "address") as? [String: Any])?["zip"] as? String == "1")
      let post = try #require(
        try context.all(Place.self, "Place", NSPredicate(format: "name = 'Post'")).first)
      #expect(post.address?.keys.sorted() == ["zip"])
      let nowhere = try #require(
        try context.all(Place.self, "Place", NSPredicate(format: "name = 'Nowhere'")).first)
      #expect(nowhere.address == nil && nowhere.value(forKey: "address") == nil)
    }
  }

  @Test func `each element has a column of its own, named by its path`() throws {
    let stack = try Stack(.sqlite, model: Atlas.model)
    let columns: Set<String> = try FileContents(stack.folder.file("World.sqlite")).columns["ZPLACE"] ?? []
    #expect(
      columns.isSuperset(of: [
        "ZADDRESS_STREET", "ZADDRESS_ZIP", "ZADDRESS_POSITION_LATITUDE", "ZADDRESS_POSITION_LONGITUDE",
        "ZSCORE_STARS",
      ]))
    #expect(!columns.contains("ZADDRESS"))
  }

  @Test(arguments: StoreKind.composite)
  func `members of a relationship are asked about elements, too`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      let guide: NSManagedObject = context.make("Guide", ["name": "Blue"])
      place(context, "Home", Self.home).setValue(guide, forKey: "guide")
      _ = context.make("Guide", ["name": "Red"])
      try context.save()
    }
    try stack.elsewhere { context in
      func names(_ format: String) throws -> [String?] {
        try context.all(NSManagedObject.self, "Guide", NSPredicate(format: format)).map {
          $0.value(forKey: "name") as? String
        }
      }
      let any: [String?] = try names("ANY places.address.street = 'Kö'")
      #expect(any == ["Blue"])
      #expect(try names("places.@max.address.position.latitude > 51") == ["Blue"])
      #expect(try names("SUBQUERY(places, $p, $p.address.zip = '1').@count = 1") == ["Blue"])
      #expect(
        try context.all(Place.self, "Place", NSPredicate(format: "guide.name = 'Blue' AND address.zip = '1'"))
          .count == 1)
    }
  }

  @Test(arguments: StoreKind.composite)
  func `dictionaries of a fetch hold elements by path, or the whole as a dictionary`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      _ = place(context, "Home", Self.home)
      try context.save()
    }
    try stack.elsewhere { context in
      let request = NSFetchRequest<NSDictionary>(entityName: "Place")
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = ["name", "address.street", "address.position.latitude", "score.stars"]
      let first = try #require(try context.fetch(request).first)
      #expect(
        first["address.street"] as? String == "Kö" && first["address.position.latitude"] as? Double == 51.5)
      #expect(first["score.stars"] as? Int == 3)
      request.propertiesToFetch = ["address"]
      let whole = try #require(try context.fetch(request).first)
      let address = try #require(whole["address"] as? NSDictionary)
      #expect(address["zip"] as? String == "1")
      #expect((address["position"] as? NSDictionary)?["longitude"] as? Double == 7)
      request.propertiesToFetch = nil
      let all = try #require(try context.fetch(request).first)
      #expect((all["address"] as? NSDictionary)?["street"] as? String == "Kö")
    }
  }

  // MARK: Changes

  @Test(arguments: StoreKind.composite)
  func `changes, committed values, undo and rollback speak of the whole attribute`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      context.undoManager = UndoManager()
      let home: Place = place(context, "Home", Self.home)
      try context.save()

      home.setValue("Allee", forKeyPath: "address.street")
      #expect(home.street == "Allee" && home.latitude == 51.5)
      #expect(home.changedValues().keys.sorted() == ["address"])
      #expect((home.changedValues()["address"] as? [String: Any])?["street"] as? String == "Allee")
      let committed: [String: Any] = home.committedValues(forKeys: ["address"])
      #expect((committed["address"] as? [String: Any])?["street"] as? String == "Kö")
      let before: [String: Any]? = home.changedValuesForCurrentEvent()["address"] as? [String: Any]
      #expect(before?["street"] as? String == "Kö" && before?["zip"] as? String == "1")
      context.processPendingChanges()
      context.undo()
      #expect(home.street == "Kö")
      context.redo()
      #expect(home.street == "Allee")

      home.address = ["zip": "9"]
      #expect(home.street == nil && home.latitude == nil)
      context.rollback()
      #expect(home.street == "Kö" && home.latitude == 51.5)
      home.address = ["zip": "9"]
      try context.save()
      context.refresh(home, mergeChanges: false)
      #expect(home.address?.keys.sorted() == ["zip"])
      home.address = nil
      try context.save()
      context.refresh(home, mergeChanges: false)
      #expect(home.address == nil && !home.hasPersistentChangedValues)
    }
  }

  @Test(arguments: StoreKind.composite)
  func `two contexts that change different elements merge them`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      _ = place(context, "Home", Self.home)
      try context.save()
    }
    let other: NSManagedObjectContext = stack.other()
    other.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    let held: Place = try other.performAndWait {
      let held = try #require(try other.all(Place.self, "Place").first)
      held.setValue("Mine", forKeyPath: "address.street")
      return held
    }
    try stack.run { context in
      let home = try #require(try context.all(Place.self, "Place").first)
      home.setValue("Theirs", forKeyPath: "address.zip")
      try context.save()
    }
    try other.performAndWait {
      try other.save()
      #expect(held.street == "Mine")
    }
    try stack.elsewhere { context in
      let home = try #require(try context.all(Place.self, "Place").first)
      #expect(home.street == "Mine" && home.address?["zip"] as? String == "Theirs" && home.latitude == 51.5)
    }
  }

  @Test func `a child context hands composite attributes to its parent`() throws {
    let stack = try Stack(.inMemory, model: Atlas.model)
    try stack.run { context in
      let home: Place = place(context, "Home", Self.home)
      try context.save()
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let copy = try #require(child.object(with: home.objectID) as? Place)
        copy.setValue("Allee", forKeyPath: "address.street")
        try child.save()
      }
      #expect(home.street == "Allee" && home.latitude == 51.5)
    }
  }

  @Test func `observers of the attribute are told once, of whole and element`() throws {
    let stack = try Stack(.inMemory, model: Atlas.model)
    try stack.run { context in
      let home: Place = place(context, "Home", Self.home)
      var told: [String?] = []
      let observation = home.observe("address", options: [.new]) { _, change in
        told.append((change.newValue as? [String: Any])?["street"] as? String)
      }
      home.address = ["street": "A", "zip": "1"]
      home.setValue("B", forKeyPath: "address.street")
      #expect(told == ["A", "B"])
      observation.invalidate()
    }
  }

  // MARK: Validation

  @Test(arguments: StoreKind.composite)
  func `elements are checked by type, requirement and predicate; a missing composite has none to check`(
    kind: StoreKind
  )
    throws
  {
    let stack = try Stack(kind, model: Atlas.model)
    try stack.run { context in
      func failure(_ key: String, _ value: Any?) throws -> (code: Int, key: String?, text: String) {
        let made: Place = place(context, "Home", Self.home)
        made.setValue(value, forKey: key)
        let error: NSError? = errorThrown { try context.save() }
        context.delete(made)
        return (
          error?.code ?? 0, error?.userInfo[NSValidationKeyErrorKey] as? String,
          "\(error?.localizedDescription ?? "") \(error?.localizedFailureReason ?? "")"
        )
      }
      #expect(try failure("address", nil).code == 0)
      let missing = try failure("address", ["street": "Kö"])
      #expect(missing.code == NSValidationMissingMandatoryPropertyError && missing.key == "address.zip")
      let type = try failure("address", ["zip": 7])
      #expect(type.code == NSManagedObjectValidationError && type.key == "address.zip")
      let inner = try failure("address", ["zip": "1", "position": ["latitude": "north"]])
      #expect(inner.key == "address.position.latitude")
      let unknown = try failure("address", ["zip": "1", "city": "X"])
      #expect(unknown.code == NSManagedObjectValidationError && unknown.key == "address")
      #expect(unknown.text.contains("'city'") && unknown.text.contains("street"), "\(unknown.text)")
      let whole = try failure("address", "Kö 1")
      #expect(whole.key == "address" && whole.text.contains("dictionary"), "\(whole.text)")
      let nested = try failure("address", ["zip": "1", "position": 5])
      #expect(nested.key == "address.position", "\(nested)")
      let large = try failure("score", ["stars": 9])
      #expect(large.code == NSValidationNumberTooLargeError && large.key == "score.stars")
      #expect(try failure("score", nil).code == NSValidationMissingMandatoryPropertyError)
    }
    #expect(try stack.count("Place") == 1)
  }

  @Test func `a value can be checked before it is set`() throws {
    let stack = try Stack(.inMemory, model: Atlas.model)
    try stack.run { context in
      let home: Place = place(context, "Home", Self.home)
      var value: Any? = ["street": "Kö"] as [String: Any]
      #expect(
        codeThrown { try home.validateValue(&value, forKey: "address") }
          == NSValidationMissingMandatoryPropertyError)
      value = ["zip": "3"] as [String: Any]
      #expect(codeThrown { try home.validateValue(&value, forKey: "address") } == 0)
      #expect(home.street == "Kö")
    }
  }

  // MARK: Models

  @Test(arguments: StoreKind.composite)
  func `a uniqueness constraint may name an element`(kind: StoreKind) throws {
    let model: NSManagedObjectModel = Atlas.makeModel()
    model.entitiesByName["Place"]?.uniquenessConstraints = [["address.zip"]]
    #expect(!model.problems().contains { $0.severity == .error })
    let stack = try Stack(kind, model: model)
    stack.context.performAndWait {
      let context: NSManagedObjectContext = stack.context
      _ = context.make("Place", ["address": ["zip": "1"]])
      _ = context.make("Place", ["address": ["zip": "1"]])
      #expect(codeThrown { try context.save() } == NSManagedObjectConstraintMergeError)
    }
  }

  @Test func `an element can be indexed`() throws {
    let model: NSManagedObjectModel = Atlas.makeModel()
    let place = try #require(model.entitiesByName["Place"])
    let address = try #require(place.attributesByName["address"] as? NSCompositeAttributeDescription)
    place.indexes = [
      NSFetchIndexDescription(
        name: "byZip",
        elements: [
          NSFetchIndexElementDescription(
            property: try #require(address.elements.first { $0.name == "zip" }), collationType: .binary)
        ])
    ]
    let stack = try Stack(.sqlite, model: model)
    let indexes: [String: [String]] = try FileContents(stack.folder.file("World.sqlite")).indexes
    #expect(indexes["Z_Place_byZip"] == ["ZADDRESS_ZIP"])
  }

  @Test(arguments: StoreKind.composite)
  func `a composite attribute that can't be stored is refused by name`(kind: StoreKind) throws {
    let transient = World.attribute("bad", .stringAttributeType)
    transient.isTransient = true
    let untyped = World.attribute("bad", .undefinedAttributeType)
    let derived = NSDerivedAttributeDescription()
    derived.name = "bad"
    derived.attributeType = .stringAttributeType
    for elements in [[], [transient], [untyped], [derived as NSAttributeDescription]] {
      let entity = World.entity("Spot", [Atlas.composite("where", elements)])
      let model = NSManagedObjectModel()
      model.entities = [entity]
      #expect(model.problems().contains { $0.severity == .error && $0.part?.hasPrefix("where") == true })
      let folder = try TemporaryFolder()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      let error: NSError = try #require(
        errorThrown {
          try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url("a", in: folder))
        })
      #expect(error.localizedDescription.contains("Spot.where"), "\(error.localizedDescription)")
    }
  }

  @Test func `a store whose columns are named by the elements alone is read where nothing else can be meant`()
    throws
  {
    let stack = try Stack(.sqlite, model: Atlas.model)
    try stack.run { context in
      _ = place(context, "Home", Self.home)
      try context.save()
    }
    try stack.coordinator.remove(stack.store)
    let file: URL = stack.folder.file("World.sqlite")
    let queue = try DatabaseQueue(path: file.path)
    try queue.write { database in
      // The twins have these names, so they are taken.
      try database.execute(sql: "ALTER TABLE ZPLACE RENAME COLUMN ZSTREET TO ZOLD")
      try database.execute(sql: "ALTER TABLE ZPLACE RENAME COLUMN ZADDRESS_STREET TO ZSTREET")
    }
    try queue.close()
    let error: NSError = try #require(
      errorThrown {
        try stack.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
      })
    #expect(error.localizedDescription.contains("ZADDRESS_STREET"))
  }
}
