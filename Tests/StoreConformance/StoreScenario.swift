import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A store under test: what the graph asks of a store, what it says of itself, and its end. Every engine is
/// one; a store that is no engine is wrapped by the tests of the graph.
package typealias TestedStore = StoreOperations & StoreDescribing & StoreClosing

/// A kind of store under test: how to make an empty one, and how to open what one left behind.
///
/// ```swift
/// @Test(arguments: StoreScenario.all)
/// func `the in-memory store behaves as every store does`(scenario: StoreScenario) throws {
///   try scenario.run(on: StoreMaker { layout in try InMemoryEngine(layout: layout) })
/// }
/// ```
package struct StoreMaker {
  /// An empty store for the layout; a new one at each call.
  package var make: (ModelLayout) throws -> any TestedStore
  /// Closes the store and opens its file again; nil for stores that keep nothing.
  package var reopen: ((any TestedStore) throws -> any TestedStore)?
  /// What is the same in a store that is opened again, beside its rows.
  package var keeps: Keeps

  package struct Keeps: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The versions of rows.
    package static let versions = Keeps(rawValue: 1)
    /// That keys were allocated that no row has.
    package static let allocatedKeys = Keeps(rawValue: 2)
  }

  package init(
    keeps: Keeps = [.versions, .allocatedKeys], make: @escaping (ModelLayout) throws -> any TestedStore,
    reopen: ((any TestedStore) throws -> any TestedStore)? = nil
  ) {
    self.make = make
    self.reopen = reopen
    self.keeps = keeps
  }
}

/// One thing every store does alike. The library knows no test framework; a failed expectation is
/// a thrown error.
package struct StoreScenario: Sendable, CustomStringConvertible {
  package let name: String
  private let body: @Sendable (StoreWorld) throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (StoreWorld) throws -> Void) {
    self.name = name
    self.body = body
  }

  package var description: String { name }

  package func run(on maker: StoreMaker) throws {
    try body(StoreWorld(maker))
  }

  package static let all: [StoreScenario] =
    rowScenarios + fetchScenarios + predicateScenarios + tableScenarios + relationshipScenarios
    + saveScenarios
}

/// An expectation that did not hold.
package struct ConformanceFailure: Error, CustomStringConvertible {
  package var description: String
}

/// Throws unless the two are equal.
func expect<Value: Equatable>(
  _ actual: Value, _ expected: Value, _ what: String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
  guard actual != expected else { return }
  throw ConformanceFailure(
    description: "\(file):\(line): \(what.isEmpty ? "" : what + ": ")expected \(expected), got \(actual)")
}

func expect(_ condition: Bool, _ what: String, file: StaticString = #fileID, line: UInt = #line) throws {
  guard !condition else { return }
  throw ConformanceFailure(description: "\(file):\(line): expected that \(what)")
}

/// Throws unless the body throws an error that `matches` accepts.
func expectError(
  _ what: String, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Void,
  matches: (any Error) -> Bool
) throws {
  do {
    try body()
  } catch {
    if matches(error) { return }
    throw ConformanceFailure(description: "\(file):\(line): expected \(what), got the error \(error)")
  }
  throw ConformanceFailure(description: "\(file):\(line): expected \(what), but nothing was thrown")
}
