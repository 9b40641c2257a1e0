import CoreData

/// Migrates items by hand: those whose title begins with an "a" are never shown as due.
///
/// The relationships need no code here: the mapping of the categories keeps them, because each new item is
/// associated with the old one.
public final class QuietPolicy: NSEntityMigrationPolicy {
  public override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let item = NSEntityDescription.insertNewObject(
      forEntityName: mapping.destinationEntityName ?? "Item", into: manager.destinationContext)
    for key in source.entity.attributesByName.keys {
      item.setValue(source.value(forKey: key), forKey: key)
    }
    let title: String = source.value(forKey: "title") as? String ?? ""
    item.setValue(title.lowercased().hasPrefix("a"), forKey: "doNotAlert")
    manager.associate(sourceInstance: source, withDestinationInstance: item, for: mapping)
  }
}
