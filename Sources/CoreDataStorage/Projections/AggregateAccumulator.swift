import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

/// The values of each row that an aggregate reads.
struct MemberValues {
  private enum Source {
    case path([ExpressionProgram], isCollection: Bool)
    case expression(ExpressionProgram)
  }
  private let source: Source
  /// Whether the model tells that the values are doubles: a sum of none of them is one, too.
  let areReals: Bool

  init(_ argument: ExpressionNode, of entity: NSEntityDescription) {
    areReals = MemberValues.isReal(argument, of: entity)
    if case .keyPath(let path) = argument, !path.contains("@") {
      let components: [String] = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      source = .path(
        components.map { ExpressionProgram(.keyPath($0)) },
        isCollection: MemberValues.isCollection(components, of: entity))
    } else {
      source = .expression(ExpressionProgram(argument))
    }
  }

  /// Whether a path crosses a to-many relationship.
  private static func isCollection(_ components: [String], of entity: NSEntityDescription) -> Bool {
    var entity: NSEntityDescription? = entity
    for name in components {
      guard let relationship = entity?.relationshipsByName[name] else { return false }
      if relationship.isToMany { return true }
      entity = relationship.destinationEntity
    }
    return false
  }

  private static func isReal(_ value: ExpressionNode, of entity: NSEntityDescription) -> Bool {
    switch value {
    case .constant(.double): return true
    case .keyPath(let path):
      var entity: NSEntityDescription? = entity
      var property: NSPropertyDescription?
      for name in path.split(separator: ".") {
        property = entity?.propertiesByName[String(name)]
        entity = (property as? NSRelationshipDescription)?.destinationEntity
      }
      let type: NSAttributeType? = (property as? NSAttributeDescription)?.attributeType
      return type == .doubleAttributeType || type == .floatAttributeType
    case .function(nil, let name, let arguments):
      let isArithmetic: Bool =
        switch BuiltinFunction(rawValue: name) {
        case .add, .subtract, .multiply: true
        default: false
        }
      return isArithmetic && arguments.contains { isReal($0, of: entity) }
    default: return false
    }
  }

  /// Key-value coding returns a set when it reads from a set, and equal values become one; here each of them
  /// counts.
  func add(of row: Any?, to total: inout AggregateAccumulator) throws {
    switch source {
    case .expression(let expression): try total.add(expression.value(row))
    case .path(let steps, let isCollection):
      guard let row else { return }
      // nil on the way to a collection means no members; nil in place of a value, the row's or a member's,
      // counts as a value.
      try add(.object(ObjectBox(row)), steps[...], countsNil: !isCollection, to: &total)
    }
  }

  private func add(
    _ value: PredicateValue, _ steps: ArraySlice<ExpressionProgram>, countsNil: Bool,
    to total: inout AggregateAccumulator
  ) throws {
    if let members = value.elements {
      for member in members { try add(member, steps, countsNil: true, to: &total) }
      return
    }
    guard let step = steps.first, !value.isNull else {
      if countsNil || !value.isNull { try total.add(value) }
      return
    }
    let object: Any? = if case .object(let box) = value { box.value } else { value.anyValue }
    try add(step.value(object), steps.dropFirst(), countsNil: countsNil, to: &total)
  }
}

/// An aggregate, computed while rows are read.
struct AggregateAccumulator {
  private let function: RowAggregate.Function
  private var members: Int = 0
  private var present: Int = 0
  private var sum: PredicateValue = .integer(0)
  private var best: PredicateValue = .null

  init(_ function: RowAggregate.Function, ofReals areReals: Bool) {
    self.function = function
    if areReals { sum = .double(0) }
  }

  mutating func add(_ value: PredicateValue) throws {
    members += 1
    if value.isNull { return }
    present += 1
    switch function {
    case .count, .members: break
    case .sum, .average, .mean:
      let before: PredicateValue = sum
      sum = try Arithmetic.sum([before, value], of: function.rawValue)
      if case .integer = before, case .double = sum, !value.isDouble {
        throw AggregateAccumulator.tooLarge(function)
      }
    case .min, .max:
      if best.isNull {
        best = value
        return
      }
      guard let order = ValueComparison.order(value, best) else {
        throw StoreError.unsupported(
          part: function.rawValue, reason: "there is no order between \(value.kindName) and \(best.kindName)",
          advice: "Use it on numbers, dates or strings.")
      }
      if order == (function == .min ? .orderedAscending : .orderedDescending) { best = value }
    }
  }

  func value() throws -> PredicateValue {
    switch function {
    case .count: return .integer(Int64(present))
    case .members: return .integer(Int64(members))
    case .sum: return sum
    case .average: return present == 0 ? .null : try Arithmetic.divide(sum, byCount: present)
    case .mean: return members == 0 ? .null : try Arithmetic.divide(sum, byCount: members)
    case .min, .max: return best
    }
  }

  private static func tooLarge(_ function: RowAggregate.Function) -> StoreError {
    .tooLargeSum(function.rawValue)
  }
}

extension PredicateValue {
  fileprivate var isDouble: Bool { if case .double = self { true } else { false } }
}

extension StoreError {
  /// The error for a sum of integers that needs more than 64 bits.
  package static func tooLargeSum(_ function: String) -> StoreError {
    .unsupported(
      part: function, reason: "the sum of the whole numbers does not fit into 64 bits",
      advice: "Multiply by 1.0 first: sum:(value * 1.0).")
  }
}
