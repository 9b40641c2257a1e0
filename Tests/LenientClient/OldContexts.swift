import CoreData

/// A context as programs of the time before queues make one; the compiler warns of it.
public func contextWithoutType() -> NSManagedObjectContext { NSManagedObjectContext() }
