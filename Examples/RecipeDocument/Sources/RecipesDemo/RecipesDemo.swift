import CoreData
import Foundation
import Recipes

@main
@MainActor
struct RecipesDemo {
  static func main() throws {
    let folder: URL = FileManager.default.temporaryDirectory
      .appendingPathComponent("recipes-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url: URL = folder.appendingPathComponent("Kitchen.json")

    let new = RecipeDocument()
    new.edit("Add Bread") {
      let bread: Recipe = new.addRecipe("Bread", servings: 8)
      for (name, grams) in [("flour", 500.0), ("water", 350), ("salt", 10)] {
        new.add(name, grams: grams, to: bread)
      }
    }
    try new.write(to: url)
    print("written  \(try String(contentsOf: url, encoding: .utf8).count) characters of JSON; \(state(new))")

    let document = try RecipeDocument(contentsOf: url)
    show("read", document)
    guard let bread: Recipe = document.recipes.first else { fatalError("The recipe is missing.") }

    document.edit("Double") {
      bread.servings *= 2
      for ingredient in bread.ingredients { ingredient.grams *= 2 }
    }
    show("doubled", document)
    document.edit("Delete") { document.context.delete(bread) }
    print("deleted  \(document.recipes.count) recipes, \(document.context.insertedObjects.count) objects")
    document.undoManager.undo()
    show("undo", document)
    document.undoManager.undo()
    show("undo", document)
    document.undoManager.redo()
    show("redo", document)

    document.edit("Spill") { bread.ingredients[1].grams = -1 }
    do {
      try document.write(to: url)
      fatalError("A negative amount was written.")
    } catch {
      print("refused  \((error as NSError).localizedDescription)")
    }
    document.undoManager.undo()
    try document.write(to: url)
    show("written", try RecipeDocument(contentsOf: url))
  }

  private static func show(_ what: String, _ document: RecipeDocument) {
    for recipe in document.recipes {
      let parts: [String] = recipe.ingredients.map { "\(Int($0.grams)) g \($0.name ?? "")" }
      print(
        "\(what.padding(toLength: 8, withPad: " ", startingAt: 0)) \(recipe.name ?? "") for \(recipe.servings): "
          + "\(parts.joined(separator: ", ")); \(state(document))")
    }
  }

  private static func state(_ document: RecipeDocument) -> String {
    document.isEdited ? "edited" : "as in its file"
  }
}
