import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Reads texts that are compared with objects as ids, and texts that are compared with dates as dates: `SELF
/// == "Item/p42"`, `category IN {"Category/p1", "p2"}`, `due < "2026-12-01"`.
///
/// In the predicate language an object never equals a text, nor does a date, so no valid predicate changes.
/// Only comparisons of a path with literals are changed, none inside of `SUBQUERY`.
struct LiteralReading {
  let entity: EntityLayout
  let ids: ObjectIDs
  /// For messages.
  let option: String

  func reading(_ predicate: PredicateNode) throws -> PredicateNode {
    switch predicate {
    case .constant, .block: return predicate
    case .compound(let kind, let members): return .compound(kind, try members.map(reading))
    case .comparison(var node):
      if let kind = kind(of: node.left) {
        node.left = kind.path
        node.right = try kind.reading(node.right, node.comparison, self)
      } else if let kind = kind(of: node.right) {
        node.right = kind.path
        node.left = try kind.reading(node.left, node.comparison, self)
      }
      return .comparison(node)
    }
  }

  /// A side of a comparison: a path to objects or to dates.
  private struct Side {
    var path: ExpressionNode
    /// nil: dates.
    var entity: EntityLayout?

    func reading(
      _ literal: ExpressionNode, _ comparison: ComparisonOperator, _ all: LiteralReading
    ) throws -> ExpressionNode {
      switch literal {
      case .constant(let value): return .constant(try reading(value, comparison, all))
      case .aggregate(let members): return .aggregate(try members.map { try reading($0, comparison, all) })
      default: return literal
      }
    }

    private func reading(
      _ value: PredicateValue, _ comparison: ComparisonOperator, _ all: LiteralReading
    ) throws -> PredicateValue {
      switch value {
      case .array(let members): return .array(try members.map { try reading($0, comparison, all) })
      case .set(let members): return .set(Set(try members.map { try reading($0, comparison, all) }))
      case .string(let text):
        guard let entity else { return try date(text, comparison, all.option) ?? value }
        guard let id = ObjectIDText(text) else {
          throw CommandFailure(
            "\(all.option): \"\(text)\" is compared with an object, but is no id; \(ObjectIDText.forms).")
        }
        return ObjectIDs.reference(try all.ids.row(id, of: entity))
      default: return value
      }
    }

    /// nil for text operators, which have errors of their own.
    private func date(
      _ text: String, _ comparison: ComparisonOperator, _ option: String
    ) throws -> PredicateValue? {
      if let date = DateText.date(text) { return .date(date) }
      switch comparison {
      case .like, .matches, .beginsWith, .endsWith, .contains, .tokenMatches, .utiEquals, .utiConformsTo,
        .customSelector:
        return nil
      default:
        throw CommandFailure(
          "\(option): \"\(text)\" is compared with \(Printer.print(path)), a date, but is none. Write a day or a moment, "
            + "\"2026-12-01\" or \"2026-12-01T09:30:00Z\". \(RelativeDates.forms)")
      }
    }
  }

  private func kind(of expression: ExpressionNode) -> Side? {
    switch expression {
    case .evaluatedObject: return Side(path: expression, entity: entity)
    case .keyPath(let path):
      // Invalid paths are left to the check of the predicate, which has a better error.
      switch try? PathEnd(path, from: entity, in: ids.layout, crossesMany: true) {
      case .object(let path, let entity): return Side(path: path, entity: entity)
      case .members(_, let owner, let slot, _):
        let destination: Int? = owner.slots[slot].destination
        return destination.map { Side(path: expression, entity: ids.layout.entities[$0]) }
      case .value(_, .date), .computed(_, .date): return Side(path: expression, entity: nil)
      case .value, .computed, nil: return nil
      }
    case .function(target: nil, let name, let arguments):
      guard ["min:", "max:"].contains(name), arguments.count == 1, let side = kind(of: arguments[0]),
        side.entity == nil
      else { return nil }
      return Side(path: expression, entity: nil)
    default: return nil
    }
  }
}
