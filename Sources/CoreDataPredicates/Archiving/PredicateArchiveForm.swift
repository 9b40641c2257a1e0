/// The form in which Foundation archives predicates and expressions: which class stands for which node, and
/// its fields. Archives of predicates, compiled models and mapping models all have it.
///
/// ```
/// NSTruePredicate, NSFalsePredicate
/// NSComparisonPredicate { NSLeftExpression, NSRightExpression, NSPredicateOperator }
/// NSCompoundPredicate { NSCompoundPredicateType, NSSubpredicates = [predicate] }
///
/// NS…PredicateOperator { NSOperatorType, NSModifier, … }
///   Comparison { NSOptions, NSVariant }   Equality { NSOptions, NSNegate }   In, Like, Matching, Substring { NSFlags }
///   Between, Custom { NSSelectorName }
///
/// NSSelfExpression, NSAnyKeyExpression
/// NSConstantValueExpression { NSConstantValue } or { NSConstantValueClassName }
/// NSVariableExpression { NSVariable }
/// NSFunctionExpression { NSOperand, NSSelectorName, NSArguments = [expression] }; a built-in function's operand is the class
///   _NSPredicateUtilities
/// NSKeyPathExpression: a call of valueForKey: or valueForKeyPath: with NSKeyPathSpecifierExpression { NSKeyPath }
/// NSAggregateExpression { NSCollection = [expression] }
/// NSSubqueryExpression { NSCollection, NSVariable, NSPredicate }
/// NSTernaryExpression { NSPredicate, NSTrueExpression, NSFalseExpression }
/// NSSetExpression { NSLeftExpression, NSRightExpression }
/// NSFetchRequestExpression { NSFRExpression, NSMOCExpression, NSCountOnlyFlag }
/// NSSymbolicExpression { NSSymbol }; NSVariableAssignmentExpression { NSAssignmentVariable, NSSubexpression }
/// ```
///
/// Every expression has `NSExpressionType` besides. Comparisons, compounds, the first four kinds of
/// operators, constants, key paths, variables, functions and fetches occur in Apple's files; classes and keys
/// of the rest follow from Apple's public names and have no sample to check against (Decisions/0016).
enum PredicateArchiveForm {
  /// `NSExpressionType`: the raw values of `NSExpression.ExpressionType` and those of Foundation's private
  /// classes.
  enum Kind: Int, CaseIterable {
    case constant = 0
    case evaluatedObject, variable, keyPath, function
    case union = 5
    case intersect, minus
    case keyPathSpecifier = 10
    case symbol
    case assignment
    case subquery = 13
    case aggregate, anyKey
    case conditional = 20
    case fetch = 50

    /// The class of expressions with this number. Key paths of anything but the evaluated object have that of
    /// functions.
    var className: String {
      switch self {
      case .constant: "NSConstantValueExpression"
      case .evaluatedObject: "NSSelfExpression"
      case .variable: "NSVariableExpression"
      case .keyPath: "NSKeyPathExpression"
      case .function: "NSFunctionExpression"
      case .union, .intersect, .minus: "NSSetExpression"
      case .keyPathSpecifier: "NSKeyPathSpecifierExpression"
      case .symbol: "NSSymbolicExpression"
      case .assignment: "NSVariableAssignmentExpression"
      case .subquery: "NSSubqueryExpression"
      case .aggregate: "NSAggregateExpression"
      case .anyKey: "NSAnyKeyExpression"
      case .conditional: "NSTernaryExpression"
      case .fetch: "NSFetchRequestExpression"
      }
    }
  }

  /// Operators without a number of Apple's: archived as custom ones whose selector is the operator's name.
  static let wordOperators: [ComparisonOperator] = [.tokenMatches, .utiConformsTo, .utiEquals]

  static let keyPathSelectors: Set<String> = ["valueForKey:", "valueForKeyPath:"]
  static let indexSelector: String = BuiltinFunction.element.selector

  /// The symbol of `[FIRST]`, `[LAST]`, `[SIZE]`.
  static func symbol(of index: IndexNode) -> String? {
    switch index {
    case .first: "FIRST"
    case .last: "LAST"
    case .size: "SIZE"
    case .at: nil
    }
  }

  static func index(ofSymbol symbol: String) -> IndexNode? {
    switch symbol {
    case "FIRST": .first
    case "LAST": .last
    case "SIZE": .size
    default: nil
    }
  }
}
