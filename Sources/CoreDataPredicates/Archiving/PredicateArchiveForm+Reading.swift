import CoreDataArchives

// Makes nodes from fields. The code that provides the fields limits depth and size.

extension PredicateArchiveForm {
  // MARK: Predicates

  static func predicate(_ fields: some ArchivedFields) throws -> PredicateNode {
    switch fields.className {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSCompoundPredicate": return try compound(fields)
    case "NSComparisonPredicate": return .comparison(try comparison(fields))
    default:
      throw PlistError("a predicate of \(fields.label) has the unknown class \(fields.className)")
    }
  }

  private static func compound(_ fields: some ArchivedFields) throws -> PredicateNode {
    guard let code = try fields.integer("NSCompoundPredicateType"), code >= 0,
      let kind = CompoundKind(rawValue: UInt(code))
    else { throw PlistError("a compound predicate of \(fields.label) is of no known kind") }
    let members = try fields.predicates("NSSubpredicates")
    guard kind != .not || members.count == 1 else {
      throw PlistError("a NOT predicate of \(fields.label) has \(members.count) members instead of one")
    }
    return .compound(kind, members)
  }

  private static func comparison(_ fields: some ArchivedFields) throws -> ComparisonNode {
    let operation = try fields.part("NSPredicateOperator")
    guard let code = try operation.integer("NSOperatorType"), (0...100).contains(code),
      var comparison = ComparisonOperator(rawValue: UInt(code))
    else { throw PlistError("a comparison of \(fields.label) has no known operator") }
    let modifierCode = try operation.integer("NSModifier") ?? 0
    guard modifierCode >= 0, let modifier = ComparisonModifier(rawValue: UInt(modifierCode)) else {
      throw PlistError("a comparison of \(fields.label) has the unknown modifier \(modifierCode)")
    }
    let options = try operation.integer("NSOptions") ?? operation.integer("NSFlags") ?? 0
    var selector: String?
    if comparison == .customSelector {
      selector = try operation.text("NSSelectorName")
      if let word = wordOperators.first(where: { $0.symbol == selector }) {
        (comparison, selector) = (word, nil)
      } else if fields.isStrict {
        try refuseUnknown(selector: selector ?? "", arguments: 1, fields)
      }
    }
    return ComparisonNode(
      left: try expression(fields, "NSLeftExpression"), right: try expression(fields, "NSRightExpression"),
      modifier: modifier, comparison: comparison,
      options: ComparisonOptions(rawValue: UInt(truncatingIfNeeded: max(0, options)) & 15),
      selector: selector)
  }

  // MARK: Expressions

  static func expression(_ fields: some ArchivedFields) throws -> ExpressionNode {
    switch fields.className {
    case "NSSelfExpression": return .evaluatedObject
    case "NSConstantValueExpression":
      if let name = try fields.text("NSConstantValueClassName") {
        return ArchivedMark.type(name).node
      }
      return .constant(try fields.value("NSConstantValue"))
    case "NSVariableExpression": return .variable(try text(fields, "NSVariable"))
    case "NSKeyPathSpecifierExpression": return .keyPath(try text(fields, "NSKeyPath"))
    case "NSKeyPathExpression": return try keyPath(fields)
    case "NSFunctionExpression": return try function(fields)
    case "NSAggregateExpression": return .aggregate(try expressions(fields, "NSCollection"))
    case "NSSubqueryExpression":
      return .subquery(
        collection: try expression(fields, "NSCollection"), variable: try variable(fields),
        predicate: try fields.predicate("NSPredicate"))
    case "NSTernaryExpression":
      return .conditional(
        try fields.predicate("NSPredicate"), try expression(fields, "NSTrueExpression"),
        try expression(fields, "NSFalseExpression"))
    case "NSSetExpression":
      return .set(
        try setOperation(fields), try expression(fields, "NSLeftExpression"),
        try expression(fields, "NSRightExpression"))
    case "NSAnyKeyExpression": return .anyKey
    case "NSFetchRequestExpression":
      return .fetch(
        request: try expression(fields, "NSFRExpression"), context: try expression(fields, "NSMOCExpression"),
        countOnly: .constant(.bool(try fields.flag("NSCountOnlyFlag"))))
    case "NSVariableAssignmentExpression":
      return .assignment(
        variable: try text(fields, "NSAssignmentVariable"), try expression(fields, "NSSubexpression"))
    case "NSSymbolicExpression":
      let symbol = try text(fields, "NSSymbol")
      guard let index = index(ofSymbol: symbol) else {
        throw PlistError("\(fields.label) has the unknown symbol \(symbol)")
      }
      return ArchivedMark.symbol(index).node
    default:
      throw PlistError("an expression of \(fields.label) has the unknown class \(fields.className)")
    }
  }

