import CoreDataPredicates
import Foundation

/// The results of a fetch: managed objects, their ids, dictionaries or numbers.
///
/// A marker, so that `NSFetchRequest<NSFetchRequestResult>` compiles as it does with Apple's framework: only
/// marker protocols conform to themselves off Apple's platforms.
@_marker public protocol NSFetchRequestResult {}

extension NSNumber: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}

/// The form of a fetch's results.
public struct NSFetchRequestResultType: OptionSet, Hashable, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  public static let managedObjectResultType: NSFetchRequestResultType = []
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A search: which entity, which objects, in which order, in which form.
///
/// ```swift
/// let request = NSFetchRequest<Person>(entityName: "Person")
/// request.predicate = NSPredicate(format: "age >= %@", 18)
/// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
/// ```
nonisolated open class NSFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest,
  NSSecureCoding
{
  /// Set for templates of a frozen model: they are shared, so change a copy.
  @exclusivity(unchecked) final package internal(set) var isFrozen = false

  public override init() {
    super.init()
  }

  /// A request for the entity of that name; it is looked up in the model of the context that executes the
  /// request.
  public init(entityName: String) {
    storedEntityName = entityName
    super.init()
  }

  /// A copy of a request, with results of another type.
  ///
  /// Apple's requests can be cast (`request as! NSFetchRequest<NSManagedObject>`), since Objective-C erases
  /// type parameters; Swift's own classes can't. The type of the results is checked when the request is
  /// executed.
  public convenience init<Other>(_ other: NSFetchRequest<Other>) {
    self.init()
    other.copyContents(into: self)
  }

  // MARK: Coding

  open class var supportsSecureCoding: Bool { true }

  /// Encodes the request, with the name of its entity in place of the entity, and without the stores that it
  /// affects. Fails the coder if a part has no archived form: a block, a comparator, an object that is not
  /// `NSSecureCoding`.
  open func encode(with coder: NSCoder) {
    do {
      let data: Data = try NSKeyedArchiver.archivedData(withRootObject: self, requiringSecureCoding: true)
      coder.encode(NSData(data: data), forKey: "request")
    } catch {
      coder.report(error)
    }
  }

  /// Reads what ``encode(with:)`` wrote. Nil and an error in the coder for anything else. The predicate can't
  /// be evaluated, and so the request can't be executed, until its `allowEvaluation()` was called.
  public required init?(coder: NSCoder) {
    super.init()
    do {
      guard let data = coder.decodeObject(of: NSData.self, forKey: "request") else { return nil }
      try ModelArchiveReader.readRequest(Data(referencing: data)).copyContents(into: self)
    } catch {
      coder.report(error)
      return nil
    }
  }

  // MARK: What to fetch

  open override var requestType: NSPersistentStoreRequestType {
    .fetchRequestType
  }

  // Accesses to the properties do not overlap: each reads or replaces a whole value. Every fetch reads all of
  // them, and checking exclusivity at run time would cost more than reading them.

  /// The entity to fetch. Nil until set or, for a request made by name, until it is executed.
  @exclusivity(unchecked) open var entity: NSEntityDescription? { willSet { mayChange() } }

  /// The name of the entity to fetch.
  open var entityName: String? {
    entity?.name ?? storedEntityName
  }
  @exclusivity(unchecked) package final var storedEntityName: String?

  @exclusivity(unchecked) open var predicate: NSPredicate? { willSet { mayChange() } }
  @exclusivity(unchecked) open var sortDescriptors: [NSSortDescriptor]? { willSet { mayChange() } }

  /// The most results to return; 0 for no limit.
  @exclusivity(unchecked) open var fetchLimit: Int = 0 { willSet { mayChange() } }

  /// How many matches to skip, counted after sorting.
  @exclusivity(unchecked) open var fetchOffset: Int = 0 { willSet { mayChange() } }

  /// How many rows to hold at a time while the result is iterated; 0 to load all at once.
  @exclusivity(unchecked) open var fetchBatchSize: Int = 0 { willSet { mayChange() } }

  @exclusivity(unchecked) open var resultType: NSFetchRequestResultType = .managedObjectResultType {
    willSet { mayChange() }
  }
  @exclusivity(unchecked) open var includesSubentities: Bool = true { willSet { mayChange() } }

  /// Whether the rows are read along with the ids, so that faults need no further query; false reads ids
  /// only.
  @exclusivity(unchecked) open var includesPropertyValues: Bool = true { willSet { mayChange() } }
  @exclusivity(unchecked) open var returnsObjectsAsFaults: Bool = true { willSet { mayChange() } }

  /// Whether unsaved changes of the context count as if they were stored.
  @exclusivity(unchecked) open var includesPendingChanges: Bool = true { willSet { mayChange() } }
  @exclusivity(unchecked) open var returnsDistinctResults: Bool = false { willSet { mayChange() } }

  /// Names or descriptions (`NSPropertyDescription`, `NSExpressionDescription`) of the columns to fetch.
  @exclusivity(unchecked) open var propertiesToFetch: [Any]? { willSet { mayChange() } }
  @exclusivity(unchecked) open var propertiesToGroupBy: [Any]? { willSet { mayChange() } }
  @exclusivity(unchecked) open var havingPredicate: NSPredicate? { willSet { mayChange() } }
  @exclusivity(unchecked) open var relationshipKeyPathsForPrefetching: [String]? { willSet { mayChange() } }

  /// Whether objects already in memory are updated with the values just read.
  @exclusivity(unchecked) open var shouldRefreshRefetchedObjects: Bool = false { willSet { mayChange() } }

  final func mayChange() {
    requireEditable(isFrozen, "A fetch request template for entity '\(entityName ?? "")'")
  }

  /// An editable copy.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let other = NSFetchRequest<ResultType>()
    copyContents(into: other)
    return other
  }

  final package func copyContents(into other: any AnyFetchRequest) {
    other.affectedStoresStorage = affectedStoresStorage
    other.storedEntityName = storedEntityName
    other.entity = entity
    other.predicate = predicate
    other.sortDescriptors = sortDescriptors
    other.fetchLimit = fetchLimit
    other.fetchOffset = fetchOffset
    other.fetchBatchSize = fetchBatchSize
    other.resultType = resultType
    other.includesSubentities = includesSubentities
    other.includesPropertyValues = includesPropertyValues
    other.returnsObjectsAsFaults = returnsObjectsAsFaults
    other.includesPendingChanges = includesPendingChanges
    other.returnsDistinctResults = returnsDistinctResults
    other.propertiesToFetch = propertiesToFetch
    other.propertiesToGroupBy = propertiesToGroupBy
    other.havingPredicate = havingPredicate
    other.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    other.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
  }
}

/// Any `NSFetchRequest`, of every result type: `request as? any AnyFetchRequest`.
package protocol AnyFetchRequest: NSPersistentStoreRequest {
  var entity: NSEntityDescription? { get set }
  var entityName: String? { get }
  var storedEntityName: String? { get set }
  var predicate: NSPredicate? { get set }
  var sortDescriptors: [NSSortDescriptor]? { get set }
  var fetchLimit: Int { get set }
  var fetchOffset: Int { get set }
  var fetchBatchSize: Int { get set }
  var resultType: NSFetchRequestResultType { get set }
  var includesSubentities: Bool { get set }
  var includesPropertyValues: Bool { get set }
  var returnsObjectsAsFaults: Bool { get set }
  var includesPendingChanges: Bool { get set }
  var returnsDistinctResults: Bool { get set }
  var propertiesToFetch: [Any]? { get set }
  var propertiesToGroupBy: [Any]? { get set }
  var havingPredicate: NSPredicate? { get set }
  var relationshipKeyPathsForPrefetching: [String]? { get set }
  var shouldRefreshRefetchedObjects: Bool { get set }
  /// Copies all properties to another request.
  func copyContents(into other: any AnyFetchRequest)
}

extension NSFetchRequest: AnyFetchRequest {}
