import Foundation

extension Foundation.NSPredicate {
  /// The tree of the predicate.
  ///
  /// Foundation's constant and compound predicates are recognised; a block predicate, or a class of the
  /// program, becomes a ``PredicateNode/block(_:)`` that holds it, because it may evaluate in its own way.
  package func predicateNode() -> PredicateNode {
    switch self {
    case let predicate as NSComparisonPredicate where type(of: predicate) == NSComparisonPredicate.self:
      return predicate.tree
    case let predicate as NSCompoundPredicate where type(of: predicate) == NSCompoundPredicate.self:
      return predicate.node
    case let predicate as Foundation.NSCompoundPredicate
    where type(of: predicate) == Foundation.NSCompoundPredicate.self:
      let kind: CompoundKind =
        predicate.compoundPredicateType == .not ? .not : predicate.compoundPredicateType == .or ? .or : .and
      let members: [PredicateNode] = predicate.subpredicates.map {
        $0.predicateNode()
      }
      let node: PredicateNode = .compound(kind, members)
      return node.depth <= TreeLimits.depth ? node : .block(PredicateBlock(self))
    default:
      if let archived = self as? ArchivedConstantPredicate { return .constant(archived.constant) }
      // A subclass may evaluate in its own way, whatever text it inherits.
      guard type(of: self) == Foundation.NSPredicate.self else { return .block(PredicateBlock(self)) }
      switch formatText {
      case "TRUEPREDICATE": return .constant(true)
      case "FALSEPREDICATE": return .constant(false)
      default: return .block(PredicateBlock(self))
      }
    }
  }

  /// The tree as stores translate it: a class of the program that extends ``NSComparisonPredicate`` or
  /// ``NSCompoundPredicate`` counts as the class it extends, whatever it does in memory.
  package func structureNode() -> PredicateNode {
    switch self {
    case let predicate as NSComparisonPredicate: predicate.tree
    case let predicate as NSCompoundPredicate:
      StackGuard.run(levels: predicate.depth) {
        .compound(predicate.compoundPredicateType.kind, predicate.subpredicates.map { $0.structureNode() })
      }
    default: predicateNode()
    }
  }

  /// ``structureNode()`` with its shape; no shape for predicates that have none. Cost: a walk over the
  /// predicate, unless a format that was parsed before gave it.
  package func shapedStructure() -> (node: PredicateNode, shape: PredicateShape?) {
    if let predicate = self as? NSComparisonPredicate {
      return (predicate.tree, predicate.shape ?? PredicateShape(predicate.tree))
    }
    if let predicate = self as? NSCompoundPredicate, let shape = predicate.shape {
      return (predicate.node, shape)
    }
    let node: PredicateNode = structureNode()
    return (node, PredicateShape(node))
  }

  /// The predicate of a format.
  static func makePredicate(
    _ parsed: ParsedFormat, permission: EvaluationPermission?
  ) -> Foundation.NSPredicate {
    if case .comparison = parsed.node {
      return NSComparisonPredicate(tree: parsed.node, permission: permission, shape: parsed.shape)
    }
    let predicate: Foundation.NSPredicate = makePredicate(parsed.node, permission: permission)
    if let shape = parsed.shape { (predicate as? NSCompoundPredicate)?.shape = shape }
    return predicate
  }

  /// The predicate for a tree, of the class that Apple's framework would use. `permission` is
  /// evaluated once for each comparison.
  package static func makePredicate(
    _ node: PredicateNode, permission: @autoclosure () -> EvaluationPermission? = nil
  ) -> Foundation.NSPredicate {
    guard case .compound = node else { return make(node, permission) }
    return StackGuard.run(levels: node.depth) { make(node, permission) }
  }

  private static func make(
    _ node: PredicateNode, _ permission: () -> EvaluationPermission?
  ) -> Foundation.NSPredicate {
    switch node {
    case .constant(let value): Foundation.NSPredicate(value: value)
    case .comparison: NSComparisonPredicate(tree: node, permission: permission())
    case .compound(let kind, let members):
      NSCompoundPredicate(
        type: NSCompoundPredicate.LogicalType(rawValue: kind.rawValue) ?? .and,
        subpredicates: members.map { make($0, permission) })
    case .block(let block): block.predicate
    }
  }

  /// `predicateFormat`, without Foundation's deprecation warning.
  package var formatText: String {
    (self as any FormatProviding).predicateFormat
  }
}

/// Declares `predicateFormat` again to avoid its deprecation, which only states that there is no format on
/// Linux.
private protocol FormatProviding {
  var predicateFormat: String { get }
}

extension Foundation.NSPredicate: FormatProviding {}

/// The predicate for a tree, of the class that Apple's framework would use.
package func makePredicate(_ node: PredicateNode) -> Foundation.NSPredicate {
  Foundation.NSPredicate.makePredicate(node)
}
