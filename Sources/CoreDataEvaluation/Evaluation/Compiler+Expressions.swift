import CoreDataPredicates
import Foundation

/// A compiled expression, with two results: the normalised value for comparing, or the raw value for reading
/// further keys.
struct CompiledExpression: Sendable {
  let value: @Sendable (EvaluationContext) throws -> PredicateValue
  let raw: @Sendable (EvaluationContext) throws -> Any?

  init(value: @escaping @Sendable (EvaluationContext) throws -> PredicateValue) {
    self.value = value
    raw = { try value($0).anyValue }
  }

  init(raw: @escaping @Sendable (EvaluationContext) throws -> Any?) {
    self.raw = raw
    value = { PredicateValue(normalizing: try raw($0)) }
  }

  init(constant: PredicateValue) {
    value = { _ in constant }
    raw = { _ in constant.anyValue }
  }

  private init(
    value: @escaping @Sendable (EvaluationContext) throws -> PredicateValue,
    raw: @escaping @Sendable (EvaluationContext) throws -> Any?
  ) {
    self.value = value
    self.raw = raw
  }

  /// The same, evaluated with enough stack for a deep tree.
  func withRoom(forLevels levels: Int) -> CompiledExpression {
    let (value, raw) = (value, raw)
    return CompiledExpression(
      value: { context in try StackGuard.run(levels: levels) { try value(context) } },
      raw: { context in try StackGuard.run(levels: levels) { try raw(context) } })
  }
}

extension Compiler {
  static func compile(_ expression: ExpressionNode) -> CompiledExpression {
    switch expression {
    case .constant(let value): return CompiledExpression(constant: value)
    case .evaluatedObject: return CompiledExpression(raw: { $0.object })
    case .variable(let name): return CompiledExpression(raw: { try $0.value(of: name) })
    case .keyPath(let path): return compileKeyPath(path)
    case .path(let target, let path):
      let target = compile(target).raw
      let reader: KeyPathReader = KeyPathReader(path)
      return CompiledExpression(raw: { try reader.read(target($0)) })
    case .dynamicPath(let target, let key): return compilePath(target, key)
    case .index(let target, let index): return compileIndex(target, index)
    case .function(let target?, let name, let arguments): return compileMessage(target, name, arguments)
    case .function(nil, let name, let arguments):
      guard let function = BuiltinFunction(rawValue: name) else {
        return refusal(
          "The function \(name) can't be evaluated on this platform. FUNCTION(…) calls those registered with "
            + "PredicateFunctions.register(_:_:).")
      }
      let arguments = arguments.map { compile($0).value }
      return CompiledExpression(value: { context in
        try function.result(of: arguments.map { try $0(context) }, rules: context.rules)
      })
    case .aggregate(let members):
      let members = members.map { compile($0).value }
      return CompiledExpression(value: { context in .array(try members.map { try $0(context) }) })
    case .subquery(let collection, let variable, let predicate):
      return compileSubquery(collection, variable, predicate)
    case .conditional(let test, let then, let otherwise):
      let test: Test = compile(test)
      let (then, otherwise) = (compile(then).raw, compile(otherwise).raw)
      return CompiledExpression(raw: { try test($0) ? then($0) : otherwise($0) })
    case .set(let operation, let left, let right): return compileSet(operation, left, right)
    case .assignment(let name, let value):
      let value = compile(value).raw
      return CompiledExpression(raw: { context in
        let result: Any? = try value(context)
        context.assign(result, to: name)
        return result
      })
    case .fetch(let request, let context, let countOnly): return compileFetch(request, context, countOnly)
    case .anyKey:
      return refusal(
        "ANYKEY stands for every key of a Spotlight entry, and no other object can be asked for all its keys. Compare "
          + "the keys by name, joined with OR.")
    case .block(ExpressionBlock.tooDeep, _): return CompiledExpression(raw: { _ in throw TreeLimits.error })
    case .block(let block, let arguments):
      let arguments = arguments.map { compile($0).raw }
      return CompiledExpression(raw: { context in
        let values: [Any] = try arguments.map { PredicateValue.objectValue(of: try $0(context)) ?? NSNull() }
        let bindings: NSMutableDictionary = NSMutableDictionary()
        for (name, value) in context.allBindings ?? [:] { bindings[name] = value }
        return block.body(context.object, values, bindings)
      })
    }
  }

  /// The left side of a quantifier. A path keeps the nils of its members there: `ANY items.title == nil`.
  static func compileMembers(
    _ expression: ExpressionNode
  ) -> @Sendable (EvaluationContext) throws -> Any? {
    switch expression {
    case .keyPath(let path):
      let reader: KeyPathReader = KeyPathReader(path)
      return { try reader.readMembers($0.object) }
    case .path(let target, let path):
      let target = compile(target).raw
      let reader: KeyPathReader = KeyPathReader(path)
      return { try reader.readMembers(target($0)) }
    default: return compile(expression).raw
    }
  }

  /// One plain key of the evaluated object is the most common operand, so it has the shortest path.
  private static func compileKeyPath(_ path: String) -> CompiledExpression {
    let reader: KeyPathReader = KeyPathReader(path)
    guard reader.isSinglePlainKey else { return CompiledExpression(raw: { try reader.read($0.object) }) }
    return CompiledExpression(raw: { context in
      guard let object = context.object else { return nil }
      if let reader = context.reader { return try reader.read(object, path) }
      return try KeyReader.read(path, from: object)
    })
  }

