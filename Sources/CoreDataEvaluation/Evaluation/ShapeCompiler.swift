import CoreDataPredicates
import Foundation

/// A predicate, or part of one, for subjects of one shape.
typealias ShapeTest = @Sendable (Subject, inout ShapeFrame) throws -> Bool

/// An operand for subjects of one shape, normalised.
typealias ShapeOperand = @Sendable (Subject, inout ShapeFrame) throws -> PredicateValue

/// Compiles a predicate for objects of one shape: keys become readers, comparisons with constants tests of
/// plain values.
///
/// What a shape does not help with runs as it does for any object, and so does a comparison whose value turns
/// out to be `elsewhere`. Both ways give the same results and errors.
struct ShapeCompiler {
  private let shape: any ObjectReaders
  private let rules: EvaluationRules
  private let whole: @Sendable (Subject) -> Any
  private let reader: KeyedReader?

  init(_ shape: any ObjectReaders, rules: EvaluationRules, reader: KeyedReader?) {
    self.shape = shape
    self.rules = rules
    whole = shape.whole
    self.reader = reader
  }

  /// nil if the shape makes no difference to the predicate.
  func compile(_ predicate: PredicateNode) -> ShapeTest? {
    switch predicate {
    case .constant, .block: return nil
    case .comparison(let node): return compile(node)
    case .compound(.not, let members):
      guard let member = members.first, let test = compile(member) else { return nil }
      return { try !test($0, &$1) }
    case .compound(let kind, let members):
      let tests: [ShapeTest?] = members.map { compile($0) }
      guard tests.contains(where: { $0 != nil }) else { return nil }
      let all: [ShapeTest] = zip(members, tests).map { $1 ?? general(Compiler.compile($0)) }
      return kind == .and ? Self.conjunction(all[...]) : Self.disjunction(all[...])
    }
  }

  private func compile(_ node: ComparisonNode) -> ShapeTest? {
    guard node.modifier == .direct else { return compileQuantified(node) }
    if let constant = ConstantComparison.constant(of: node.right) {
      let operation = ConstantComparison(node, constant)
      if case .keyPath(let path) = node.left {
        return read(KeyPathReader(path)).map { compile($0, operation, node) }
      }
      guard let left = computed(node.left) else { return nil }
      return { try operation.holds(try left($0, &$1)) }
    }
    let (left, right): (ShapeOperand?, ShapeOperand?) = (computed(node.left), computed(node.right))
    if left == nil, right == nil { return nil }
    let first: ShapeOperand = left ?? general(Compiler.compile(node.left) as CompiledExpression)
    let second: ShapeOperand = right ?? general(Compiler.compile(node.right) as CompiledExpression)
    return { try Compiler.compare(first($0, &$1), node, second($0, &$1)) }
  }

  /// The most common tests have the shortest path.
  private func compile(
    _ read: @escaping PlainReader, _ operation: ConstantComparison, _ node: ComparisonNode
  ) -> ShapeTest {
    let left: ShapeOperand = general(Compiler.compile(node.left))
    let otherwise: ShapeTest = { try operation.holds(try left($0, &$1)) }
    switch operation.strategy {
    case .number(let test):
      return { subject, frame in
        switch read(subject) {
        case .integer(let value): return test.holds(value)
        case .double(let value): return test.holds(value)
        case let plain: return try operation.holds(plain) ?? otherwise(subject, &frame)
        }
      }
    case .text(let test):
      return { subject, frame in
        switch read(subject) {
        case .text(let bytes): return test.holds(bytes)
        case let plain: return try operation.holds(plain) ?? otherwise(subject, &frame)
        }
      }
    default: return { try operation.holds(read($0)) ?? otherwise($0, &$1) }
    }
  }

  // MARK: ANY and ALL

