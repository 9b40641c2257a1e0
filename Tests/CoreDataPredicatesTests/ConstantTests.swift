import Foundation
import Testing

@testable import CoreDataPredicates

// Finding B3, OBS-4.
/// Numbers and Booleans leave predicates as `NSNumber`, which casts to every numeric type, as
/// on Apple's systems.
struct ConstantTests {
  final class Thing: NSObject, Sendable {
    let flag: Bool = true
    let number: Int = 1
  }

  static let right: [String] = ["a = true", "b = 1", "b = 1.0", "b = %@", "b = %d", "b = 0x1"]

  @Test(arguments: right) func `constants of parsed predicates are numbers of every type`(format: String)
    throws
  {
    let predicate: NSComparisonPredicate = try #require(
      NSPredicate(format: format, 1) as? NSComparisonPredicate)
    expectOne(predicate.rightExpression.constantValue, format)
    let archived: Foundation.NSPredicate = try NSPredicate(archivedData: predicate.archivedData())
    expectOne((archived as? NSComparisonPredicate)?.rightExpression.constantValue, "archived \(format)")
    #expect(archived == predicate)
  }

  static var values: [Any] {
    [
      true, 1, Int8(1), Int16(1), Int32(1), Int64(1), UInt8(1), UInt64(1), Float(1), 1.0,
      NSNumber(value: true),
      NSNumber(value: 1), NSNumber(value: 1.0), UInt(1), PredicateValue.integer(1),
    ]
  }

  @Test func `constants made by hand are numbers of every type`() {
    for value in Self.values {
      expectOne(NSExpression(forConstantValue: value).constantValue, "\(type(of: value))")
    }
    let big: Any? = NSExpression(forConstantValue: UInt64.max).constantValue
    #expect(big as? UInt64 == .max && big as? Int == nil)
    let decimal: Any? = NSExpression(forConstantValue: Decimal(string: "1.5")).constantValue
    #expect(decimal as? Decimal == 1.5)
    #expect((decimal as? NSDecimalNumber)?.doubleValue == 1.5)
    #expect((decimal as? NSNumber)?.doubleValue == 1.5)
  }

  @Test func `constants of Swift predicates are numbers of every type`() throws {
    let flag: Predicate<Thing> = #Predicate<Thing> { $0.flag == true }
    let number: Predicate<Thing> = #Predicate<Thing> { $0.number == 1 }
    for predicate in [flag, number] {
      let comparison: NSComparisonPredicate = try #require(
        NSPredicate(predicate) as? NSComparisonPredicate)
      expectOne(comparison.rightExpression.constantValue, comparison.formatText)
    }
  }

  @Test func `members of constant collections are numbers of every type`() throws {
    let list: Any? = NSExpression(forConstantValue: [1, 2, 3]).constantValue
    #expect(list as? [Int] == [1, 2, 3])
    #expect(list as? [Int32] == [1, 2, 3])
    #expect(list as? [Double] == [1, 2, 3])
    #expect((list as? NSArray)?.count == 3)
    let set: Any? = NSExpression(forConstantValue: Set([1, 2])).constantValue
    #expect(set as? Set<Int> == [1, 2])
    let dictionary: Any? = NSExpression(forConstantValue: ["a": 1]).constantValue
    #expect(dictionary as? [String: Int] == ["a": 1])
    #expect(dictionary as? [String: Double] == ["a": 1])
    let bounds: NSComparisonPredicate = try #require(
      NSPredicate(format: "a BETWEEN %@", [1, 2]) as? NSComparisonPredicate)
    #expect(bounds.rightExpression.constantValue as? [Double] == [1, 2])
    #expect(bounds.rightExpression.collection as? [Double] == [1, 2])
  }

  @Test func `values of expressions are numbers of every type`() throws {
    for text in ["1", "3 - 2", "a", "TRUE", "count({1})", "TERNARY(a == 1, 1, 2)", "list[0]", "SELF.a"] {
      let expression: NSExpression = try NSExpression(parsing: text)
      expectOne(expression.expressionValue(with: ["a": 1, "list": [1]] as [String: Any], context: nil), text)
    }
  }

  @Test func `functions and operators of programs get numbers of every type`() throws {
    PredicateFunctions.register("plusHalf:") { target, arguments in
      guard let a = target as? Double, let b = arguments.first as? Int32 else { return nil }
      return a + Double(b) + 0.5
    }
    PredicateFunctions.registerComparison("isHalfOf:") { left, right in
      guard let left = left as? Double, let right = right as? Double else { return false }
      return left * 2 == right
    }
    let object: [String: Any] = ["a": 1, "b": 2.0]
    #expect(NSPredicate(format: "FUNCTION(a, 'plusHalf:', 1) == 2.5").evaluate(with: object))
    #expect(NSPredicate(format: "a isHalfOf: b").evaluate(with: object))
    #expect(NSPredicate(format: "a isHalfOf: 2").evaluate(with: object))
    let block: NSExpression = NSExpression(
      block: { _, arguments, _ in (arguments[0] as? Double).map { $0 + 1 } },
      arguments: [NSExpression(format: "1")])
    #expect(block.expressionValue(with: nil, context: nil) as? Int == 2)
  }

  @Test func `printing and equality tell Booleans, whole numbers and others as before`() throws {
    let texts: [(Any, String)] = [
      (true, "1"), (1, "1"), (1.0, "1"), (1.5, "1.5"), (UInt64.max, "18446744073709551615"),
    ]
    for (value, text) in texts {
      let expression: NSExpression = NSExpression(forConstantValue: value)
      #expect(expression.description == text)
      let again: NSExpression = NSExpression(forConstantValue: expression.constantValue)
      #expect(again == expression)
      #expect(again.description == text)
      #expect(again.expressionNode() == expression.expressionNode())
    }
  }

  private func expectOne(
    _ value: Any?, _ what: String, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(value is NSNumber, "\(what)", sourceLocation: location)
    #expect(value as? Bool == true, "\(what)", sourceLocation: location)
    #expect(value as? Int == 1, "\(what)", sourceLocation: location)
    #expect(value as? Int16 == 1, "\(what)", sourceLocation: location)
    #expect(value as? Int32 == 1, "\(what)", sourceLocation: location)
    #expect(value as? Int64 == 1, "\(what)", sourceLocation: location)
    #expect(value as? Double == 1, "\(what)", sourceLocation: location)
    #expect(value as? Float == 1, "\(what)", sourceLocation: location)
    #expect((value as? NSNumber)?.boolValue == true, "\(what)", sourceLocation: location)
  }
}
