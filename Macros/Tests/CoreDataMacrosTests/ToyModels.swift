import CoreDataMacros

enum Size: Int16 {
  case small = 1
  case large = 2
}

@ManagedObject(unique: [["code"]], indexes: [["due", "-priority"]], userInfo: ["note": "a thing"])
class Item: NSManagedObject {
  @Managed var code: String
  @Managed var title: String?
  @Managed(was: "deadline") var due: Date?
  @Managed(default: 3) var priority: Int16
  @Managed(default: Size.small) var size: Size
  @Managed var maximum: Size?
  @Managed var isDone: Bool
  @Managed(isExternal: true) var photo: Data?
  @Managed var price: Decimal?
  @Managed var ratio: Double
  @Managed var id: UUID?
  @Managed var link: URL?
  @Managed(type: .integer16) var rank: Int32
  @Managed(transformer: "NSSecureUnarchiveFromData") var words: [String]?
  @Managed(derivation: "uppercase:(title)") var upper: String?
  @Managed(isTransient: true) var isShown: Bool
  @Managed(inverse: \Shelf.items) var shelf: Shelf?
  @Managed(inverse: \Tag.items) var tags: Set<Tag>
  @Managed(inverse: "next", rule: .denyDeleteRule) var before: Item?
  @Managed(inverse: "before") var next: Item?
  /// No property of the model.
  var shout: String { (title ?? "").uppercased() }
}

@ManagedObject("Book", was: "Volume")
final class SpecialItem: Item {
  @Managed var pages: Int32
}

@ManagedObject
final class Shelf: NSManagedObject {
  @Managed var name: String?
  @Managed(rule: .cascadeDeleteRule) var items: [Item]
}

@ManagedObject(isAbstract: true)
class Label: NSManagedObject {
  @Managed var text: String?
}

@ManagedObject
final class Tag: Label {
  @Managed var items: Set<Item>
}
