import CoreDataPredicates
import Foundation

/// Bytes → a tree, whether or not a format can express it → printed and parsed, evaluated, archived.
public enum TreeTarget {
  public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    var maker: TreeMaker = TreeMaker(reader: ByteReader(bytes))
    // Wider than deep: with every level the time for a tree multiplies.
    Laws.check(maker.predicate(5))
  }
}

/// Every kind of node, of every kind of part; leaves once the bytes are used up.
private struct TreeMaker {
  var reader: ByteReader

  mutating func predicate(_ depth: Int) -> PredicateNode {
    if depth == 0 || reader.isAtEnd { return .constant(reader.below(2) == 1) }
    switch reader.below(6) {
    case 0: return .compound(.and, (0..<reader.below(4)).map { _ in predicate(depth - 1) })
    case 1: return .compound(.or, (0..<reader.below(4)).map { _ in predicate(depth - 1) })
    case 2: return .compound(.not, [predicate(depth - 1)])
    default: return .comparison(comparison(depth - 1))
    }
  }

  private mutating func comparison(_ depth: Int) -> ComparisonNode {
    let comparison: ComparisonOperator = reader.pick(ComparisonOperator.allCases)
    return ComparisonNode(
      left: expression(depth), right: expression(depth),
      modifier: reader.pick([.direct, .direct, .all, .any]),
      comparison: comparison, options: ComparisonOptions(rawValue: UInt(reader.below(16))),
      selector: comparison == .customSelector ? selector(arguments: 1) : nil)
  }

  private mutating func selector(arguments: Int) -> String {
    reader.pick(PredicateFunctions.selectors.filter { $0.selectorArgumentCount == arguments })
  }

  private mutating func expression(_ depth: Int) -> ExpressionNode {
    if depth <= 0 || reader.isAtEnd { return leaf() }
    let inner: Int = depth - 1
    switch reader.below(20) {
    case 0, 1, 2:
      let name: String = reader.pick(BuiltinFunction.selectors.sorted() + [BuiltinFunction.negate.selector])
      let arguments: [ExpressionNode] = (0..<name.selectorArgumentCount).map { _ in expression(inner) }
      return name == "objectFrom:withIndex:"
        ? .index(arguments[0], .at(arguments[1])) : .function(target: nil, name: name, arguments: arguments)
    case 3, 4:
      let count: Int = reader.below(3)
      let arguments: [ExpressionNode] = (0..<count).map { _ in expression(inner) }
      return .function(target: expression(inner), name: selector(arguments: count), arguments: arguments)
    case 5: return .aggregate((0..<reader.below(4)).map { _ in expression(inner) })
    case 6: return .subquery(collection: expression(inner), variable: name(), predicate: predicate(inner))
    case 7: return .conditional(predicate(inner), expression(inner), expression(inner))
    case 8: return .set(reader.pick([.union, .intersect, .minus]), expression(inner), expression(inner))
    case 9: return .index(expression(inner), reader.pick([.first, .last, .size]))
    case 10: return .index(expression(inner), .at(expression(inner)))
    case 11: return .makePath(expression(inner), path())
    case 12: return .dynamicPath(expression(inner), .variable(name()))
    case 13:
      return .function(
        target: nil, name: "count:", arguments: [.assignment(variable: name(), expression(inner))])
    case 14:
      return .fetch(request: expression(inner), context: expression(inner), countOnly: .constant(.bool(true)))
    default: return leaf()
    }
  }

  private mutating func leaf() -> ExpressionNode {
    switch reader.below(6) {
    case 0: .evaluatedObject
    case 1: .variable(name())
    case 2: reader.below(8) == 0 ? .anyKey : .keyPath(path())
    default: .constant(value(3))
    }
  }

  private mutating func name() -> String {
    reader.pick(["x", "y", "a", "v", "k", "name"])
  }

  private mutating func path() -> String {
    reader.pick([
      "a", "b", "c", "d.y", "e", "x.y", "z", "name", "age", "people.age", "people.@max.age",
      "items.@sum.price",
      "items.@count", "nested.@unionOfArrays.self", "date", "data", "uuid", "url", "decimal", "big", "nan",
      "infinity",
      "empty", "y", "x.@distinctUnionOfObjects.y", "in", "self", "title.length", "people.tags", "@count",
    ])
  }

  private mutating func value(_ depth: Int) -> PredicateValue {
    switch reader.below(depth > 0 ? 15 : 12) {
    case 0: .null
    case 1: .bool(reader.below(2) == 1)
    case 2: .integer(Int64(reader.byte()) - 128)
    case 3: .integer(Int64(bitPattern: reader.word()))
    case 4: .double(Double(reader.byte()) / 8)
    case 5: .double(Double(bitPattern: reader.word()))
    case 6: .string(reader.text())
    case 7: .date(Date(timeIntervalSinceReferenceDate: Double(reader.byte()) - 0.5))
    case 8: .unsigned(reader.word() | 1 << 63)
    case 9: .decimal(Decimal(Int64(bitPattern: reader.word())) / 100)
    case 10: reader.pick([.nullObject, .data(Data([1])), .url(URL(fileURLWithPath: "/"))])
    case 11:
      .string(
        reader.pick([
          "text", "T*", "(a|b)+", "[", "NSDate", "NSString", "NSNumber", "1", "2001-01-01T00:00:00Z",
        ]))
    case 12: .array((0..<reader.below(4)).map { _ in value(depth - 1) })
    case 13: .set(Set((0..<reader.below(4)).map { _ in value(depth - 1) }))
    default: .dictionary([value(depth - 1): value(depth - 1)])
    }
  }
}
