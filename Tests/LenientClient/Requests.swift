import CoreData

// Casts of requests, which programs for Apple's SDK need and this framework makes needless.

/// Any class's objects, by the request that the class gives.
public func fetchAll<Model: NSManagedObject>(_ type: Model.Type, in context: NSManagedObjectContext) throws
  -> [Model]
{
  let request = Model.fetchRequest() as! NSFetchRequest<Model>
  return try context.fetch(request)
}

public protocol Listed: NSManagedObject {}

extension Listed {
  public static func request() -> NSFetchRequest<Self> { fetchRequest() as! NSFetchRequest<Self> }
}
