import CoreData
import Foundation

/// A kind of store to be tested: how a store of it is added, and what it does not offer.
///
/// ```swift
/// @Test(arguments: StoreTest.all)
/// func `my store behaves as every store does`(test: StoreTest) throws {
///   try test.run(on: StoreUnderTest(MyStore.self, type: "MyStore"))
/// }
/// ```
///
/// Each test adds a store at a new place of its own, with a model of its own (``LibraryModel``).
public struct StoreUnderTest {
  /// The store type under which the store is added.
  public var type: String
  /// The options of the store.
  public var options: [AnyHashable: Any]
  /// What tests may expect.
  public var features: Features
  /// The place of a new store; called once for each test, with a new empty folder, which is deleted after the
  /// test.
  public var place: (URL) throws -> URL

  /// What a store offers. Tests of what it lacks do nothing.
  public struct Features: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A store that is added again at the same place has the same objects, ids and metadata.
    public static let persistence = Features(rawValue: 1)
    /// Fetches evaluate predicates.
    public static let predicates = Features(rawValue: 2)
    /// Fetches sort, and apply limit and offset.
    public static let sorting = Features(rawValue: 4)
    /// Fetches of dictionaries with `propertiesToFetch`.
    public static let dictionaries = Features(rawValue: 8)
    /// Relationships that are kept in both directions.
    public static let relationships = Features(rawValue: 16)
    /// Relationships with an order.
    public static let ordering = Features(rawValue: 32)
    /// Entities with sub-entities.
    public static let subentities = Features(rawValue: 64)
    /// A save of an object that another context has changed meanwhile is a conflict.
    public static let conflicts = Features(rawValue: 128)
    /// Uniqueness constraints of the model.
    public static let uniqueness = Features(rawValue: 256)
    /// Transformable attributes.
    public static let transformables = Features(rawValue: 512)

    public static let all: Features = [
      .persistence, .predicates, .sorting, .dictionaries, .relationships, .ordering, .subentities, .conflicts,
      .uniqueness, .transformables,
    ]
  }

  /// A store of a class of the program, which is registered for the type; of a built-in type if there is
  /// none.
  ///
  /// `place` turns a new empty folder into the URL of the store: a file in it unless given.
  public init(
    _ storeClass: NSPersistentStore.Type? = nil, type: String, options: [AnyHashable: Any] = [:],
    features: Features = .all, at place: @escaping (URL) throws -> URL = { $0.appending(path: "store") }
  ) {
    self.type = type
    self.options = options
    self.features = features
    self.place = place
    if let storeClass { NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: type) }
  }
}
