import CoreData
import Foundation
import StackSupport
import Testing

/// References to rows that others have deleted, where no row of the save itself would tell (Decisions/0033;
/// finding A4).
@Suite
struct MissingTargetTests {
  /// A pointer knows its pin, which knows nothing of it; a board's pins keep a key that their class knows
  /// nothing of.
  private static func model(requiresPin: Bool = false) -> NSManagedObjectModel {
    let pin: NSEntityDescription = World.entity("Pin", [World.attribute("name", .stringAttributeType)])
    let pointer: NSEntityDescription = World.entity(
      "Pointer", [World.attribute("name", .stringAttributeType)])
    let board: NSEntityDescription = World.entity("Board", [World.attribute("name", .stringAttributeType)])
    let toPin: NSRelationshipDescription = World.relationship("pin", pin, .one, .nullifyDeleteRule)
    toPin.isOptional = !requiresPin
    pointer.properties.append(toPin)
    board.properties.append(World.relationship("pins", pin, .many, .nullifyDeleteRule))
    let model = NSManagedObjectModel()
    model.entities = [pin, pointer, board]
    return model
  }

  private enum Deed: CaseIterable {
    case insertPointer, changePointer, addToBoard, changeBoth

    func act(_ pin: NSManagedObject, _ context: NSManagedObjectContext) throws {
      switch self {
      case .insertPointer: context.make("Pointer", ["name": "new"]).setValue(pin, forKey: "pin")
      case .changePointer, .changeBoth:
        let pointer: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Pointer").first)
        pointer.setValue(pin, forKey: "pin")
        // Counts as changed, and has nothing to be written.
        if self == .changeBoth { pin.setValue("p", forKey: "name") }
      case .addToBoard:
        let board: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Board").first)
        board.mutableSetValue(forKey: "pins").add(pin)
      }
    }
  }

  private static let policies: [NSMergePolicy] = [
    .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
  ]

  private func references(_ context: NSManagedObjectContext) throws -> [String] {
    let pointers: [NSManagedObject] = try context.all(NSManagedObject.self, "Pointer", sort: ["name"])
    let boards: [NSManagedObject] = try context.all(NSManagedObject.self, "Board")
    return pointers.map {
      "\($0.value(forKey: "name") ?? ""): \($0.value(forKey: "pin") == nil ? "none" : "pin")"
    }
      + boards.map { "\(($0.value(forKey: "pins") as? NSSet)?.count ?? -1) pins" }
  }

