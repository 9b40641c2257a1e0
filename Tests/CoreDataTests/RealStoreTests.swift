import CoreData
import Foundation
import GRDB
import StackSupport
import TestSupport
import Testing

/// Stores that Apple's framework wrote: made anew, and changed through the graph.
@Suite(.enabled(if: RealStores.folder != nil, "\(SharedFiles.absence)"))
struct RealStoreTests {
  @Test(arguments: RealStores.withModel)
  func `a fresh store has the tables, columns and indexes of Apple's`(path: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try RealStores.copy(path, to: folder)
    let apple = try FileContents(url)
    let (model, configuration) = try RealStores.model(at: url)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let fresh: URL = folder.file("fresh.store")
    try coordinator.remove(
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: configuration, at: fresh))
    let ours = try FileContents(fresh)
    #expect(ours.integrity == "ok")
    // Of history tracking and mirroring, which are options of a store and no part of its model.
    func own(_ names: some Sequence<String>) -> Set<String> {
      Set(names.filter { !$0.hasPrefix("A") || $0.hasPrefix("AZ") }.filter { !$0.hasPrefix("Z_Z_") })
    }
    #expect(own(ours.columns.keys) == own(apple.columns.keys))
    for (table, columns) in apple.columns where ours.columns[table] != nil {
      #expect(ours.columns[table] == columns, "\(table)")
    }
    // Triggers of derived attributes have Apple's names and texts. R-trees are an index of their own.
    for (name, text) in apple.triggers where name.hasPrefix("Z_DA_") {
      #expect(ours.triggers[name] == text, "\(name)")
    }
    #expect(Set(ours.triggers.keys) == Set(apple.triggers.keys.filter { $0.hasPrefix("Z_DA_") }))
    // Numbers from 16001 are those of history tables; a migrated store may keep an entity's old name.
    for (name, number) in ours.numbers where apple.numbers[name] != nil {
      #expect(apple.numbers[name] == number, "\(name)")
    }
    #expect(ours.numbers.count == apple.numbers.values.count { (Int($0) ?? 0) < 16_000 })
  }

  @Test(arguments: RealStores.withModel)
  func `what is inserted and changed is there, all else is byte for byte as before`(path: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try RealStores.copy(path, to: folder)
    let before = try FileContents(url)
    var edit = StoreEdit()
    let context: NSManagedObjectContext = try RealStores.open(url)
    do {
      try context.performAndWait { try edit.insertAndUpdate(context) }
    } catch let error as CocoaError where error.isValidationError {
      // The model has rules that made-up values don't meet; then nothing may have changed.
      let still = try FileContents(url)
      for (table, rows) in before.tables where table.hasPrefix("Z") && !table.hasPrefix("Z_METADATA") {
        #expect(Set(still.tables[table]?.keys.map { $0 } ?? []) == Set(rows.keys), "rows of \(table)")
      }
      return
    }
    let after = try FileContents(url)
    #expect(after.integrity == "ok")
    try edit.check(before, after)
    // Another stack reads what was written.
    let second: NSManagedObjectContext = try RealStores.open(url)
    try second.performAndWait { try edit.checkValues(second) }
    // Gone again, the file holds what it held.
    try second.performAndWait { try edit.deleteInserted(second) }
    let end = try FileContents(url)
    #expect(end.integrity == "ok")
    for (table, rows) in before.tables where table.hasPrefix("Z") && !table.hasPrefix("Z_METADATA") {
      #expect(Set(end.tables[table]?.keys.map { $0 } ?? []) == Set(rows.keys), "rows of \(table)")
    }
  }

  /// Stores with triggers of Apple's that keep a count up.
  @Test(arguments: RealStores.withModel.filter { $0.contains("SampleModel2_") })
  func `Apple's triggers keep what is derived right through saves of Clarus`(path: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try RealStores.copy(path, to: folder)
    let context: NSManagedObjectContext = try RealStores.open(url) { model in
      // The app's own transformer is not here.
      model.entitiesByName["Page"]?.attributesByName["content"]?.valueTransformerName = nil
    }
    func check() throws {
      let other: NSManagedObjectContext = try RealStores.open(url)
      try other.performAndWait {
        let books: [NSManagedObject] = try other.all(NSManagedObject.self, "Book")
        #expect(!books.isEmpty)
        for book in books {
          #expect(book.value(forKey: "pagesCount") as? Int == book.members("pages").count)
        }
      }
    }
    try context.performAndWait {
      let books: [NSManagedObject] = try context.all(NSManagedObject.self, "Book", sort: ["pagesCount"])
      let (few, many) = (books[0], books[books.count - 1])
      let moved: [NSManagedObject] = Array(many.members("pages").prefix(3))
      for page in moved { page.setValue(few, forKey: "book") }
      try context.save()
      try check()
      context.delete(moved[0])
      let page: NSManagedObject = context.make("Page")
      for attribute in page.entity.attributesByName.values
      where !attribute.isTransient && attribute.attributeType != .transformableAttributeType {
        page.setValue(moved[1].value(forKey: attribute.name), forKey: attribute.name)
      }
      page.setValue("text", forKey: "content")
      page.setValue(many, forKey: "book")
      try context.save()
      try check()
      context.refresh(many, mergeChanges: false)
      #expect(many.value(forKey: "pagesCount") as? Int == many.members("pages").count)
      for page in many.members("pages").dropFirst() { context.delete(page) }
      context.delete(few)
      try context.save()
      try check()
    }
  }

  @Test(arguments: RealStores.withModel)
  func `members that leave a relationship and come back are as before`(path: String) throws {
    let folder = try TemporaryFolder()
    let url: URL = try RealStores.copy(path, to: folder)
    let first: NSManagedObjectContext = try RealStores.open(url)
    var taken: [(owner: URL, name: String, member: URL, count: Int)] = []
    // One side of a pair only: what leaves one side leaves the other.
    var edited: Set<ObjectIdentifier> = []
    try first.performAndWait {
      for entity in first.heldEntities {
        for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
        where relationship.isToMany && relationship.entity.name == entity.name {
          // A member that must have an owner can't leave it.
          if let inverse = relationship.inverseRelationship {
            if !inverse.isOptional || edited.contains(ObjectIdentifier(inverse)) { continue }
          }
          edited.insert(ObjectIdentifier(relationship))
          let owners: [NSManagedObject] = try first.all(NSManagedObject.self, entity.name ?? "")
          guard let owner = owners.first(where: { !$0.objectIDs(forRelationshipNamed: name).isEmpty }) else {
            continue
          }
          let members: [NSManagedObject] = owner.members(name)
          guard members.count > relationship.minCount, relationship.isOptional || members.count > 1 else {
            continue
          }
          owner.set(name, members.filter { $0 !== members[0] })
          taken.append(
            (owner.objectID.uriRepresentation(), name, members[0].objectID.uriRepresentation(), members.count)
          )
        }
      }
      do {
        try first.save()
      } catch let error as CocoaError where error.isValidationError {
        // Old data that its own model would refuse.
        taken = []
      }
    }
    #expect(try FileContents(url).integrity == "ok")
    let second: NSManagedObjectContext = try RealStores.open(url)
    try second.performAndWait {
      for one in taken {
        let owner: NSManagedObject = try second.existing(one.owner)
        let member: NSManagedObject = try second.existing(one.member)
        var members: [NSManagedObject] = owner.members(one.name)
        #expect(members.count == one.count - 1 && !members.contains(member), "\(one.owner) \(one.name)")
        members.insert(member, at: 0)
        owner.set(one.name, members)
      }
      try second.save()
    }
    let third: NSManagedObjectContext = try RealStores.open(url)
    try third.performAndWait {
      for one in taken {
        let owner: NSManagedObject = try third.existing(one.owner)
        let members: [NSManagedObject] = owner.members(one.name)
        #expect(members.count == one.count, "\(one.owner) \(one.name)")
        let member: NSManagedObject = try third.existing(one.member)
        #expect(members.contains(member))
        if owner.entity.relationshipsByName[one.name]?.isOrdered == true { #expect(members[0] === member) }
      }
    }
    #expect(try FileContents(url).integrity == "ok")
  }
}

