import CoreData

/// What a migration does to an entity of ten attributes.
enum MigrationCase: String, CaseIterable {
  case add, rename, require, split

  var title: String {
    switch self {
    case .add: "add an attribute"
    case .rename: "rename an attribute"
    case .require: "make one required"
    case .split: "split an entity"
    }
  }

  /// The same by hand: the statements that a program with a database of its own would run. nil where
  /// objects of another entity are made, which is a matter of code.
  var statements: [String]? {
    switch self {
    case .add: ["ALTER TABLE ZITEM ADD COLUMN ZEXTRA VARCHAR"]
    case .rename: ["ALTER TABLE ZITEM RENAME COLUMN ZNOTE TO ZREMARK"]
    // A column of a store has no constraint: required is a value where there was none.
    case .require: ["UPDATE ZITEM SET ZNOTE = 'none' WHERE ZNOTE IS NULL"]
    case .split: nil
    }
  }

  /// The version after.
  var model: NSManagedObjectModel {
    MigrationModels.make { item in
      switch self {
      case .add: item.properties.append(MigrationModels.attribute("extra", .stringAttributeType))
      case .rename:
        item.attributesByName["note"]!.renamingIdentifier = "note"
        item.attributesByName["note"]!.name = "remark"
      case .require:
        item.attributesByName["note"]!.defaultValue = "none"
        item.attributesByName["note"]!.isOptional = false
      case .split: break
      }
    } and: { model in
      guard self == .split else { return }
      let label = NSEntityDescription()
      label.name = "Label"
      label.properties = [MigrationModels.attribute("text", .stringAttributeType)]
      model.entities.append(label)
    }
  }
}

enum MigrationModels {
  static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    return attribute
  }

  static func make(
    _ change: (NSEntityDescription) -> Void = { _ in }, and rest: (NSManagedObjectModel) -> Void = { _ in }
  ) -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [
      attribute("number", .integer64AttributeType), attribute("section", .integer32AttributeType),
      attribute("quantity", .integer32AttributeType), attribute("priority", .integer16AttributeType),
      attribute("price", .doubleAttributeType), attribute("weight", .doubleAttributeType),
      attribute("code", .stringAttributeType), attribute("title", .stringAttributeType),
      attribute("note", .stringAttributeType), attribute("done", .booleanAttributeType),
    ]
    change(item)
    let model = NSManagedObjectModel()
    model.entities = [item]
    rest(model)
    return model
  }
}

/// Makes a second object, of another entity, out of each fourth one.
final class SplitPolicy: NSEntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    guard let number = source.value(forKey: "number") as? Int64, number % 4 == 0 else { return }
    let label = NSEntityDescription.insertNewObject(
      forEntityName: "Label", into: manager.destinationContext)
    label.setValue(source.value(forKey: "code"), forKey: "text")
  }
}
