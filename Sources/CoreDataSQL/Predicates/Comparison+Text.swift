import CoreDataPredicates
import CoreDataStorage

extension Comparison {
  /// `BEGINSWITH`, `ENDSWITH`, and substring search for `CONTAINS` and `IN`. nil and the empty part are never found.
  func search(_ kind: SQLSearchKind, _ text: Operand, _ part: Operand) throws -> SQLExpression {
    if text.isNull || part.isNull { return .truth(false) }
    let whole: SQLExpression = try string(text)
    guard case .constant(let constant) = part else {
      return .function(.search, [whole, try string(part), .integer(kind.rawValue), optionsValue])
    }
    guard case .string(let needle) = constant else { throw textNeeded(constant.kindName) }
    if needle.isEmpty { return .truth(false) }
    // A NUL would end the text for SQLite's own functions.
    if !isLiteral || needle.utf8.contains(0) {
      return .function(.search, [whole, .text(needle), .integer(kind.rawValue), optionsValue])
    }
    switch kind {
    case .contains: return .binary(.greater, .builtin("instr", [whole, .text(needle)]), .integer(0))
    case .endsWith:
      // Of a text `substr` counts the characters up to the first NUL only; of bytes it counts all.
      let (bytes, end): (SQLExpression, SQLExpression) = (.cast(whole, .bytes), .cast(.text(needle), .bytes))
      return .binary(.equal, .builtin("substr", [bytes, .negative(.builtin("length", [end]))]), end)
    case .beginsWith: return prefix(whole, needle)
    }
  }

  /// `LIKE`. A pattern whose only mark is a `*` at the end is a prefix, which an index serves.
  func like(_ text: Operand, _ pattern: Operand) throws -> SQLExpression {
    if text.isNull || pattern.isNull { return .truth(false) }
    let whole: SQLExpression = try string(text)
    if isLiteral, case .constant(.string(let mask)) = pattern, let start = Self.prefix(ofPattern: mask) {
      return prefix(whole, start)
    }
    return .function(.like, [whole, try string(pattern), optionsValue])
  }

  /// What a pattern asks texts to begin with, if it asks for nothing else.
  static func prefix(ofPattern mask: String) -> String? {
    guard mask.utf8.count > 1, mask.hasSuffix("*"),
      !mask.dropLast().contains(where: { $0 == "*" || $0 == "?" || $0 == "\\" }), !mask.utf8.contains(0)
    else { return nil }
    return String(mask.dropLast())
  }

  /// `MATCHES`: an ICU regular expression over the whole text. A constant one is checked here, before any row is read.
  func matches(_ text: Operand, _ pattern: Operand) throws -> SQLExpression {
    if text.isNull || pattern.isNull { return .truth(false) }
    let whole: SQLExpression = try string(text)
    if case .constant(.string(let expression)) = pattern {
      _ = try RegularExpressionCache.shared.expression(expression, options)
    }
    return .function(.matches, [whole, try string(pattern), optionsValue])
  }

  /// Every text from the prefix up to, not including, the first text behind all that begin with it.
  private func prefix(_ whole: SQLExpression, _ needle: String) -> SQLExpression {
    let low: SQLExpression = .binary(.greaterOrEqual, whole, .text(needle))
    guard let successor = Self.successor(of: needle) else { return low }
    return .conjunction([low, .binary(.less, whole, .text(successor))])
  }

  /// The smallest text greater than everything with this prefix, by code points; nil if there is none.
  static func successor(of prefix: String) -> String? {
    var scalars: [Unicode.Scalar] = Array(prefix.unicodeScalars)
    while let last = scalars.popLast() {
      // Surrogates are no scalars: D7FF is followed by E000.
      let next: UInt32 = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let scalar = Unicode.Scalar(next) {
        scalars.append(scalar)
        var result: String = ""
        result.unicodeScalars.append(contentsOf: scalars)
        return result
      }
    }
    return nil
  }

  private func string(_ operand: Operand) throws -> SQLExpression {
    switch operand {
    case .value(let value, .string): return value
    case .constant(.string(let text)): return .text(text)
    case .value(_, .externalData), .value(_, .transformable):
      throw unsupported("the database can't read what may be a string", "filter the fetched objects")
    case .value(_, let type): throw textNeeded(type.name)
    case .constant(let constant): throw textNeeded(constant.kindName)
    case .members: throw toManyNotAllowed()
    case .object, .entity: throw textNeeded("an object")
    case .list, .combined, .choice: throw textNeeded("a collection")
    }
  }

  private func textNeeded(_ found: String) -> StoreError {
    invalid(
      "the operator needs strings, and one side is \(found)", "compare a string attribute with a string")
  }
}
