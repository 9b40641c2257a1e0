import CoreDataPredicates
import Foundation

/// Archives predicates and expressions in the form ``PredicateArchiveReader`` describes.
///
/// Seen in Apple's files: comparisons, equality, IN and CONTAINS operators, constants, key paths, variables, functions. The
/// class and key names of the rest follow Foundation's naming and have no sample to check against.
struct PredicateArchiveWriter {
  /// Names the owner in errors.
  let label: String

  func write(_ predicate: NSPredicate?, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    guard let predicate else { return KeyedArchiveWriter.null }
    return try write(predicate.predicateNode(), to: &archive)
  }

  private func refuse(_ what: String) -> ModelFileError {
    ModelFileError(
      file: "model archive", reason: "\(label) uses \(what), which has no archived form; rewrite it without.")
  }

  // MARK: Predicates

  func write(_ predicate: PredicateNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    switch predicate {
    case .constant(let value):
      return archive.instance(
        [value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [:])
    case .compound(let kind, let members):
      let nodes = try members.map { try write($0, to: &archive) }
      return archive.instance(
        ["NSCompoundPredicate", "NSPredicate", "NSObject"],
        ["NSCompoundPredicateType": .integer(Int64(kind.rawValue)), "NSSubpredicates": archive.array(nodes)])
    case .comparison(let node):
      let left = try write(node.left, to: &archive)
      let right = try write(node.right, to: &archive)
      return archive.instance(
        ["NSComparisonPredicate", "NSPredicate", "NSObject"],
        [
          "NSLeftExpression": left, "NSRightExpression": right,
          "NSPredicateOperator": try writeOperator(node, to: &archive),
        ])
    case .block:
      throw refuse("a block predicate")
    }
  }

  private func writeOperator(_ node: ComparisonNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode
  {
    let code = Int64(node.comparison.rawValue)
    let options = PlistNode.integer(Int64(node.options.rawValue))
    var fields: [String: PlistNode] = [
      "NSOperatorType": .integer(code), "NSModifier": .integer(Int64(node.modifier.rawValue)),
    ]
    let classes: [String]
    switch node.comparison {
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      classes = ["NSComparisonPredicateOperator"]
      fields["NSOptions"] = options
      fields["NSVariant"] = .integer(code)
    case .equalTo, .notEqualTo:
      classes = ["NSEqualityPredicateOperator"]
      fields["NSOptions"] = options
      fields["NSNegate"] = .boolean(node.comparison == .notEqualTo)
    case .in, .contains:
      classes = ["NSInPredicateOperator"]
      fields["NSFlags"] = options
    case .between:
      classes = ["NSBetweenPredicateOperator"]
    case .like:
      classes = ["NSLikePredicateOperator", "NSStringPredicateOperator"]
      fields["NSFlags"] = options
    case .matches:
      classes = ["NSMatchingPredicateOperator", "NSStringPredicateOperator"]
      fields["NSFlags"] = options
    case .beginsWith, .endsWith:
      classes = ["NSSubstringPredicateOperator", "NSStringPredicateOperator"]
      fields["NSFlags"] = options
      fields["NSPosition"] = .integer(node.comparison == .beginsWith ? 0 : 1)
    case .customSelector, .tokenMatches, .utiConformsTo, .utiEquals:
      guard node.comparison == .customSelector, let selector = node.selector else {
        throw refuse("the operator \(node.comparison.symbol)")
      }
      classes = ["NSCustomPredicateOperator"]
      fields["NSSelectorName"] = archive.string(selector)
    }
    return archive.instance(classes + ["NSPredicateOperator", "NSObject"], fields)
  }

  // MARK: Expressions

  /// Raw values of `NSExpression.ExpressionType`, and 10 for Foundation's inner class of key path texts.
  private enum Kind: Int64 {
    case constant = 0
    case evaluatedObject, variable, keyPath, function
    case union = 5
    case intersect, minus
    case keyPathSpecifier = 10
    case subquery = 13
    case aggregate = 14
    case anyKey = 15
    case conditional = 20
  }

  private func expression(
    _ classes: [String], _ kind: Kind, _ fields: [String: PlistNode], to archive: inout KeyedArchiveWriter
  ) -> PlistNode {
    var fields = fields
    fields["NSExpressionType"] = .integer(kind.rawValue)
    return archive.instance(classes + ["NSExpression", "NSObject"], fields)
  }

  func write(_ node: ExpressionNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    switch node {
    case .evaluatedObject:
      return expression(["NSSelfExpression"], .evaluatedObject, [:], to: &archive)
    case .constant(let value):
      let constant = try archive.value(plain(value), of: label)
      return expression(["NSConstantValueExpression"], .constant, ["NSConstantValue": constant], to: &archive)
    case .variable(let name):
      let text = archive.string(name)
      return expression(["NSVariableExpression"], .variable, ["NSVariable": text], to: &archive)
    case .keyPath(let path):
      let selector = path.contains(".") ? "valueForKeyPath:" : "valueForKey:"
      return try keyPath(path, of: .evaluatedObject, selector: selector, kind: .keyPath, to: &archive)
    case .path(let target, let path):
      return try keyPath(path, of: target, selector: "valueForKeyPath:", kind: .function, to: &archive)
    case .function(let target, let name, let arguments):
      let operand: PlistNode
      if let target {
        operand = try write(target, to: &archive)
      } else {
        guard !name.hasPrefix("negate:") else {
          throw refuse("a minus sign before something that is no number")
        }
        let text = archive.string("_NSPredicateUtilities")
        operand = expression(
          ["NSConstantValueExpression"], .constant, ["NSConstantValueClassName": text], to: &archive)
      }
      let nodes = try arguments.map { try write($0, to: &archive) }
      return function(operand, name, nodes, to: &archive)
    case .aggregate(let members):
      let nodes = try members.map { try write($0, to: &archive) }
      let list = archive.array(nodes)
      return expression(["NSAggregateExpression"], .aggregate, ["NSCollection": list], to: &archive)
    case .subquery(let collection, let variable, let predicate):
      let fields: [String: PlistNode] = [
        "NSCollection": try write(collection, to: &archive), "NSVariable": archive.string(variable),
        "NSPredicate": try write(predicate, to: &archive),
      ]
      return expression(["NSSubqueryExpression"], .subquery, fields, to: &archive)
    case .conditional(let predicate, let yes, let no):
      let fields: [String: PlistNode] = [
        "NSPredicate": try write(predicate, to: &archive), "NSTrueExpression": try write(yes, to: &archive),
        "NSFalseExpression": try write(no, to: &archive),
      ]
      return expression(["NSTernaryExpression"], .conditional, fields, to: &archive)
    case .set(let operation, let left, let right):
      let kind: Kind =
        switch operation {
        case .union: .union
        case .intersect: .intersect
        case .minus: .minus
        }
      let fields: [String: PlistNode] = [
        "NSLeftExpression": try write(left, to: &archive),
        "NSRightExpression": try write(right, to: &archive),
      ]
      return expression(["NSSetExpression"], kind, fields, to: &archive)
    case .anyKey:
      return expression(["NSAnyKeyExpression"], .anyKey, [:], to: &archive)
    case .index: throw refuse("an index in brackets")
    case .dynamicPath: throw refuse("a key path that is computed")
    case .assignment: throw refuse("an assignment")
    case .fetch: throw refuse("a FETCH expression")
    case .block: throw refuse("a block expression")
    }
  }

  private func keyPath(
    _ path: String, of target: ExpressionNode, selector: String, kind: Kind,
    to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    let operand = try write(target, to: &archive)
    let text = archive.string(path)
    let specifier = expression(
      ["NSKeyPathSpecifierExpression"], .keyPathSpecifier, ["NSKeyPath": text], to: &archive)
    let fields: [String: PlistNode] = [
      "NSOperand": operand, "NSSelectorName": archive.string(selector),
      "NSArguments": archive.array([specifier], mutable: true),
    ]
    return expression(["NSKeyPathExpression", "NSFunctionExpression"], kind, fields, to: &archive)
  }

  private func function(
    _ operand: PlistNode, _ selector: String, _ arguments: [PlistNode], to archive: inout KeyedArchiveWriter
  ) -> PlistNode {
    let fields: [String: PlistNode] = [
      "NSOperand": operand, "NSSelectorName": archive.string(selector),
      "NSArguments": archive.array(arguments),
    ]
    return expression(["NSFunctionExpression"], .function, fields, to: &archive)
  }

  /// A constant as the archive takes it.
  private func plain(_ value: PredicateValue) throws -> Any? {
    switch value {
    case .null: nil
    case .nullObject: NSNull()
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .decimal(let value): value
    case .string(let value): value
    case .date(let value): value
    case .data(let value): value
    case .uuid(let value): value
    case .url(let value): value
    case .array(let members): try members.map { try plain($0) ?? NSNull() }
    case .set, .dictionary, .object: throw refuse("a constant that is \(value.kindName)")
    }
  }
}
