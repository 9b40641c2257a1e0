import CoreData
import Foundation

/// Recipes in a JSON file. Use it on the main actor, as its context.
@MainActor
public final class RecipeDocument {
  public let context: NSManagedObjectContext
  public let undoManager = UndoManager()
  /// Whether there are changes that the file does not have.
  public private(set) var isEdited = false
  private var observer: (any NSObjectProtocol)?

  /// An empty document.
  public init() {
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    // A coordinator without a store: it names the model, and nothing can be saved to it.
    context.persistentStoreCoordinator = NSPersistentStoreCoordinator(
      managedObjectModel: RecipeModel.shared)
    undoManager.groupsByEvent = false
    context.undoManager = undoManager
    observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { [weak self] _ in MainActor.assumeIsolated { self?.isEdited = true } }
  }

  isolated deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  /// Reads a document. Throws if the file can't be read, has another form, or holds what the model refuses.
  public convenience init(contentsOf url: URL) throws {
    self.init()
    let file: RecipeFile = try JSONDecoder().decode(RecipeFile.self, from: Data(contentsOf: url))
    guard file.version == 1 else {
      throw CocoaError(
        .fileReadUnknown,
        userInfo: [
          NSLocalizedDescriptionKey: "\(url.lastPathComponent) has version \(file.version) of the form; "
            + "this program reads version 1."
        ])
    }
    undoManager.disableUndoRegistration()
    for entry in file.recipes {
      let recipe: Recipe = addRecipe(entry.name, servings: entry.servings)
      for part in entry.ingredients { add(part.name, grams: part.grams, to: recipe) }
    }
    context.processPendingChanges()
    undoManager.enableUndoRegistration()
    try validate()
    isEdited = false
  }

  /// Checks all objects and writes the file, all of it or nothing.
  public func write(to url: URL) throws {
    try validate()
    let file = RecipeFile(
      recipes: recipes.map { recipe in
        RecipeFile.Recipe(
          name: recipe.name ?? "", servings: recipe.servings,
          ingredients: recipe.ingredients.map { RecipeFile.Ingredient(name: $0.name ?? "", grams: $0.grams) })
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(file).write(to: url, options: .atomic)
    isEdited = false
  }

  /// What a save would check.
  private func validate() throws {
    context.processPendingChanges()
    for object in context.insertedObjects { try object.validateForInsert() }
  }

  // MARK: Objects

  /// All recipes, by name. With no store, all objects are the inserted ones.
  public var recipes: [Recipe] {
    context.insertedObjects.compactMap { $0 as? Recipe }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  @discardableResult
  public func addRecipe(_ name: String, servings: Int16) -> Recipe {
    let recipe = Recipe(context: context)
    recipe.name = name
    recipe.servings = servings
    return recipe
  }

  public func add(_ name: String, grams: Double, to recipe: Recipe) {
    let ingredient = Ingredient(context: context)
    ingredient.name = name
    ingredient.grams = grams
    recipe.ingredients.append(ingredient)
  }

  /// Makes the changes of `body` one action for `undo()`.
  public func edit(_ name: String, _ body: () throws -> Void) rethrows {
    undoManager.beginUndoGrouping()
    undoManager.setActionName(name)
    defer {
      context.processPendingChanges()
      undoManager.endUndoGrouping()
    }
    try body()
  }
}
