import CoreData
import CoreDataStoreTests
import Foundation
import Testing

/// Reference objects, the ids that are made of them, and their URIs.
@Suite struct ReferenceTests {
  final class Store: NSIncrementalStore, @unchecked Sendable {
    // Sendable: it holds nothing.
    override func loadMetadata() throws {
      metadata = [NSStoreTypeKey: "References", NSStoreUUIDKey: "5A7A22D0-7B6B-4C5D-9B8A-0C3B9F1C2D3E"]
    }
  }

  private let store: Store
  private let coordinator: NSPersistentStoreCoordinator
  private let book: NSEntityDescription

  init() throws {
    NSPersistentStoreCoordinator.registerStoreClass(Store.self, forStoreType: "References")
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    store = try #require(
      try coordinator.addPersistentStore(
        ofType: "References", configurationName: nil, at: URL(fileURLWithPath: "/nowhere/references"))
        as? Store)
    book = try #require(coordinator.managedObjectModel.entitiesByName["Book"])
  }

  struct Point: Hashable { var x: Int }

  @Test func `equal reference objects give equal ids, and come back as they were`() throws {
    let uuid = UUID()
    let references: [any Hashable] = [
      1, 0, -1, Int64.max, 2.5, "a", "", "1", "~u", "a/b c?d#e%20f", "ü", "u\u{308}", uuid, uuid.uuidString,
      Data([1, 2, 255, 254]), Data(), url("https://example.org/a?b=c"), Point(x: 1), Point(x: 2),
      true as NSNumber == 1 ? 3 : 4, UInt64.max, UInt64(Int64.max) + 1, decimal("12345678901234567890.1"),
      decimal("12345678901234567890.2"), decimal("0.30000000000000000001"), 0.3,
    ]
    var ids: [NSManagedObjectID] = []
    for reference in references {
      let id: NSManagedObjectID = store.newObjectID(for: book, referenceObject: reference)
      #expect(id == store.newObjectID(for: book, referenceObject: reference))
      #expect(AnyHashable(reference) == store.referenceObject(for: id) as? AnyHashable)
      #expect(id.entity.name == "Book" && !id.isTemporaryID && id.persistentStore === store)
      let uri: URL = id.uriRepresentation()
      #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id, "\(uri)")
      ids.append(id)
    }
    #expect(Set(ids).count == references.count)
    #expect(Set(ids.map { $0.uriRepresentation() }).count == references.count)
  }

  private func decimal(_ text: String) -> Decimal { Decimal(string: text) ?? 0 }

  private func url(_ text: String) -> URL { URL(string: text) ?? URL(fileURLWithPath: "/") }

  @Test func `numbers of all types are one reference object, and so is a string of any class`() {
    let number: NSManagedObjectID = store.newObjectID(for: book, referenceObject: 7)
    for same: Any in [
      Int16(7), UInt64(7), NSNumber(value: 7), 7.0, Decimal(7), NSDecimalNumber(value: 7),
    ] {
      #expect(store.newObjectID(for: book, referenceObject: same) == number)
    }
    #expect(store.newObjectID(for: book, referenceObject: "7") != number)
    #expect(
      store.newObjectID(for: book, referenceObject: "a")
        == store.newObjectID(for: book, referenceObject: NSString("a")))
  }

  @Test func `URIs say what the reference object is`() {
    let cases: [(Any, String)] = [
      (42, "p42"), ("milk", "pmilk"), ("42", "p~s42"), ("", "p~s"), ("a b/c", "pa%20b%2Fc"), ("~x", "p~s~x"),
      (
        UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0") as Any,
        "p~u0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"
      ),
    ]
    for (reference, component) in cases {
      let uri: URL = store.newObjectID(for: book, referenceObject: reference).uriRepresentation()
      #expect(uri.absoluteString == "x-coredata://5A7A22D0-7B6B-4C5D-9B8A-0C3B9F1C2D3E/Book/\(component)")
    }
  }

  /// The UUID in metadata is the store's own: nothing says that it has the form of one.
  @Test(arguments: ["a/b", "a?b", "a#b", "a b", "ü%20", "[::1]", "user@host:80", "UPPER lower"])
  func `any identifier of a store can stand in URIs`(identifier: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    let store: Store = try #require(
      try coordinator.addPersistentStore(
        ofType: "References", configurationName: nil, at: URL(fileURLWithPath: "/nowhere/identifier"))
        as? Store)
    store.metadata = [NSStoreTypeKey: "References", NSStoreUUIDKey: identifier]
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Book"])
    let id: NSManagedObjectID = store.newObjectID(for: entity, referenceObject: "x")
    let uri: URL = id.uriRepresentation()
    #expect(uri.absoluteString.hasPrefix("x-coredata://") && uri.absoluteString.hasSuffix("/Book/px"))
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id, "\(uri)")
    #expect("\(id)".contains("/Book/px"))
  }

  @Test func `a URI that was written before leads to the object in a store that has not seen it`() throws {
    let uri: URL = url("x-coredata://\(store.identifier ?? "")/Book/p~u0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0")
    let id: NSManagedObjectID = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(
      store.referenceObject(for: id) as? UUID == UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"))
    let number: NSManagedObjectID = try #require(
      coordinator.managedObjectID(for: "x-coredata://\(store.identifier ?? "")/Book/p12"))
    #expect(store.referenceObject(for: number) as? Int == 12)
  }

  @Test(arguments: ["", "p", "q1", "p01", "p+1", "p~u1", "p~o99", "p~x1", "p~s", "pa/b", "p1?x", "p~smilk"])
  func `a URI that no id writes leads nowhere`(component: String) {
    let known: Bool = component == "p~s"
    let found = coordinator.managedObjectID(for: "x-coredata://\(store.identifier ?? "")/Book/\(component)")
    #expect((found != nil) == known)
  }

  @Test func `the same reference object names different objects of different entities`() throws {
    let author: NSEntityDescription = try #require(coordinator.managedObjectModel.entitiesByName["Author"])
    let novel: NSEntityDescription = try #require(coordinator.managedObjectModel.entitiesByName["Novel"])
    let ids: [NSManagedObjectID] = [book, author, novel].map {
      store.newObjectID(for: $0, referenceObject: "1")
    }
    #expect(Set(ids).count == 3)
    #expect(ids.map { store.referenceObject(for: $0) as? String } == ["1", "1", "1"])
  }
}
