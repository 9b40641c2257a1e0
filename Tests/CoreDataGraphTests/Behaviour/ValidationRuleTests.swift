import CoreData
import CoreDataPredicates
import Foundation
import StackSupport
import Testing

extension Behaviour {
  /// What is checked when.
  @Suite struct Checks {
    /// Witnesses whose name is required and short, and whose transient note is required.
    private static let strict: NSManagedObjectModel = {
      let name: NSAttributeDescription = World.attribute("name", .stringAttributeType, optional: false)
      name.setValidationPredicates(
        [NSPredicate(format: "length <= 3")], withValidationWarnings: ["\(NSValidationStringTooLongError)"])
      let note: NSAttributeDescription = World.attribute("note", .stringAttributeType, optional: false)
      note.isTransient = true
      note.defaultValue = "n"
      let model = NSManagedObjectModel()
      model.entities = [
        World.entity("Witness", [name, note, World.attribute("number", .integer32AttributeType)])
      ]
      return model
    }()

    private func with(
      _ kind: StoreKind, _ body: (NSManagedObjectContext, Witness.Hooks) throws -> Void
    ) throws {
      let stack = try Stack(kind, model: Self.strict)
      let hooks = Witness.Hooks()
      stack.context.userInfo["hooks"] = hooks
      try stack.run { try body($0, hooks) }
      stack.context.userInfo.removeAllObjects()
    }

    @Test(
      .rule(
        "VALID-1", "NSManagedObject.validateForInsert()", "the model is checked before the code after super"),
      .rule("VALID-6", "Object Validation", "nothing is checked on assignment"), arguments: StoreKind.allCases
    )
    func `the model's checks come first, and none before the save`(kind: StoreKind) throws {
      try with(kind) { context, hooks in
        let witness = Witness(context: context)
        witness.name = "too long"
        witness.name = nil
        context.processPendingChanges()
        hooks.lines = []
        #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
        #expect(!hooks.lines.contains("validateForInsert"), "super threw before")
        witness.name = "a"
        try context.save()
        #expect(hooks.lines.contains("validateForInsert"))
        witness.name = "long"
        #expect(codeThrown { try context.save() } == NSValidationStringTooLongError)
        #expect(witness.name == "long" && witness.isUpdated)
        #expect(!hooks.lines.contains("validateForUpdate"))
      }
    }

    @Test(.rule("VALID-2", "NSManagedObject.validateForDelete()"), arguments: StoreKind.allCases)
    func `a deleted object is asked whether it may go, and nothing else`(kind: StoreKind) throws {
      try with(kind) { context, hooks in
        let witness = Witness("a", context)
        try context.save()
        hooks.lines = []
        witness.name = "too long"
        context.delete(witness)
        struct Needed: Error {}
        hooks.check = { _, _ in throw Needed() }
        #expect(throws: Needed.self) { try context.save() }
        #expect(hooks.lines.filter { $0.hasPrefix("validate") } == ["validateForDelete"])
        hooks.check = nil
        try context.save()
        #expect(!context.hasChanges)
      }
    }

    @Test(.rule("VALID-4", "NSManagedObject.validateForInsert()"), arguments: StoreKind.allCases)
    func `errors of a subclass and of the model lie side by side`(kind: StoreKind) throws {
      try with(kind) { context, hooks in
        let (bad, own): (Witness, Witness) = (Witness(context: context), Witness("own", context))
        bad["number"] = 1
        bad["note"] = nil
        hooks.check = { _, witness in
          guard witness === own else { return }
          let details: [CocoaError] = [1, 2].map {
            CocoaError(
              .managedObjectValidation, userInfo: [NSLocalizedDescriptionKey: "own \($0)"])
          }
          throw CocoaError(.validationMultipleErrors, userInfo: [NSDetailedErrorsKey: details])
        }
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.code == NSValidationMultipleErrorsError)
        let details: [NSError] = (error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).map {
          $0 as NSError
        }
        #expect(
          details.map(\.code).sorted() == [
            NSManagedObjectValidationError, NSManagedObjectValidationError,
            NSValidationMissingMandatoryPropertyError, NSValidationMissingMandatoryPropertyError,
          ])
      }
    }

    @Test(.rule("VALID-5", "NSValidationPredicateErrorKey"), arguments: StoreKind.allCases)
    func `a single error says object, key, value and predicate`(kind: StoreKind) throws {
      try with(kind) { context, _ in
        let witness = Witness("too long", context)
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.userInfo[NSValidationObjectErrorKey] as? Witness === witness)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "name")
        #expect(error.userInfo[NSValidationValueErrorKey] as? String == "too long")
        let predicate: NSPredicate? = error.userInfo[NSValidationPredicateErrorKey] as? NSPredicate
        #expect(predicate?.formatText == "length <= 3")
      }
    }

    @Test(.rule("VALID-8", "NSManagedObject.validateForUpdate()"), arguments: StoreKind.allCases)
    func `transient properties are checked too`(kind: StoreKind) throws {
      try with(kind) { context, _ in
        let witness = Witness("a", context)
        witness["note"] = nil
        #expect(codeThrown { try context.save() } == NSValidationMissingMandatoryPropertyError)
        witness["note"] = "x"
        try context.save()
        witness["note"] = nil
        let error: NSError = try #require(errorThrown { try context.save() })
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "note")
      }
    }
  }
}
