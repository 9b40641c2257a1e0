import CoreDataGraph
import CoreDataModel
import Foundation

/// What happened to an object or a section of a ``NSFetchedResultsController``.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete = 2
  /// The object changed place; it may have changed otherwise too.
  case move = 3
  /// The object changed and keeps its place.
  case update = 4
}

/// A section of a ``NSFetchedResultsController``: neighbouring objects with the same section name.
///
/// It is the same object as long as there is a section of the name, and shows the present contents. A section
/// that was deleted has no objects.
public protocol NSFetchedResultsSectionInfo: AnyObject {
  /// The value of the section key path, as text; empty without one.
  var name: String { get }
  /// The name's first letter, in upper case, unless the delegate has another title.
  var indexTitle: String? { get }
  var numberOfObjects: Int { get }
  var objects: [Any]? { get }
}

/// Is notified of changes in the results of a ``NSFetchedResultsController``. Every method is optional.
///
/// One call of ``controllerWillChangeContent(_:)`` opens a batch, one of ``controllerDidChangeContent(_:)``
/// closes it; between them come sections, then objects. `indexPath` counts as before the batch,
/// `newIndexPath` as after it.
///
/// The controller argument is the one that changed, as a controller of any result. Swift's generic classes
/// have one identity for each argument, so compare controllers with `==`, not with `===`.
public protocol NSFetchedResultsControllerDelegate: AnyObject {
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)
  /// The whole batch at once, offsets counting through all sections.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  /// The title of a section in an index beside the list; nil for none.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {}

  public func controllerWillChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  public func controllerDidChangeContent(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { SectionName.indexTitle(sectionName) }
}

/// Names of sections as text.
enum SectionName {
  static func text(_ value: Any?) -> String {
    switch value {
    case nil, is NSNull: ""
    case let text as String: text
    case let value?: "\(value)"
    }
  }

  static func indexTitle(_ name: String) -> String? { name.isEmpty ? nil : name.prefix(1).uppercased() }
}
