import ArgumentParser
import CoreDataModel
import CoreDataModelChecking
import CoreDataStorage
import Foundation

/// `--sort`: a key, `key:asc` or `key:desc`.
struct SortTerm {
  let key: String
  let ascending: Bool

  init(_ text: String) throws {
    let parts: [Substring] = text.split(separator: ":", omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, parts.count <= 2 else {
      throw ValidationError("--sort \"\(text)\" is no key; write key, key:asc or key:desc.")
    }
    self.key = String(key)
    switch parts.count == 2 ? parts[1].lowercased() : "asc" {
    case "asc": ascending = true
    case "desc": ascending = false
    default: throw ValidationError("--sort \"\(text)\": after the colon comes asc or desc.")
    }
  }

  /// As a store orders rows; throws if the key is wrong.
  func order(of entity: EntityLayout) throws -> FetchOrder {
    let rowKey: String = key == PathEnd.objectIDName ? "self" : key
    let problems: [PredicateProblem] = NSSortDescriptor(key: rowKey, ascending: ascending)
      .problems(for: entity.entity)
    if let problem = problems.first(where: { $0.severity == .error }) { throw CommandFailure("\(problem)") }
    return FetchOrder(keyPath: rowKey, ascending: ascending)
  }
}
