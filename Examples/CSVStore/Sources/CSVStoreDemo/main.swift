import CSVStore
import CoreData
import CoreDataStoreTests
import Foundation

// Recipes in a folder of CSV files, then the tests that every store passes.

func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
  let attribute = NSAttributeDescription()
  attribute.name = name
  attribute.attributeType = type
  attribute.isOptional = true
  return attribute
}

func makeModel() -> NSManagedObjectModel {
  let recipe = NSEntityDescription()
  recipe.name = "Recipe"
  let ingredient = NSEntityDescription()
  ingredient.name = "Ingredient"
  let ingredients = NSRelationshipDescription()
  (ingredients.name, ingredients.destinationEntity, ingredients.isOrdered) = ("ingredients", ingredient, true)
  ingredients.deleteRule = .cascadeDeleteRule
  let back = NSRelationshipDescription()
  (back.name, back.destinationEntity, back.maxCount) = ("recipe", recipe, 1)
  (ingredients.inverseRelationship, back.inverseRelationship) = (back, ingredients)
  recipe.properties = [
    attribute("title", .stringAttributeType), attribute("minutes", .integer16AttributeType), ingredients,
  ]
  ingredient.properties = [attribute("name", .stringAttributeType), back]
  let model = NSManagedObjectModel()
  model.entities = [recipe, ingredient]
  return model
}

func context(_ folder: URL) throws -> NSManagedObjectContext {
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
  try coordinator.addPersistentStore(ofType: CSVStore.storeType, configurationName: nil, at: folder)
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  return context
}

func show(_ folder: URL) throws {
  for name in ["Recipe.csv", "Ingredient.csv"] {
    print("\(name):")
    print(try String(contentsOf: folder.appending(path: name), encoding: .utf8))
  }
}

func demonstrate(_ folder: URL) throws {
  let writer: NSManagedObjectContext = try context(folder)
  for (title, minutes, names) in [
    ("Pancakes", 20, ["flour", "eggs", "milk"]), ("Toast, \"French\"", 10, ["bread"]),
  ] {
    let recipe = NSEntityDescription.insertNewObject(forEntityName: "Recipe", into: writer)
    recipe.setValue(title, forKey: "title")
    recipe.setValue(minutes, forKey: "minutes")
    for name in names {
      let ingredient = NSEntityDescription.insertNewObject(forEntityName: "Ingredient", into: writer)
      ingredient.setValue(name, forKey: "name")
      ingredient.setValue(recipe, forKey: "recipe")
    }
  }
  try writer.save()
  try show(folder)

  print("The same after an editor has changed 20 minutes to 25:")
  let file: URL = folder.appending(path: "Recipe.csv")
  let text: String = try String(contentsOf: file, encoding: .utf8)
  try Data(text.replacingOccurrences(of: ",20,", with: ",25,").utf8).write(to: file)
  let reader: NSManagedObjectContext = try context(folder)
  let request = NSFetchRequest<NSManagedObject>(entityName: "Recipe")
  request.predicate = NSPredicate(format: "minutes > 20 AND ANY ingredients.name == 'eggs'")
  for recipe in try reader.fetch(request) {
    print(recipe.value(forKey: "title") ?? "", recipe.value(forKey: "minutes") ?? "", separator: ": ")
  }
}

func check() -> Int {
  var failures: Int = 0
  for test in StoreTest.all {
    do {
      try test.run(
        on: StoreUnderTest(
          CSVStore.self, type: CSVStore.storeType, features: .all.subtracting(.transformables)))
    } catch {
      failures += 1
      print("✘ \(test): \(error)")
    }
  }
  print("\(StoreTest.all.count - failures) of \(StoreTest.all.count) tests of a store passed.")
  return failures
}

CSVStore.register()
if CommandLine.arguments.count > 1 {
  try demonstrate(URL(fileURLWithPath: CommandLine.arguments[1]))
} else {
  let folder: URL = FileManager.default.temporaryDirectory.appending(path: "recipes-\(UUID().uuidString)")
  try demonstrate(folder)
  try FileManager.default.removeItem(at: folder)
}
print()
exit(check() == 0 ? 0 : 1)
