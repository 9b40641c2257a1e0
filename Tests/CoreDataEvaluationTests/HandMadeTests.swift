import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// The four classes built by hand: custom operators, classes of the program's own, C argument lists.
struct HandMadeTests {
  @Test func `membership of an array is an operator that a program adds`() throws {
    PredicateFunctions.registerComparison("isMemberOfArray:") { value, array in
      guard let members = array as? [String], let value = value as? String else { return false }
      return members.contains(value)
    }
    let written: NSPredicate = NSPredicate(format: "name isMemberOfArray: %@", ["Ada", "Grace"])
    let made: NSComparisonPredicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "name"),
      rightExpression: NSExpression(forConstantValue: ["Ada", "Grace"]),
      customSelector: Selector("isMemberOfArray:"))
    #expect(written == made)
    #expect(made.predicateFormat == #"name isMemberOfArray: {"Ada", "Grace"}"#)
    #expect(made.predicateOperatorType == .customSelector)
    #expect(made.customSelector == "isMemberOfArray:")
    #expect(try made.evaluateThrowing(with: ["name": "Ada"]))
    #expect(try !made.evaluateThrowing(with: ["name": "Bob"]))
    #expect(try !made.evaluateThrowing(with: [String: Any]()))
    let again: NSPredicate = try NSPredicate(parsing: made.predicateFormat)
    #expect(try again.evaluateThrowing(with: ["name": "Grace"]))
    let some: NSPredicate = NSPredicate(format: "ANY names isMemberOfArray: {'Ada'}")
    #expect(try some.evaluateThrowing(with: ["names": ["Bob", "Ada"]]))
    #expect(try !some.evaluateThrowing(with: ["names": ["Bob"]]))
  }

  @Test func `a closure compares in place of a selector`() throws {
    let close: NSComparisonPredicate = NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forKeyPath: "b")
    ) { left, right in abs((left as? Int ?? 0) - (right as? Int ?? 0)) <= 1 }
    #expect(try close.evaluateThrowing(with: ["a": 3, "b": 4]))
    #expect(try !close.evaluateThrowing(with: ["a": 3, "b": 5]))
    #expect(close.customSelector == nil)
    #expect(close == close.copy() as? NSComparisonPredicate)
    #expect(close.predicateFormat.hasPrefix("a BLOCK(0x"))
    let both: NSCompoundPredicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
      close, NSPredicate(format: "a > 0"),
    ])
    #expect(try both.evaluateThrowing(with: ["a": 3, "b": 4]))
  }

  @Test func `selectors of Foundation's classes compare`() throws {
    let cases: [(String, Any?, Any?, Bool)] = [
      ("SELF hasPrefix: %@", "abc", "ab", true), ("SELF hasSuffix: %@", "abc", "ab", false),
      ("SELF isEqual: %@", 1, 1.0, true), ("SELF isEqualToString: %@", "a", "a", true),
      ("SELF isKindOfClass: %@", 456, NSNumber.self, true),
      ("SELF isKindOfClass: %@", "x", NSNumber.self, false),
      ("SELF isKindOfClass: %@", "x", String.self, true),
      ("SELF isKindOfClass: %@", Date(), NSObject.self, true),
      ("SELF isMemberOfClass: %@", NSDecimalNumber(value: 1), NSNumber.self, false),
      ("SELF isKindOfClass: %@", SubThing(), Thing.self, true),
      ("SELF isMemberOfClass: %@", SubThing(), Thing.self, false),
      ("SELF hasPrefix: %@", nil, "a", false), ("SELF containsObject: %@", [1, 2], 2, true),
      ("SELF isSubsetOfSet: %@", Set([1]), Set([1, 2]), true),
    ]
    for (format, object, argument, expected) in cases {
      let predicate: NSPredicate = try NSPredicate(parsing: format, arguments: [argument])
      #expect(
        try predicate.evaluateThrowing(with: object) == expected,
        "\(format) \(argument ?? "nil") of \(object ?? "nil")")
    }
    #expect(throws: PredicateError.self) {
      try NSPredicate(parsing: "SELF nobodyKnows: 1").evaluateThrowing(with: "x")
    }
  }

  private class Thing {}
  private final class SubThing: Thing {}

  @Test func `classes that extend the predicate classes are asked wherever they stand`() throws {
    let odd: OddPredicate = OddPredicate(value: true)
    let never: NeverPredicate = NeverPredicate(
      leftExpression: NSExpression(forKeyPath: "self"), rightExpression: NSExpression(forConstantValue: 1),
      modifier: .direct, type: .greaterThan)
    let either: NSCompoundPredicate = NSCompoundPredicate(orPredicateWithSubpredicates: [odd, never])
    #expect(try either.evaluateThrowing(with: 3))
    #expect(try !either.evaluateThrowing(with: 4))
    #expect(either.predicateFormat.hasPrefix("SELF IS ODD OR "))
    #expect(try NSPredicate(parsing: "SELF > 3 AND %@", arguments: [odd]).evaluateThrowing(with: 5))
    #expect(try !never.evaluateThrowing(with: 4))
    // Stores know the comparison itself.
    #expect(never.structureNode() == NSPredicate(format: "SELF > 1").predicateNode())
    #expect(try [1, 2, 3].filterThrowing(using: odd) == [1, 3])
  }

  private final class OddPredicate: Foundation.NSPredicate {
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      (object as? Int).map { $0 % 2 == 1 } ?? false
    }
    override var predicateFormat: String { "SELF IS ODD" }
  }

  private final class NeverPredicate: CoreDataPredicates.NSComparisonPredicate {
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      false
    }
  }

  @Test func `an expression class of the program's own gives the value`() throws {
    let expression: DoubledExpression = DoubledExpression(expressionType: .block)
    let predicate: NSComparisonPredicate = NSComparisonPredicate(
      leftExpression: expression, rightExpression: NSExpression(forConstantValue: 6), modifier: .direct,
      type: .equalTo)
    #expect(try predicate.evaluateThrowing(with: 3))
    #expect(try !predicate.evaluateThrowing(with: 4))
    let same: NSComparisonPredicate = NSComparisonPredicate(
      leftExpression: expression, rightExpression: NSExpression(forConstantValue: 6), modifier: .direct,
      type: .equalTo)
    #expect(predicate == same)
    #expect(
      try NSExpression(parsing: "%@ + 1", arguments: [expression]).expressionValueThrowing(with: 3) as? Int
        == 7)
    #expect(NSExpression(expressionType: .evaluatedObject).description == "SELF")
    #expect(NSExpression(expressionType: .variable).expressionType == .variable)
  }

  private final class DoubledExpression: CoreDataPredicates.NSExpression {
    override func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
      (object as? Int).map { $0 * 2 }
    }
  }

  @Test func `a C argument list is read by its specifiers`() {
    let text: NSString = "wörd"
    let values: [CVarArg] = [
      "name", text, Int32(-7), UInt64.max, 2.5, Int(-1) << 40, UInt16(65),
    ]
    let predicate: NSPredicate = withVaList(values) {
      NSPredicate(
        format: "%K == %@ AND a == %d AND b == %llu AND c > %f AND e == %ld AND f == %C", arguments: $0)
    }
    #expect(
      predicate.formatText
        == #"name == "wörd" AND a == -7 AND b == 18446744073709551615 AND c > 2.5 AND e == -1099511627776 AND f == 65"#
    )
    let expression: NSExpression = withVaList([0.1, Int32(3)]) {
      NSExpression(format: "%f + %d", arguments: $0)
    }
    #expect(expression.description == "0.1 + 3")
    #expect(withVaList([]) { NSPredicate(format: "a == 1", arguments: $0) }.formatText == "a == 1")
    let hello: [CChar] = Array("hello".utf8CString)
    hello.withUnsafeBufferPointer { buffer in
      guard let address = buffer.baseAddress else { return }
      let predicate: NSPredicate = withVaList([address]) { NSPredicate(format: "a == %s", arguments: $0) }
      #expect(predicate.formatText == #"a == "hello""#)
    }
  }

  @Test func `parts answer for every kind of expression`() throws {
    #expect(NSExpression(forKeyPath: "foo").function == "valueForKey:")
    #expect(NSExpression(forKeyPath: "foo.bar").function == "valueForKeyPath:")
    #expect(NSExpression(forKeyPath: "foo").operand.expressionType == .evaluatedObject)
    #expect(try NSExpression(parsing: "a[0]").function == "objectFrom:withIndex:")
    #expect(try NSExpression(parsing: "a[0]").arguments?.map(\.description) == ["a", "0"])
    #expect(try NSExpression(parsing: "a + 1").function == "add:to:")
    #expect(try NSExpression(parsing: "a + 1").arguments?.map(\.description) == ["a", "1"])
    #expect(try NSExpression(parsing: "CAST(a, 'NSDate')").function == "castObject:toType:")
    #expect(try NSExpression(parsing: "FUNCTION(a, 'b:', 1)").operand.keyPath == "a")
    #expect(try NSExpression(parsing: "SUBQUERY(a, $x, $x == 1)").variable == "x")
    #expect(try NSExpression(parsing: "SUBQUERY(a, $x, $x == 1)").predicate.formatText == "$x == 1")
    #expect(
      try (NSExpression(parsing: "SUBQUERY(a, $x, $x == 1)").collection as? NSExpression)?.keyPath == "a")
    #expect(try (NSExpression(parsing: "{1, a}").collection as? [NSExpression])?.count == 2)
    #expect(try NSExpression(parsing: "TERNARY(a == 1, 2, 3)").true.constantValue as? Int == 2)
    #expect(try NSExpression(parsing: "TERNARY(a == 1, 2, 3)").false.constantValue as? Int == 3)
    #expect(try NSExpression(parsing: "a UNION b").left.keyPath == "a")
    #expect(try NSExpression(parsing: "a UNION b").right.keyPath == "b")
    #expect(try NSExpression(parsing: "FETCH($r, $c, NO)").expressionType == .fetchRequest)
    #expect(NSExpression(forConstantValue: NSNull()).constantValue is NSNull)
    #expect(NSExpression(forConstantValue: nil).constantValue == nil)
  }

  @Test func `an assignment binds its variable in the context`() throws {
    let context: NSMutableDictionary = NSMutableDictionary(dictionary: ["y": 2])
    let expression: NSExpression = try NSExpression(parsing: "$x := a + $y")
    #expect(try expression.expressionValueThrowing(with: ["a": 3], context: context) as? Int == 5)
    #expect(context["x"] as? Int == 5)
    let predicate: NSPredicate = try NSPredicate(parsing: "($x := a) > 1 AND $x < 4")
    #expect(try predicate.evaluateThrowing(with: ["a": 3]))
    #expect(try !predicate.evaluateThrowing(with: ["a": 5]))
    // What one object assigned is not there for the next.
    let leak: NSPredicate = try NSPredicate(parsing: "(a > 1 AND ($x := a) > 0) OR $x == 3")
    #expect(throws: PredicateError.self) { try [["a": 3], ["a": 1]].filterThrowing(using: leak) }
  }

  @Test func `words of a search are looked for in words`() throws {
    let predicate: NSPredicate = NSPredicate(format: "text TOKENMATCHES[cd] %@", "bob smi")
    let cases: [(Any?, Bool)] = [
      ("Bob likes Joseph Smith.", true), ("smith, BÓB", true), ("Bob", false), ("blacksmith bob", false),
      (nil, false),
      (["Joseph Smith", "Bob"], true), (["bobsmith"], false),
    ]
    for (text, expected) in cases {
      #expect(try predicate.evaluateThrowing(with: ["text": text]) == expected, "\(text ?? "nil")")
    }
    let tokens: NSPredicate = NSPredicate(format: "ALL tokenize(%@, 'Cdl') IN words", "After Session")
    #expect(tokens.formatText == #"ALL tokenize:using:("After Session", "Cdl") IN words"#)
    #expect(try tokens.evaluateThrowing(with: ["words": ["session", "after"]]))
    #expect(try !tokens.evaluateThrowing(with: ["words": ["after"]]))
  }

  @Test func `type identifiers are compared and conform as Apple documents them`() throws {
    let cases: [(String, Bool)] = [
      ("'public.jpeg' UTI-CONFORMS-TO 'public.image'", true),
      ("'public.jpeg' UTI-CONFORMS-TO 'public.data'", true),
      ("'public.image' UTI-CONFORMS-TO 'public.jpeg'", false),
      ("'Public.JPEG' UTI-EQUALS 'public.jpeg'", true),
      ("'com.me.doc' UTI-CONFORMS-TO 'com.me.doc'", true), ("'com.me.doc' UTI-EQUALS 'public.data'", false),
      ("nil UTI-CONFORMS-TO 'public.data'", false),
    ]
    for (format, expected) in cases {
      #expect(try NSPredicate(parsing: format).evaluateThrowing(with: nil) == expected, "\(format)")
    }
    let unknown: NSPredicate = NSPredicate(format: "'com.me.doc' UTI-CONFORMS-TO 'public.data'")
    #expect(throws: PredicateError.self) { try unknown.evaluateThrowing(with: nil) }
  }

  @Test func `the distance between places is measured on the ground`() throws {
    struct Place { let latitude: Double, longitude: Double }
    let predicate: NSPredicate = NSPredicate(
      format: "distanceToLocation:fromLocation:(place, %@) BETWEEN {343000, 344500}",
      Place(latitude: 48.8566, longitude: 2.3522))
    #expect(try predicate.evaluateThrowing(with: ["place": ["latitude": 51.5074, "longitude": -0.1278]]))
    #expect(throws: PredicateError.self) { try predicate.evaluateThrowing(with: ["place": 1]) }
  }
}
