import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The condition of a partial index as text. Values can't be bound there, and only plain columns may take part.
enum PartialIndexCondition {
  static func text(_ predicate: Foundation.NSPredicate, of entity: EntityLayout, schema: StoreSchema) -> String? {
    nil
  }
}
