import CoreDataModel
import CoreDataStorage
import Foundation

/// The objects of a fetch one after another, loaded in batches, for code that runs on the context's queue:
/// code of the main actor, with a context of the main queue.
///
/// See ``NSManagedObjectContext/walk(_:batchSize:)``.
public struct FetchWalk<Object: NSManagedObject>: AsyncSequence {
  public typealias Element = Object
  public typealias Failure = any Error

  fileprivate let start: WalkPlace<Object>

  public func makeAsyncIterator() -> Iterator { Iterator(place: start) }

  public struct Iterator: AsyncIteratorProtocol {
    private var place: WalkPlace<Object>
    private var batch: ArraySlice<Object> = []

    fileprivate init(place: WalkPlace<Object>) { self.place = place }

    public mutating func next() async throws -> Object? { try await next(isolation: nil) }

    /// The next object. Between batches other work of the actor runs, and a cancelled task ends the walk with
    /// a `CancellationError`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Object? {
      if batch.isEmpty {
        if place.hasBegun { await Task.yield() }
        try Task.checkCancellation()
        try loadBatch()
      }
      return batch.popFirst()
    }

    private mutating func loadBatch() throws {
      batch = []
      guard place.context.mayBeUsedHere else {
        throw GraphError.unsupported(
          "Walking over objects off the queue of their context",
          advice: "Walk over values: walk(_:batchSize:transform:) makes them on the queue."
        ).asCocoaError
      }
      batch = try place.nextBatch()[...]
    }
  }
}

/// Values made of the objects of a fetch one after another, in batches, on the context's queue.
///
/// See ``NSManagedObjectContext/walk(_:batchSize:transform:)``.
public struct FetchedValues<Object: NSManagedObject, Value: Sendable>: AsyncSequence, @unchecked Sendable {
  // Sendable: the request is a copy that no one changes; the objects are used in blocks of the context.
  public typealias Element = Value
  public typealias Failure = any Error

  fileprivate let start: WalkPlace<Object>
  fileprivate let transform: @Sendable (Object) throws -> Value

  public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

  public struct Iterator: AsyncIteratorProtocol {
    private let values: FetchedValues
    private let state: State
    private var batch: ArraySlice<Value> = []

    fileprivate init(values: FetchedValues) {
      self.values = values
      state = State(values.start)
    }

    /// What the context's blocks use.
    private final class State: @unchecked Sendable {
      // Sendable: used in blocks of the context only, one after another.
      var place: WalkPlace<Object>

      init(_ place: WalkPlace<Object>) { self.place = place }
    }

    /// The next value. A cancelled task ends the walk with a `CancellationError` before the next batch.
    public mutating func next() async throws -> Value? {
      if batch.isEmpty {
        try Task.checkCancellation()
        let (values, state): (FetchedValues, State) = (self.values, self.state)
        batch = try await values.start.context.perform { try Self.load(values, state) }[...]
      }
      return batch.popFirst()
    }

    private static func load(_ values: FetchedValues, _ state: State) throws -> [Value] {
      try state.place.nextBatch().map(values.transform)
    }
  }
}

/// What is walked over, and how far a walk has come. Its batches are read on the context's queue.
private struct WalkPlace<Object: NSManagedObject> {
  let context: NSManagedObjectContext
  private let request: FetchParameters
  private let batchSize: Int
  private var list: PagedObjects?
  private var next: Int = 0

  init(_ context: NSManagedObjectContext, _ request: FetchParameters, batchSize: Int) {
    self.context = context
    self.request = request
    self.batchSize = max(1, batchSize)
  }

  var hasBegun: Bool { list != nil }

  /// The next objects, loaded; none at the end. The first call fetches the ids.
  mutating func nextBatch() throws -> [Object] {
    try withCocoaErrors {
      let list: PagedObjects = try self.list ?? begin()
      self.list = list
      let range: Range<Int> = next..<next + min(list.ids.count - next, batchSize)
      next = range.upperBound
      return try context.typed(try list.loadedObjects(range))
    }
  }

  private func begin() throws -> PagedObjects {
    let list: PagedObjects = try context.pagedObjects(request, pageSize: batchSize)
    try list.requireClass(Object.self)
    return list
  }
}

extension NSManagedObjectContext {
  /// The objects of a request one after another, loaded in batches that are released when the walk has passed
  /// them: memory is bounded by a batch, and twelve bytes for each result.
  ///
  /// ```swift
  /// for try await product in container.viewContext.walk(Product.fetchRequest()) { show(product) }
  /// ```
  ///
  /// Members and order are fixed when the walk begins, as those of ``results(of:)``. Objects belong to the
  /// context's queue, so the loop must run there: in code of the main actor, with a context of the main
  /// queue. Elsewhere use ``walk(_:batchSize:transform:)``.
  ///
  /// Throws as ``fetch(_:)`` does, `CancellationError` between batches if the task is cancelled, and an error
  /// if the loop runs off the context's queue. Cost: a statement for the ids, and one for each batch.
  public final func walk<T: NSManagedObject>(_ request: NSFetchRequest<T>, batchSize: Int = 1000)
    -> FetchWalk<T>
  {
    FetchWalk(start: WalkPlace(self, FetchParameters(request), batchSize: batchSize))
  }

  /// Values made of the objects of a request one after another, on the context's queue, in batches between
  /// which other blocks of the context run. May be called, and the values used, anywhere.
  ///
  /// ```swift
  /// for try await name in context.walk(Product.fetchRequest(), transform: { $0.name }) { print(name ?? "") }
  /// ```
  ///
  /// Throws as ``walk(_:batchSize:)`` does, and what `transform` throws.
  public final func walk<T: NSManagedObject, Value: Sendable>(
    _ request: NSFetchRequest<T>, batchSize: Int = 1000, transform: @escaping @Sendable (T) throws -> Value
  ) -> FetchedValues<T, Value> {
    FetchedValues(
      start: WalkPlace(self, FetchParameters(request), batchSize: batchSize), transform: transform)
  }
}
