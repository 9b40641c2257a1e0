import CoreDataModel
import CoreDataStorage
import Foundation

/// The result of a fetch, whose objects are made when they are needed and released afterwards: a list of ids.
///
/// ```swift
/// let request = Product.fetchRequest()
/// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
/// request.fetchBatchSize = 100
/// let products = try context.results(of: request)
/// print(products.count, products[5000].name ?? "")
/// for product in products { total += product.price }
/// ```
///
/// The members and their order are those of the moment when the collection was made. They stay so whatever
/// happens to the objects; make a new one to see the changes. An object that was deleted since is still a
/// member: ``NSManagedObject/isDeleted`` is true, or becomes true when it is read, and its values are those
/// of other deleted objects.
///
/// An access to a member makes the objects of its page (`fetchBatchSize`, or 100) as faults; reading a value
/// of one of them loads the page with one statement. The collection keeps the two pages that were used last,
/// and eight to twelve bytes for each member. Like its objects it belongs to the context's queue. Copies
/// share all of this. Accesses do not fail; reading a value stops the program if the store can't be read.
/// ``page(_:)`` and ``forEachPage(_:)`` throw instead.
public struct FetchedObjects<Object: NSManagedObject>: RandomAccessCollection {
  private let list: PagedObjects

  init(_ list: PagedObjects) throws {
    try list.requireClass(Object.self)
    self.list = list
  }

  public var startIndex: Int { 0 }
  /// The number of members. Costs nothing.
  public var endIndex: Int { list.ids.count }

  /// The member at a position.
  public subscript(position: Int) -> Object {
    precondition(indices.contains(position), "There is no object \(position) among \(count).")
    list.context.requireQueue("an object of a collection of results was read")
    do { return try list.context.typed(list.object(position)) } catch { fatalError("\(error)") }
  }

  /// The id of a member, without making an object.
  public func objectID(at position: Int) -> NSManagedObjectID {
    precondition(indices.contains(position), "There is no object \(position) among \(count).")
    return list.ids.objectID(position)
  }

  /// The number of objects that are loaded together.
  public var pageSize: Int { list.pageSize }

  /// The members of a range, loaded. Throws if they can't be read. Cost: one statement, and those of the
  /// request's prefetched relationships, for each thousand objects that are not loaded.
  public func page(_ range: Range<Int>) throws -> [Object] {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "The range is not within 0..<\(count).")
    list.context.requireQueue("a page of a collection of results was read")
    return try withCocoaErrors { try list.context.typed(try list.loadedObjects(range)) }
  }

  /// Calls `body` with the members of page after page, loaded, and releases each page afterwards. Throws if
  /// they can't be read, and what `body` throws.
  public func forEachPage(_ body: ([Object]) throws -> Void) throws {
    for start in stride(from: 0, to: count, by: pageSize) {
      try body(try page(start..<Swift.min(count, start + pageSize)))
    }
  }
}

/// The part of `FetchedObjects` that copies share.
final class PagedObjects {
  let context: NSManagedObjectContext
  let ids: FetchedIDs
  let pageSize: Int
  private let request: FetchParameters
  private let runtime: EntityRuntime
  /// The pages that were used last, the latest one first.
  private var pages: [(number: Int, objects: [NSManagedObject])] = []

  static let usualPageSize: Int = 100
  private static let mostPages: Int = 2

  init(_ request: FetchParameters, pageSize: Int? = nil, in context: NSManagedObjectContext) throws {
    guard let model = context.persistentStoreCoordinator?.runtime else { throw GraphError.noCoordinator }
    self.context = context
    self.request = request
    runtime = try request.runtime(in: model)
    self.pageSize = pageSize ?? (request.batchSize > 0 ? request.batchSize : Self.usualPageSize)
    ids = try context.fetchedIDs(request)
  }

  func requireClass(_ wanted: NSManagedObject.Type) throws {
    try context.requireClass(wanted, of: ids, request)
  }

  func object(_ place: Int) -> NSManagedObject {
    let number: Int = place / pageSize
    let start: Int = number * pageSize
    if let known = pages.firstIndex(where: { $0.number == number }) {
      // After a reset of the context its objects are others.
      let found: NSManagedObject = pages[known].objects[place - start]
      if found.identityMap === context.identityMap || found.isDeleted {
        if known > 0 { pages.swapAt(0, known) }
        return found
      }
      pages.remove(at: known)
    }
    let range: Range<Int> = start..<min(ids.count, start + pageSize)
    let objects: [NSManagedObject] = context.objects(ids, range)
    loadIfWanted(objects)
    pages.insert((number, objects), at: 0)
    if pages.count > Self.mostPages { pages.removeLast() }
    return objects[place - start]
  }

  private func loadIfWanted(_ objects: [NSManagedObject]) {
    if request.prefetchedKeyPaths.isEmpty, request.returnsObjectsAsFaults, !request.refreshes { return }
    do {
      try load(objects)
    } catch {
      fatalError(
        """
        CoreData could not load a page of \(runtime.layout.name): \(error). Use page(_:) or forEachPage(_:) of the \
        collection where reading may fail.
        """)
    }
  }

  /// Loads objects, with what the request wants of them.
  private func load(_ objects: [NSManagedObject]) throws {
    if request.refreshes { try context.readAgain(objects) }
    try context.loadFaults(objects)
    try complete(objects)
  }

  private func complete(_ objects: [NSManagedObject]) throws {
    try context.prefetch(request.prefetchedKeyPaths, of: objects, runtime)
    if request.returnsObjectsAsFaults { return }
    for object in objects where !object.isDeleted { try object.fulfillFault() }
  }

  /// The objects of a range with their values, so that reading these can't fail.
  func loadedObjects(_ range: Range<Int>) throws -> [NSManagedObject] {
    if !request.refreshes, let objects = try context.objectsOfRows(ids, range) {
      try complete(objects)
      return objects
    }
    let objects: [NSManagedObject] = context.objects(ids, range)
    try load(objects)
    return objects
  }
}

extension NSManagedObjectContext {
  /// The result of a request as a collection of ids whose objects are made page by page: for lists that are
  /// too long to be in memory as a whole.
  ///
  /// It contains the same objects in the same order as ``fetch(_:)`` of the request returns, unsaved changes
  /// included, also those of the parent. Cost: the statement of the ids, for each store. Where that is not
  /// enough, objects are loaded while the collection is made: a few for each unsaved object that belongs to
  /// the result, every one if code of the program or several stores decide the order, and page by page for
  /// conditions that a store can't evaluate.
  ///
  /// Throws as ``fetch(_:)`` does. See ``FetchedObjects``.
  public final func results<T: NSManagedObject>(of request: NSFetchRequest<T>) throws -> FetchedObjects<T> {
    requireQueue("results(of:) was called")
    let parameters = FetchParameters(request)
    return try withCocoaErrors { try FetchedObjects(try pagedObjects(parameters)) }
  }

  final func pagedObjects(_ parameters: FetchParameters, pageSize: Int? = nil) throws -> PagedObjects {
    guard parameters.resultType == .managedObjectResultType, !parameters.isGrouped else {
      throw GraphError.unsupported(
        "A collection or a walk of results that are no objects",
        advice: "Leave the request's resultType as it is, and group nothing; fetch(_:) returns other results."
      )
    }
    return try PagedObjects(parameters, pageSize: pageSize, in: self)
  }
}
