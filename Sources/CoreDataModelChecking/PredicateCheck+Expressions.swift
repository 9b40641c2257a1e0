import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

extension PredicateCheck {
  /// An example of the values of an expression; nil when nothing is known about them, as after a problem.
  mutating func example(of expression: ExpressionNode) -> PredicateValue? {
    switch expression {
    case .constant(let value): return value
    case .evaluatedObject: return .example(of: entity)
    case .variable(let name): return value(ofVariable: name)
    case .keyPath(let path): return read(path, from: .object(entity), of: expression)
    default: return isFull ? nil : descend(or: nil) { $0.exampleOfCompound(expression) }
    }
  }

  private mutating func exampleOfCompound(_ expression: ExpressionNode) -> PredicateValue? {
    switch expression {
    case .constant, .evaluatedObject, .variable, .keyPath: return nil
    case .path(let target, let path): return read(path, from: .value(example(of: target)), of: expression)
    case .dynamicPath(let target, let key): return checkDynamicPath(target, key, expression)
    case .index(let target, let index): return element(of: target, at: index, expression)
    case .function(nil, let name, let arguments): return result(of: name, arguments, expression)
    case .function(let target?, let name, let arguments):
      let receiver: PredicateValue? = example(of: target)
      if let path = Self.messagePath(name, arguments) {
        return read(path, from: .value(receiver), of: expression)
      }
      // A method without arguments is a key.
      if arguments.isEmpty, receiver?.exampleForm != nil {
        return read(name, from: .value(receiver), of: expression)
      }
      return answer(
        to: name, from: receiver, arguments.map { example(of: $0) }, part: Printer.print(expression))
    case .aggregate(let members): return .array(members.map { example(of: $0) ?? .null })
    case .subquery(let collection, let variable, let predicate):
      return checkSubquery(collection, variable, predicate, expression)
    case .conditional(let test, let then, let otherwise):
      check(test)
      return common(example(of: then), example(of: otherwise))
    case .set(let operation, let left, let right): return checkSet(operation, left, right, expression)
    case .block(ExpressionBlock.tooDeep, _):
      reportTooDeep()
      return nil
    case .block(_, let arguments):
      for argument in arguments { _ = example(of: argument) }
      return nil
    case .assignment(let variable, let value):
      let result: PredicateValue? = example(of: value)
      variables[variable] = .some(result)
      return result
    case .fetch(let request, let context, let countOnly):
      return checkFetch(request, context, countOnly, expression)
    case .anyKey:
      return refuse(expression, "ANYKEY can't be evaluated", "Compare the keys by name, joined with OR.")
    }
  }

  private mutating func refuse(_ expression: ExpressionNode, _ reason: String, _ advice: String)
    -> PredicateValue?
  {
    report(PredicateProblem(.notEvaluable, part: Printer.print(expression), reason: reason, advice: advice))
    return nil
  }

  private mutating func checkDynamicPath(
    _ target: ExpressionNode, _ key: ExpressionNode, _ expression: ExpressionNode
  ) -> PredicateValue? {
    _ = example(of: target)
    guard case .variable(let name) = key else {
      return refuse(
        expression, "an index behind a dotted path belongs to its last key alone",
        "Put the path into parentheses: (a.b)[0].")
    }
    _ = value(ofVariable: name)
    return nil
  }

  /// `FETCH(request, context, countOnly)`; its operands are constants or variables.
  private mutating func checkFetch(
    _ request: ExpressionNode, _ context: ExpressionNode, _ countOnly: ExpressionNode,
    _ expression: ExpressionNode
  ) -> PredicateValue? {
    let (request, context, countOnly) = (example(of: request), example(of: context), example(of: countOnly))
    for value in [request, context] {
      guard let value, !value.isNull else { continue }
      if case .object = value, value.exampleForm == nil { continue }
      report(
        PredicateProblem(
          .wrongType, part: Printer.print(expression), subject: nil,
          reason: "FETCH needs a fetch request and a context, not \(value.kindName)",
          advice: "Pass them as arguments, or name variables that hold them."))
      return nil
    }
    guard let countOnly else { return nil }
    if NumberComparison.integer(countOnly) == 1 { return .integer(1) }
    guard case .object(let box)? = request, let entity = (box.value as? any AnyFetchRequest)?.entity else {
      return nil
    }
    return SampleEvaluation.many(.example(of: entity), isOrdered: true)
  }

