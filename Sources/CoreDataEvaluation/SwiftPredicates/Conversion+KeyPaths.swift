import CoreDataPredicates
import Foundation

extension PredicateExpressions.KeyPath: ConvertiblePredicateExpression {
  package func convert(with conversion: PredicateConversion) throws -> ConvertedNode {
    let root: ExpressionNode = try conversion.expression(self.root)
    if case .constant = root, let value = conversion.value(of: self) {
      return .expression(.constant(try PredicateConversion.constant(value)))
    }
    switch kind {
    case .collectionCount: return .expression(try conversion.path(countKey, below: root))
    case .collectionIsEmpty:
      return .predicate(
        .compare(try conversion.path(countKey, below: root), .equalTo, .constant(.integer(0))))
    case .collectionFirst: return .expression(.index(root, .first))
    case .bidirectionalCollectionLast: return .expression(.index(root, .last))
    case nil: break
    }
    if let key = WellKnownKeys.names[keyPath] { return .expression(try conversion.path(key, below: root)) }
    return .expression(try conversion.path(KeyPathNames.requireName(of: keyPath), below: root))
  }

  /// Characters of a text are counted as UTF-16 units, as Apple's framework does.
  private var countKey: String {
    Root.Output.self is any StringProtocol.Type ? "length" : "@count"
  }
}

extension PredicateConversion {
  /// A path read from an operand.
  func path(_ path: String, below root: ExpressionNode) throws -> ExpressionNode {
    // What follows a collection operator would be read from every member.
    if case .keyPath(let start) = root, start.contains("@") {
      throw PredicateError.unsupported(
        "\(path) can't be read from the result of \(start) in a predicate. Compare the result itself.")
    }
    if case .path(_, let start) = root, start.contains("@") {
      throw PredicateError.unsupported(
        "\(path) can't be read from the result of \(start) in a predicate. Compare the result itself.")
    }
    return .makePath(root, path)
  }
}

/// Properties of Foundation's types that have another name in predicates.
private enum WellKnownKeys {
  // Immutable, and its keys are literals that capture nothing.
  nonisolated(unsafe) static let names: [AnyKeyPath: String] = [
    \NSSet.count: "@count", \NSOrderedSet.count: "@count", \NSArray.count: "@count",
    \NSDictionary.count: "@count", \Data.count: "length",
    \URL.absoluteString: "absoluteString", \URL.path: "path", \URL.host: "host", \URL.scheme: "scheme",
    \URL.query: "query", \URL.lastPathComponent: "lastPathComponent", \URL.pathExtension: "pathExtension",
    \UUID.uuidString: "UUIDString",
    \Date.timeIntervalSinceReferenceDate: "timeIntervalSinceReferenceDate",
    \Date.timeIntervalSince1970: "timeIntervalSince1970",
  ]
}
