import CoreDataEvaluation
import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import CoreDataStorage

/// A request's predicate as a tree, validated and with as few alternatives as possible.
struct ValidatedPredicate {
  let node: PredicateNode
  /// The shape, if it is known and the predicate contains no objects.
  var shape: PredicateShape?
}

extension FetchParameters {
  /// The first stage of a fetch: checks the predicate and the sort descriptors, before any store is called.
  ///
  /// Throws if their evaluation is not allowed, and all mistakes of the predicate with the entity. Cost:
  /// several walks over the predicate, or one look-up for a predicate whose shape was validated before.
  func validated(for runtime: EntityRuntime, comparesExactly: Bool) throws -> ValidatedPredicate? {
    try checkEvaluationAllowed()
    guard let (given, shape): (PredicateNode, PredicateShape?) = predicate?.shapedStructure() else {
      return nil
    }
    let verdict: Bool? = shape.flatMap { runtime.validatedShapes.verdict(on: $0) }
    if verdict == true { return ValidatedPredicate(node: given, shape: shape) }
    let errors: [PredicateProblem] = given.errors(for: runtime.layout.entity)
    guard errors.isEmpty else { throw GraphError.predicate(errors) }
    if let shape, verdict == nil {
      let isValid: Bool = given.isValidByShape(shape, for: runtime)
      runtime.validatedShapes.add(shape, isValid)
      if isValid { return ValidatedPredicate(node: given, shape: shape) }
    }
    let node: PredicateNode = try given.resolvingFetches().simplified
    return ValidatedPredicate(node: comparesExactly ? node : node.comparingRounded(from: runtime))
  }
}

/// For shapes of predicates about an entity, whether all predicates of the shape are valid and stay
/// unchanged, whatever their parameters.
///
/// Belongs to an entity of one model, which does not change.
final class ValidatedShapes: Sendable {
  private let shapes = Guarded<[ShapeKey: Bool]>([:])

  /// Programs with more shapes validate some of them again.
  static let capacity: Int = 256

  /// nil if it is not known.
  func verdict(on shape: PredicateShape) -> Bool? { shapes.withLock { $0[shape.key] } }

  func add(_ shape: PredicateShape, _ isValid: Bool) {
    shapes.withLock {
      if $0.count >= Self.capacity { $0.removeAll(keepingCapacity: true) }
      $0[shape.key] = isValid
    }
  }

  var count: Int { shapes.withLock { $0.count } }
}

extension PredicateNode {
  /// Whether every predicate of the shape is valid if this one is, and is used for the fetch unchanged.
  ///
  /// Mistakes depend on the kinds of constants, except for texts: one may spell a date, or be an invalid
  /// regular expression. So some texts are tried. Simplifying alternatives, and rounding numbers of many
  /// digits, depend on their values.
  fileprivate func isValidByShape(_ shape: PredicateShape, for runtime: EntityRuntime) -> Bool {
    guard shape.parameters.allSatisfy(\.isValidatedByKind), !hasRoundedConstants else { return false }
    var hasChoice: Bool = false
    forEachExpression { if case .conditional = $0 { hasChoice = true } }
    if hasChoice { return false }
    guard shape.parameters.contains(where: \.holdsText) else { return true }
    return Self.texts.allSatisfy { text in
      mapParameters { $0.replacing($1, by: $1.value.withTexts(text)) }.errors(for: runtime.layout.entity)
        .isEmpty
    }
  }

  /// Texts that can be parsed as a value, and texts that can't.
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
  fileprivate var isValidatedByKind: Bool {
    switch self {
    case .bool, .integer, .double, .string, .date, .data, .uuid, .url: true
    case .array(let members): members.allSatisfy(\.isValidatedByKind)
    case .set(let members): members.allSatisfy(\.isValidatedByKind)
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