  /// Over the members of to-many relationships, those without a value included.
  private func compileQuantified(_ node: ComparisonNode) -> ShapeTest? {
    guard case .keyPath(let path) = node.left,
      let constant = ConstantComparison.constant(of: node.right),
      let (start, visit) = split(KeyPathReader(path))
    else { return nil }
    let operation = ConstantComparison(node, constant)
    let otherwise: ShapeTest = general(Compiler.compile(.comparison(node)))
    let needsAll: Bool = node.modifier == .all
    return { subject, frame in
      let owner: Subject
      switch start(subject) {
      case .none: return needsAll
      case .elsewhere: return try otherwise(subject, &frame)
      case .subject(let found): owner = found
      }
      let end: VisitEnd = try visit(owner) { plain in
        guard let holds = try operation.holds(plain) else { return .elsewhere }
        return holds == needsAll ? .all : .stopped
      }
      switch end {
      case .all: return needsAll
      case .stopped: return !needsAll
      case .elsewhere: return try otherwise(subject, &frame)
      }
    }
  }

  /// How a visit of members ended: all were visited, the body stopped it, or key-value coding has to read
  /// them.
  private enum VisitEnd {
    case all
    case stopped
    case elsewhere
  }

  private typealias Visitor = @Sendable (Subject, (PlainValue) throws -> VisitEnd) throws -> VisitEnd

  /// A path in two parts: to-one steps to the owner, and the steps from there through to-many relationships.
  private func split(_ path: KeyPathReader) -> (start: TargetReader, visit: Visitor)? {
    var shape: any ObjectReaders = self.shape
    var targets: [TargetReader] = []
    for (place, step) in path.steps.enumerated() {
      guard case .key(let key) = step, let property = Self.property(key, of: shape) else { return nil }
      switch property {
      case .value: return nil
      case .toOne(_, let target, let next):
        targets.append(target)
        shape = next
      case .toMany:
        return Self.visitor(path.steps[place...], from: shape).map { (Self.follow(targets[...]), $0) }
      }
    }
    return nil
  }

  /// Calls the body with the value of every member. Members of members come one after the other; a to-one
  /// step without a target is nil.
  private static func visitor(
    _ steps: ArraySlice<KeyPathReader.Step>, from shape: any ObjectReaders
  ) -> Visitor? {
    guard case .key(let key)? = steps.first, let property = property(key, of: shape) else { return nil }
    let rest: ArraySlice<KeyPathReader.Step> = steps.dropFirst()
    switch property {
    case .value(let read): return rest.isEmpty ? Self.visit(read) : nil
    case .toOne(let read, let target, let next):
      if rest.isEmpty { return Self.visit(read) }
      guard let inner = visitor(rest, from: next) else { return nil }
      return { subject, body in
        switch target(subject) {
        case .none: try body(.null)
        case .subject(let found): try inner(found, body)
        case .elsewhere: .elsewhere
        }
      }
    case .toMany(let members, _, let next):
      guard let inner = visitor(rest, from: next) else { return nil }
      return { subject, body in
        var end: VisitEnd = .all
        let isRead: Bool = try members(subject) { member in
          end = try inner(member, body)
          return end == .all
        }
        return isRead ? end : .elsewhere
      }
    }
  }

  private static func visit(_ read: @escaping PlainReader) -> Visitor {
    { subject, body in try body(read(subject)) }
  }

  // MARK: Paths

  private func read(_ path: KeyPathReader) -> PlainReader? { Self.read(path.steps[...], from: shape) }

  /// To-one steps with a value at the end, or a to-many relationship and `@count`.
  private static func read(
    _ steps: ArraySlice<KeyPathReader.Step>, from shape: any ObjectReaders
  ) -> PlainReader? {
    guard case .key(let key)? = steps.first, let property = property(key, of: shape) else { return nil }
    let rest: ArraySlice<KeyPathReader.Step> = steps.dropFirst()
    switch property {
    case .value(let read): return rest.isEmpty ? read : nil
    case .toOne(let read, let target, let next):
      if rest.isEmpty { return read }
      guard let inner = Self.read(rest, from: next) else { return nil }
      return { subject in
        switch target(subject) {
        case .subject(let found): inner(found)
        case .none: .null
        case .elsewhere: .elsewhere
        }
      }
    case .toMany(_, let count, _):
      guard rest.count == 1, case .count? = rest.first else { return nil }
      return count
    }
  }

  /// `self` is the object itself, even if a property has that name.
  private static func property(_ key: String, of shape: any ObjectReaders) -> PropertyReader? {
    key == "self" ? nil : shape.property(key)
  }

