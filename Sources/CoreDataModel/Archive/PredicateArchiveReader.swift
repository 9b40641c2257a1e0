import CoreDataPredicates
import Foundation

/// Rebuilds predicates and expressions from the form Foundation archives them in.
///
/// ```
/// NSComparisonPredicate { NSLeftExpression, NSRightExpression, NSPredicateOperator }
///   NS…PredicateOperator { NSOperatorType, NSModifier, NSOptions or NSFlags, NSNegate?, NSVariant? }
/// NSCompoundPredicate { NSCompoundPredicateType, NSSubpredicates }
/// NSKeyPathExpression { NSOperand, NSSelectorName, NSArguments = [ NSKeyPathSpecifierExpression { NSKeyPath } ] }
/// NSFunctionExpression { NSOperand, NSSelectorName, NSArguments }; built-in functions have the operand
///   NSConstantValueExpression { NSConstantValueClassName = "_NSPredicateUtilities" }
/// ```
struct PredicateArchiveReader {
  private let archive: KeyedArchive
  private var values: KeyedArchive.ValueDecoder
  /// Bounds the work on archives that share sub-expressions.
  private var remaining = 100_000

  var unknownClasses: [String] { values.unknownClasses }

  init(_ archive: KeyedArchive) {
    self.archive = archive
    values = KeyedArchive.ValueDecoder(archive)
  }

  mutating func predicate(_ node: PlistNode?, of label: String) throws -> NSPredicate {
    makePredicate(try predicate(node, depth: 0, label))
  }

  mutating func expression(_ node: PlistNode?, of label: String) throws -> CoreDataPredicates.NSExpression {
    NSExpression(node: try expression(node, depth: 0, label))
  }

  private mutating func record(_ node: PlistNode?, depth: Int, _ label: String) throws -> KeyedArchive.Record
  {
    remaining -= 1
    guard depth < TreeLimits.depth, remaining > 0 else {
      throw PlistError("a predicate or expression of \(label) nests too deep or contains itself")
    }
    guard let index = try archive.index(node), let record = try archive.record(at: index) else {
      throw PlistError("a predicate or expression of \(label) has a missing part")
    }
    return record
  }

  private mutating func list(_ node: PlistNode?, depth: Int, _ label: String) throws -> [PlistNode] {
    let record = try record(node, depth: depth, label)
    guard case .array(let members) = try archive.resolve(record.fields["NS.objects"]) else {
      throw PlistError("a predicate or expression of \(label) has a \(record.className) where a list belongs")
    }
    return members
  }

  // MARK: Predicates

  private mutating func predicate(_ node: PlistNode?, depth: Int, _ label: String) throws -> PredicateNode {
    let record = try record(node, depth: depth, label)
    switch record.className {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSCompoundPredicate":
      guard let code = try integer(record, "NSCompoundPredicateType", label), code >= 0,
        let kind = CompoundKind(rawValue: UInt(code))
      else { throw PlistError("a compound predicate of \(label) is of no known kind") }
      let members = try list(record.fields["NSSubpredicates"], depth: depth + 1, label)
        .map { try predicate($0, depth: depth + 2, label) }
      guard kind != .not || members.count == 1 else {
        throw PlistError("a NOT predicate of \(label) has \(members.count) members instead of one")
      }
      return .compound(kind, members)
    case "NSComparisonPredicate":
      return .comparison(try comparison(record, depth: depth, label))
    default:
      throw PlistError("a predicate of \(label) has the unknown class \(record.className)")
    }
  }

