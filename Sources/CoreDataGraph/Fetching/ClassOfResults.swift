import CoreDataModel
import CoreDataRuntime
import CoreDataStorage
import Foundation

// The class that a caller asks for, and the classes that objects are of. An array of objects becomes one of
// `Item` without a look at each of them, so the classes have to be right before: an object that is used as
// another class reads memory that is not its own.
//
// An object is of the class that its entity names. Only the program can make others, by an initialiser of
// another class (`NSManagedObject(entity: item, insertInto: context)`); a context that has such objects knows
// it (`hasOtherClasses`), and examines every result. So what is decided once for the hierarchy of an entity
// usually holds for all its objects.

extension NSManagedObjectContext {
  /// Throws unless all objects of a fetch are of a class. Costs nothing for each object if the entity and its
  /// sub-entities name that class or subclasses.
  final func requireClass(
    _ wanted: NSManagedObject.Type, of objects: [NSManagedObject], _ request: FetchParameters
  ) throws {
    if wanted == NSManagedObject.self { return }
    // A few are examined faster than the hierarchy.
    if objects.isEmpty || objects.count > 16, try requireFit(of: wanted, request), !hasOtherClasses { return }
    try requireClass(wanted, of: objects)
  }

  /// Objects of a result whose class was required, as that class.
  final func typed<Object: NSManagedObject>(_ objects: [NSManagedObject]) throws -> [Object] {
    if hasOtherClasses { try requireClass(Object.self, of: objects) }
    return unsafeBitCast(objects, to: [Object].self)
  }

  final func typed<Object: NSManagedObject>(_ object: NSManagedObject) throws -> Object {
    if hasOtherClasses { try requireClass(Object.self, of: [object]) }
    return unsafeDowncast(object, to: Object.self)
  }

  /// Throws unless the members of a result are of a class, as far as their entities tell; `typed` examines
  /// what they don't.
  final func requireClass(
    _ wanted: NSManagedObject.Type, of ids: FetchedIDs, _ request: FetchParameters
  ) throws {
    if try wanted == NSManagedObject.self || requireFit(of: wanted, request) { return }
    for entity in ids.runtimes() where !ClassAncestry.isClass(entity.objectClass, below: wanted) {
      throw Self.wrongClass(entity.objectClass, of: entity, wanted)
    }
  }

  /// Whether all objects that a request can return are of a class. Throws if none can be.
  private func requireFit(of wanted: NSManagedObject.Type, _ request: FetchParameters) throws -> Bool {
    guard let coordinator = persistentStoreCoordinator else { return false }
    let entity: EntityRuntime = try request.runtime(in: coordinator.runtime)
    let classes: [NSManagedObject.Type] = entity.layout.family.map {
      coordinator.runtime.entities[$0].objectClass
    }
    if classes.allSatisfy({ ClassAncestry.isClass($0, below: wanted) }) {
      // A store of the program's own may return anything.
      return coordinator.persistentStores.allSatisfy { !$0.needsRequests }
    }
    if !hasOtherClasses,
      !classes.contains(where: {
        ClassAncestry.isClass($0, below: wanted) || ClassAncestry.isClass(wanted, below: $0)
      })
    {
      throw Self.wrongClass(entity.objectClass, of: entity, wanted)
    }
    return false
  }

  private func requireClass(_ wanted: NSManagedObject.Type, of objects: [NSManagedObject]) throws {
    var last: NSManagedObject.Type = wanted
    var checked: Set<ObjectIdentifier> = []
    for object in objects where type(of: object) != last {
      last = type(of: object)
      guard checked.insert(ObjectIdentifier(last)).inserted else { continue }
      if !ClassAncestry.isClass(last, below: wanted) {
        throw Self.wrongClass(last, of: object.runtime, wanted)
      }
    }
  }

  private static func wrongClass(
    _ found: NSManagedObject.Type, of entity: EntityRuntime, _ wanted: NSManagedObject.Type
  ) -> GraphError {
    let advice: String =
      found == entity.objectClass
      ? "Set the entity's class in the model, or fetch NSManagedObject."
      : """
      The entity's class is \(entity.objectClass): make its objects by \(entity.objectClass)(context:) or \
      NSEntityDescription.insertNewObject(forEntityName:into:), or fetch NSManagedObject.
      """
    return .unsupported(
      "Returning objects of entity \(entity.layout.name) (class \(found)) as \(wanted)", advice: advice)
  }
}