  /// An operand: an expression other than the marks.
  private static func expression(_ fields: some ArchivedFields, _ key: String) throws -> ExpressionNode {
    try operand(try fields.expression(key), fields)
  }

  private static func expressions(_ fields: some ArchivedFields, _ key: String) throws -> [ExpressionNode] {
    try fields.expressions(key).map { try operand($0, fields) }
  }

  static func operand(_ node: ExpressionNode, _ fields: some ArchivedFields) throws -> ExpressionNode {
    switch ArchivedMark(node) {
    case nil: return node
    case .type(let name) where !fields.isStrict: return .constant(.string(name))
    case .type(let name): throw PlistError("\(fields.label) has the class \(name) where a value belongs")
    case .symbol(let index):
      throw PlistError("\(fields.label) has \(symbol(of: index) ?? "an index") where a value belongs")
    }
  }

  private static func keyPath(_ fields: some ArchivedFields) throws -> ExpressionNode {
    let selector = try text(fields, "NSSelectorName")
    let arguments = try expressions(fields, "NSArguments")
    guard keyPathSelectors.contains(selector), arguments.count == 1 else {
      throw PlistError("a key path of \(fields.label) calls \(selector) with \(arguments.count) arguments")
    }
    let target = try expression(fields, "NSOperand")
    switch arguments[0] {
    case .keyPath(let path): return .makePath(target, path)
    default: return .dynamicPath(target, arguments[0])
    }
  }

  private static func function(_ fields: some ArchivedFields) throws -> ExpressionNode {
    let selector = try text(fields, "NSSelectorName")
    let target = try fields.expression("NSOperand")
    guard ArchivedMark(target) == .type(ArchivedMark.functionsType) else {
      let arguments = try expressions(fields, "NSArguments")
      if fields.isStrict { try refuseUnknown(selector: selector, arguments: arguments.count, fields) }
      return .function(target: try operand(target, fields), name: selector, arguments: arguments)
    }
    if selector == indexSelector { return try index(fields) }
    let arguments = try expressions(fields, "NSArguments")
    if fields.isStrict {
      let isKnown =
        BuiltinFunction(rawValue: selector)?.argumentCount == arguments.count
      guard isKnown else {
        throw PlistError(
          "\(fields.label) calls \(selector) with \(arguments.count) arguments, which is no function")
      }
    }
    return .function(target: nil, name: selector, arguments: arguments)
  }

  /// The index may be a symbol, which has no meaning elsewhere.
  private static func index(_ fields: some ArchivedFields) throws -> ExpressionNode {
    let arguments = try fields.expressions("NSArguments")
    guard arguments.count == 2 else {
      throw PlistError("an index of \(fields.label) has \(arguments.count) arguments instead of two")
    }
    let target = try operand(arguments[0], fields)
    if case .symbol(let index) = ArchivedMark(arguments[1]) { return .index(target, index) }
    return .index(target, .at(try operand(arguments[1], fields)))
  }

  private static func setOperation(_ fields: some ArchivedFields) throws -> SetOperation {
    switch try fields.integer("NSExpressionType").flatMap(Kind.init(rawValue:)) {
    case .union: .union
    case .intersect: .intersect
    case .minus: .minus
    default: throw PlistError("a set expression of \(fields.label) is of no known kind")
    }
  }

  private static func variable(_ fields: some ArchivedFields) throws -> String {
    if let name = try fields.text("NSVariable") { return name }
    guard case .variable(let name) = try fields.expression("NSVariableExpression") else {
      throw PlistError("a subquery of \(fields.label) has no variable")
    }
    return name
  }

  private static func text(_ fields: some ArchivedFields, _ key: String) throws -> String {
    guard let text = try fields.text(key) else {
      throw PlistError("\(key) is missing in an expression of \(fields.label)")
    }
    return text
  }

  private static func refuseUnknown(
    selector: String, arguments: Int, _ fields: some ArchivedFields
  ) throws {
    guard !PredicateFunctions.answers(to: selector, argumentCount: arguments) else { return }
    throw PlistError(
      "\(fields.label) sends \(selector) with \(arguments) arguments, to which nothing answers; register it first with "
        + "PredicateFunctions.register(_:_:)")
  }
}
