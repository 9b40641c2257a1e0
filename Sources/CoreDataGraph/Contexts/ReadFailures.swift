import CoreDataModel
import CoreDataStorage
import Foundation

/// A row or a relationship that could not be read where nothing can be thrown.
struct ReadFailure {
  let object: NSManagedObject
  /// nil: no property of the object can be read.
  let property: String?
  let error: any Error

  var asError: GraphError { .unreadable(object.objectID, property: property, cause: error) }
}

/// Collects the failures of a deletion or a save. An accessor's read would stop the program; here it reads
/// nothing, and whoever collects throws the reason.
final class ReadFailures {
  private(set) var all: [ReadFailure] = []

  func add(_ object: NSManagedObject, _ slot: Int, _ error: any Error) {
    let layout: EntityLayout = object.runtime.layout
    all.append(
      ReadFailure(
        object: object, property: layout.slots.indices.contains(slot) ? layout.slots[slot].name : nil,
        error: error))
  }
}

/// A deleted object with relationships to which its delete rules could not be applied, because they could not
/// be read. A save tries again, and throws the reason if that fails.
struct UnreadDeletion {
  let object: NSManagedObject
  let slots: [Int]
}

extension NSManagedObjectContext {
  /// Runs `body`, in which reads may fail.
  final func collectingReadFailures<Result>(_ body: () throws -> Result) rethrows -> (
    result: Result, failures: [ReadFailure]
  ) {
    let outer: ReadFailures? = readFailures
    // One without failures is used again: deletions of many objects need one for each.
    let own: ReadFailures = spareReadFailures ?? ReadFailures()
    (readFailures, spareReadFailures) = (own, nil)
    defer {
      readFailures = outer
      if own.all.isEmpty { spareReadFailures = own }
    }
    return (try body(), own.all)
  }

  /// Runs `body` and throws what could not be read in it, also in place of errors that only follow from that.
  final func throwingReadFailures<Result>(_ body: () throws -> Result) throws -> Result {
    let (outcome, failures) = collectingReadFailures { Swift.Result { try body() } }
    if let first = failures.first { throw first.asError }
    return try outcome.get()
  }

  /// Applies the delete rules of relationships that could not be read when their object was deleted.
  final func finishUnreadDeletions() throws {
    if unreadDeletions.isEmpty { return }
    let waiting: [UnreadDeletion] = unreadDeletions
    unreadDeletions = []
    var failures: [any Error] = []
    for entry in waiting {
      guard entry.object.identityMap === identityMap, entry.object.flags.contains(.deleted) else { continue }
      let failed: [ReadFailure] = propagate(entry.object, slots: entry.slots)
      failures += failed.map(\.asError)
    }
    if let first = failures.first { throw first }
  }
}
