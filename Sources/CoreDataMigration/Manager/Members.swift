import CoreDataGraph
import Foundation

/// What is in a collection that expressions of mappings yield, or functions of policies get.
enum Members {
  /// The members of an array or a set; nil for what is neither.
  ///
  /// Objects of a set come in the order of their keys, as a migration in place numbers members, so that a
  /// relationship that becomes ordered has the same order each time.
  static func list(_ value: Any) -> [Any]? {
    switch value {
    case let set as NSOrderedSet: set.array
    case let set as NSSet: inOrderOfKeys(set.allObjects)
    case let set as Set<NSManagedObject>: inOrderOfKeys(Array(set))
    case let list as [Any]: list
    default: nil
    }
  }

  private static func inOrderOfKeys(_ members: [Any]) -> [Any] {
    guard let objects = members as? [NSManagedObject] else { return members }
    return objects.map { (number: $0.objectID.root, object: $0) }
      .sorted { ($0.number.entity, $0.number.key) < ($1.number.entity, $1.number.key) }
      .map(\.object)
  }
}
