import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage

extension Comparison {
  /// `BEGINSWITH`, `ENDSWITH`, and substring search for `CONTAINS` and `IN`. nil and the empty part are never
  /// found.
  func search(_ test: SQLTextTest, _ text: Operand, _ part: Operand) throws -> SQLExpression {
    if text.isNull || part.isNull { return .truth(false) }
    let whole: SQLExpression = try string(text)
    if case .constant(let constant) = part {
      guard case .string(let needle) = constant else { throw textNeeded(constant.kindName) }
      if needle.isEmpty { return .truth(false) }
    }
    return try sql(.textTest(test, whole, try string(part), options))
  }

  /// `LIKE`. A pattern whose only wildcard is a `*` at the end is a prefix, which an index serves.
  func like(_ text: Operand, _ pattern: Operand) throws -> SQLExpression {
    if text.isNull || pattern.isNull { return .truth(false) }
    return try sql(.textTest(.like, try string(text), try string(pattern), options))
  }

  /// The prefix that a pattern requires, if it requires nothing else.
  static func prefix(ofPattern mask: String) -> String? {
    guard mask.utf8.count > 1, mask.hasSuffix("*"),
      !mask.dropLast().contains(where: { $0 == "*" || $0 == "?" || $0 == "\\" }), !mask.utf8.contains(0)
    else { return nil }
    return String(mask.dropLast())
  }

  /// `MATCHES`: an ICU regular expression over the whole text. A constant pattern is checked here, before any
  /// row is read.
  func matches(_ text: Operand, _ pattern: Operand) throws -> SQLExpression {
    if text.isNull || pattern.isNull { return .truth(false) }
    let whole: SQLExpression = try string(text)
    if case .constant(.string(let expression)) = pattern {
      _ = try RegularExpressionCache.shared.expression(expression, options)
    }
    return try sql(.textTest(.matches, whole, try string(pattern), options))
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