  private static func follow(_ targets: ArraySlice<TargetReader>) -> TargetReader {
    guard let first = targets.first else { return { .subject($0) } }
    if targets.count == 1 { return first }
    let rest: TargetReader = follow(targets.dropFirst())
    return { subject in
      let target: ShapeTarget = first(subject)
      guard case .subject(let found) = target else { return target }
      return rest(found)
    }
  }

  // MARK: Operands

  /// An operand for which a shape helps: a path, or a built-in function of paths and constants.
  private func computed(_ expression: ExpressionNode) -> ShapeOperand? {
    switch expression {
    case .keyPath(let path):
      guard let read = read(KeyPathReader(path)) else { return nil }
      let otherwise: ShapeOperand = general(Compiler.compile(expression))
      return { try read($0).predicateValue ?? otherwise($0, &$1) }
    case .function(nil, let name, let arguments):
      guard let function = BuiltinFunction(rawValue: name) else { return nil }
      let operands: [ShapeOperand?] = arguments.map { computed($0) }
      guard operands.contains(where: { $0 != nil }) else { return nil }
      let all: [ShapeOperand] = zip(arguments, operands).map { $1 ?? general(Compiler.compile($0)) }
      return { [rules] subject, frame in
        var values: [PredicateValue] = []
        for operand in all { values.append(try operand(subject, &frame)) }
        return try function.result(of: values, rules: rules)
      }
    default: return nil
    }
  }

  // MARK: General evaluation

  private func general(_ test: @escaping Test) -> ShapeTest {
    { [whole, reader] in try test($1.context(of: $0, whole, reader)) }
  }

  private func general(_ expression: CompiledExpression) -> ShapeOperand {
    let value = expression.value
    return { [whole, reader] in try value($1.context(of: $0, whole, reader)) }
  }

  // MARK: AND and OR

  // In halves, so that a list of any length needs little stack, and without a loop, which would count
  // references.

  private static func conjunction(_ tests: ArraySlice<ShapeTest>) -> ShapeTest {
    guard let first = tests.first else { return { _, _ in true } }
    if tests.count == 1 { return first }
    let (left, right): (ArraySlice<ShapeTest>, ArraySlice<ShapeTest>) = halves(tests)
    let (a, b): (ShapeTest, ShapeTest) = (conjunction(left), conjunction(right))
    return { subject, frame in
      guard try a(subject, &frame) else { return false }
      return try b(subject, &frame)
    }
  }

  private static func disjunction(_ tests: ArraySlice<ShapeTest>) -> ShapeTest {
    guard let first = tests.first else { return { _, _ in false } }
    if tests.count == 1 { return first }
    let (left, right): (ArraySlice<ShapeTest>, ArraySlice<ShapeTest>) = halves(tests)
    let (a, b): (ShapeTest, ShapeTest) = (disjunction(left), disjunction(right))
    return { subject, frame in
      if try a(subject, &frame) { return true }
      return try b(subject, &frame)
    }
  }

  private static func halves(
    _ tests: ArraySlice<ShapeTest>
  ) -> (ArraySlice<ShapeTest>, ArraySlice<ShapeTest>) {
    (tests.prefix(tests.count / 2), tests.dropFirst(tests.count / 2))
  }
}

/// The input of one evaluation, or of one batch, beside its subject. Lives on the stack of its caller.
struct ShapeFrame {
  private let bindings: [String: Any]?
  private let rules: EvaluationRules
  /// For the parts that use the general evaluation; made when it is first needed.
  private var general: EvaluationContext?
  private var isStarted: Bool = false

  init(bindings: [String: Any]?, rules: EvaluationRules) {
    self.bindings = bindings
    self.rules = rules
  }

  /// Starts the evaluation of the next subject.
  @inline(__always)
  mutating func start() { isStarted = false }

  mutating func context(
    of subject: Subject, _ whole: (Subject) -> Any, _ reader: KeyedReader?
  ) -> EvaluationContext {
    let context: EvaluationContext =
      general ?? EvaluationContext(object: nil, bindings: bindings, rules: rules)
    general = context
    if !isStarted { context.start(whole(subject), reader) }
    isStarted = true
    return context
  }
}
