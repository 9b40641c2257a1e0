import CoreDataArchives
import CoreDataEvaluation
import CoreDataPredicates
import Foundation

/// Bytes → unarchived as every kind of root → printed, evaluated, archived again.
public enum ArchiveTarget {
  public static func run(_ bytes: UnsafeBufferPointer<UInt8>) {
    let data: Data = Data(bytes)
    if let predicate = decode({ try Foundation.NSPredicate(archivedData: data) }) {
      predicate.allowEvaluation()
      Laws.check(predicate.predicateNode())
    }
    if let expression = decode({ try NSExpression(archivedData: data) }) {
      Laws.check(expression.expressionNode())
    }
    if let descriptor = decode({ try NSSortDescriptor(archivedData: data) }) {
      descriptor.allowEvaluation()
      _ = try? World.objects.map { $0 ?? NSNull() }.sortedThrowing(using: [descriptor])
      Laws.checkArchive(descriptor)
    }
    _ = decode {
      try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: Foundation.NSPredicate.self, from: data)
    }
  }

  /// Errors must be of the documented types.
  private static func decode<Root>(_ body: () throws -> Root) -> Root? {
    do {
      return try body()
    } catch is CoreDataPredicates.PredicateError {
      return nil
    } catch {
      finding("decoding throws \(error), a \(type(of: error))")
    }
  }

  /// Changes one field of one archived object; nil where the bytes are no archive. Most changes of single
  /// bytes damage the property list, and never reach the predicates in it.
  public static func mutate(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt32) -> Data? {
    guard let archive = try? KeyedArchive(Data(bytes)), !archive.objects.isEmpty else { return nil }
    var random: Random = Random(state: UInt64(seed))
    var objects: [PlistNode] = archive.objects
    let place: Int = .random(in: 0..<objects.count, using: &random)
    if case .dictionary(var fields) = objects[place],
      let key = fields.keys.sorted().randomElement(using: &random)
    {
      switch Int.random(in: 0...4, using: &random) {
      case 0: fields[key] = nil
      case 1: fields[keys.randomElement(using: &random) ?? key] = fields[key]
      default: fields[key] = value(objects, &random)
      }
      objects[place] = .dictionary(fields)
    } else {
      objects[place] = value(objects, &random)
    }
    return KeyedArchive.data(objects: objects, root: archive.top["root"] ?? .uid(1))
  }

  private static func value(_ objects: [PlistNode], _ random: inout Random) -> PlistNode {
    switch Int.random(in: 0...9, using: &random) {
    case 0: .integer(Int64(Int.random(in: -1...120, using: &random)))
    case 1: .integer(Int64(bitPattern: random.next()))
    case 2: .real(Double(bitPattern: random.next()))
    case 3: .boolean(.random(using: &random))
    case 4: .string(texts.randomElement(using: &random) ?? "")
    case 5: .data(Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }))
    case 6: .array((0..<3).map { _ in .uid(Int.random(in: 0..<objects.count, using: &random)) })
    case 7: objects.randomElement(using: &random) ?? .integer(0)
    default: .uid(Int.random(in: 0..<objects.count, using: &random))
    }
  }

  private static let keys: [String] = [
    "NSLeftExpression", "NSRightExpression", "NSPredicateOperator", "NSCompoundPredicateType",
    "NSSubpredicates",
    "NSOperatorType", "NSModifier", "NSOptions", "NSFlags", "NSExpressionType", "NSConstantValue",
    "NSConstantValueClassName", "NSVariable", "NSOperand", "NSSelectorName", "NSArguments", "NSCollection",
    "NSPredicate", "NSTrueExpression", "NSFalseExpression", "NSKeyPath", "NSFRExpression", "NSMOCExpression",
    "NSCountOnlyFlag", "NSSymbol", "NSAssignmentVariable", "NSSubexpression", "NSKey", "NSAscending",
    "NSSelector",
    "NS.objects", "NS.keys", "NS.time", "NS.string", "NS.relative", "NS.base", "NS.mantissa", "NS.exponent",
    "$classname", "$classes", "archive",
  ]

  private static let texts: [String] =
    [
      "", "a", "a..b", "FIRST", "valueForKeyPath:", "objectFrom:withIndex:", "negate:", "NSTruePredicate",
      "NSFalsePredicate", "NSComparisonPredicate", "NSCompoundPredicate", "NSSelfExpression",
      "NSConstantValueExpression", "NSVariableExpression", "NSFunctionExpression", "NSKeyPathExpression",
      "NSAggregateExpression", "NSSubqueryExpression", "NSTernaryExpression", "NSSetExpression", "NSArray",
      "NSSet",
      "NSDictionary", "NSDate", "NSUUID", "NSURL", "NSDecimalNumber", "NSNull", "NSSortDescriptor", "(a+)+b",
    ] + BuiltinFunction.selectors.sorted() + PredicateFunctions.selectors

  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed: UInt64 = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
