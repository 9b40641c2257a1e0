import CoreDataPredicates

extension ExpressionNode {
  /// The first keys of all paths that start at `$source`, those of conditions too.
  var keysReadOfSource: Set<String> {
    var found: Set<String> = []
    forEachExpression { if let key = $0.keyOfSource { found.insert(key) } }
    return found
  }

  private var keyOfSource: String? {
    guard case .path(.variable(MigrationKey.source), let path) = self else { return nil }
    return String(path.prefix { $0 != "." })
  }

  /// The first keys of the paths that start at `$source` of which the value is made: those that only a
  /// condition reads are left out.
  var keysOfSource: Set<String> {
    var found: Set<String> = []
    collectKeys(into: &found)
    return found
  }

  private func collectKeys(into found: inout Set<String>) {
    if let key = keyOfSource {
      found.insert(key)
      return
    }
    switch self {
    case .path(let target, _): target.collectKeys(into: &found)
    case .function(let target, _, let arguments):
      target?.collectKeys(into: &found)
      for argument in arguments { argument.collectKeys(into: &found) }
    case .aggregate(let members): for member in members { member.collectKeys(into: &found) }
    case .conditional(_, let first, let second), .set(_, let first, let second):
      first.collectKeys(into: &found)
      second.collectKeys(into: &found)
    case .subquery(let collection, _, _): collection.collectKeys(into: &found)
    default: break
    }
  }
}
