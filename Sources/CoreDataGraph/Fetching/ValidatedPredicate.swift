import CoreDataModel
import CoreDataPredicates
import CoreDataStorage

/// A request's predicate as a tree, without mistakes and with as few choices as it can do with.
struct ValidatedPredicate {
  let node: PredicateNode
  /// Where it is known, and the predicate names no objects.
  var shape: PredicateShape?
}

extension FetchParameters {
  /// The first stage of a fetch: checks the predicate and the sort descriptors, before a store is asked.
  ///
  /// Throws what they may not do, and all mistakes of the predicate with the entity. Cost: a walk over the
  /// predicate for each of its properties, and one look for a predicate whose shape was found sound before.
  func validated(for runtime: EntityRuntime, comparesExactly: Bool) throws -> ValidatedPredicate? {
    try checkEvaluationAllowed()
    guard let given = predicate?.structureNode() else { return nil }
    let shape: PredicateShape? = PredicateShape(given)
    if let shape, runtime.soundShapes.holds(shape) { return ValidatedPredicate(node: given, shape: shape) }
    let errors: [PredicateProblem] = given.errors(for: runtime.layout.entity)
    guard errors.isEmpty else { throw GraphError.predicate(errors) }
    if let shape, given.isSoundByShape(shape, for: runtime) {
      runtime.soundShapes.add(shape)
      return ValidatedPredicate(node: given, shape: shape)
    }
    let node: PredicateNode = try given.resolvingFetches().simplified
    return ValidatedPredicate(node: comparesExactly ? node : node.comparingRounded(from: runtime))
  }
}

/// Shapes of predicates about an entity that have no mistakes and stay as they are,
/// whatever their parameters.
///
/// Belongs to an entity of one model, which does not change.
final class SoundShapes: Sendable {
  private let shapes = Guarded<Set<ShapeKey>>([])

  /// Programs with more shapes check them again now and then.
  static let capacity: Int = 256

  func holds(_ shape: PredicateShape) -> Bool { shapes.withLock { $0.contains(shape.key) } }

  func add(_ shape: PredicateShape) {
    shapes.withLock {
      if $0.count >= Self.capacity { $0.removeAll(keepingCapacity: true) }
      $0.insert(shape.key)
    }
  }

  var count: Int { shapes.withLock { $0.count } }
}

extension PredicateNode {
  /// Whether every predicate of the shape is without mistakes if this one is, and is fetched by as it is.
  ///
  /// Mistakes are found by the kinds of constants, but for texts: one may spell a date, or be no regular
  /// expression. So some are tried. Choices are simplified, and numbers of many digits rounded,
  /// by their values.
  fileprivate func isSoundByShape(_ shape: PredicateShape, for runtime: EntityRuntime) -> Bool {
    guard shape.parameters.allSatisfy(\.isJudgedByKind), !hasRoundedConstants else { return false }
    var hasChoice: Bool = false
    forEachExpression { if case .conditional = $0 { hasChoice = true } }
    if hasChoice { return false }
    guard shape.parameters.contains(where: \.holdsText) else { return true }
    return Self.texts.allSatisfy { text in
      mapParameters { $0.replacing($1, by: $1.value.withTexts(text)) }.errors(for: runtime.layout.entity)
        .isEmpty
    }
  }

  /// What a text may spell, and what it may fail to.
  private static let texts: [String] = [
    "", "(", "x", "1", "true", "2001-01-01", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
  ]
}

extension ComparisonNode {
  fileprivate func replacing(_ parameter: Parameter, by value: PredicateValue) -> ComparisonNode {
    var node: ComparisonNode = self
    if parameter.isLeft { node.left = .constant(value) } else { node.right = .constant(value) }
    return node
  }
}

extension PredicateValue {
  fileprivate var isJudgedByKind: Bool {
    switch self {
    case .bool, .integer, .double, .string, .date, .data, .uuid, .url: true
    case .array(let members): members.allSatisfy(\.isJudgedByKind)
    case .set(let members): members.allSatisfy(\.isJudgedByKind)
    case .null, .nullObject, .unsigned, .decimal, .dictionary, .object: false
    }
  }

  fileprivate var holdsText: Bool {
    switch self {
    case .string: true
    case .array(let members): members.contains(where: \.holdsText)
    case .set(let members): members.contains(where: \.holdsText)
    default: false
    }
  }

  fileprivate func withTexts(_ text: String) -> PredicateValue {
    switch self {
    case .string: .string(text)
    case .array(let members): .array(members.map { $0.withTexts(text) })
    case .set(let members): .set(Set(members.map { $0.withTexts(text) }))
    default: self
    }
  }
}
