import CoreDataModel
import Foundation

/// What an object is to be made of.
public struct NewManagedObject {
  enum Origin {
    case entity(NSEntityDescription, NSManagedObjectContext?)
    case classInContext(NSManagedObjectContext)
  }
  let origin: Origin

  init(_ entity: NSEntityDescription, _ context: NSManagedObjectContext?) {
    origin = .entity(entity, context)
  }
  init(_ context: NSManagedObjectContext) { origin = .classInContext(context) }
}

// What generic code writes of a class that is known at run time only: `Model(context: context)`,
// `T.fetchRequest() as! NSFetchRequest<T>`. In a class these would have to be `required`, and overriding ones
// too; and a class can't give `NSFetchRequest<Self>`.
extension NSFetchRequestResult where Self: NSManagedObject {
  /// Makes an object of the entity this class stands for in the context's model and inserts it.
  public init(context moc: NSManagedObjectContext) { self.init(NewManagedObject(moc)) }

  /// Makes an object of `entity` and, unless `context` is nil, inserts it there.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self.init(NewManagedObject(entity, context))
  }

  /// A request for all objects of ``NSManagedObject/entity()``. Where that is unclear the request has no
  /// entity, and is refused unless it gets one.
  public static func fetchRequest() -> NSFetchRequest<Self> {
    // `self` may be a class below `Self`.
    ModelRuntime.request(of: self)
  }
}
