/// The built-in functions of the format language: which selectors exist, which of them have an infix spelling.
package enum FunctionTable {
  /// Every selector that a format may call.
  package static let selectors: Set<String> = [
    "sum:", "average:", "min:", "max:", "count:", "median:", "mode:", "stddev:",
    "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:",
    "sqrt:", "exp:", "abs:", "log:", "ln:", "floor:", "ceiling:", "trunc:",
    "random", "randomn:", "now", "lowercase:", "uppercase:", "length:", "canonical:",
    "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:",
    "onesComplement:",
    "noindex:", "castObject:toType:", "objectFrom:withIndex:", "distanceToLocation:fromLocation:",
    "tokenize:using:",
  ]

  /// Unary minus over anything but a number has no selector of Apple's; the tree calls it this.
  package static let negation: String = "negate:"

  /// Whether a tree may call the selector.
  package static func isKnown(_ selector: String) -> Bool {
    selectors.contains(selector) || selector == negation
  }

  /// The mark between the operands of an infix function.
  package static func infix(_ selector: String) -> String? {
    switch selector {
    case "add:to:": "+"
    case "from:subtract:": "-"
    case "multiply:by:": "*"
    case "divide:by:": "/"
    case "raise:toPower:": "**"
    case "bitwiseAnd:with:": "&"
    case "bitwiseOr:with:": "|"
    case "bitwiseXor:with:": "^"
    case "leftshift:by:": "<<"
    case "rightshift:by:": ">>"
    default: nil
    }
  }

  /// The selector under which `name(…)` with this number of arguments is known: a plain name stands for the selector of
  /// one argument.
  static func selector(for name: String, argumentCount: Int) -> String? {
    if name.hasSuffix(":") {
      return selectors.contains(name) && colons(name) == argumentCount ? name : nil
    }
    if argumentCount == 0 { return selectors.contains(name) ? name : nil }
    // The one function of two arguments with a plain name: ALL tokenize(%@, 'Cdl') IN allTokens.
    if argumentCount == 2, name == "tokenize" { return "tokenize:using:" }
    return argumentCount == 1 && selectors.contains("\(name):") ? "\(name):" : nil
  }

  /// The number of arguments of a selector.
  package static func colons(_ selector: String) -> Int {
    selector.utf8.count { $0 == UInt8(ascii: ":") }
  }
}
