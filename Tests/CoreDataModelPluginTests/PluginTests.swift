import CoreData
import Testing

/// What CoreDataModelPlugin makes of Kitchen.xcdatamodeld, in a module that applies it.
@MainActor
struct PluginTests {
  private let context: NSManagedObjectContext

  init() throws {
    let container = NSPersistentContainer(name: "Kitchen")
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    context = container.viewContext
  }

  // MARK: Resources

  @Test func `the compiled model is a resource, found as on Apple's platforms`() throws {
    let url: URL = try #require(Bundle.module.url(forResource: "Kitchen", withExtension: "momd"))
    #expect(url.pathExtension == "momd")
    let model: NSManagedObjectModel = try #require(NSManagedObjectModel(contentsOf: url))
    #expect(
      model.entitiesByName.keys.sorted() == ["Base", "Dish", "Person", "Plain", "Recipe", "Step", "Tag"])
    #expect(
      model.entityVersionHashesByName
        == context.persistentStoreCoordinator?.managedObjectModel.entityVersionHashesByName)
    let names: [String] = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    #expect(names.contains("Kitchen.mom") && names.contains("VersionInfo.plist"))
  }

  @Test func `names that Foundation has too mean CoreData's`() {
    let expression = NSExpression(forConstantValue: 2)
    #expect(expression.constantValue as? Int == 2)
    #expect(NSCompoundPredicate(andPredicateWithSubpredicates: []).predicateFormat == "TRUEPREDICATE")
  }

  /// Another test module of this bundle has a class of the name `KitchenStep`: nothing told which one was
  /// meant, and the first use ended the program.
  @Test func `a class of the Current Product Module is the one of this module`() throws {
    let entity: NSEntityDescription = try #require(
      context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Step"])
    #expect(entity.managedObjectClassName == "CoreDataModelPluginTests.KitchenStep")
    let step = NSEntityDescription.insertNewObject(forEntityName: "Step", into: context)
    #expect(step is KitchenStep)
  }

  // MARK: Attributes

  @Test func `every attribute keeps what is set, over a save`() throws {
    let recipe = KitchenRecipe(context: context)
    let key = UUID()
    let day = Date(timeIntervalSinceReferenceDate: 1000)
    recipe.bytes = Data([1, 2])
    recipe.`class` = "main"
    recipe.colors = ["red", "green"]
    recipe.cooked = 2000
    recipe.createdAt = day
    recipe.factor = 1.5
    recipe.home = ["city": "Lyon"]
    recipe.key = key
    recipe.link = URL(string: "https://example.org/soup")
    recipe.minutes = 45
    recipe.object = NSNumber(value: 7)
    recipe.price = NSDecimalNumber(string: "3.5")
    recipe.rating = 4.5
    recipe.title = "Soup"
    recipe.vegan = true
    recipe.views = 1 << 40
    try context.save()
    context.refreshAllObjects()
    #expect(recipe.isFault)
    #expect(recipe.bytes == Data([1, 2]) && recipe.`class` == "main" && recipe.colors == ["red", "green"])
    #expect(recipe.cooked == 2000 && recipe.createdAt == day && recipe.factor == 1.5)
    #expect(recipe.home?["city"] as? String == "Lyon" && recipe.key == key)
    #expect(recipe.link?.host() == "example.org" && recipe.minutes == 45)
    #expect(recipe.object == NSNumber(value: 7) && recipe.price == 3.5 && recipe.rating == 4.5)
    #expect(recipe.title == "Soup" && recipe.vegan && recipe.views == 1 << 40)
    // Of NSManagedObject too; the model says that there is no accessor.
    recipe.setValue("hot", forKey: "description")
    #expect(recipe.value(forKey: "description") as? String == "hot")
  }

  @Test func `numbers without scalar types may be missing`() {
    let dish = KitchenDish(context: context)
    #expect(dish.servings == nil)
    dish.servings = 3
    #expect(dish.servings?.intValue == 3)
    #expect(dish.minutes == 0)
  }

  @Test func `an enumeration has the default for a missing or unknown value where it is required`() {
    let recipe = KitchenRecipe(context: context)
    #expect(recipe.difficulty == .normal && recipe.state == nil)
    recipe.difficulty = .hard
    recipe.state = .sent
    #expect(recipe.value(forKey: "difficulty") as? Int == 10)
    #expect(recipe.value(forKey: "state") as? String == "On the \"way\"")
    recipe.setValue(99, forKey: "difficulty")
    recipe.setValue("lost", forKey: "state")
    #expect(recipe.difficulty == .normal && recipe.state == nil)
    #expect(KitchenRecipeDifficulty.allCases == [.easy, .normal, .hard])
  }

  // MARK: Relationships

  @Test func `members of a set are added and removed, one or several`() {
    let recipe = KitchenRecipe(context: context)
    let tags: [KitchenTag] = (0..<3).map { _ in KitchenTag(context: context) }
    recipe.addToTags(tags[0])
    recipe.addToTags(NSSet(array: tags))
    #expect(recipe.tags == NSSet(array: tags) && tags[2].recipes == NSSet(object: recipe))
    recipe.removeFromTags(tags[1])
    recipe.removeFromTags(NSSet(object: tags[0]))
    #expect(recipe.tags == NSSet(object: tags[2]))
    recipe.tags = nil
    #expect(recipe.tags?.count == 0 && tags[2].recipes?.count == 0)
  }

  @Test func `members of an ordered relationship are inserted, replaced and removed by place`() {
    let recipe = KitchenRecipe(context: context)
    let steps: [KitchenStep] = (0..<7).map { _ in KitchenStep(context: context) }
    func order() -> [Int] {
      (recipe.steps?.array as? [KitchenStep] ?? []).map { steps.firstIndex(of: $0) ?? -1 }
    }
    recipe.addToSteps(steps[0])
    recipe.addToSteps(NSOrderedSet(array: [steps[1], steps[2]]))
    #expect(order() == [0, 1, 2])
    recipe.insertIntoSteps(steps[3], at: 1)
    #expect(order() == [0, 3, 1, 2])
    recipe.insertIntoSteps([steps[4], steps[5]], at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
    #expect(order() == [4, 5, 0, 3, 1, 2])
    recipe.replaceSteps(at: 2, with: steps[6])
    #expect(order() == [4, 5, 6, 3, 1, 2])
    recipe.replaceSteps(at: NSIndexSet(index: 5), with: [steps[0]])
    #expect(order() == [4, 5, 6, 3, 1, 0])
    recipe.removeFromSteps(at: 0)
    recipe.removeFromSteps(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
    #expect(order() == [3, 1, 0])
    recipe.removeFromSteps(steps[1])
    recipe.removeFromSteps(NSOrderedSet(array: [steps[0]]))
    #expect(order() == [3] && steps[3].recipe == recipe && steps[0].recipe == nil)
  }

  @Test func `classes by hand and generated ones refer to each other`() {
    let recipe = KitchenRecipe(context: context)
    let person = KitchenPerson(context: context)
    recipe.author = person
    #expect(person.recipes == [recipe])
    #expect(KitchenStep(context: context).text == "to do")
    let plain = NSEntityDescription.insertNewObject(forEntityName: "Plain", into: context)
    recipe.plain = plain
    #expect(plain.value(forKey: "recipes") as? Set<KitchenRecipe> == [recipe])
  }

  // MARK: Requests

  @Test func `requests, templates and fetched properties find objects`() throws {
    let ada = KitchenPerson(context: context)
    for (title, rating) in [("Soup", 3.0), ("Stew", 4), ("Soup", 5)] {
      let recipe = KitchenRecipe(context: context)
      recipe.title = title
      recipe.rating = rating
      recipe.author = title == "Soup" ? ada : nil
      recipe.vegan = rating == 4
    }
    try context.save()
    let request = KitchenRecipe.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: KitchenRecipe.PropertyName.rating, ascending: false)]
    let all = try context.fetch(request)
    #expect(all.map(\.rating) == [5, 4, 3])
    #expect(try KitchenRecipe.fetchByAuthor(author: ada, least: 4, in: context) == [all[0]])
    #expect(try KitchenRecipe.fetchVegan(in: context) == [all[1]])
    #expect(try KitchenRecipe.fetchNamed(names: ["Stew", "Cake"], in: context) == [all[1]])
    #expect(try KitchenRecipe.fetchNumberOf(start: "So", in: context) == 2)
    #expect(Set(all[0].namesakes) == [all[0], all[2]])
    #expect(
      try NSPredicate(format: "%K > 3", KitchenRecipe.PropertyName.rating).evaluateThrowing(with: all[0]))
    // Another model has no such template.
    let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    other.persistentStoreCoordinator = NSPersistentStoreCoordinator(
      managedObjectModel: NSManagedObjectModel())
    #expect(throws: (any Error).self) { try KitchenRecipe.fetchVegan(in: other) }
  }

  @Test func `key paths of generated properties have names`() throws {
    #expect(NSSortDescriptor(keyPath: \KitchenRecipe.title, ascending: true).key == "title")
    #expect(NSSortDescriptor(keyPath: \KitchenRecipe.rating, ascending: true).key == "rating")
    #expect(NSExpression(forKeyPath: \KitchenRecipe.difficulty).keyPath == "difficulty")
  }

  @Test func `objects are identified by themselves`() {
    func identity<Value: Identifiable>(_ value: Value) -> Value.ID { value.id }
    let recipe = KitchenRecipe(context: context)
    #expect(identity(recipe) == ObjectIdentifier(recipe))
  }
}