extension CocoaError {
  fileprivate var isValidationError: Bool { (1550..<1700).contains(errorCode) }
}

extension NSManagedObjectContext {
  fileprivate func existing(_ uri: URL) throws -> NSManagedObject {
    guard let id = persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri) else {
      throw CocoaError(.fileNoSuchFile)
    }
    return try existingObject(with: id)
  }
}

extension NSManagedObject {
  fileprivate func members(_ name: String) -> [NSManagedObject] {
    switch value(forKey: name) {
    case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
    case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
    default: []
    }
  }

  fileprivate func set(_ name: String, _ members: [NSManagedObject]) {
    setValue(NSOrderedSet(array: members), forKey: name)
  }
}

/// One object more of each entity, and one changed, with what is expected of the file.
private struct StoreEdit {
  /// Inserted objects: URI → the values set.
  private var inserted: [URL: [String: NSObject]] = [:]
  /// Changed objects: entity, key of the attribute, new value.
  private var changed: [URL: (key: String, value: NSObject)] = [:]
  /// Every object whose row may differ.
  private var touched: Set<String> = []
  private var number: Int = 0

  mutating func insertAndUpdate(_ context: NSManagedObjectContext) throws {
    var made: [NSManagedObject: [String: NSObject]] = [:]
    for entity in context.heldEntities { _ = try insert(entity, context, &made, depth: 0) }
    var edited: [NSManagedObject: (key: String, value: NSObject)] = [:]
    for entity in context.heldEntities {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.includesPendingChanges = false
      request.fetchLimit = 1
      guard let object = try context.fetch(request).first,
        let attribute = entity.attributesByName.values.sorted(by: { $0.name < $1.name }).first(where: {
          !$0.isTransient && !($0 is NSDerivedAttributeDescription) && $0.validationPredicates.isEmpty
            && [.stringAttributeType, .doubleAttributeType, .dateAttributeType, .integer64AttributeType]
              .contains($0.attributeType)
        })
      else { continue }
      let value: NSObject = self.value(attribute, number: 900)
      object.setValue(value, forKey: attribute.name)
      edited[object] = (attribute.name, value)
    }
    let updated: Set<NSManagedObject> = context.updatedObjects
    try context.save()
    for (object, values) in made { inserted[object.objectID.uriRepresentation()] = values }
    for (object, change) in edited { changed[object.objectID.uriRepresentation()] = change }
    touched = Set(updated.map { place($0) } + made.keys.map { place($0) })
  }

