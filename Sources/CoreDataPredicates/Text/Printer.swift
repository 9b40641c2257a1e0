import Foundation

/// Writes trees as formats, in Apple's spelling. The output parses back to an equal tree, except for opaque
/// constants (objects, UUIDs, data, blocks) and whole doubles (`42.0` prints `42`).
package enum Printer {
  package static func print(_ predicate: PredicateNode) -> String {
    StackGuard.run(levels: predicate.depth) {
      var output: String = ""
      write(predicate, to: &output)
      return output
    }
  }

  package static func print(_ expression: ExpressionNode) -> String {
    StackGuard.run(levels: expression.depth) {
      var output: String = ""
      write(expression, to: &output)
      return output
    }
  }

  // MARK: Predicates

  private static func write(_ predicate: PredicateNode, to output: inout String) {
    switch predicate {
    case .constant(let value): output += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let node): write(node, to: &output)
    case .compound(.not, let members):
      output += "NOT "
      guard let member = members.first else {
        output += "FALSEPREDICATE"
        return
      }
      write(member, parenthesized: needsParentheses(member), to: &output)
    case .compound(let kind, let members):
      guard members.count > 1 else {
        if let only = members.first {
          write(only, to: &output)
        } else {
          output += kind == .and ? "TRUEPREDICATE" : "FALSEPREDICATE"
        }
        return
      }
      for (index, member) in members.enumerated() {
        if index > 0 { output += kind == .and ? " AND " : " OR " }
        write(member, parenthesized: needsParentheses(member), to: &output)
      }
    case .block(let block):
      output += block.ownText ?? "BLOCKPREDICATE(\(address(of: block.predicate)))"
    }
  }

  private static func write(_ predicate: PredicateNode, parenthesized: Bool, to output: inout String) {
    if parenthesized { output += "(" }
    write(predicate, to: &output)
    if parenthesized { output += ")" }
  }

  private static func needsParentheses(_ member: PredicateNode) -> Bool {
    guard case .compound(let kind, let members) = member else { return false }
    if kind == .not { return true }
    if members.count == 1 { return needsParentheses(members[0]) }
    return !members.isEmpty
  }

  private static func write(_ node: ComparisonNode, to output: inout String) {
    switch node.modifier {
    case .direct: break
    case .all: output += "ALL "
    case .any: output += "ANY "
    }
    write(node.left, parenthesized: isAssignment(node.left), to: &output)
    output += " "
    if let block = node.block {
      output += "BLOCK(\(address(of: block)))"
    } else {
      output +=
        node.comparison == .customSelector ? operatorText(node.selector ?? "") : node.comparison.symbol
    }
    let letters: String = node.options.letters
    if !letters.isEmpty { output += "[\(letters)]" }
    output += " "
    write(node.right, to: &output)
  }

  // MARK: Expressions

  private static func write(_ expression: ExpressionNode, to output: inout String) {
    switch expression {
    case .constant(let value): output += ValuePrinter.print(value)
    case .evaluatedObject: output += "SELF"
    case .variable(let name): output += "$\(name)"
    case .keyPath(let path): output += escaped(path)
    case .path(let target, let path):
      write(target, parenthesized: isLoose(target), to: &output)
      output += ".\(escaped(path))"
    case .dynamicPath(let target, let key):
      write(target, parenthesized: isLoose(target), to: &output)
      output += "."
      write(key, to: &output)
    case .index(let target, let index):
      write(target, parenthesized: isLoose(target) || isDotted(target), to: &output)
      write(index, to: &output)
    case .function(let target?, let name, let arguments):
      output += "FUNCTION("
      write(target, to: &output)
      output += ", \(ValuePrinter.quoted(name))"
      if !arguments.isEmpty {
        output += " , "
        write(arguments, to: &output)
      }
      output += ")"
    case .function(nil, let name, let arguments): writeFunction(name, arguments, to: &output)
    case .aggregate(let members):
      output += "{"
      write(members, to: &output)
      output += "}"
    case .subquery(let collection, let variable, let predicate):
      output += "SUBQUERY("
      write(collection, to: &output)
      output += ", $\(variable), "
      write(predicate, to: &output)
      output += ")"
    case .conditional(let test, let then, let otherwise):
      output += "TERNARY("
      write(test, to: &output)
      output += ", "
      write([then, otherwise], to: &output)
      output += ")"
    case .set(let operation, let left, let right):
      write(left, parenthesized: isOperator(left), to: &output)
      output += " \(operation.rawValue) "
      write(right, parenthesized: isOperator(right), to: &output)
    case .assignment(let variable, let value):
      output += "$\(variable) := "
      write(value, to: &output)
    case .fetch(let request, let context, let countOnly):
      output += "FETCH("
      write([request, context, countOnly], to: &output)
      output += ")"
    case .anyKey: output += "ANYKEY"
    case .block(let block, let arguments):
      output += "BLOCK(\(address(of: block))"
      for argument in arguments {
        output += ", "
        write(argument, to: &output)
      }
      output += ")"
    }
  }

  private static func write(_ expression: ExpressionNode, parenthesized: Bool, to output: inout String) {
    if parenthesized { output += "(" }
    write(expression, to: &output)
    if parenthesized { output += ")" }
  }

  private static func write(_ expressions: [ExpressionNode], to output: inout String) {
    for (index, expression) in expressions.enumerated() {
      if index > 0 { output += ", " }
      write(expression, to: &output)
    }
  }

  private static func write(_ index: IndexNode, to output: inout String) {
    switch index {
    case .first: output += "[FIRST]"
    case .last: output += "[LAST]"
    case .size: output += "[SIZE]"
    case .at(.keyPath(let path)) where [.first, .last, .size].contains(Word(identifier: path)):
      // A key of that name inside brackets, not the position.
      output += "[#\(path)]"
    case .at(let expression):
      output += "["
      write(expression, to: &output)
      output += "]"
    }
  }

  private static func writeFunction(_ name: String, _ arguments: [ExpressionNode], to output: inout String) {
    if let mark = BuiltinFunction.mark(of: name), arguments.count == 2 {
      write(arguments[0], parenthesized: isOperator(arguments[0]), to: &output)
      output += " \(mark) "
      write(arguments[1], parenthesized: isOperator(arguments[1]), to: &output)
    } else if name == BuiltinFunction.negate.selector, let operand = arguments.first {
      output += "-"
      var needsParentheses: Bool = isOperator(operand)
      if case .function(nil, BuiltinFunction.negate.selector, _) = operand { needsParentheses = true }
      if case .constant(let value) = operand, value.isNumber { needsParentheses = true }
      write(operand, parenthesized: needsParentheses, to: &output)
    } else if name == "castObject:toType:", isCast(arguments) {
      output += "CAST("
      write(arguments, to: &output)
      output += ")"
    } else {
      output += "\(name)("
      write(arguments, to: &output)
      output += ")"
    }
  }

  /// A selector as an operator: one that begins with a keyword gets its `#` back.
  private static func operatorText(_ selector: String) -> String {
    Word(identifier: selector.prefix { $0 != ":" }) == nil ? selector : "#\(selector)"
  }

  /// Whether `CAST(…)` parses back to these arguments: it accepts a quoted type, and six decimals for the
  /// seconds of a date. The selector accepts anything.
  private static func isCast(_ arguments: [ExpressionNode]) -> Bool {
    guard arguments.count == 2, case .constant(.string(let type)) = arguments[1] else { return false }
    guard type == "NSDate", case .constant(let number) = arguments[0], number.isNumber else { return true }
    let end: Substring.UTF8View = ValuePrinter.print(number).suffix(7).utf8
    return end.first != UInt8(ascii: ".") || end.count < 7 || end.contains(UInt8(ascii: "e"))
  }

  private static func address(of object: AnyObject) -> String {
    "0x\(String(unsafeBitCast(object, to: Int.self), radix: 16))"
  }

  /// Infix and prefix expressions, which need parentheses before something that binds tighter.
  private static func isOperator(_ expression: ExpressionNode) -> Bool {
    switch expression {
    case .function(nil, let name, _):
      BuiltinFunction.mark(of: name) != nil || name == BuiltinFunction.negate.selector
    case .set, .assignment: true
    default: false
    }
  }

  /// Expressions that a following dot or bracket would not apply to as a whole: operators, and negative
  /// numbers.
  private static func isLoose(_ expression: ExpressionNode) -> Bool {
    if case .constant(let value) = expression, value.isNumber { return true }
    return isOperator(expression)
  }

  private static func isAssignment(_ expression: ExpressionNode) -> Bool {
    if case .assignment = expression { true } else { false }
  }

  private static func isDotted(_ expression: ExpressionNode) -> Bool {
    switch expression {
    case .keyPath(let path): path.contains(".")
    case .path, .dynamicPath: true
    default: false
    }
  }

  /// Keywords among the components get their `#` back.
  private static func escaped(_ path: String) -> String {
    let components: [Substring] = path.split(separator: ".", omittingEmptySubsequences: false)
    let needsEscape: (Substring) -> Bool = { Word(identifier: $0).map { !$0.isSoft } ?? false }
    guard components.contains(where: needsEscape) else { return path }
    return components.map { needsEscape($0) ? "#\($0)" : String($0) }.joined(separator: ".")
  }
}
