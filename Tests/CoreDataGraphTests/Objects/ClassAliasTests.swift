import CoreData
import Foundation
import TestSupport
import Testing

/// What `clarus port` writes for `@objc(CDAliasedMark) class AliasedMark`, and for computed properties of a
/// class that Codegen makes.
final class AliasedMark: NSManagedObject {
  final class CDAliasedMark: ManagedClassAlias {
    override class var original: NSManagedObject.Type { AliasedMark.self }
  }

  private static let titleKey = ManagedKey("title")

  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }
}

extension AliasedMark {
  var initial: String { String((title ?? "").prefix(1)) }
}

extension AliasedMark: AccessorListing {
  static var listedAccessors: [String: AnyKeyPath] { ["initial": \AliasedMark.initial] }
}

struct ClassAliasTests {
  private func context() throws -> NSManagedObjectContext {
    let title = NSAttributeDescription()
    (title.name, title.attributeType, title.isOptional) = ("title", .stringAttributeType, true)
    let mark = NSEntityDescription()
    (mark.name, mark.managedObjectClassName, mark.properties) = ("Mark", "CDAliasedMark", [title])
    let part = NSEntityDescription()
    (part.name, part.managedObjectClassName) = ("Part", ".CDAliasedMark")
    mark.subentities = [part]
    let model = NSManagedObjectModel()
    model.entities = [mark, part]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `an entity has the class whose alias the model names`() throws {
    let context = try context()
    try context.performAndWait {
      for name in ["Mark", "Part"] {
        let made = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        let mark: AliasedMark = try #require(made as? AliasedMark)
        mark.title = "Note"
        #expect(mark.value(forKey: "initial") as? String == "N")
      }
      try context.save()
      let request = NSFetchRequest<AliasedMark>(entityName: "Mark")
      #expect(try context.fetch(request).count == 2)
    }
  }

  @Test func `accessors that an extension lists are sections of a controller`() throws {
    let context = try context()
    try context.performAndWait {
      for title in ["Apple", "Ape", "Bear"] {
        NSEntityDescription.insertNewObject(forEntityName: "Mark", into: context)
          .setValue(title, forKey: "title")
      }
      try context.save()
      let request = NSFetchRequest<AliasedMark>(entityName: "Mark")
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: nil)
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["A", "B"])
    }
  }
}
