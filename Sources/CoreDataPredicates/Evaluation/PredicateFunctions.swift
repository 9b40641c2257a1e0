import Foundation

/// The operations that `FUNCTION(target, 'selector:', …)` and custom comparison operators can name.
///
/// Linux has no selectors, so there is a closed table of the usual ones; programs add their own:
///
/// ```swift
/// PredicateFunctions.register("distanceFrom:") { target, arguments in … }
/// NSPredicate(format: "FUNCTION(place, 'distanceFrom:', %@) < 1000", here)
/// ```
public enum PredicateFunctions {
  /// What a selector does: gets the target's value and the arguments' values, returns a value.
  public typealias Body = @Sendable (_ target: Any?, _ arguments: [Any?]) throws -> Any?

  /// Makes a selector known to all predicates of the process, from any thread. It goes before a built-in one of the
  /// same name.
  public static func register(_ selector: String, _ body: @escaping Body) {
    registry.register(selector, body)
  }

  private static let registry: Registry = .init()

  private final class Registry: @unchecked Sendable {
    // `lock` guards `bodies`.
    private let lock: NSLock = .init()
    private var bodies: [String: Body] = [:]

    func register(_ selector: String, _ body: @escaping Body) {
      lock.withLock { bodies[selector] = body }
    }

    func body(_ selector: String) -> Body? {
      lock.withLock { bodies[selector] }
    }
  }

  static func send(
    _ selector: String, to target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue {
    if let body = registry.body(selector) {
      return PredicateValue(normalizing: try body(target.anyValue, arguments.map(\.anyValue)))
    }
    guard FunctionTable.colons(selector) == arguments.count,
      let result = try builtin(selector, target, arguments)
    else {
      throw PredicateError.evaluation(
        "Nothing answers to the selector \(selector) with \(arguments.count) arguments on \(target.kindName). "
          + "Register it with PredicateFunctions.register(_:_:).")
    }
    return result
  }

  private static func builtin(
    _ selector: String, _ target: PredicateValue, _ arguments: [PredicateValue]
  ) throws -> PredicateValue? {
    if selector == "isEqual:" { return .bool(target == arguments[0]) }
    if arguments.isEmpty, target.elements == nil {
      if case .object(let box) = target {
        return PredicateValue(normalizing: try KeyReader.read(selector, from: box.value))
      }
      return target.isNull ? .null : try? ScalarKeys.read(selector, from: target)
    }
    switch target {
    case .string(let text): return send(selector, text, arguments)
    case .date(let date): return send(selector, date, arguments)
    case .array(let members): return send(selector, members, arguments)
    case .set(let members): return send(selector, Array(members), arguments)
    case .dictionary(let entries):
      return selector == "objectForKey:" || selector == "valueForKey:" ? entries[arguments[0]] ?? .null : nil
    default: return nil
    }
  }

  private static func send(_ selector: String, _ text: String, _ arguments: [PredicateValue])
    -> PredicateValue?
  {
    guard case .string(let other)? = arguments.first, arguments.count == 1 else { return nil }
    switch selector {
    case "stringByAppendingString:": return .string(text + other)
    case "hasPrefix:": return .bool(StringMatching.beginsWith(text, other))
    case "hasSuffix:": return .bool(StringMatching.endsWith(text, other))
    case "containsString:": return .bool(StringMatching.contains(text, other))
    case "isEqualToString:": return .bool(StringMatching.equals(text, other))
    case "stringByAppendingPathComponent:": return .string((text as NSString).appendingPathComponent(other))
    default: return nil
    }
  }

  private static func send(_ selector: String, _ date: Date, _ arguments: [PredicateValue]) -> PredicateValue?
  {
    switch (selector, arguments.first) {
    case ("dateByAddingTimeInterval:", let seconds?):
      return NumberComparison.double(seconds).map { .date(date.addingTimeInterval($0)) }
    case ("timeIntervalSinceDate:", .date(let other)?): return .double(date.timeIntervalSince(other))
    case ("isEqualToDate:", .date(let other)?): return .bool(date == other)
    default: return nil
    }
  }

  private static func send(
    _ selector: String, _ members: [PredicateValue], _ arguments: [PredicateValue]
  ) -> PredicateValue? {
    switch (selector, arguments.first) {
    case ("count", _): return .integer(Int64(members.count))
    case ("firstObject", _): return members.first ?? .null
    case ("lastObject", _): return members.last ?? .null
    case ("containsObject:", let member?): return .bool(members.contains(member))
    case ("objectAtIndex:", let index?):
      guard let index = NumberComparison.integer(index), members.indices.contains(Int(index)) else {
        return nil
      }
      return members[Int(index)]
    default: return nil
    }
  }
}
