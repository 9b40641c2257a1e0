import CoreDataModel
import Foundation

/// The origin of an object that is to be created.
public struct NewManagedObject {
  enum Origin {
    case entity(NSEntityDescription, NSManagedObjectContext?)
    case classInContext(NSManagedObjectContext)
    /// An object of a fetch. Its home keeps the description; each object would retain it twice more.
    case fetched(Unmanaged<NSEntityDescription>)
  }
  let origin: Origin

  init(_ entity: NSEntityDescription, _ context: NSManagedObjectContext?) {
    origin = .entity(entity, context)
  }
  init(_ context: NSManagedObjectContext) { origin = .classInContext(context) }
  /// For a home, which retains the description through its entity.
  init(unretained entity: NSEntityDescription) { origin = .fetched(.passUnretained(entity)) }
}

// What generic code calls for a class that is known at run time only: `Model(context: context)`,
// `T.fetchRequest() as! NSFetchRequest<T>`. In a class these would have to be `required`, and so would
// overrides; and a method of a class can't return `NSFetchRequest<Self>`.
extension NSFetchRequestResult where Self: NSManagedObject {
  /// Creates an object of the entity of this class in the context's model and inserts it.
  public init(context moc: NSManagedObjectContext) { self.init(NewManagedObject(moc)) }

  /// Creates an object of `entity` and, unless `context` is nil, inserts it there.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self.init(NewManagedObject(entity, context))
  }

  /// A request for all objects of ``NSManagedObject/entity()``. If that is ambiguous the request has no
  /// entity, and is refused unless it is given one.
  public static func fetchRequest() -> NSFetchRequest<Self> {
    // `self` may be a subclass of `Self`.
    ModelRuntime.request(of: self)
  }
}