  /// Table and key, as the file has them.
  private func place(_ object: NSManagedObject) -> String {
    var root: NSEntityDescription = object.entity
    while let parent = root.superentity { root = parent }
    let key: String = object.objectID.uriRepresentation().lastPathComponent
    return "Z\((root.name ?? "").uppercased())/\(key.dropFirst())"
  }

  private mutating func insert(
    _ entity: NSEntityDescription, _ context: NSManagedObjectContext,
    _ made: inout [NSManagedObject: [String: NSObject]], depth: Int
  ) throws -> NSManagedObject {
    let object = NSManagedObject(entity: entity, insertInto: context)
    number += 1
    var values: [String: NSObject] = [:]
    for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name })
    where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
      && attribute.validationPredicates.isEmpty && attribute.attributeType != .transformableAttributeType
    {
      let value: NSObject = self.value(attribute, number: number)
      object.setValue(value, forKey: attribute.name)
      values[attribute.name] = value
    }
    for attribute in entity.attributesByName.values
    where !attribute.isOptional && object.value(forKey: attribute.name) == nil && !attribute.isTransient {
      // Validation predicates on a required attribute without default: some text that most accept.
      object.setValue(self.value(attribute, number: number), forKey: attribute.name)
    }
    made[object] = values
    for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
    where !relationship.isOptional && depth < 4 && !relationship.isTransient {
      guard let destination = relationship.destinationEntity, let concrete = concrete(destination) else {
        continue
      }
      let target: NSManagedObject = try insert(concrete, context, &made, depth: depth + 1)
      if relationship.isToMany {
        object.setValue(NSOrderedSet(array: [target]), forKey: relationship.name)
      } else if object.value(forKey: relationship.name) == nil {
        object.setValue(target, forKey: relationship.name)
      }
    }
    return object
  }

  private func concrete(_ entity: NSEntityDescription) -> NSEntityDescription? {
    if !entity.isAbstract { return entity }
    return entity.subentities.sorted { $0.name ?? "" < $1.name ?? "" }.lazy.compactMap { concrete($0) }.first
  }

  private func value(_ attribute: NSAttributeDescription, number: Int) -> NSObject {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: NSNumber(value: number)
    case .booleanAttributeType: NSNumber(value: true)
    case .doubleAttributeType, .floatAttributeType: NSNumber(value: Double(number) + 0.5)
    case .decimalAttributeType: NSDecimalNumber(string: "\(number).25")
    case .dateAttributeType: NSDate(timeIntervalSinceReferenceDate: Double(number) * 1000 + 0.123456)
    case .binaryDataAttributeType: NSData(data: Data([UInt8(truncatingIfNeeded: number), 0, 255]))
    case .UUIDAttributeType:
      NSUUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012d", number))") ?? NSUUID()
    case .URIAttributeType: NSURL(string: "https://example.org/\(number)") ?? NSURL(fileURLWithPath: "/")
    default: NSString(string: "text \(number)")
    }
  }

  // MARK: Checks

  func check(_ before: FileContents, _ after: FileContents) throws {
    for (table, rows) in before.tables
    where table.hasPrefix("Z") && table != "Z_PRIMARYKEY" && table != "Z_METADATA" {
      for (key, row) in rows {
        let now: [String: String]? = after.tables[table]?[key]
        if !touched.contains("\(table)/\(key)") {
          #expect(now == row, "\(table)/\(key) was not changed")
        } else if let old = row["Z_OPT"].flatMap(Int.init), let new = now?["Z_OPT"].flatMap(Int.init) {
          #expect(
            new == old + 1 || (new == old && now == row), "the version of \(table)/\(key): \(old) → \(new)")
        }
      }
      let new: Set<Int64> = Set(after.tables[table]?.keys.map { $0 } ?? []).subtracting(rows.keys)
      if rows.first?.value["Z_OPT"] != nil {
        for key in new { #expect(touched.contains("\(table)/\(key)"), "\(table)/\(key) was not inserted") }
      }
    }
    for (number, greatest) in before.greatestKeys {
      #expect(after.greatestKeys[number] ?? 0 >= greatest)
    }
    var added: Int = 0
    for (number, greatest) in after.greatestKeys {
      added += Int(greatest - (before.greatestKeys[number] ?? 0))
    }
    #expect(added == inserted.count, "as many keys given out as rows")
  }

  func checkValues(_ context: NSManagedObjectContext) throws {
    for (uri, values) in inserted {
      let object: NSManagedObject = try context.existing(uri)
      for (key, value) in values {
        let found: NSObject? = object.value(forKey: key) as? NSObject
        if let wanted = value as? NSNumber,
          object.entity.attributesByName[key]?.attributeType == .floatAttributeType
        {
          #expect((found as? NSNumber)?.floatValue == wanted.floatValue)
        } else if let wanted = value as? NSDecimalNumber {
          #expect((found as? NSDecimalNumber)?.decimalValue == wanted.decimalValue, "\(uri) \(key)")
        } else {
          #expect(found == value, "\(uri) \(key)")
        }
      }
    }
    for (uri, change) in changed {
      #expect(
        try context.existing(uri).value(forKey: change.key) as? NSObject == change.value,
        "\(uri) \(change.key)")
    }
  }

  func deleteInserted(_ context: NSManagedObjectContext) throws {
    for uri in inserted.keys { context.delete(try context.existing(uri)) }
    try context.save()
  }
}