  private mutating func comparison(_ record: KeyedArchive.Record, depth: Int, _ label: String) throws
    -> ComparisonNode
  {
    let operation = try self.record(record.fields["NSPredicateOperator"], depth: depth + 1, label)
    guard let code = try integer(operation, "NSOperatorType", label), code >= 0,
      let comparison = ComparisonOperator(rawValue: UInt(code))
    else { throw PlistError("a comparison of \(label) has no known operator") }
    let modifierCode = try integer(operation, "NSModifier", label) ?? 0
    guard modifierCode >= 0, let modifier = ComparisonModifier(rawValue: UInt(modifierCode)) else {
      throw PlistError("a comparison of \(label) has the unknown modifier \(modifierCode)")
    }
    let options = try integer(operation, "NSOptions", label) ?? integer(operation, "NSFlags", label) ?? 0
    var selector: String?
    if comparison == .customSelector {
      selector = try values.value(operation.fields["NSSelectorName"]) as? String
    }
    return ComparisonNode(
      left: try expression(record.fields["NSLeftExpression"], depth: depth + 1, label),
      right: try expression(record.fields["NSRightExpression"], depth: depth + 1, label),
      modifier: modifier, comparison: comparison,
      options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: max(0, options)) & 15), selector: selector
    )
  }

  // MARK: Expressions

  private mutating func expression(_ node: PlistNode?, depth: Int, _ label: String) throws -> ExpressionNode {
    let record = try record(node, depth: depth, label)
    switch record.className {
    case "NSSelfExpression": return .evaluatedObject
    case "NSConstantValueExpression":
      if let name = try values.value(record.fields["NSConstantValueClassName"]) as? String {
        return .constant(.string(name))
      }
      return .constant(PredicateValue(constant: try values.value(record.fields["NSConstantValue"])))
    case "NSVariableExpression": return .variable(try text(record, "NSVariable", label))
    case "NSKeyPathSpecifierExpression": return .keyPath(try text(record, "NSKeyPath", label))
    case "NSKeyPathExpression", "NSFunctionExpression":
      return try function(record, depth: depth, label)
    case "NSAggregateExpression":
      return .aggregate(
        try list(record.fields["NSCollection"], depth: depth + 1, label)
          .map { try expression($0, depth: depth + 2, label) })
    case "NSSubqueryExpression":
      return .subquery(
        collection: try expression(record.fields["NSCollection"], depth: depth + 1, label),
        variable: try variableName(record, depth: depth, label),
        predicate: try predicate(record.fields["NSPredicate"], depth: depth + 1, label))
    case "NSTernaryExpression":
      return .conditional(
        try predicate(record.fields["NSPredicate"], depth: depth + 1, label),
        try expression(record.fields["NSTrueExpression"], depth: depth + 1, label),
        try expression(record.fields["NSFalseExpression"], depth: depth + 1, label))
    case "NSSetExpression":
      let operation: SetOperation =
        switch try integer(record, "NSExpressionType", label) {
        case 5: .union
        case 6: .intersect
        case 7: .minus
        default: throw PlistError("a set expression of \(label) is of no known kind")
        }
      return .set(
        operation, try expression(record.fields["NSLeftExpression"], depth: depth + 1, label),
        try expression(record.fields["NSRightExpression"], depth: depth + 1, label))
    case "NSAnyKeyExpression": return .anyKey
    default:
      throw PlistError("an expression of \(label) has the unknown class \(record.className)")
    }
  }

  /// A function call, or a key path, which Foundation archives as a call of `valueForKey:` or `valueForKeyPath:`.
  private mutating func function(_ record: KeyedArchive.Record, depth: Int, _ label: String) throws
    -> ExpressionNode
  {
    let selector = try text(record, "NSSelectorName", label)
    let arguments = try list(record.fields["NSArguments"], depth: depth + 1, label)
    let operand = try self.record(record.fields["NSOperand"], depth: depth + 1, label)
    if selector == "valueForKey:" || selector == "valueForKeyPath:", arguments.count == 1 {
      let target = try expression(record.fields["NSOperand"], depth: depth + 1, label)
      let path = try expression(arguments[0], depth: depth + 2, label)
      switch path {
      case .keyPath(let path): return .makePath(target, path)
      case .constant(.string(let path)): return .makePath(target, path)
      default: return .dynamicPath(target, path)
      }
    }
    let nodes = try arguments.map { try expression($0, depth: depth + 2, label) }
    if try values.value(operand.fields["NSConstantValueClassName"]) as? String == "_NSPredicateUtilities" {
      return .function(target: nil, name: selector, arguments: nodes)
    }
    return .function(
      target: try expression(record.fields["NSOperand"], depth: depth + 1, label), name: selector,
      arguments: nodes)
  }

  private mutating func variableName(_ record: KeyedArchive.Record, depth: Int, _ label: String) throws
    -> String
  {
    if let name = try values.value(record.fields["NSVariable"]) as? String { return name }
    guard
      case .variable(let name) = try expression(
        record.fields["NSVariableExpression"], depth: depth + 1, label)
    else { throw PlistError("a subquery of \(label) has no variable") }
    return name
  }

  private mutating func text(_ record: KeyedArchive.Record, _ key: String, _ label: String) throws -> String {
    guard let text = try values.value(record.fields[key]) as? String else {
      throw PlistError("\(key) is missing in an expression of \(label)")
    }
    return text
  }

  private func integer(_ record: KeyedArchive.Record, _ key: String, _ label: String) throws -> Int? {
    switch try archive.resolve(record.fields[key]) {
    case nil: nil
    case .integer(let value): Int(value)
    case let other?: throw PlistError("\(key) in a predicate of \(label) is \(other.kind), not an integer")
    }
  }
}
