import CoreData

/// A class of the name of one in another module of the bundle (`CoreDataModelPluginTests`).
final class KitchenStep: NSManagedObject {}
