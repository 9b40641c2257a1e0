import Foundation

/// A method of a policy or of a manager that expressions of mappings can call, see
/// ``NSEntityMigrationPolicy/expressionFunctions`` and ``NSMigrationManager/expressionFunctions``.
public struct PolicyFunction {
  /// As the expression writes it, with a colon for each argument.
  public let selector: String
  let call: (NSObject, [Any?]) throws -> Any?

  /// A function of any number of arguments.
  public init<Receiver: NSObject, Result>(
    _ selector: String, arguments body: @escaping (Receiver, [Any?]) throws -> Result?
  ) {
    self.selector = selector
    call = { object, arguments in
      guard let receiver = object as? Receiver else {
        throw MigrationFailure.function(
          selector, "it is a function of \(Receiver.self), not of \(type(of: object))")
      }
      return try body(receiver, arguments)
    }
  }

  /// A function without arguments.
  public init<Receiver: NSObject, Result>(
    _ selector: String, _ body: @escaping (Receiver) throws -> Result?
  ) {
    self.init(
      selector,
      arguments: { (receiver: Receiver, arguments: [Any?]) throws -> Result? in
        try Self.check(arguments, 0, selector)
        return try body(receiver)
      })
  }

  /// A function of one argument.
  public init<Receiver: NSObject, Argument, Result>(
    _ selector: String, _ body: @escaping (Receiver, Argument) throws -> Result?
  ) {
    self.init(
      selector,
      arguments: { (receiver: Receiver, arguments: [Any?]) throws -> Result? in
        try Self.check(arguments, 1, selector)
        return try body(receiver, try Self.argument(arguments[0], 1, selector))
      })
  }

  /// A function of two arguments.
  public init<Receiver: NSObject, First, Second, Result>(
    _ selector: String, _ body: @escaping (Receiver, First, Second) throws -> Result?
  ) {
    self.init(
      selector,
      arguments: { (receiver: Receiver, arguments: [Any?]) throws -> Result? in
        try Self.check(arguments, 2, selector)
        return try body(
          receiver, try Self.argument(arguments[0], 1, selector), try Self.argument(arguments[1], 2, selector)
        )
      })
  }

  /// A function of three arguments.
  public init<Receiver: NSObject, First, Second, Third, Result>(
    _ selector: String, _ body: @escaping (Receiver, First, Second, Third) throws -> Result?
  ) {
    self.init(
      selector,
      arguments: { (receiver: Receiver, arguments: [Any?]) throws -> Result? in
        try Self.check(arguments, 3, selector)
        return try body(
          receiver, try Self.argument(arguments[0], 1, selector),
          try Self.argument(arguments[1], 2, selector),
          try Self.argument(arguments[2], 3, selector))
      })
  }

  private static func check(_ arguments: [Any?], _ count: Int, _ selector: String) throws {
    guard arguments.count != count else { return }
    throw MigrationFailure.function(
      selector, "it takes \(count) arguments, and the expression passes \(arguments.count)")
  }

  private static func argument<Value>(_ value: Any?, _ place: Int, _ selector: String) throws -> Value {
    if let value = value as? Value { return value }
    let given: String = value.map { "\(type(of: $0))" } ?? "nil"
    throw MigrationFailure.function(
      selector, "argument \(place) is \(given), and the function takes \(Value.self)")
  }
}
