import CoreData

/// A recipe: its name, for how many, and what goes into it, in order.
public final class Recipe: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let servingsKey = ManagedKey("servings")
  private static let ingredientsKey = ManagedKey("ingredients")

  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  public var servings: Int16 {
    get { managedValue(Self.servingsKey) }
    set { setManagedValue(newValue, Self.servingsKey) }
  }

  public var ingredients: [Ingredient] {
    get { managedArray(Self.ingredientsKey) }
    set { setManagedMembers(newValue, Self.ingredientsKey) }
  }
}

/// An ingredient of one recipe.
public final class Ingredient: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let gramsKey = ManagedKey("grams")
  private static let recipeKey = ManagedKey("recipe")

  public var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  public var grams: Double {
    get { managedValue(Self.gramsKey) }
    set { setManagedValue(newValue, Self.gramsKey) }
  }

  public var recipe: Recipe? {
    get { managedObject(Self.recipeKey) }
    set { setManagedObject(newValue, Self.recipeKey) }
  }
}

enum RecipeModel {
  static let shared: NSManagedObjectModel = {
    let recipe: NSEntityDescription = entity("Recipe", Recipe.self)
    let ingredient: NSEntityDescription = entity("Ingredient", Ingredient.self)

    let ingredients = NSRelationshipDescription()
    ingredients.name = "ingredients"
    ingredients.destinationEntity = ingredient
    ingredients.isOrdered = true
    ingredients.deleteRule = .cascadeDeleteRule

    let owner = NSRelationshipDescription()
    owner.name = "recipe"
    owner.destinationEntity = recipe
    owner.maxCount = 1
    owner.isOptional = false
    owner.inverseRelationship = ingredients
    ingredients.inverseRelationship = owner

    let servings: NSAttributeDescription = attribute("servings", .integer16AttributeType)
    servings.defaultValue = 4
    servings.setValidationPredicates(
      [NSPredicate(format: "SELF BETWEEN {1, 100}")], withValidationWarnings: ["Servings are 1 to 100."])
    let grams: NSAttributeDescription = attribute("grams", .doubleAttributeType)
    grams.defaultValue = 0.0
    grams.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["An amount is not negative."])

    recipe.properties = [attribute("name", .stringAttributeType), servings, ingredients]
    ingredient.properties = [attribute("name", .stringAttributeType), grams, owner]
    let model = NSManagedObjectModel()
    model.entities = [recipe, ingredient]
    return model
  }()

  private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    return entity
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = false
    return attribute
  }
}
