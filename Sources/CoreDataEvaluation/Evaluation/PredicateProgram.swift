import CoreDataPredicates
import Foundation

typealias Test = @Sendable (EvaluationContext) throws -> Bool

/// A predicate prepared for many evaluations: compiled to closures at the first evaluation, so that
/// operators, options, key paths, patterns and lists are examined once and not for each object.
///
/// Objects that have a shape (``ObjectWithReaders``) get a separate compilation, in which keys are places:
///
///     type of the object ─▸ a finder? ─▸ number of the shape ─▸ test, compiled for it
///                            └ no: the general test, which reads by key-value coding
package final class PredicateProgram: EvaluablePredicate {
  private let source: ProgramSource
  private let general = InlineCache<GeneralTest>()
  private let types = InlineCache<TypeEntry>()
  private let lenient = InlineCache<PredicateProgram>()

  package init(_ node: PredicateNode, rules: EvaluationRules = .strict) {
    source = ProgramSource(node: node, rules: rules)
  }

  /// Whether the predicate is true for the object.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(_ object: Any?, variables: [String: Any]? = nil) throws -> Bool {
    guard let object else { return try generalTest(context(variables)) }
    let entry: TypeEntry = entry(for: type(of: object))
    if let finder = entry.finder {
      let subject: Subject = subject(of: object, entry.type)
      if let test = entry.test(for: subject, finder, source) {
        var frame = ShapeFrame(bindings: variables, rules: source.rules)
        return try withExtendedLifetime(object) { try test(subject, &frame) }
      }
    }
    let context: EvaluationContext = context(variables)
    context.start(object, entry.reader)
    return try generalTest(context)
  }

  /// As ``evaluate(_:variables:)`` for callers that can't throw: values of kinds that an operation never
  /// accepts count as nil.
  ///
  /// - Throws: everything else that ``evaluate(_:variables:)`` throws.
  package func evaluateLeniently(_ object: Any?, variables: [String: Any]? = nil) throws -> Bool {
    do {
      return try evaluate(object, variables: variables)
    } catch let error as PredicateError where error.isEvaluation && source.rules == .strict {
      return try lenient.entry(
        where: { _ in true }, else: { PredicateProgram(source.node, rules: .lenient) }
      ).evaluate(object, variables: variables)
    } catch let error as PredicateError where error.isExhausted {
      ExhaustionNote.print(error)
      return false
    }
  }

  /// The objects for which the predicate is true, in order.
  ///
  /// - Throws: as ``evaluate(_:variables:)``.
  package func filter<Objects: Sequence>(
    _ objects: Objects, variables: [String: Any]? = nil
  ) throws -> [Objects.Element] {
    let elements: [Objects.Element] = Array(objects)
    if Objects.Element.self is AnyClass {
      // An array of any class is an array of references.
      let passed: [AnyObject] = try filter(
        objects: unsafeBitCast(elements, to: [AnyObject].self), variables: variables)
      return unsafeBitCast(passed, to: [Objects.Element].self)
    }
    let context: EvaluationContext = context(variables)
    var entry: TypeEntry?
    return try elements.filter { element in
      let type: Any.Type = Swift.type(of: element as Any)
      if entry?.type != ObjectIdentifier(type) { entry = self.entry(for: type) }
      if entry?.finder != nil { return try evaluate(element, variables: variables) }
      context.start(element, entry?.reader)
      return try generalTest(context)
    }
  }

  private func filter(objects: [AnyObject], variables: [String: Any]?) throws -> [AnyObject] {
    var passed: [AnyObject] = []
    var frame = ShapeFrame(bindings: variables, rules: source.rules)
    let context: EvaluationContext = context(variables)
    var cursor = ShapeCursor(source)
    try objects.withUnsafeBufferPointer { objects in
      for place in objects.indices {
        let subject = Subject(objects[place])
        let type: Any.Type = Swift.type(of: objects[place])
        if cursor.type != ObjectIdentifier(type) { cursor.move(to: entry(for: type)) }
        let holds: Bool
        if let test = cursor.test(for: subject) {
          frame.start()
          holds = try test(subject, &frame)
        } else {
          context.start(objects[place], cursor.reader)
          holds = try generalTest(context)
        }
        if holds { passed.append(objects[place]) }
      }
    }
    return passed
  }

  private func context(_ variables: [String: Any]?) -> EvaluationContext {
    EvaluationContext(object: nil, bindings: variables, rules: source.rules)
  }

  private var generalTest: Test {
    general.entry(where: { _ in true }, else: { GeneralTest(test: source.compile()) }).test
  }

  private func entry(for type: Any.Type) -> TypeEntry {
    let id = ObjectIdentifier(type)
    return types.entry(where: { $0.type == id }, else: { TypeEntry(type) })
  }
}

