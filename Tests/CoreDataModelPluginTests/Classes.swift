import CoreData

/// The class of an entity whose Codegen is Category/Extension: the properties are generated.
// snippet category
final class KitchenStep: NSManagedObject {
  override func awakeFromInsert() {
    super.awakeFromInsert()
    text = "to do"
  }
}
// end

/// The class of an entity whose Codegen is Manual/None.
// snippet none
final class KitchenPerson: NSManagedObject {
  private static let recipesKey = ManagedKey("recipes")

  var recipes: Set<KitchenRecipe> { managedSet(Self.recipesKey) }
}
// end
