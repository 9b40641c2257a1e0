import CoreData
import Foundation
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
              #expect(try DanglingReferences.count(in: file, "ZPOINTER", "ZPIN", to: "ZPIN") == 0)
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
}
