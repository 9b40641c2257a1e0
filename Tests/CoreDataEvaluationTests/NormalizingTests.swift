import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

struct NormalizingTests {
  private struct Point: Hashable {
    var x: Int
  }

  private struct Row: KeyValueReadable {
    func readValue(forKey key: String) throws -> Any? { key == "a" ? Int16(4) : nil }
  }

  private class Base: KeyValueReadable {
    func readValue(forKey key: String) throws -> Any? { "base \(key)" }
  }

  private final class Sub: Base {
    override func readValue(forKey key: String) throws -> Any? { "sub \(key)" }
  }

  @Test func `Swift and Foundation values meet in one form`() {
    let cases: [(Any?, PredicateValue)] = [
      (1, .integer(1)), (Int16(1), .integer(1)), (UInt64.max, .unsigned(.max)), (true, .bool(true)),
      (1.5 as Float, .double(1.5)),
      (NSNumber(value: 3), .integer(3)), (NSNumber(value: 2.5), .double(2.5)), ("x", .string("x")),
      (NSString("x"), .string("x")), ("xyz".dropLast(2), .string("x")), (NSNull(), .null), (nil, .null),
      (Optional<Int>.none as Any?, .null),
      (NSDecimalNumber(string: "12.1"), .decimal(Decimal(string: "12.1") ?? 0)),
      ([1, "a"] as [Any], .array([.integer(1), .string("a")])), (NSSet(array: [1]), .set([.integer(1)])),
      (NSOrderedSet(array: [2, 1]), .array([.integer(2), .integer(1)])), (AnyHashable("x"), .string("x")),
      (["k": 1], .dictionary([.string("k"): .integer(1)])), (Set(["a"]), .set([.string("a")])),
      (Data([1]), .data(Data([1]))), (NSData(data: Data([1])), .data(Data([1]))),
    ]
    for (value, expected) in cases {
      #expect(PredicateValue(normalizing: value) == expected, "\(value ?? "nil")")
    }
    #expect(PredicateValue(normalizing: Point(x: 1)) == PredicateValue(normalizing: Point(x: 1)))
    #expect(PredicateValue(normalizing: Point(x: 1)) != PredicateValue(normalizing: Point(x: 2)))
  }

  @Test func `numbers are compared exactly and hash alike when equal`() {
    let decimal: PredicateValue = .decimal(Decimal(string: "12.1") ?? 0)
    let equal: [(PredicateValue, PredicateValue)] = [
      (.integer(1), .double(1)), (.bool(true), .integer(1)), (decimal, .double(12.1)),
      (.unsigned(7), .integer(7)),
    ]
    for (a, b) in equal {
      #expect(a == b)
      #expect(a.hashValue == b.hashValue)
    }
    #expect(PredicateValue.integer(9_007_199_254_740_993) != .double(9_007_199_254_740_992))
    #expect(NumberComparison.order(.integer(.max), .double(0x1p63)) == .orderedAscending)
    #expect(NumberComparison.order(.unsigned(.max), .double(-1)) == .orderedDescending)
    #expect(NumberComparison.order(.double(.nan), .double(1)) == nil)
  }

  @Test func `structures, classes and subclasses are read through the protocol`() throws {
    #expect(try NSPredicate(parsing: "a == 4").evaluateThrowing(with: Row()))
    let predicate: NSPredicate = try NSPredicate(parsing: "k == 'sub k'")
    #expect(try predicate.evaluateThrowing(with: Sub()))
    #expect(try !predicate.evaluateThrowing(with: Base()))
    #expect(try [Base(), Sub(), Base(), Sub()].filterThrowing(using: predicate).count == 2)
  }
}
