import CoreDataStorage
import Foundation

/// The state of the stores that a context reads.
enum ContextPin {
  /// The latest state at each read.
  case none
  /// The state at the next read, and the same one from then on.
  case atNextRead
  case at(QueryGeneration)
}

extension NSManagedObjectContext {
  /// The state of the stores that this context reads: nil (default) for the latest state at each read,
  /// ``NSQueryGenerationToken/current`` until a context pinned to it has read something, then a token of that
  /// state.
  public final var queryGenerationToken: NSQueryGenerationToken? {
    requireQueue("queryGenerationToken was read")
    return pinToken
  }

  final var pinToken: NSQueryGenerationToken? {
    switch pin {
    case .none: nil
    case .atNextRead: .current
    case .at(let generation): NSQueryGenerationToken(generation)
    }
  }

  final func pin(to generation: NSQueryGenerationToken?) throws {
    requireQueue("setQueryGenerationFrom(_:) was called")
    if parent != nil {
      throw GraphError.unsupported(
        "Setting the query generation of a context with a parent",
        advice: "Such a context reads its parent's objects: pin the context at the top."
      ).asCocoaError
    }
    readAhead.removeAll()
    guard let generation else {
      pin = .none
      return
    }
    guard let wanted = generation.generation else {
      pin = .atNextRead
      return
    }
    guard let coordinator = persistentStoreCoordinator, wanted.coordinator == ObjectIdentifier(coordinator)
    else {
      throw GraphError.unsupported(
        "A query generation of another coordinator",
        advice: "Use the queryGenerationToken of a context with the same coordinator, or .current."
      ).asCocoaError
    }
    pin = .at(wanted)
  }

  /// The snapshot to read of a store instead of its latest state; nil if the context is not pinned. The first
  /// read of a pinned context fixes the state.
  final func snapshot(of store: NSPersistentStore) throws -> (any StoreOperations)? {
    switch try resolvedPin() {
    case .at(let generation): return generation.states[store.ordinal]
    case .none, .atNextRead: return nil
    }
  }

  /// The state to read, fixed at the first read.
  private func resolvedPin() throws -> ContextPin {
    guard case .atNextRead = pin, let coordinator = persistentStoreCoordinator else { return pin }
    pin = .at(try QueryGeneration.make(of: coordinator))
    return pin
  }

  /// Makes a pinned context read the newest state from its next read on.
  final func movePin() {
    readAhead.removeAll()
    if case .at = pin { pin = .atNextRead }
  }

  /// Runs the writing of a save, which works on the newest state. A pinned context is then pinned to what it
  /// has written, or to its former state if the save fails.
  final func writingNewest(_ body: () throws -> Void) rethrows {
    let before: ContextPin = pin
    pin = .none
    do {
      try body()
    } catch {
      // A save that was written in part has already moved the pin.
      switch (before, pin) {
      case (.at, .atNextRead), (.atNextRead, .atNextRead): break
      default: pin = before
      }
      throw error
    }
    if case .none = before { return }
    // Of the stores that were not written, too, another state is read from now on.
    readAhead.removeAll()
    let saved: QueryGeneration? = persistentStoreCoordinator.flatMap { try? QueryGeneration.make(of: $0) }
    // If the snapshot can't be taken now, the next read tries again, and can report why.
    pin = saved.map { .at($0) } ?? .atNextRead
  }

  /// A context that reads the same state as this one. Code of the program may get its objects only in
  /// `performAndWait` of it.
  final func makeReader() throws -> NSManagedObjectContext {
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = persistentStoreCoordinator
    reader.pin = try resolvedPin()
    reader.tally = tally
    return reader
  }
}
