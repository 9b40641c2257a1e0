import CoreData

/// The model of the pages: products, each of one manufacturer.
final class Product: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let priceKey = ManagedKey("price")
  private static let makerKey = ManagedKey("maker")

  class func fetchRequest() -> NSFetchRequest<Product> { NSFetchRequest(entityName: "Product") }

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  var price: Double {
    get { managedValue(Self.priceKey) }
    set { setManagedValue(newValue, Self.priceKey) }
  }

  var maker: Maker? {
    get { managedObject(Self.makerKey) }
    set { setManagedObject(newValue, Self.makerKey) }
  }
}

final class Maker: NSManagedObject {
  private static let nameKey = ManagedKey("name")
  private static let productsKey = ManagedKey("products")

  class func fetchRequest() -> NSFetchRequest<Maker> { NSFetchRequest(entityName: "Maker") }

  var name: String? {
    get { managedValue(Self.nameKey) }
    set { setManagedValue(newValue, Self.nameKey) }
  }

  var products: Set<Product> {
    get { managedSet(Self.productsKey) }
    set { setManagedMembers(newValue, Self.productsKey) }
  }
}

/// A stack over a file that is removed with it.
final class Shop: Sendable {
  let container: NSPersistentContainer
  private let folder: URL

  var context: NSManagedObjectContext { container.viewContext }

  init() throws {
    let product = NSEntityDescription()
    product.name = "Product"
    product.managedObjectClassName = NSStringFromClass(Product.self)
    let maker = NSEntityDescription()
    maker.name = "Maker"
    maker.managedObjectClassName = NSStringFromClass(Maker.self)

    let productName = NSAttributeDescription()
    productName.name = "name"
    productName.attributeType = .stringAttributeType
    let price = NSAttributeDescription()
    price.name = "price"
    price.attributeType = .doubleAttributeType
    price.defaultValue = 0.0
    let makerName = NSAttributeDescription()
    makerName.name = "name"
    makerName.attributeType = .stringAttributeType

    let makerOfProduct = NSRelationshipDescription()
    makerOfProduct.name = "maker"
    makerOfProduct.destinationEntity = maker
    makerOfProduct.maxCount = 1
    makerOfProduct.isOptional = true
    let productsOfMaker = NSRelationshipDescription()
    productsOfMaker.name = "products"
    productsOfMaker.destinationEntity = product
    productsOfMaker.maxCount = 0
    productsOfMaker.isOptional = true
    productsOfMaker.deleteRule = .cascadeDeleteRule
    makerOfProduct.inverseRelationship = productsOfMaker
    productsOfMaker.inverseRelationship = makerOfProduct

    product.properties = [productName, price, makerOfProduct]
    maker.properties = [makerName, productsOfMaker]
    let model = NSManagedObjectModel()
    model.entities = [product, maker]

    folder = FileManager.default.temporaryDirectory.appendingPathComponent("shop-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
    container.persistentStoreDescriptions = [
      NSPersistentStoreDescription(url: folder.appendingPathComponent("Shop.sqlite"))
    ]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  deinit {
    for store in container.persistentStoreCoordinator.persistentStores {
      try? container.persistentStoreCoordinator.remove(store)
    }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Saves products that are named and priced 0, 1, 2 … on a queue of their own.
  func fill(_ count: Int, maker name: String = "Acme") throws {
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      let maker = Maker(context: context)
      maker.name = name
      for number in 0..<count {
        let product = Product(context: context)
        product.name = "Product \(number)"
        product.price = Double(number)
        product.maker = maker
      }
      try context.save()
    }
  }
}