  /// The common result of both branches; nil when they differ.
  private func common(_ a: PredicateValue?, _ b: PredicateValue?) -> PredicateValue? {
    guard let a, let b else { return nil }
    if a.isNull { return b.isNull ? a : nil }
    let isSame: Bool =
      a.isNumber && b.isNumber || SampleEvaluation.example(like: a) == SampleEvaluation.example(like: b)
    return isSame ? SampleEvaluation.example(like: a) : nil
  }

  // MARK: Functions

  private mutating func result(
    of name: String, _ arguments: [ExpressionNode], _ expression: ExpressionNode
  ) -> PredicateValue? {
    let values: [PredicateValue?] = arguments.map { example(of: $0) }
    guard let function = BuiltinFunction(rawValue: name) else {
      report(
        .unknownFunction(
          name, part: Printer.print(expression), among: BuiltinFunction.selectors, "built-in function"))
      return nil
    }
    if function == .cast, case .string(let type)?? = values.last, refusesType(type, expression) {
      return nil
    }
    if let problem = PredicateProblem(unreadableCast: expression, takesArguments: takesArguments) {
      report(problem)
      return nil
    }
    // Every row may have nil; the result for nil does not depend on types.
    let known: [PredicateValue] = values.compactMap { $0.flatMap { $0.isNull ? nil : $0 } }
    guard known.count == values.count else { return nil }
    do {
      return try SampleEvaluation.call(function, known)
    } catch {
      report(failure(of: function, arguments, known, expression, error))
      return nil
    }
  }

  private func failure(
    of function: BuiltinFunction, _ arguments: [ExpressionNode], _ values: [PredicateValue],
    _ expression: ExpressionNode,
    _ error: any Error
  ) -> PredicateProblem {
    let part: String = Printer.print(expression)
    if let error = error as? PredicateError, error.isUnsupported {
      return PredicateProblem(.notEvaluable, part: part, subject: nil, error: error)
    }
    // Would one value be valid where there are many?
    if let many = zip(arguments, values).first(where: { $0.path != nil && $1.isCollection })?.0,
      (try? SampleEvaluation.call(function, values.compactMap(\.innermostMember))) != nil
    {
      let text: String = Printer.print(many)
      return PredicateProblem(
        .toManyNotAllowed, part: part, subject: subject(many),
        reason:
          "to-many key not allowed here: \(text) gives many values, and \(function.mark ?? function.selector) takes one",
        advice:
          "Choose among them with SUBQUERY, or make one of them: max(\(text)), count(\(text)) and the like.")
    }
    return PredicateProblem(
      .wrongType, part: part, subject: arguments.lazy.compactMap { subject($0) }.first, error: error)
  }

  private mutating func refusesType(_ type: String, _ expression: ExpressionNode) -> Bool {
    if Cast.types.contains(where: { $0 == type || $0 == "NS" + type }) { return false }
    report(
      PredicateProblem(
        .unknownType, part: Printer.print(expression), name: type,
        nearest: NearestNames.of(type, among: Cast.types), reason: "CAST knows no type \(type)",
        advice: NearestNames.advice(for: type, among: Cast.types)))
    return true
  }

  /// The path that `FUNCTION(target, 'valueForKey:', 'a')` reads.
  private static func messagePath(_ selector: String, _ arguments: [ExpressionNode]) -> String? {
    guard PredicateFunctions.pathReaders.contains(selector), arguments.count == 1,
      case .constant(.string(let path)) = arguments[0]
    else { return nil }
    return path
  }

  /// An example of the result of `FUNCTION` and custom operators.
  mutating func answer(
    to selector: String, from target: PredicateValue?, _ arguments: [PredicateValue?],
    part: @autoclosure () -> String
  ) -> PredicateValue? {
    let known: [PredicateValue] = arguments.compactMap { $0 }
    guard let target, !target.isNull, known.count == arguments.count else { return nil }
    do {
      return try SampleEvaluation.send(selector, to: target, known)
    } catch {
      report(
        SampleEvaluation.isKnown(selector: selector)
          ? PredicateProblem(.wrongType, part: part(), subject: nil, error: error)
          : .unknownFunction(selector, part: part(), among: PredicateFunctions.selectors, "selector"))
      return nil
    }
  }

  // MARK: Collections

