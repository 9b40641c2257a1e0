import CoreData

/// A thing to do.
///
/// Linux has no Objective-C runtime, so properties are not `@NSManaged`: each is a computed property over its
/// slot, one line to read and one to write.
public final class Item: NSManagedObject {
  public class func fetchRequest() -> NSFetchRequest<Item> { NSFetchRequest(entityName: "Item") }

  private static let titleKey = ManagedKey("title")
  private static let notesKey = ManagedKey("notes")
  private static let dueDateKey = ManagedKey("dueDate")
  private static let priorityKey = ManagedKey("priority")
  private static let completedKey = ManagedKey("completed")
  private static let lastAlertDateKey = ManagedKey("lastAlertDate")
  private static let doNotAlertKey = ManagedKey("doNotAlert")
  private static let categoryKey = ManagedKey("category")

  public var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }

  public var notes: String? {
    get { managedValue(Self.notesKey) }
    set { setManagedValue(newValue, Self.notesKey) }
  }

  public var dueDate: Date? {
    get { managedValue(Self.dueDateKey) }
    set { setManagedValue(newValue, Self.dueDateKey) }
  }

  public var priority: Int16 {
    get { managedValue(Self.priorityKey) }
    set { setManagedValue(newValue, Self.priorityKey) }
  }

  public var completed: Bool {
    get { managedValue(Self.completedKey) }
    set { setManagedValue(newValue, Self.completedKey) }
  }

  /// When the item was last shown as due; since version 2 of the model.
  public var lastAlertDate: Date? {
    get { managedValue(Self.lastAlertDateKey) }
    set { setManagedValue(newValue, Self.lastAlertDateKey) }
  }

  /// Whether the item is never shown as due; since version 2 of the model.
  public var doNotAlert: Bool {
    get { managedValue(Self.doNotAlertKey) }
    set { setManagedValue(newValue, Self.doNotAlertKey) }
  }

  public var category: Category? {
    get { managedObject(Self.categoryKey) }
    set { setManagedObject(newValue, Self.categoryKey) }
  }
}
