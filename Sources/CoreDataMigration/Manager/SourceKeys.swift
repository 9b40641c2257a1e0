import CoreDataPredicates

extension ExpressionNode {
  /// The first keys of the paths that start at `$source`.
  var keysOfSource: Set<String> {
    var found: Set<String> = []
    collectKeys(into: &found)
    return found
  }

  private func collectKeys(into found: inout Set<String>) {
    switch self {
    case .path(.variable(MigrationKey.source), let path):
      found.insert(String(path.prefix { $0 != "." }))
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
