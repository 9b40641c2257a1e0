import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

/// The part of a predicate that stores can't evaluate: it is evaluated over the objects that the stores
/// return (Decisions/0013).
///
///     price > 5 AND FUNCTION(title, 'isPalindrome') == YES AND category.name == 'x'
///     └───────┘ └─────────────── evaluated ───────────────┘     └────── stored ────┘
struct ResidualPredicate {
  /// Why a store can't evaluate a condition, in the store's words.
  struct Reason {
    var part: String
    var reason: String
  }

  /// The part that the stores evaluate; nil for none: then every object of the entity is read.
  let stored: PredicateNode?
  /// The part that is evaluated here.
  let evaluated: PredicateNode
  /// For display: each condition that is evaluated here, and why.
  let explanation: [String]

  /// Divides a predicate: conditions that are refused with a reason are evaluated here, the others by stores.
  /// nil if none is refused.
  static func split(
    _ predicate: PredicateNode?, refusal: (PredicateNode) throws -> Reason?
  ) rethrows -> ResidualPredicate? {
    let conjuncts: [PredicateNode] = predicate?.conjuncts ?? []
    let refusals: [Reason?] = try conjuncts.map(refusal)
    return refusals.contains { $0 != nil } ? ResidualPredicate(conjuncts, refusals) : nil
  }

  /// Conditions that all must hold, and the refusals of those that a store can't evaluate.
  private init(_ conjuncts: [PredicateNode], _ refusals: [Reason?]) {
    let pairs: [(PredicateNode, Reason?)] = Array(zip(conjuncts, refusals))
    let kept: [PredicateNode] = pairs.filter { $0.1 == nil }.map(\.0)
    let left: [PredicateNode] = pairs.filter { $0.1 != nil }.map(\.0)
    stored = kept.isEmpty ? nil : .all(kept)
    evaluated = .all(left)
    explanation = pairs.compactMap { node, refusal in
      guard let refusal else { return nil }
      let text: String = Printer.print(node)
      let place: String = refusal.part == text ? "" : "\(refusal.part): "
      return "\(text) (\(place)\(refusal.reason))"
    }
  }

  /// The relationships that the evaluation will read of all objects, as paths: loaded together, they cost one
  /// statement each.
  func relationshipPaths(from runtime: EntityRuntime) -> [String] {
    var paths: [String] = []
    for path in evaluated.keyPaths {
      var entity: EntityRuntime = runtime
      var steps: [Substring] = []
      for name in path.split(separator: ".") {
        guard let slot = entity.layout.slot(named: String(name)), let destination = slot.destination,
          slot.isToMany || slot.role != .transient
        else { break }
        steps.append(name)
        entity = entity.model.entities[destination]
      }
      let relationships: String = steps.joined(separator: ".")
      if !steps.isEmpty, !paths.contains(relationships) { paths.append(relationships) }
    }
    return paths
  }
}

extension PredicateNode {
  /// Conditions that are equivalent together: the members of an AND, of an AND within it, and of `NOT (a OR
  /// b)`.
  var conjuncts: [PredicateNode] {
    switch self {
    case .compound(.and, let members): members.flatMap(\.conjuncts)
    case .compound(.not, let members):
      if case .compound(.or, let alternatives)? = members.first {
        alternatives.flatMap { PredicateNode.compound(.not, [$0]).conjuncts }
      } else {
        [self]
      }
    default: [self]
    }
  }

  static func all(_ conjuncts: [PredicateNode]) -> PredicateNode {
    conjuncts.count == 1 ? conjuncts[0] : .compound(.and, conjuncts)
  }
}
