import CoreDataModel
import CoreDataStorage
import Foundation

/// What is wrong with a store, found by ``NSPersistentStoreCoordinator/examineStore(at:model:)``: what
/// `clarus check` prints, as values. An addition of Clarus.
public struct StoreExamination: Sendable {
  /// Something wrong, of one kind at one place of the model.
  public struct Problem: Sendable, Hashable {
    public let kind: Kind
    /// Whether nothing is lost or wrong because of it: a file that no row refers to, a counter that lags
    /// behind.
    public let isWarning: Bool
    /// nil if it concerns the store as a whole.
    public let entity: String?
    /// An attribute or relationship of the entity; nil if it concerns rows as a whole.
    public let property: String?
    /// How often it was found, from 1.
    public let count: Int
    /// The URIs of the first objects, at most five: `managedObjectID(forURIRepresentation:)` makes ids of
    /// them once the store is open.
    public let objects: [URL]
    /// One sentence, in English.
    public let message: String
  }

  /// The kind of a problem. More may come: a `switch` needs a `default`.
  public struct Kind: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// As in the output of `clarus check --json`.
    public let rawValue: String
    public var description: String { rawValue }

    public init(rawValue: String) { self.rawValue = rawValue }
    private init(_ kind: StoreProblem.Kind) { rawValue = kind.rawValue }

    /// The file is damaged.
    public static let damage = Kind(.damage)
    /// The store was written with another model than the one it carries.
    public static let model = Kind(.model)
    /// Rows of entities that the model does not have.
    public static let entity = Kind(.entity)
    /// A row whose key no object can have.
    public static let row = Kind(.row)
    /// A relationship names an object that is not there, or of a wrong entity.
    public static let dangling = Kind(.dangling)
    /// The two sides of a relationship disagree.
    public static let inverse = Kind(.inverse)
    /// The members of an ordered relationship have no order, or equal places.
    public static let order = Kind(.order)
    /// A required property is nil, or a relationship has too few or too many members.
    public static let required = Kind(.required)
    /// A value that is none of its attribute's type.
    public static let value = Kind(.value)
    /// Objects have the same values in properties whose values are to be unique.
    public static let unique = Kind(.unique)
    /// The counter of keys is behind the keys in use.
    public static let keys = Kind(.keys)
    /// The counter of keys is at its end: no new object can be saved.
    public static let fullKeys = Kind(.fullKeys)
    /// A table, column or index that the model does not have, or one of the model's that the store lacks.
    public static let structure = Kind(.structure)
    /// An index is damaged or lacks rows: a fetch that searches it misses objects. The rows are whole.
    public static let index = Kind(.index)
    /// The file of a value is missing, or is none.
    public static let missingFile = Kind(.missingFile)
    /// The file of a value is there, and this process may not read it.
    public static let unreadableFile = Kind(.unreadableFile)
    /// A file of a value that no row refers to.
    public static let orphanedFile = Kind(.orphanedFile)
  }

  /// The number of objects of each entity itself, without its sub-entities; empty for a store that can't be
  /// opened.
  public let counts: [String: Int]
  /// In the order in which they were found; those of one kind at one place are one.
  public let problems: [Problem]
  /// Whether there are no problems but warnings.
  public var isSound: Bool { problems.allSatisfy(\.isWarning) }

  init(counts: [String: Int], problems: [StoreProblem], storeUUID: String, layout: ModelLayout?) {
    self.counts = counts
    self.problems = problems.map { Problem($0, storeUUID: storeUUID, layout: layout) }
  }
}

extension StoreExamination.Problem {
  init(_ problem: StoreProblem, storeUUID: String, layout: ModelLayout?) {
    self.init(
      kind: StoreExamination.Kind(rawValue: problem.kind.rawValue), isWarning: problem.kind.isWarning,
      entity: problem.entity, property: problem.property, count: problem.count,
      objects: problem.objects.compactMap { id in
        guard let layout, layout.entities.indices.contains(Int(id.entity)) else { return nil }
        return URL(string: "x-coredata://\(storeUUID)/\(layout.entities[Int(id.entity)].name)/p\(id.key)")
      }, message: problem.text)
  }
}

extension NSPersistentStoreCoordinator {
  /// Examines a store for damage and contradictions, and changes nothing about it: the file itself, the model
  /// that it carries, every object, the files of values. An addition of Clarus.
  ///
  ///     let found = try NSPersistentStoreCoordinator.examineStore(at: url)
  ///     for problem in found.problems { print(problem.kind, problem.message) }
  ///
  /// The kind of the store is told by its file. `model` is needed for stores that carry none, which XML and
  /// binary stores are; for others it is optional, and has to be the one the store was written with.
  ///
  /// A damaged file is a result. Throws if there is no store, if another process keeps it locked for the
  /// whole waiting time, if no model is there or the one given does not fit (the error lists the
  /// differences), and `CancellationError` in a task that was cancelled.
  ///
  /// Cost: reads the whole store, and blocks the thread meanwhile; 16 bytes of memory a row, and a page of
  /// rows. A store that is open in this process is examined as it was last saved.
  public class func examineStore(at url: URL, model: NSManagedObjectModel? = nil) throws -> StoreExamination {
    try withCocoaErrors(url) { try StoreExaminer.examine(url, model: model) }
  }
}
