import CoreDataArchives
import Foundation

/// Archives predicates and expressions in the form that ``PredicateArchiveForm`` describes.
package struct PredicateArchiveWriter {
  /// The owner in errors: "attribute 'Person.age'".
  private let label: String
  /// If one predicate can't be read the whole model can't, so models contain only what Apple's systems are
  /// known to read.
  private let isForModels: Bool

  package init(label: String, isForModels: Bool = false) {
    self.label = label
    self.isForModels = isForModels
  }

  package func write(
    _ predicate: Foundation.NSPredicate?, to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    guard let predicate else { return KeyedArchiveWriter.null }
    return try write(predicate.predicateNode(), to: &archive)
  }

  private func refuse(_ what: String) -> PlistError {
    PlistError("\(label) uses \(what), which has no archived form; rewrite it without")
  }

  // MARK: Predicates

  package func write(_ predicate: PredicateNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    try StackGuard.run(levels: Self.framesPerLevel * predicate.depth) { try writing(predicate, to: &archive) }
  }

  package func write(_ expression: ExpressionNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    try StackGuard.run(levels: Self.framesPerLevel * expression.depth) {
      try writing(expression, to: &archive)
    }
  }

  /// A level takes more stack here than in walks that only read.
  private static let framesPerLevel: Int = 2

  private func writing(_ predicate: PredicateNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    switch predicate {
    case .constant(let value):
      return archive.instance(
        [value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [:])
    case .compound(let kind, let members):
      let nodes = try members.map { try writing($0, to: &archive) }
      return archive.instance(
        ["NSCompoundPredicate", "NSPredicate", "NSObject"],
        ["NSCompoundPredicateType": .integer(Int64(kind.rawValue)), "NSSubpredicates": archive.array(nodes)])
    case .comparison(let node):
      if node.block != nil { throw refuse("a comparison by a closure") }
      let left = try writing(node.left, to: &archive)
      let right = try writing(node.right, to: &archive)
      return archive.instance(
        ["NSComparisonPredicate", "NSPredicate", "NSObject"],
        [
          "NSLeftExpression": left, "NSRightExpression": right,
          "NSPredicateOperator": try writeOperator(node, to: &archive),
        ])
    case .block(let block):
      let type: Any.Type = type(of: block.predicate)
      throw refuse(
        type == Foundation.NSPredicate.self ? "a block predicate" : "a predicate of the class \(type)")
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
      if !node.options.isEmpty { fields["NSOptions"] = options }
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
      classes = ["NSCustomPredicateOperator"]
      guard !isForModels || node.selector != nil else {
        throw refuse("the operator \(node.comparison.symbol)")
      }
      fields["NSOperatorType"] = .integer(Int64(ComparisonOperator.customSelector.rawValue))
      if !node.options.isEmpty { fields["NSOptions"] = options }
      fields["NSSelectorName"] = archive.string(node.selector ?? node.comparison.symbol)
    }
    return archive.instance(classes + ["NSPredicateOperator", "NSObject"], fields)
  }

  // MARK: Expressions

  private typealias Kind = PredicateArchiveForm.Kind

  private func expression(
    _ classes: [String], _ kind: Kind, _ fields: [String: PlistNode], to archive: inout KeyedArchiveWriter
  ) -> PlistNode {
    var fields = fields
    fields["NSExpressionType"] = .integer(Int64(kind.rawValue))
    return archive.instance(classes + ["NSExpression", "NSObject"], fields)
  }

  private func writing(_ node: ExpressionNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    switch node {
    case .evaluatedObject:
      return expression(["NSSelfExpression"], .evaluatedObject, [:], to: &archive)
    case .constant(.null):
      // A nil constant is archived as a class name that is nil.
      return expression(
        ["NSConstantValueExpression"], .constant, ["NSConstantValueClassName": KeyedArchiveWriter.null],
        to: &archive)
    case .constant(let value):
      let constant = try archive.value(value, of: "constants of \(label)")
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
        operand = try writing(target, to: &archive)
      } else {
        guard !isForModels || name != BuiltinFunction.negate.selector else {
          throw refuse("a minus sign before something that is no number")
        }
        operand = functions(to: &archive)
      }
      let nodes = try arguments.map { try writing($0, to: &archive) }
      return function(operand, name, nodes, to: &archive)
    case .aggregate(let members):
      let nodes = try members.map { try writing($0, to: &archive) }
      let list = archive.array(nodes)
      return expression(["NSAggregateExpression"], .aggregate, ["NSCollection": list], to: &archive)
    case .subquery(let collection, let variable, let predicate):
      let fields: [String: PlistNode] = [
        "NSCollection": try writing(collection, to: &archive), "NSVariable": archive.string(variable),
        "NSPredicate": try writing(predicate, to: &archive),
      ]
      return expression(["NSSubqueryExpression"], .subquery, fields, to: &archive)
    case .conditional(let predicate, let yes, let no):
      let fields: [String: PlistNode] = [
        "NSPredicate": try writing(predicate, to: &archive),
        "NSTrueExpression": try writing(yes, to: &archive),
        "NSFalseExpression": try writing(no, to: &archive),
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
        "NSLeftExpression": try writing(left, to: &archive),
        "NSRightExpression": try writing(right, to: &archive),
      ]
      return expression(["NSSetExpression"], kind, fields, to: &archive)
    case .anyKey:
      return expression(["NSAnyKeyExpression"], .anyKey, [:], to: &archive)
    case .index(let target, let index):
      let operand = functions(to: &archive)
      let arguments = [try writing(target, to: &archive), try writing(index, to: &archive)]
      return function(operand, PredicateArchiveForm.indexSelector, arguments, to: &archive)
    case .dynamicPath(let target, let key):
      if case .keyPath = key { throw refuse("a key path that another key path computes") }
      let operand = try writing(target, to: &archive)
      let argument = try writing(key, to: &archive)
      return keyPath(operand, argument, selector: "valueForKeyPath:", kind: .function, to: &archive)
    case .assignment(let variable, let value):
      guard !isForModels else { throw refuse("an assignment") }
      let fields: [String: PlistNode] = [
        "NSAssignmentVariable": archive.string(variable), "NSSubexpression": try writing(value, to: &archive),
      ]
      return expression(["NSVariableAssignmentExpression"], .assignment, fields, to: &archive)
    case .fetch(let request, let context, let countOnly):
      guard case .constant(let flag) = countOnly, let flag = NumberComparison.integer(flag),
        flag == 0 || flag == 1
      else { throw refuse("a FETCH whose last argument is neither YES nor NO") }
      let fields: [String: PlistNode] = [
        "NSFRExpression": try writing(request, to: &archive),
        "NSMOCExpression": try writing(context, to: &archive),
        "NSCountOnlyFlag": .boolean(flag == 1),
      ]
      return expression(["NSFetchRequestExpression"], .fetch, fields, to: &archive)
    case .block(let block, _):
      throw refuse(block.owner.map { "an expression of the class \(type(of: $0))" } ?? "a block expression")
    }
  }

  private func writing(_ index: IndexNode, to archive: inout KeyedArchiveWriter) throws -> PlistNode {
    if case .at(let node) = index { return try writing(node, to: &archive) }
    guard !isForModels else { throw refuse("an index that is a word") }
    let text = archive.string(PredicateArchiveForm.symbol(of: index))
    return expression(["NSSymbolicExpression"], .symbol, ["NSSymbol": text], to: &archive)
  }

  /// The target of the built-in functions.
  private func functions(to archive: inout KeyedArchiveWriter) -> PlistNode {
    let name = archive.string(ArchivedMark.functionsType)
    return expression(
      ["NSConstantValueExpression"], .constant, ["NSConstantValueClassName": name], to: &archive)
  }

  private func keyPath(
    _ path: String, of target: ExpressionNode, selector: String, kind: Kind,
    to archive: inout KeyedArchiveWriter
  ) throws -> PlistNode {
    let operand = try writing(target, to: &archive)
    let text = archive.string(path)
    let specifier = expression(
      ["NSKeyPathSpecifierExpression"], .keyPathSpecifier, ["NSKeyPath": text], to: &archive)
    return keyPath(operand, specifier, selector: selector, kind: kind, to: &archive)
  }

  private func keyPath(
    _ operand: PlistNode, _ argument: PlistNode, selector: String, kind: Kind,
    to archive: inout KeyedArchiveWriter
  ) -> PlistNode {
    let fields: [String: PlistNode] = [
      "NSOperand": operand, "NSSelectorName": archive.string(selector),
      "NSArguments": archive.array([argument], mutable: true),
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
}