/// The subject for an object of a known class.
///
/// A cast to `AnyObject` costs more than most predicates; it is left to an `Any` that holds an `Any`
/// with the object.
private func subject(of object: Any, _ type: ObjectIdentifier) -> Subject {
  let (found, address): (ObjectIdentifier, UnsafeRawPointer) = _openExistential(object, do: content)
  return found == type ? Subject(address: address) : Subject(object as AnyObject)
}

/// The type of an `Any`'s value, and its first word: for an object, the reference.
private func content<Content>(of content: Content) -> (ObjectIdentifier, UnsafeRawPointer) {
  (
    ObjectIdentifier(Content.self),
    withUnsafePointer(to: content) { UnsafeRawPointer($0).load(as: UnsafeRawPointer.self) }
  )
}

/// The source of compilations, in the general way and for shapes.
private struct ProgramSource: Sendable {
  let node: PredicateNode
  let rules: EvaluationRules

  func compile() -> Test {
    let levels: Int = node.depth
    let test: Test = StackGuard.run(levels: levels) { Compiler.compile(node) }
    if levels <= StackGuard.shallow { return test }
    return { context in try StackGuard.run(levels: levels) { try test(context) } }
  }

  /// nil if the shape does not help.
  func compile(for shape: any ObjectReaders, _ reader: KeyedReader?) -> ShapeTest? {
    let levels: Int = node.depth
    let test: ShapeTest? = StackGuard.run(levels: levels) {
      ShapeCompiler(shape, rules: rules, reader: reader).compile(node)
    }
    guard let test, levels > StackGuard.shallow else { return test }
    return { subject, frame in try StackGuard.run(levels: levels) { try test(subject, &frame) } }
  }
}

private final class GeneralTest: Sendable {
  let test: Test

  init(test: @escaping Test) { self.test = test }
}

/// What a program keeps for the objects of one type.
private final class TypeEntry: Sendable {
  let type: ObjectIdentifier
  let reader: KeyedReader?
  let finder: ReadersFinder?
  private let shapes = InlineCache<ShapeEntry>()

  init(_ type: Any.Type) {
    self.type = ObjectIdentifier(type)
    reader = ReaderTable.shared.reader(for: type)
    finder = (type as? any ObjectWithReaders.Type)?.readersFinder
  }

  func test(for subject: Subject, _ finder: ReadersFinder, _ source: ProgramSource) -> ShapeTest? {
    test(finder.number(subject.object), subject, finder, source)
  }

  func test(
    _ number: UInt64, _ subject: Subject, _ finder: ReadersFinder, _ source: ProgramSource
  ) -> ShapeTest? {
    shapes.entry(
      where: { $0.number == number },
      else: {
        ShapeEntry(number: number, test: source.compile(for: finder.shape(subject.object), reader))
      }
    ).test
  }
}

private final class ShapeEntry: Sendable {
  let number: UInt64
  /// nil: the shape does not help.
  let test: ShapeTest?

  init(number: UInt64, test: ShapeTest?) {
    self.number = number
    self.test = test
  }
}

/// The test for one object after the other; most have the same shape as the one before.
private struct ShapeCursor {
  private let source: ProgramSource
  private(set) var type: ObjectIdentifier?
  private var entry: TypeEntry?
  private var number: UInt64 = 0
  private var test: ShapeTest?

