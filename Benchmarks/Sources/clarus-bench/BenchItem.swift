import CoreData

/// The rows as managed objects.
final class BenchItem: NSManagedObject {
  class func fetchRequest() -> NSFetchRequest<BenchItem> { NSFetchRequest(entityName: "Item") }

  private static let numberKey = ManagedKey("number")
  private static let sectionKey = ManagedKey("section")
  private static let quantityKey = ManagedKey("quantity")
  private static let priorityKey = ManagedKey("priority")
  private static let priceKey = ManagedKey("price")
  private static let weightKey = ManagedKey("weight")
  private static let codeKey = ManagedKey("code")
  private static let titleKey = ManagedKey("title")
  private static let noteKey = ManagedKey("note")
  private static let doneKey = ManagedKey("done")

  var number: Int64 {
    get { managedValue(Self.numberKey) }
    set { setManagedValue(newValue, Self.numberKey) }
  }

  var section: Int32 {
    get { managedValue(Self.sectionKey) }
    set { setManagedValue(newValue, Self.sectionKey) }
  }

  var quantity: Int32 {
    get { managedValue(Self.quantityKey) }
    set { setManagedValue(newValue, Self.quantityKey) }
  }

  var priority: Int16 {
    get { managedValue(Self.priorityKey) }
    set { setManagedValue(newValue, Self.priorityKey) }
  }

  var price: Double {
    get { managedValue(Self.priceKey) }
    set { setManagedValue(newValue, Self.priceKey) }
  }

  var weight: Double {
    get { managedValue(Self.weightKey) }
    set { setManagedValue(newValue, Self.weightKey) }
  }

  var code: String? {
    get { managedValue(Self.codeKey) }
    set { setManagedValue(newValue, Self.codeKey) }
  }

  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }

  var note: String? {
    get { managedValue(Self.noteKey) }
    set { setManagedValue(newValue, Self.noteKey) }
  }

  var done: Bool {
    get { managedValue(Self.doneKey) }
    set { setManagedValue(newValue, Self.doneKey) }
  }

  /// The model: one entity, ten attributes, a fetch index on `number` and one on `section`.
  static func makeModel() -> NSManagedObjectModel {
    let entity: NSEntityDescription = BenchStore.entity(
      "Item", BenchItem.self,
      [
        "number": .integer64AttributeType, "section": .integer32AttributeType,
        "quantity": .integer32AttributeType, "priority": .integer16AttributeType,
        "price": .doubleAttributeType, "weight": .doubleAttributeType, "code": .stringAttributeType,
        "title": .stringAttributeType, "note": .stringAttributeType, "done": .booleanAttributeType,
      ], optional: false)
    entity.indexes = ["number", "section"].map { name in
      NSFetchIndexDescription(
        name: name,
        elements: [
          NSFetchIndexElementDescription(
            property: entity.propertiesByName[name]!, collationType: .binary)
        ])
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }
}
