import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Reads texts that are compared with objects as ids, and texts that are compared with dates as dates: `SELF == "Item/p42"`,
/// `category IN {"Category/p1", "p2"}`, `due < "2026-12-01"`.
///
/// In the predicate language an object never equals a text, nor does a date, so nothing that has a meaning changes it. Looked
/// at are comparisons of a path with literals; inside of `SUBQUERY` everything stays as it is.
struct LiteralReading {
  let entity: EntityLayout
  let ids: ObjectIDs

  func reading(_ predicate: PredicateNode) throws -> PredicateNode {
    switch predicate {
    case .constant, .block: return predicate
    case .compound(let kind, let members): return .compound(kind, try members.map(reading))
    case .comparison(var node):
      if let kind = kind(of: node.left) {
        node.left = kind.path
        node.right = try kind.reading(node.right, ids)
      } else if let kind = kind(of: node.right) {
        node.right = kind.path
        node.left = try kind.reading(node.left, ids)
      }
      return .comparison(node)
    }
  }

  /// What a side of a comparison is: a path to objects or to dates.
  private struct Side {
    var path: ExpressionNode
    /// nil: dates.
    var entity: EntityLayout?

    func reading(_ literal: ExpressionNode, _ ids: ObjectIDs) throws -> ExpressionNode {
      switch literal {
      case .constant(let value): return .constant(try reading(value, ids))
      case .aggregate(let members): return .aggregate(try members.map { try reading($0, ids) })
      default: return literal
      }
    }

    private func reading(_ value: PredicateValue, _ ids: ObjectIDs) throws -> PredicateValue {
      switch value {
      case .array(let members): return .array(try members.map { try reading($0, ids) })
      case .set(let members): return .set(Set(try members.map { try reading($0, ids) }))
      case .string(let text):
        guard let entity else { return DateText.date(text).map { .date($0) } ?? value }
        guard let id = ObjectIDText(text) else {
          throw CommandFailure(
            "--where: \"\(text)\" is compared with an object, but is no id; \(ObjectIDText.forms).")
        }
        return ObjectIDs.reference(try ids.row(id, of: entity))
      default: return value
      }
    }
  }

  private func kind(of expression: ExpressionNode) -> Side? {
    switch expression {
    case .evaluatedObject: return Side(path: expression, entity: entity)
    case .keyPath(let path):
      // Paths that lead nowhere are left to the check of the predicate, which has the better words.
      switch try? PathEnd(path, from: entity, in: ids.layout, crossesMany: true) {
      case .object(let path, let entity): return Side(path: path, entity: entity)
      case .members(_, let owner, let slot, _):
        let destination: Int? = owner.slots[slot].destination
        return destination.map { Side(path: expression, entity: ids.layout.entities[$0]) }
      case .value(_, .date), .computed(_, .date): return Side(path: expression, entity: nil)
      case .value, .computed, nil: return nil
      }
    default: return nil
    }
  }
}