  /// A pin that was read, or whose id only is known, and is deleted elsewhere.
  private func withDeletedPin(
    _ setting: StoreSetting, model: NSManagedObjectModel, isStranger: Bool = false, isRead: Bool = true,
    _ body: (Stack, NSManagedObjectContext, NSManagedObject) throws -> Void
  ) throws {
    let stack = try Stack(setting: setting, model: model)
    let id: NSManagedObjectID = try stack.elsewhere { other in
      let pin: NSManagedObject = other.make("Pin", ["name": "p"])
      other.make("Pointer", ["name": "old"]).setValue(other.make("Pin", ["name": "q"]), forKey: "pin")
      _ = other.make("Board", ["name": "b"])
      try other.save()
      return pin.objectID
    }
    try stack.run { context in
      let pin: NSManagedObject = context.object(with: id)
      if isRead { #expect(pin.value(forKey: "name") as? String == "p") }
      let other: NSManagedObjectContext = isStranger ? try stack.stranger() : stack.other()
      try other.performAndWait {
        let named: [NSManagedObject] = try other.all(
          NSManagedObject.self, "Pin", NSPredicate(format: "name == 'p'"))
        other.delete(try #require(named.first))
        try other.save()
      }
      try body(stack, context, pin)
    }
  }

  @Test(arguments: [StoreSetting.wal, .rollbackJournal, .inMemory], Deed.allCases)
  private func `a new reference to a row that is gone is refused, or let go of as the policy says`(
    setting: StoreSetting, deed: Deed
  ) throws {
    for policy in Self.policies {
      for isStranger in setting == .inMemory ? [false] : [false, true] {
        for isRead in deed == .changeBoth ? [true] : [true, false] {
          try withDeletedPin(setting, model: Self.model(), isStranger: isStranger, isRead: isRead) {
            stack, context, pin in
            context.mergePolicy = policy
            try deed.act(pin, context)
            let error: NSError? = errorThrown { try context.save() }
            let stored: [String] = try stack.elsewhere(references)
            if policy == .error {
              #expect(error?.code == NSManagedObjectMergeError && context.hasChanges)
              #expect(stored == ["old: pin", "0 pins"])
              let conflicts: [NSMergeConflict]? =
                error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
              #expect(conflicts?.map(\.sourceObject) == [pin] && conflicts?.first?.newVersionNumber == 0)
            } else {
              #expect(error == nil && !context.hasChanges && pin.managedObjectContext == nil)
              let wanted: [String] =
                switch deed {
                case .insertPointer: ["new: none", "old: pin", "0 pins"]
                case .changePointer, .changeBoth: ["old: none", "0 pins"]
                case .addToBoard: ["old: pin", "0 pins"]
                }
              #expect(stored == wanted, "\(policy.mergeType)")
              #expect(try references(context) == wanted)
            }
            if setting.kind == .sqlite {
              let file: URL = stack.folder.file("World.sqlite")
              #expect(try DanglingReferences.all(in: file, of: Self.model()) == [])
            }
          }
        }
      }
    }
  }

  @Test(arguments: StoreSetting.allCases.filter { $0 != .nowhere })
  func `an object that needs the row that is gone is refused by validation`(setting: StoreSetting) throws {
    try withDeletedPin(setting, model: Self.model(requiresPin: true)) { stack, context, pin in
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      try Deed.insertPointer.act(pin, context)
      #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
      #expect(try stack.elsewhere(references) == ["old: pin", "0 pins"])
    }
  }

  // MARK: Deleted in the same save

  @Test(arguments: [StoreSetting.wal, .rollbackJournal, .inMemory], Deed.allCases)
  private func `a reference to an object that the same save deletes is not written`(
    setting: StoreSetting, deed: Deed
  ) throws {
    for isDeletedFirst in [false, true] {
      let stack = try Stack(setting: setting, model: Self.model())
      try stack.run { context in
        let pin: NSManagedObject = context.make("Pin", ["name": "p"])
        let pointer: NSManagedObject = context.make("Pointer", ["name": "old"])
        let board: NSManagedObject = context.make("Board", ["name": "b"])
        try context.save()
        if isDeletedFirst { context.delete(pin) }
        try deed.act(pin, context)
        context.delete(pin)
        try context.save()
        let wanted: [String] = (deed == .insertPointer ? ["new: none"] : []) + ["old: none", "0 pins"]
        #expect(try references(context) == wanted && !context.hasChanges)
        #expect(try stack.elsewhere(references) == wanted)
        // Later saves of these objects have nothing of it either.
        pointer.setValue("old", forKey: "name")
        board.setValue("c", forKey: "name")
        try context.save()
        #expect(try stack.elsewhere(references) == wanted)
      }
      if setting.kind == .sqlite {
        #expect(try DanglingReferences.all(in: stack.folder.file("World.sqlite"), of: Self.model()) == [])
      }
    }
  }

  @Test(arguments: StoreKind.every)
  func `an object that needs what the same save deletes is refused by validation`(kind: StoreKind) throws {
    let stack = try Stack(kind, model: Self.model(requiresPin: true))
    try stack.run { context in
      let pin: NSManagedObject = context.make("Pin", ["name": "p"])
      try context.save()
      context.make("Pointer", ["name": "new"]).setValue(pin, forKey: "pin")
      context.delete(pin)
      #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
      context.rollback()
      #expect(try references(context).isEmpty && !pin.isDeleted)
    }
  }

  // What the rule No Action leaves behind is the program's to mend, but nothing new is written of it.
  @Test(arguments: StoreKind.every)
  func `a reference that a delete rule leaves alone is not written anew`(kind: StoreKind) throws {
    let owner: NSEntityDescription = World.entity("Owner", [World.attribute("name", .stringAttributeType)])
    let member: NSEntityDescription = World.entity("Member", [World.attribute("name", .stringAttributeType)])
    World.pair(owner, "members", .many, .noActionDeleteRule, member, "owner", .one, .nullifyDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [owner, member]
    let stack = try Stack(kind, model: model)
    try stack.run { context in
      let gone: NSManagedObject = context.make("Owner", ["name": "o"])
      let stored: NSManagedObject = context.make("Member", ["name": "stored"])
      try context.save()
      stored.setValue(gone, forKey: "owner")
      context.make("Member", ["name": "new"]).setValue(gone, forKey: "owner")
      context.delete(gone)
      try context.save()
      try stack.elsewhere { other in
        let members: [NSManagedObject] = try other.all(NSManagedObject.self, "Member", sort: ["name"])
        #expect(members.count == 2 && members.allSatisfy { $0.value(forKey: "owner") == nil })
      }
    }
    if kind == .sqlite {
      #expect(try DanglingReferences.all(in: stack.folder.file("World.sqlite"), of: model) == [])
    }
  }

  // MARK: Newer rows under pending changes

  // The merge brings the deleted owner's newest row, so the save meets no conflict.
  @Test(arguments: StoreKind.every, [false, true])
  func `a deletion that is merged with newer members goes on to them`(kind: StoreKind, isMerged: Bool) throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let shelf: NSManagedObject = context.make("Shelf", ["name": "s"])
      let category: Category = context.category("c")
      let items: [Item] = [context.item("a"), context.item("b")]
      items[0].shelf = shelf
      items[0].category = category
      try context.save()
      context.delete(shelf)
      context.delete(category)
      context.processPendingChanges()
      let other: NSManagedObjectContext = stack.other()
      let recorder = Recorder([.NSManagedObjectContextDidSaveObjectIDs], of: other)
      try other.performAndWait {
        let theirs: NSManagedObject = try other.existingObject(with: items[1].objectID)
        theirs.setValue(try other.existingObject(with: shelf.objectID), forKey: "shelf")
        theirs.setValue(try other.existingObject(with: category.objectID), forKey: "category")
        try other.save()
      }
      if isMerged {
        context.mergeChanges(
          fromContextDidSave: Notification(
            name: .NSManagedObjectContextDidSave, object: nil, userInfo: recorder.received[0].userInfo))
      } else {
        for object in [shelf, category] { context.refresh(object, mergeChanges: true) }
      }
      // The cascade takes both along; one was changed elsewhere and read anew just now.
      try context.save()
      try stack.elsewhere { other in
        for entity in ["Shelf", "Category", "Item"] {
          let count: Int = try other.count(for: other.request(NSManagedObject.self, entity))
          #expect(count == 0, "\(entity)")
        }
      }
    }
    if kind == .sqlite {
      #expect(try DanglingReferences.all(in: stack.folder.file("World.sqlite"), of: World.shared) == [])
    }
  }

  // A member with changes of its own is not read anew with the owner; it comes to lead there when
  // it is refreshed.
  @Test(arguments: StoreKind.every, [false, true])
  func `a deletion goes on to changed objects that a refresh makes lead to it`(
    kind: StoreKind, isOwnerFirst: Bool
  )
    throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      let shelf: NSManagedObject = context.make("Shelf", ["name": "s"])
      let detail: NSManagedObject = context.make("Detail", ["text": "d"])
      let item: Item = context.item("a")
      try context.save()
      for object in [shelf, detail] { context.delete(object) }
      item.price = 3
      context.processPendingChanges()
      try stack.elsewhere { other in
        let theirs: NSManagedObject = try other.existingObject(with: item.objectID)
        theirs.setValue(try other.existingObject(with: shelf.objectID), forKey: "shelf")
        theirs.setValue(try other.existingObject(with: detail.objectID), forKey: "detail")
        try other.save()
      }
      for object in isOwnerFirst ? [shelf, detail, item] : [item, shelf, detail] {
        context.refresh(object, mergeChanges: true)
      }
      try context.save()
      #expect(item.shelf == nil && item.detail == nil)
      try stack.elsewhere { other in
        let stored = try other.existingObject(with: item.objectID) as! Item
        #expect(stored.shelf == nil && stored.detail == nil && stored.price == 3)
      }
    }
    if kind == .sqlite {
      #expect(try DanglingReferences.all(in: stack.folder.file("World.sqlite"), of: World.shared) == [])
    }
  }

  // A row that comes back must not be taken for the one that is gone, which another context has read.
  @Test(arguments: StoreKind.every)
  func `a row that is inserted again is another one to those who have read it before`(kind: StoreKind) throws
  {
    let stack = try Stack(kind)
    try stack.run { context in
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let item: Item = context.item("a")
      try context.save()
      let third: NSManagedObjectContext = stack.other()
      let theirs: Item = try third.performAndWait {
        let theirs = try third.existingObject(with: item.objectID) as! Item
        #expect(theirs.title == "a")
        return theirs
      }
      try stack.elsewhere { other in
        other.delete(try other.existingObject(with: item.objectID))
        try other.save()
      }
      item.title = "back"
      try context.save()
      third.performAndWait {
        theirs.price = 2
        #expect(codeThrown { try third.save() } == NSManagedObjectMergeError)
        third.rollback()
        third.refresh(theirs, mergeChanges: true)
        #expect(theirs.title == "back")
      }
    }
  }

  /// Lets somebody else save between the settling of a conflict and the next try.
  private final class Meanwhile: NSMergePolicy, @unchecked Sendable {
    var deed: (() throws -> Void)?

    override func resolve(mergeConflicts list: [Any]) throws {
      try super.resolve(mergeConflicts: list)
      let deed: (() throws -> Void)? = self.deed
      self.deed = nil
      try deed?()
    }
  }

  @Test(arguments: StoreKind.every, [true, false])
  func `two contexts that insert a deleted object again settle it between them`(
    kind: StoreKind, objectWins: Bool
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let item: Item = context.item("a")
      try context.save()
      let faster: NSManagedObjectContext = stack.other()
      faster.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let theirs: Item = try faster.performAndWait {
        let theirs = try faster.existingObject(with: item.objectID) as! Item
        theirs.title = "faster"
        return theirs
      }
      try stack.elsewhere { other in
        other.delete(try other.existingObject(with: item.objectID))
        try other.save()
      }
      let policy = Meanwhile(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      policy.deed = {
        try faster.performAndWait {
          _ = theirs
          try faster.save()
        }
        if !objectWins { context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
      }
      context.mergePolicy = policy
      item.title = "slower"
      try context.save()
      #expect(item.title == (objectWins ? "slower" : "faster"))
      #expect(!context.hasChanges)
      try stack.elsewhere { other in
        let titles: [String?] = try other.all(Item.self, "Item").map(\.title)
        #expect(titles == [objectWins ? "slower" : "faster"])
      }
    }
  }
}
