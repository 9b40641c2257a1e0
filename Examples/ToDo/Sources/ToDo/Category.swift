import CoreData

/// A heading that items are kept under.
public final class Category: NSManagedObject {
  public class func fetchRequest() -> NSFetchRequest<Category> { NSFetchRequest(entityName: "Category") }

  private static let nameKey = ManagedKey("name")
  private static let itemsKey = ManagedKey("items")

  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  /// The category's items; the inverse of `Item.category`, which the framework updates.
  public var items: Set<Item> {
    get { managedSet(Self.itemsKey) }
    set { setManagedMembers(newValue, Self.itemsKey) }
  }
}