  init(_ source: ProgramSource) { self.source = source }

  var reader: KeyedReader? { entry?.reader }

  mutating func move(to entry: TypeEntry) {
    type = entry.type
    self.entry = entry
    number = 0
    test = nil
  }

  @inline(__always)
  mutating func test(for subject: Subject) -> ShapeTest? {
    guard let entry, let finder = entry.finder else { return nil }
    let number: UInt64 = finder.number(subject.object)
    if number != self.number {
      self.number = number
      test = entry.test(number, subject, finder, source)
    }
    return test
  }
}

/// An expression prepared for many evaluations.
package final class ExpressionProgram: EvaluableExpression, @unchecked Sendable {
  // `lock` guards `compiled`; the rest is immutable.
  private let lock: NSLock = .init()
  private let node: ExpressionNode
  private let rules: EvaluationRules
  private var compiled: CompiledExpression?

  package init(_ node: ExpressionNode, rules: EvaluationRules = .strict) {
    self.node = node
    self.rules = rules
  }

  /// The value for the object, in the form for programs. Variables that the expression assigns are stored in
  /// `context`.
  ///
  /// - Throws: ``PredicateError``, and whatever ``KeyValueReadable/readValue(forKey:)`` throws.
  package func evaluate(
    _ object: Any?, variables: [String: Any]? = nil, context: NSMutableDictionary? = nil
  ) throws -> Any? {
    let evaluation: EvaluationContext = EvaluationContext(
      object: object, bindings: variables, rules: rules)
    let result: Any? = try expression.raw(evaluation)
    if let context {
      for (name, value) in evaluation.assigned ?? [:] { context[name] = value }
    }
    if isNullObject(result) { return nil }
    return PredicateValue.objectValue(of: result)
  }

  /// As ``evaluate(_:variables:context:)`` for callers that can't throw: values of kinds that an operation
  /// never accepts count as nil.
  ///
  /// - Throws: everything else that ``evaluate(_:variables:context:)`` throws.
  package func evaluateLeniently(
    _ object: Any?, variables: [String: Any]?, context: NSMutableDictionary?
  ) throws -> Any? {
    do {
      return try evaluate(object, variables: variables, context: context)
    } catch let error as PredicateError where error.isEvaluation && rules == .strict {
      return try ExpressionProgram(node, rules: .lenient)
        .evaluate(object, variables: variables, context: context)
    }
  }

  /// The normalised value for the object.
  ///
  /// - Throws: as ``evaluate(_:variables:)``.
  package func value(_ object: Any?, variables: [String: Any]? = nil) throws -> PredicateValue {
    try expression.value(EvaluationContext(object: object, bindings: variables, rules: rules))
  }

  private var expression: CompiledExpression {
    lock.withLock {
      if let compiled { return compiled }
      let levels: Int = node.depth
      var expression: CompiledExpression = StackGuard.run(levels: levels) { Compiler.compile(node) }
      if levels > StackGuard.shallow { expression = expression.withRoom(forLevels: levels) }
      compiled = expression
      return expression
    }
  }
}

/// Makes the classes of predicates, expressions and sort descriptors able to evaluate, in every program that
/// is linked with this module; see ``Evaluator``.
///
/// In this file and not in one of its own: a linker takes from a static library only the files to which a
/// program refers, and contexts and stores refer to this one.
extension Evaluator: EvaluatorFactory {
  package func predicate(_ node: PredicateNode) -> any EvaluablePredicate { PredicateProgram(node) }
  package func expression(_ node: ExpressionNode) -> any EvaluableExpression { ExpressionProgram(node) }

  package func comparison(
    by term: SortTerm, comparator: Comparator?, selector: Selector?
  ) -> any ObjectComparison {
    KeyComparison(by: term, comparator: comparator, selector: selector)
  }

  package func comparison(by path: AnyKeyPath, _ term: SortTerm) -> any ObjectComparison {
    KeyPathComparison(by: path, term)
  }
}
