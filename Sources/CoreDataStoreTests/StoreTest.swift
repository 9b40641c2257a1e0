import CoreData
import Foundation

/// One thing that all stores do alike, as programs see it: through contexts and a coordinator.
///
/// The library uses no test framework: an expectation that does not hold is a thrown ``StoreTestFailure``.
/// With XCTest, run the tests in a loop.
public struct StoreTest: Sendable, CustomStringConvertible {
  /// A sentence.
  public let name: String
  /// What a store must offer for the test.
  public let needs: StoreUnderTest.Features
  private let body: @Sendable (TestStack) throws -> Void

  init(
    _ name: String, needs: StoreUnderTest.Features = [],
    _ body: @escaping @Sendable (TestStack) throws -> Void
  ) {
    self.name = name
    self.needs = needs
    self.body = body
  }

  public var description: String { name }

  /// Runs the test with a new store. Does nothing if the store does not offer what the test needs.
  ///
  /// Throws a ``StoreTestFailure``, or what the store throws. Blocks until the test is done.
  public func run(on store: StoreUnderTest) throws {
    guard store.features.isSuperset(of: needs) else { return }
    let stack = try TestStack(store)
    defer { stack.end() }
    try body(stack)
  }

  /// All tests, in an order from the simple to the compound.
  public static let all: [StoreTest] =
    valueTests + identityTests + fetchTests + changeTests + relationshipTests + contextTests
    + persistenceTests
}

/// An expectation that did not hold.
public struct StoreTestFailure: Error, CustomStringConvertible {
  public let description: String
}

/// Throws unless the two are equal.
func expect<Value: Equatable>(
  _ actual: Value, _ expected: Value, _ what: String = "", file: StaticString = #fileID, line: UInt = #line
) throws {
  if actual == expected { return }
  throw StoreTestFailure(
    description: "\(file):\(line): \(what.isEmpty ? "" : what + ": ")expected \(expected), got \(actual)")
}

func expect(_ condition: Bool, _ what: String, file: StaticString = #fileID, line: UInt = #line) throws {
  if condition { return }
  throw StoreTestFailure(description: "\(file):\(line): expected that \(what)")
}

/// The value, or a failure if there is none.
func require<Value>(
  _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
  guard let value else { throw StoreTestFailure(description: "\(file):\(line): there is no \(what)") }
  return value
}

/// The error that the body throws.
func errorThrown(
  _ what: String, file: StaticString = #fileID, line: UInt = #line, by body: () throws -> Void
) throws -> NSError {
  do {
    try body()
  } catch {
    return error as NSError
  }
  throw StoreTestFailure(description: "\(file):\(line): expected an error: \(what)")
}
