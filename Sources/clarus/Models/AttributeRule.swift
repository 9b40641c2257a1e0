import CoreDataModel
import CoreDataPredicates
import Foundation

/// What values of an attribute are allowed, told from its validation predicates: those that the model editor
/// has fields for by their names, others as they are.
enum AttributeRule {
  case least(Any)
  case most(Any)
  case leastLength(Int)
  case mostLength(Int)
  case pattern(String)
  /// The text of another predicate.
  case other(String)

  /// In the order of the predicates; those that are joined by AND one by one.
  static func all(of attribute: NSAttributeDescription) -> [AttributeRule] {
    attribute.validationPredicates.flatMap(rules)
  }

  private static func rules(_ predicate: NSPredicate) -> [AttributeRule] {
    if let compound = predicate as? CoreDataPredicates.NSCompoundPredicate,
      compound.compoundPredicateType == .and, !compound.subpredicates.isEmpty
    {
      return compound.subpredicates.flatMap(rules)
    }
    return [AttributeRule(predicate)]
  }

  private init(_ predicate: NSPredicate) {
    self = Self.known(predicate) ?? .other(predicate.formatText)
  }

  private static func known(_ predicate: NSPredicate) -> AttributeRule? {
    guard let comparison = predicate as? CoreDataPredicates.NSComparisonPredicate,
      comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
      comparison.rightExpression.expressionType == .constantValue,
      let constant = comparison.rightExpression.constantValue
    else { return nil }
    let left: CoreDataPredicates.NSExpression = comparison.leftExpression
    let isLength: Bool = left.expressionType == .keyPath && left.keyPath == "length"
    guard isLength || left.expressionType == .evaluatedObject else { return nil }
    let length: Int? = isLength ? (constant as? NSNumber)?.intValue : nil
    switch comparison.predicateOperatorType {
    case .greaterThanOrEqualTo: return isLength ? length.map { .leastLength($0) } : .least(constant)
    case .lessThanOrEqualTo: return isLength ? length.map { .mostLength($0) } : .most(constant)
    case .matches where !isLength: return (constant as? String).map { .pattern($0) }
    default: return nil
    }
  }

  /// For tables.
  var words: String {
    switch self {
    case .least(let value): "at least \(PropertyListJSON.value(value).compact)"
    case .most(let value): "at most \(PropertyListJSON.value(value).compact)"
    case .leastLength(let count): "length at least \(count)"
    case .mostLength(let count): "length at most \(count)"
    case .pattern(let text): "pattern \(text)"
    case .other(let text): "where \(text)"
    }
  }

  /// The entries of an attribute's object: `min`, `max`, `minLength`, `maxLength`, `pattern`, and `rules`
  /// with the text of all others. Of two of a kind the second is among the others.
  static func json(_ rules: [AttributeRule]) -> [(String, JSONText)] {
    var entries: [(String, JSONText)] = []
    var others: [String] = []
    for rule in rules {
      let (key, value): (String, JSONText) =
        switch rule {
        case .least(let value): ("min", PropertyListJSON.value(value))
        case .most(let value): ("max", PropertyListJSON.value(value))
        case .leastLength(let count): ("minLength", .integer(Int64(count)))
        case .mostLength(let count): ("maxLength", .integer(Int64(count)))
        case .pattern(let text): ("pattern", .string(text))
        case .other(let text): ("rules", .string(text))
        }
      if key == "rules" || entries.contains(where: { $0.0 == key }) {
        if case .other(let text) = rule { others.append(text) } else { others.append(rule.words) }
      } else {
        entries.append((key, value))
      }
    }
    if !others.isEmpty { entries.append(("rules", .strings(others))) }
    return entries
  }
}