  private static func refusal(_ text: String) -> CompiledExpression {
    CompiledExpression(raw: { _ in throw PredicateError.unsupported(text) })
  }

  private static func compilePath(_ target: ExpressionNode, _ key: ExpressionNode) -> CompiledExpression {
    guard case .variable(let name) = key else {
      let text: String = Printer.print(.dynamicPath(target, key))
      return refusal(
        "An index behind a dotted path belongs to its last key alone, so \(text) can't be evaluated. "
          + "Put the path into parentheses: (a.b)[0].")
    }
    let target = compile(target).raw
    return CompiledExpression(raw: { context in
      guard let path = try context.value(of: name) as? String else {
        throw PredicateError.evaluation(
          "The variable $\(name) is used as a key, so its value must be a string.")
      }
      return try KeyPathReader(path).read(target(context))
    })
  }

  private static func compileIndex(_ target: ExpressionNode, _ index: IndexNode) -> CompiledExpression {
    let text: String = Printer.print(.index(target, index))
    let target = compile(target).raw
    switch index {
    case .first: return CompiledExpression(raw: { try RawCollection.array(target($0), text)?.first })
    case .last: return CompiledExpression(raw: { try RawCollection.array(target($0), text)?.last })
    case .size:
      return CompiledExpression(raw: { context in
        guard let collection = try target(context) else { return nil }
        guard let count = RawCollection.count(of: collection) else {
          throw RawCollection.notIndexable(collection, text)
        }
        return count
      })
    case .at(let index):
      let index = compile(index).value
      return CompiledExpression(raw: { context in
        guard let collection = try target(context) else { return nil }
        let place: PredicateValue = try index(context)
        do {
          return try RawCollection.element(of: collection, at: place, text)
        } catch let error as PredicateError
          where error.isAboutValues || context.rules == .lenient && error.isEvaluation
        {
          return nil
        }
      })
    }
  }

  private static func compileMessage(
    _ target: ExpressionNode, _ name: String, _ arguments: [ExpressionNode]
  ) -> CompiledExpression {
    let target: CompiledExpression = compile(target)
    let arguments: [CompiledExpression] = arguments.map { compile($0) }
    // Further keys are read from the object itself, which normalising would hide.
    if PredicateFunctions.pathReaders.contains(name), arguments.count == 1 {
      return CompiledExpression(raw: { context in
        guard case .string(let path) = try arguments[0].value(context) else {
          throw PredicateError.evaluation("\(name) needs a string as key.")
        }
        return try KeyPathReader(path).read(target.raw(context))
      })
    }
    return CompiledExpression(value: { context in
      try PredicateFunctions.send(name, to: target.value(context), arguments.map { try $0.value(context) })
    })
  }

  private static func compileFetch(
    _ request: ExpressionNode, _ context: ExpressionNode, _ countOnly: ExpressionNode
  ) -> CompiledExpression {
    let (request, context, countOnly) = (compile(request).raw, compile(context).raw, compile(countOnly).value)
    return CompiledExpression(raw: { evaluation in
      let value: Any? = try request(evaluation)
      guard let request = value as? any FetchExpressionRequest else {
        throw PredicateError.evaluation(
          "FETCH needs a fetch request as its first operand, passed with %@ or as a variable, not "
            + "\(PredicateValue(normalizing: value).kindName).")
      }
      let isCount: Bool = NumberComparison.integer(try countOnly(evaluation)).map { $0 != 0 } ?? false
      return try request.fetchExpressionValue(in: context(evaluation), countOnly: isCount)
    })
  }

  private static func compileSubquery(
    _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode
  ) -> CompiledExpression {
    let collection = compile(collection).raw
    let test: Test = compile(predicate)
    return CompiledExpression(raw: { context in
      guard let members = try collection(context), !isNullObject(members) else { return [Any]() }
      guard let elements = RawCollection.elements(of: members) else {
        throw PredicateError.evaluation(
          "SUBQUERY needs an array or a set to choose from, not \(PredicateValue(normalizing: members).kindName)."
        )
      }
      let chosen: [Any] = try elements.filter { try test(context.binding(variable, to: $0)) }
      return RawCollection.isSet(members)
        ? PredicateValue.set(Set(chosen.map { PredicateValue(normalizing: $0) })) : chosen
    })
  }

  private static func compileSet(
    _ operation: SetOperation, _ left: ExpressionNode, _ right: ExpressionNode
  ) -> CompiledExpression {
    let text: String = Printer.print(.set(operation, left, right))
    let (left, right) = (compile(left).value, compile(right).value)
    return CompiledExpression(value: { context in
      let (a, b) = (try left(context), try right(context))
      // An object is missing on the path to one of them.
      if a.isNull || b.isNull { return .null }
      guard case .set(let members) = a, let others = b.elements else {
        if context.rules == .lenient { return .null }
        throw PredicateError.evaluation(
          "\(operation.rawValue) needs a set on its left and a collection on its right, not \(a.kindName) and "
            + "\(b.kindName): \(text).")
      }
      switch operation {
      case .union: return .set(members.union(others))
      case .intersect: return .set(members.intersection(others))
      case .minus: return .set(members.subtracting(others))
      }
    })
  }
}
