import CoreDataPredicates
import Foundation

/// The trees that a format can express.
enum Expressible {
  static func isExpressible(_ node: PredicateNode) -> Bool {
    var result: Bool = true
    node.forEachExpression { result = result && isSayable($0) }
    return result && hasText(node)
  }

  static func isExpressible(_ node: ExpressionNode) -> Bool {
    var result: Bool = true
    node.forEachExpression { result = result && isSayable($0) }
    return result
  }

  /// Whether two evaluations may have different results.
  static func isRandom(_ node: PredicateNode) -> Bool {
    var result: Bool = false
    node.forEachExpression {
      if case .function(nil, let name, _) = $0, name.hasPrefix("random") { result = true }
    }
    return result
  }

  /// Whether it holds a number that doesn't equal itself.
  static func holdsNaN(_ root: NSObject) -> Bool {
    var result: Bool = false
    let visit: (ExpressionNode) -> Void = {
      if case .constant(let value) = $0 { result = result || holdsNaN(value) }
    }
    switch root {
    case let predicate as Foundation.NSPredicate: predicate.predicateNode().forEachExpression(visit)
    case let expression as NSExpression: expression.expressionNode().forEachExpression(visit)
    default: break
    }
    return result
  }

  private static func holdsNaN(_ value: PredicateValue) -> Bool {
    switch value {
    case .double(let number): number.isNaN
    case .decimal(let number): number.isNaN
    case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
    case .array(let members): members.contains(where: holdsNaN)
    case .set(let members): members.contains(where: holdsNaN)
    case .dictionary(let entries): entries.contains { holdsNaN($0) || holdsNaN($1) }
    default: false
    }
  }

  /// Compounds without members and with one member print as another predicate.
  private static func hasText(_ node: PredicateNode) -> Bool {
    switch node {
    case .constant, .comparison: true
    case .compound(.not, let members): members.allSatisfy(hasText)
    case .compound(_, let members): members.count > 1 && members.allSatisfy(hasText)
    case .block: false
    }
  }

  private static func isSayable(_ node: ExpressionNode) -> Bool {
    switch node {
    case .constant(let value): isSayable(value)
    case .variable(let name): isIdentifier(name[...])
    case .keyPath(let path), .path(_, let path): isPath(path)
    case .dynamicPath(_, let key): isKey(key)
    case .subquery(_, let name, let predicate): isIdentifier(name[...]) && hasText(predicate)
    case .conditional(let predicate, _, _): hasText(predicate)
    case .assignment(let name, _): isIdentifier(name[...])
    case .block: false
    default: true
    }
  }

  /// What may follow a dot: `$k`, `d[0]`.
  private static func isKey(_ node: ExpressionNode) -> Bool {
    switch node {
    case .variable: true
    case .index(.keyPath(let key), _): isIdentifier(key[...])
    default: false
    }
  }

  private static func isSayable(_ value: PredicateValue) -> Bool {
    switch value {
    case .nullObject, .data, .uuid, .url, .array, .set, .dictionary, .object, .decimal: false
    case .double(let number): number.isFinite
    // Six decimals are written.
    case .date(let date):
      abs(date.timeIntervalSinceReferenceDate) < 1e9
        && date.timeIntervalSinceReferenceDate == (date.timeIntervalSinceReferenceDate * 16).rounded() / 16
    case .null, .bool, .integer, .unsigned, .string: true
    }
  }

  private static func isPath(_ path: String) -> Bool {
    path.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
      isIdentifier($0.hasPrefix("@") ? $0.dropFirst() : $0)
    }
  }

  private static func isIdentifier(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return text.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
  }
}
