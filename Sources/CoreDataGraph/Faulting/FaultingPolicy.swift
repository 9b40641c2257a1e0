import CoreDataStorage
import Foundation

extension NSManagedObjectContext {
  /// What a context does when a relationship is read object by object: the second fault of one relationship
  /// among objects that were read together.
  ///
  /// Each of these faults would take a statement of its own. With every policy but ``refuse`` the second one
  /// is filled together with the others, so that a loop takes a few statements and not one an object
  /// (Documentation/paging.md). The policies name such loops, whose relationship the fetch could have
  /// prefetched (`relationshipKeyPathsForPrefetching`).
  public enum FaultingPolicy: String, Sendable, CaseIterable {
    /// Read ahead, and say nothing.
    case automatic
    /// Read ahead, and log the relationship, the object and the functions that were running: each
    /// relationship once for each context, until the policy is set again.
    case explain
    /// Read nothing: calls that throw throw an error that says the same; a property, which can't throw, stops
    /// the program with it. For tests.
    case refuse
  }

  /// Whether relationships that are read object by object are reported or refused. Default
  /// ``FaultingPolicy/automatic``.
  ///
  /// What the framework reads by itself (for delete rules, saves, and predicates that are evaluated in
  /// memory) is never reported. Stores that are called for each object (`NSIncrementalStore`) are left out.
  public final var faultingPolicy: FaultingPolicy {
    get { storedFaultingPolicy }
    set {
      requireQueue("faultingPolicy was set")
      storedFaultingPolicy = newValue
      readAhead.explained = []
    }
  }

  /// Runs an operation of the framework, whose faults are nobody's mistake.
  final func exemptFromPolicy<Result>(_ body: () throws -> Result) rethrows -> Result {
    readAhead.exemptions += 1
    defer { readAhead.exemptions -= 1 }
    return try body()
  }

  /// Called for a fault that is not the first of its relationship, before it is read with `together` others.
  final func judge(_ batch: RelationshipBatch, _ object: NSManagedObject, together: Int) throws {
    let asker: NSManagedObjectContext = self.asker
    if asker.faultingPolicy == .automatic || asker.readAhead.exemptions > 0 || asker.readFailures != nil {
      return
    }
    let isRefused: Bool = asker.faultingPolicy == .refuse
    guard isRefused || asker.readAhead.explained.insert(batch.name).inserted else { return }
    let report = FaultReport(batch, object, together: together)
    if isRefused { throw GraphError.refusedFault(report.reason, advice: report.advice) }
    LogSink.log(LogEntry(.faulting, report.description))
  }
}

/// The explanation of a fault.
private struct FaultReport {
  let reason: String
  let advice: String

  init(_ batch: RelationshipBatch, _ object: NSManagedObject, together: Int) {
    let name: String = batch.entity.layout.slots[batch.slot].name
    let callers: String = CallerList.outside.map { "\n    \($0)" }.joined()
    reason = """
      \(batch.name) is read object by object: this is the second fault of it among \(batch.objectCount) objects \
      that were read together (fault: '\(object.objectID)'; \(together) others wait)\
      \(callers.isEmpty ? "." : ", fired by\(callers)")
      """
    advice = """
      Read it with the objects: request.relationshipKeyPathsForPrefetching = ["\(name)"].
      """
  }

  var description: String { "\(reason)\n  \(advice)" }
}
