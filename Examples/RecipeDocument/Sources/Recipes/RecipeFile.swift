/// The file as JSON. It knows nothing of the objects, so that either can change without the other.
struct RecipeFile: Codable {
  struct Recipe: Codable {
    var name: String
    var servings: Int16
    var ingredients: [Ingredient]
  }

  struct Ingredient: Codable {
    var name: String
    var grams: Double
  }

  /// The version of the file's form.
  var version: Int = 1
  var recipes: [Recipe]
}
