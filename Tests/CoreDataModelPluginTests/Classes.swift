import CoreData

/// The class of an entity whose Codegen is Category/Extension: the properties are generated.
final class Step: NSManagedObject {
  override func awakeFromInsert() {
    super.awakeFromInsert()
    text = "to do"
  }
}

/// The class of an entity whose Codegen is Manual/None.
final class Person: NSManagedObject {
  private static let recipesKey = ManagedKey("recipes")

  var recipes: Set<Recipe> { managedSet(Self.recipesKey) }
}