  private mutating func element(
    of target: ExpressionNode, at index: IndexNode, _ expression: ExpressionNode
  ) -> PredicateValue? {
    let collection: PredicateValue? = example(of: target)
    var position: PredicateValue?
    if case .at(let index) = index { position = example(of: index) }
    guard let collection, !collection.isNull else { return nil }
    if case .size = index, collection.isCollection { return .integer(1) }
    switch collection {
    case .array(let members):
      if case .at(let index) = index, let position, !position.isNumber, !position.isNull {
        report(
          PredicateProblem(
            .wrongType, part: Printer.print(expression), subject: subject(index),
            reason: "a position is a number, and \(Printer.print(index)) is \(position.kindName)",
            advice: "Write [0], [FIRST], [LAST] or [SIZE]."))
      }
      return members.first.map { SampleEvaluation.example(like: $0) }
    case .set:
      report(
        PredicateProblem(
          .notOrdered, part: Printer.print(expression), subject: subject(target),
          reason: "\(Printer.print(target)) has no order, so it has no first, last or n-th member",
          advice: "Make the relationship ordered, or use SUBQUERY, max() or min() to name the member."))
    case .dictionary(let entries):
      if case .size = index { return .integer(1) }
      return position.flatMap { entries[$0] }
    case .object(let box):
      guard let example = box.value as? ExampleObject else { return nil }
      if case .composite = example.form, case .at(.constant(.string(let key))) = index {
        return read(key, from: .value(collection), of: expression)
      }
      fallthrough
    default:
      report(
        PredicateProblem(
          .notCollection, part: Printer.print(expression), subject: subject(target),
          reason:
            "an index needs an ordered collection, and \(Printer.print(target)) is \(collection.kindName)",
          advice: "Leave the index out, or name an ordered relationship."))
    }
    return nil
  }

  private mutating func checkSubquery(
    _ collection: ExpressionNode, _ variable: String, _ predicate: PredicateNode, _ expression: ExpressionNode
  ) -> PredicateValue? {
    let members: PredicateValue? = example(of: collection)
    if let members, !members.isNull, !members.isCollection {
      report(
        PredicateProblem(
          .notCollection, part: Printer.print(expression), subject: subject(collection),
          reason:
            "SUBQUERY chooses from a collection, and \(Printer.print(collection)) is \(members.kindName)",
          advice: "Name a to-many relationship."))
    }
    let outer: PredicateValue?? = variables[variable]
    variables[variable] = .some(members?.innermostMember)
    check(predicate)
    variables[variable] = outer
    return members.flatMap { $0.isCollection ? $0 : nil }
  }

  private mutating func checkSet(
    _ operation: SetOperation, _ left: ExpressionNode, _ right: ExpressionNode, _ expression: ExpressionNode
  ) -> PredicateValue? {
    let (a, b): (PredicateValue?, PredicateValue?) = (example(of: left), example(of: right))
    var fits: Bool = true
    if let a { if case .set = a {} else { fits = false } }
    if let b, !b.isCollection { fits = false }
    guard !fits else { return a }
    report(
      PredicateProblem(
        .notCollection, part: Printer.print(expression), subject: subject(left) ?? subject(right),
        reason: "\(operation.rawValue) needs a set on its left and a collection on its right, not "
          + "\(a?.kindName ?? "a value") and \(b?.kindName ?? "a value")",
        advice: "Name an unordered to-many relationship on the left, or pass a Set as an argument."))
    return nil
  }
}

extension PredicateProblem {
  /// A `CAST` of a constant text that it can't read: it would be nil for every row, without an error.
  package init?(unreadableCast expression: ExpressionNode, takesArguments: Bool = true) {
    guard let (text, type) = Cast.unreadable(expression) else { return nil }
    let short: String = text.utf8.count > 80 ? "\(text.prefix(80))…" : text
    let kind: String =
      switch type {
      case "NSDate", "Date": "date"
      case "NSNumber", "NSDecimalNumber", "Decimal": "number"
      case "NSUUID", "UUID": "UUID"
      case "NSURL", "URL": "URL"
      default: type
      }
    self.init(
      .wrongType, part: Printer.print(expression), reason: "the text \"\(short)\" is no \(kind)",
      advice: TextAdvice.advice(for: text, castTo: type, takesArguments: takesArguments))
  }

  fileprivate static func unknownFunction(
    _ name: String, part: String, among known: some Collection<String>, _ what: String
  ) -> PredicateProblem {
    PredicateProblem(
      .unknownFunction, part: part, name: name, nearest: NearestNames.of(name, among: known),
      reason: "there is no \(what) \(name)",
      advice: NearestNames.advice(for: name, among: known)
        + " PredicateFunctions.register(_:_:) adds selectors for FUNCTION.")
  }
}
