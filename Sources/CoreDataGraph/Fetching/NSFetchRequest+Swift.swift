import CoreDataModel
import CoreDataPredicates
import Foundation

extension NSFetchRequest where ResultType: NSManagedObject {
  /// A request for the objects of ``ResultType``'s entity that match a Swift predicate, sorted by Swift's
  /// sort descriptors.
  ///
  /// ```swift
  /// let urgent = try NSFetchRequest(
  ///   predicate: #Predicate<Item> { $0.priority > 3 && !$0.completed }, sortBy: [SortDescriptor(\.dueDate)])
  /// ```
  ///
  /// The predicate is converted to an `NSPredicate` here, once; Documentation/swift-predicates.md lists the
  /// conversions. The entity is ``NSManagedObject/entity()``'s.
  ///
  /// - Parameters:
  ///   - predicate: the condition; nil for all objects.
  ///   - sortBy: how to sort, the most significant first. One without a counterpart in a store sorts in
  ///     memory.
  /// - Throws: ``PredicateError`` that names the part without counterpart, or the key path without name; a
  ///   `CocoaError` if the class represents no entity of a loaded model, or several.
  public convenience init(predicate: Predicate<ResultType>?, sortBy: [SortDescriptor<ResultType>] = []) throws
  {
    let name: String
    do {
      name = try ModelRuntime.forName { Result { try ModelRuntime.entity(of: ResultType.self).layout.name } }
        .get()
    } catch let error as GraphError {
      throw error.asCocoaError
    }
    self.init(entityName: name)
    self.predicate = try predicate.map { try NSPredicate(converting: $0) }
    if !sortBy.isEmpty { sortDescriptors = sortBy.map(NSSortDescriptor.init) }
  }
}
