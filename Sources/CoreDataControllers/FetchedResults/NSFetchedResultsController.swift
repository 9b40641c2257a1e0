import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// The results of a fetch as a list with sections, updated while its context changes.
///
/// ```swift
/// let request = NSFetchRequest<Item>(entityName: "Item")
/// request.sortDescriptors = [NSSortDescriptor(key: "category.name", ascending: true)]
/// let results = NSFetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "category.name",
///   cacheName: nil)
/// results.delegate = self
/// try results.performFetch()
/// results.sections?.first?.numberOfObjects
/// ```
///
/// The order must keep each section's objects together: its first descriptor sorts by the section key path,
/// or by a key that determines it. Changes are applied at the end of each event (`processPendingChanges`),
/// and only while there is a delegate. A changed object costs a comparison with log n others; notifying the
/// delegate costs one pass over the list.
///
/// Use it on the context's queue.
///
/// See Apple's page
/// [NSFetchedResultsController](https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller).
nonisolated open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
  private let tracker: ResultTracker
  private var typed: (version: Int, objects: [ResultType])?
  /// This controller as one of any result.
  private lazy var erased: NSFetchedResultsController<any NSFetchRequestResult> =
    self as? NSFetchedResultsController<any NSFetchRequestResult>
    ?? NSFetchedResultsController<any NSFetchRequestResult>(of: self)

  public final let fetchRequest: NSFetchRequest<ResultType>
  /// For source compatibility: sections are computed with each fetch, nothing is written to a cache.
  public final let cacheName: String?

  /// The request needs sort descriptors; ``performFetch()`` throws an error when it has none.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    self.fetchRequest = fetchRequest
    cacheName = name
    tracker = ResultTracker(context: context, sectionNameKeyPath: sectionNameKeyPath)
    super.init()
    tracker.controller = { [weak self] in self?.erased }
  }

  private init<Other>(of other: NSFetchedResultsController<Other>) {
    fetchRequest = NSFetchRequest<ResultType>()
    other.fetchRequest.copyContents(into: fetchRequest)
    cacheName = other.cacheName
    tracker = other.tracker
    super.init()
  }

  public final var managedObjectContext: NSManagedObjectContext { tracker.context }
  public final var sectionNameKeyPath: String? { tracker.sectionNameKeyPath }

  public final weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { tracker.delegate }
    set { tracker.delegate = newValue }
  }

  /// Controllers of the same results are equal: a delegate gets this one as a controller of any result.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? any TrackedResults)?.trackerIdentity == trackerIdentity
  }

  open override var hash: Int { trackerIdentity.hashValue }

  // MARK: Fetching

  /// Runs the request. Call it again after a change of the request. Ends the running event first, so that
  /// objects found here are not reported as changes afterwards.
  ///
  /// Throws the errors of the fetch, and an explained error if the request has no sort descriptors or does
  /// not sort by section.
  open func performFetch() throws {
    guard fetchRequest.sortDescriptors != nil else {
      throw ErrorMessage(
        "An instance of NSFetchedResultsController requires a fetch request with sort descriptors.",
        advice: "Set sortDescriptors; an empty list leaves the order to the store."
      ).cocoaError(NSCoreDataError)
    }
    managedObjectContext.processPendingChanges()
    try tracker.take(try managedObjectContext.fetch(fetchRequest), of: fetchRequest)
  }

  /// There is no cache to delete: sections are computed with each fetch.
  open class func deleteCache(withName name: String?) {}

  // MARK: Results

  /// All results in order; nil before the first fetch.
  open var fetchedObjects: [ResultType]? {
    guard let list = tracker.list else { return nil }
    if let typed, typed.version == tracker.version { return typed.objects }
    let objects: [ResultType] = list.objects.compactMap { $0 as? ResultType }
    typed = (tracker.version, objects)
    return objects
  }

  /// The object at a place. Stops the program when there is none, as an array does.
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let list = tracker.list else {
      fatalError("NSFetchedResultsController has no objects yet; call performFetch() first.")
    }
    guard let position = list.position(indexPath), let object = fetchedObjects?[position] else {
      let counts: String = list.sections.map { "\($0.range.count)" }.joined(separator: ", ")
      fatalError(
        "NSFetchedResultsController has no object at index path \(Array(indexPath)); its sections have \(counts) objects."
      )
    }
    return object
  }

  /// The place of an object; nil if it is none of the results.
  open func indexPath(forObject object: ResultType) -> IndexPath? {
    tracker.position(of: object).flatMap { tracker.list?.indexPath($0) }
  }

  // MARK: Sections

  /// The sections; one without a section key path, nil before the first fetch.
  open var sections: [any NSFetchedResultsSectionInfo]? {
    tracker.sections
  }

  /// The title of a section in an index: the delegate's, or the name's first letter in upper case.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    tracker.indexTitle(sectionName)
  }

  /// The titles of all sections that have one.
  open var sectionIndexTitles: [String] {
    tracker.list?.sections.compactMap { sectionIndexTitle(forSectionName: $0.name) } ?? []
  }

  /// The section that a title of ``sectionIndexTitles`` stands for. Stops the program when it stands for
  /// none.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    let titled: [Int] =
      tracker.list?.sections.indices.filter { number in
        tracker.list.flatMap { sectionIndexTitle(forSectionName: $0.sections[number].name) } != nil
      } ?? []
    guard titled.indices.contains(sectionIndex), sectionIndexTitles[sectionIndex] == title else {
      fatalError(
        "NSFetchedResultsController has no section index title '\(title)' at \(sectionIndex); the titles are "
          + sectionIndexTitles.joined(separator: ", "))
    }
    return titled[sectionIndex]
  }
}

/// Controllers of any results.
private protocol TrackedResults {
  var trackerIdentity: ObjectIdentifier { get }
}

extension NSFetchedResultsController: TrackedResults {
  fileprivate var trackerIdentity: ObjectIdentifier { ObjectIdentifier(tracker) }
}
