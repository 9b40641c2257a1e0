import CoreData
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// Both sides, counts, order, fetched properties, delete rules.
  @Suite struct Relations {
    @Test(.rule("REL-3", "Managing the Relationships of Objects"), arguments: StoreKind.every)
    func `both sides of a change are updated, told of, and validated`(kind: StoreKind) throws {
      try Witness.with(kind) { _, context, hooks in
        let (old, new, member) = (
          Witness("old", context), Witness("new", context), Witness("member", context)
        )
        member["boss"] = old
        try context.save()
        let changes = Recorder([.NSManagedObjectContextObjectsDidChange], of: context)
        var validated: Set<Witness> = []
        hooks.on = { what, witness in
          if what == "validateForUpdate" { validated.insert(witness) }
        }
        member["boss"] = new
        #expect(context.updatedObjects == [old, new, member])
        context.processPendingChanges()
        #expect(changes.objects(NSUpdatedObjectsKey) == [old, new, member])
        try context.save()
        #expect(validated == [old, new, member])
      }
    }

    @Test(.rule("REL-6", "NSRelationshipDescription.maxCount, isToMany"))
    func `a maximum of one makes a to-one, none a to-many`() {
      let relationship = NSRelationshipDescription()
      for (count, isToMany) in [(1, false), (0, true), (2, true), (1, false)] {
        relationship.maxCount = count
        #expect(relationship.isToMany == isToMany)
      }
    }

    @Test(.rule("REL-7", "NSRelationshipDescription.isOrdered"), arguments: StoreKind.every)
    func `an ordered relationship holds each member once`(kind: StoreKind) throws {
      let stack = try Stack(kind)
      try stack.run { context in
        let songs: [NSManagedObject] = ["a", "b"].map { context.make("Song", ["name": $0]) }
        let list = Playlist(context: context)
        list.songs = [songs[0], songs[1], songs[0]]
        #expect(list.names == ["a", "b"])
        songs[0].setValue(NSSet(object: list), forKey: "playlists")
        #expect(list.names == ["a", "b"] && list.value(forKey: "songs") is NSOrderedSet)
        try context.save()
      }
      let stored: [String]? = try stack.elsewhere { try $0.all(Playlist.self, "Playlist").first?.names }
      #expect(stored == ["a", "b"])
    }

    @Test(.rule("REL-8", "NSRelationshipDescription.isOrdered"), arguments: StoreKind.every)
    func `each side of a many-to-many that is ordered on both keeps its own order`(kind: StoreKind) throws {
      let left: NSEntityDescription = World.entity("Left", [World.attribute("name", .stringAttributeType)])
      let right: NSEntityDescription = World.entity("Right", [World.attribute("name", .stringAttributeType)])
      World.pair(left, "rights", .ordered, .nullifyDeleteRule, right, "lefts", .ordered, .nullifyDeleteRule)
      let model = NSManagedObjectModel()
      model.entities = [left, right]
      let stack = try Stack(kind, model: model)
      func names(_ object: NSManagedObject, _ key: String) -> String {
        let members: [Any] = (object.value(forKey: key) as? NSOrderedSet)?.array ?? []
        return members.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "-" }.joined()
      }
      func check(_ context: NSManagedObjectContext) throws {
        let lefts: [NSManagedObject] = try context.all(NSManagedObject.self, "Left", sort: ["name"])
        let rights: [NSManagedObject] = try context.all(NSManagedObject.self, "Right", sort: ["name"])
        #expect(lefts.map { names($0, "rights") } == ["zyx", "xy"])
        #expect(rights.map { names($0, "lefts") } == ["ba", "ab", "a"])
      }
      try stack.run { context in
        let lefts: [NSManagedObject] = ["a", "b"].map { context.make("Left", ["name": $0]) }
        let rights: [NSManagedObject] = ["x", "y", "z"].map { context.make("Right", ["name": $0]) }
        lefts[0].setValue(NSOrderedSet(array: [rights[2], rights[1], rights[0]]), forKey: "rights")
        lefts[1].setValue(NSOrderedSet(array: [rights[0], rights[1]]), forKey: "rights")
        rights[0].setValue(NSOrderedSet(array: [lefts[1], lefts[0]]), forKey: "lefts")
        try check(context)
        try context.save()
        try check(context)
      }
      try stack.elsewhere { try check($0) }
    }

    /// Owners with a fetched property: the things of the owner's colour.
    private static func colours() -> NSManagedObjectModel {
      let thing: NSEntityDescription = World.entity(
        "Thing",
        [World.attribute("colour", .stringAttributeType), World.attribute("name", .stringAttributeType)])
      let owner: NSEntityDescription = World.entity(
        "Owner", [World.attribute("colour", .stringAttributeType)])
      for (name, format) in [
        ("matching", "colour == $FETCH_SOURCE.colour"),
        ("wanted", "name == $FETCHED_PROPERTY.userInfo.wanted"),
      ] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Thing")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let property = NSFetchedPropertyDescription()
        property.name = name
        property.fetchRequest = request
        property.userInfo?["wanted"] = "b"
        owner.properties.append(property)
      }
      let model = NSManagedObjectModel()
      model.entities = [thing, owner]
      return model
    }

    private func found(_ owner: NSManagedObject, _ key: String) -> [String]? {
      (owner.value(forKey: key) as? [NSManagedObject])?.map { $0.value(forKey: "name") as? String ?? "" }
    }

    @Test(.rule("REL-11", "NSFetchedPropertyDescription"), arguments: StoreKind.every)
    func `a fetched property fetches when first read and keeps what it found until its owner is refreshed`(
      kind: StoreKind
    ) throws {
      let stack = try Stack(kind, model: Self.colours())
      try stack.run { context in
        let owner: NSManagedObject = context.make("Owner", ["colour": "red"])
        for name in ["a", "b"] { _ = context.make("Thing", ["name": name, "colour": "red"]) }
        _ = context.make("Thing", ["name": "c", "colour": "blue"])
        try context.save()
        #expect(found(owner, "matching") == ["a", "b"])
        let late: NSManagedObject = context.make("Thing", ["name": "late", "colour": "red"])
        try context.save()
        #expect(found(owner, "matching") == ["a", "b"], "kept")
        owner.setValue("blue", forKey: "colour")
        try context.save()
        #expect(found(owner, "matching") == ["a", "b"], "a save is no refresh")
        #expect(!owner.hasChanges && owner.changedValues().isEmpty)
        owner.setValue("red", forKey: "colour")
        try context.save()
        context.refresh(owner, mergeChanges: false)
        #expect(found(owner, "matching") == ["a", "b", "late"])
        _ = late
      }
    }

    @Test(.rule("REL-12", "Core Data Programming Guide, Fetched Properties"), arguments: StoreKind.every)
    func `a fetched property's predicate knows its owner and itself`(kind: StoreKind) throws {
      let stack = try Stack(kind, model: Self.colours())
      try stack.run { context in
        let owners: [NSManagedObject] = ["red", "blue"].map { context.make("Owner", ["colour": $0]) }
        for (name, colour) in [("a", "red"), ("b", "blue")] {
          _ = context.make("Thing", ["name": name, "colour": colour])
        }
        try context.save()
        #expect(owners.map { found($0, "matching") } == [["a"], ["b"]])
        #expect(owners.map { found($0, "wanted") } == [["b"], ["b"]])
      }
    }

    @Test(.rule("REL-11", "NSFetchedPropertyDescription")) func `a fetched property can't be set`() async {
      let result: ExitTest.Result? = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try Stack(.inMemory, model: Relations.colours()).run {
          $0.make("Owner").setValue([Any](), forKey: "matching")
        }
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("Owner.matching"), "\(text)")
    }

    @Test(.rule("DEL-4", "NSDeleteRule.noActionDeleteRule"), arguments: StoreKind.every)
    func `no action leaves references to what is gone`(kind: StoreKind) throws {
      let owner: NSEntityDescription = World.entity("Owner", [World.attribute("name", .stringAttributeType)])
      let thing: NSEntityDescription = World.entity("Thing", [World.attribute("name", .stringAttributeType)])
      World.pair(owner, "things", .many, .noActionDeleteRule, thing, "owner", .one, .nullifyDeleteRule)
      let model = NSManagedObjectModel()
      model.entities = [owner, thing]
      let stack = try Stack(kind, model: model)
      try stack.run { context in
        let owner: NSManagedObject = context.make("Owner", ["name": "o"])
        let thing: NSManagedObject = context.make("Thing", ["name": "t", "owner": owner])
        try context.save()
        context.delete(owner)
        context.processPendingChanges()
        #expect(thing.value(forKey: "owner") as? NSManagedObject === owner && !thing.hasChanges)
        try context.save()
      }
      try stack.elsewhere { context in
        let thing: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Thing").first)
        let gone: NSManagedObject = try #require(thing.value(forKey: "owner") as? NSManagedObject)
        #expect(gone.isFault && gone.value(forKey: "name") == nil && gone.isDeleted)
        // The program repairs it.
        thing.setValue(nil, forKey: "owner")
        try context.save()
      }
      try stack.elsewhere { context in
        let thing: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Thing").first)
        #expect(thing.value(forKey: "owner") == nil)
      }
    }
  }
}
