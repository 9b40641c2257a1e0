import Foundation

/// Predicates joined by `AND`, `OR` or `NOT`.
///
/// Foundation's class of this name prints, compares and copies wrongly on Linux; this one
/// replaces it. Immutable.
nonisolated open class NSCompoundPredicate: Foundation.NSPredicate, NSSecureCoding {
  /// The members, as given.
  public let subpredicates: [Foundation.NSPredicate]
  /// How they are joined.
  public let compoundPredicateType: LogicalType
  let node: PredicateNode
  /// The shape of `node`, if the predicate was made with it; set before anything else uses the predicate.
  @exclusivity(unchecked) final var shape: PredicateShape?
  let permission: EvaluationPermission?
  /// Kept, since building a predicate step by step reads it at every step.
  let depth: Int
  private let program: any EvaluablePredicate

  /// Joins predicates. `.not` uses the first.
  ///
  /// A chain of one operator built step by step (`p = p AND next`) stays nested for a thousand levels and is
  /// flattened beyond, which changes only its text. A predicate nested deeper in other ways loses its
  /// members, and fetching by it or evaluating it throws.
  public init(type: LogicalType, subpredicates: [Foundation.NSPredicate]) {
    let kind: CompoundKind = type.kind
    precondition(
      kind != .not || !subpredicates.isEmpty, "A NOT predicate needs the predicate that it negates.")
    var members: [Foundation.NSPredicate] = kind == .not ? Array(subpredicates.prefix(1)) : subpredicates
    var depth: Int = Self.depth(of: members)
    if depth > TreeLimits.depth, kind != .not {
      members = Self.flattened(members, type)
      depth = Self.depth(of: members)
    }
    // If they were kept, the members would be released recursively and could overflow the stack.
    let isTooDeep: Bool =
      depth > TreeLimits.depth || members.contains { ($0 as? NSCompoundPredicate)?.isTooDeep ?? false }
    permission = .joining(values: members)
    node = isTooDeep ? TooDeepPredicate.node : .compound(kind, members.map { $0.predicateNode() })
    self.subpredicates = isTooDeep ? [TooDeepPredicate.shared] : members
    self.depth = isTooDeep ? 1 : depth
    compoundPredicateType = type
    program = Evaluator.factory.predicate(node)
    super.init(value: true)
  }

  /// All of them; true when there are none.
  public convenience init(andPredicateWithSubpredicates subpredicates: [Foundation.NSPredicate]) {
    self.init(type: .and, subpredicates: subpredicates)
  }

  /// At least one of them; false when there are none.
  public convenience init(orPredicateWithSubpredicates subpredicates: [Foundation.NSPredicate]) {
    self.init(type: .or, subpredicates: subpredicates)
  }

  /// True if the predicate is false.
  public convenience init(notPredicateWithSubpredicate predicate: Foundation.NSPredicate) {
    self.init(type: .not, subpredicates: [predicate])
  }

  /// Whether the predicate is true for the object. A function of values of a kind that it never accepts, such
  /// as the square root of a text, is nil here. Stops the program if
  /// `evaluateThrowing(with:substitutionVariables:)` would throw for any other reason.
  open override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
    do {
      if permission != nil { try checkEvaluationAllowed() }
      return try program.evaluateLeniently(object, variables: bindings)
    } catch {
      fatalError("\(error)")
    }
  }

  func evaluateNode(_ object: Any?, _ bindings: [String: Any]?) throws -> Bool {
    if permission != nil { try checkEvaluationAllowed() }
    return try program.evaluate(object, variables: bindings)
  }

  // MARK: Coding

  public static var supportsSecureCoding: Bool { true }

  /// Decodes what ``encode(with:)`` or an Apple system encoded; nil, and an error in the coder, for anything
  /// else. The predicate can't be evaluated until `allowEvaluation()` is called.
  public required convenience init?(coder: NSCoder) {
    guard
      case .compound(let kind, let members)? = CoderArchive.predicateNode(
        coder, className: "NSCompoundPredicate")
    else { return nil }
    self.init(
      type: LogicalType(rawValue: kind.rawValue) ?? .and,
      subpredicates: members.map { .makePredicate($0, permission: EvaluationPermission()) })
  }

  /// Encodes the predicate as one member of something larger. The coder fails where ``archivedData()``
  /// throws.
  open func encode(with coder: NSCoder) {
    CoderArchive.encode(node, with: coder)
  }

  /// The predicate as a format.
  open override var predicateFormat: String { Printer.print(node) }
  open override var description: String { predicateFormat }

  open override func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSCompoundPredicate else { return false }
    if self === other { return true }
    return StackGuard.run(levels: depth) { node == other.node }
  }

  open override var hash: Int { StackGuard.run(levels: depth) { node.hashValue } }

  /// The operators.
  public enum LogicalType: UInt, Sendable {
    case not = 0
    case and = 1
    case or = 2

    var kind: CompoundKind {
      switch self {
      case .not: .not
      case .and: .and
      case .or: .or
      }
    }
  }

  /// Whether a tree that was too deep has been omitted.
  fileprivate var isTooDeep: Bool { subpredicates.first === TooDeepPredicate.shared }

  private static func depth(of members: [Foundation.NSPredicate]) -> Int {
    1 + (members.lazy.map { ($0 as? NSCompoundPredicate)?.depth ?? $0.predicateNode().depth }.max() ?? 0)
  }

  /// The members, with those of compounds of the same operator among them moved up. Large compounds stay
  /// unchanged, so that this costs no more than the chain built since the last time.
  private static func flattened(
    _ members: [Foundation.NSPredicate], _ type: LogicalType
  ) -> [Foundation.NSPredicate] {
    var result: [Foundation.NSPredicate] = []
    var pending: [Foundation.NSPredicate] = members.reversed()
    while let member = pending.popLast() {
      if let compound = member as? NSCompoundPredicate, Swift.type(of: compound) == NSCompoundPredicate.self,
        compound.compoundPredicateType == type, compound.subpredicates.count <= TreeLimits.depth / 2
      {
        pending.append(contentsOf: compound.subpredicates.reversed())
      } else {
        result.append(member)
      }
    }
    return result
  }
}
