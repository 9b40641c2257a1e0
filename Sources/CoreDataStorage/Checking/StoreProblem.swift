import CoreDataPredicates
import Foundation

/// Something wrong with a store, of one kind at one place of the model.
package struct StoreProblem: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// The file is damaged.
    case damage
    /// The store was written with another model.
    case model
    /// Rows of entities that the model does not have.
    case entity
    /// A row whose key no object can have.
    case row
    /// A relationship names an object that is not there, or of a wrong entity.
    case dangling
    /// The two sides of a relationship disagree.
    case inverse
    /// The members of an ordered relationship have no order, or equal places.
    case order
    /// A required property is nil, or a relationship has too few or too many members.
    case required
    /// A value that is none of its attribute's type.
    case value
    /// Objects have the same values in properties whose values are to be unique.
    case unique
    /// The counter of keys is behind the keys in use.
    case keys
    /// The counter of keys is at its end: no new object can be saved.
    case fullKeys
    /// A table, column or index that the model does not have, or one of the model's that the store lacks.
    case structure
    /// An index is damaged or lacks rows: a fetch that searches it misses objects. The rows are whole.
    case index
    /// The file of a value is missing, or is none.
    case missingFile
    /// The file of a value is there, and this process may not read it.
    case unreadableFile
    /// A file of a value that no row refers to.
    case orphanedFile

    /// Whether nothing is lost or wrong because of it.
    package var isWarning: Bool { [.orphanedFile, .keys, .order, .structure].contains(self) }
  }

  package var kind: Kind
  package var entity: String?
  package var property: String?
  /// How often it was found.
  package var count: Int
  /// The first objects, or the owners of the first relationships, with the problem.
  package var objects: [RowID]
  /// One sentence.
  package var message: String
  /// What helps, for those who are not repairing the store.
  package var cure: FileCure = .none

  package static let objectsKept: Int = 5

  package init(
    _ kind: Kind, entity: String? = nil, property: String? = nil, count: Int = 1, objects: [RowID] = [],
    _ message: String
  ) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.count = count
    self.objects = objects
    self.message = message
  }
}

extension StoreProblem {
  /// The message, and what helps.
  package var text: String { cure.advice.map { "\(message) \($0)" } ?? message }

  /// For those who are repairing the store.
  package var withoutCure: StoreProblem {
    var copy: StoreProblem = self
    copy.cure = .none
    return copy
  }

  /// The problem that an error of a damaged file is; nil for other errors.
  package init?(damage error: StoreError) {
    guard case .invalidFile(_, let reason, let cure) = error else { return nil }
    self.init(.damage, ErrorMessage.closed(reason))
    self.cure = cure
  }
}

/// Collects problems: those of one kind at one place are one.
package struct StoreProblems {
  package private(set) var all: [StoreProblem] = []
  private var places: [String: Int] = [:]

  package init() {}

  package mutating func add(_ problem: StoreProblem) {
    let name: String = "\(problem.kind) \(problem.entity ?? "").\(problem.property ?? "") \(problem.message)"
    guard let place = places[name] else {
      places[name] = all.count
      all.append(problem)
      return
    }
    all[place].count += problem.count
    let room: Int = max(0, StoreProblem.objectsKept - all[place].objects.count)
    all[place].objects += problem.objects.prefix(room)
  }
}

/// What a kind of store can find wrong with its own file, beyond rows and relationships.
package protocol StoreExamining {
  /// Examines the file: its integrity, its counters, the order of relationships, files of values. Throws only
  /// if that is impossible. Cost: reads the whole file.
  func ownProblems() throws -> [StoreProblem]
  /// Files of values that are missing, or that this process can't read. Cost: reads the attributes that may
  /// have such files, and looks at each file.
  func fileProblems() throws -> [StoreProblem]
  /// Values that read as others than the file has: text where a number belongs, a number that is too large
  /// for its attribute. By row. Cost: reads the attributes of all rows, once for each table if there are
  /// none.
  func misreadValues() throws -> [RowID: [UnwritableValue]]
  /// References to objects that are not there, one problem a property. Cost: a search for the target of each
  /// reference.
  func lostReferences() throws -> [StoreProblem]
  /// Of these the pairs of many-to-many relationships, which no list of members has. Cost: a search for both
  /// objects of each pair.
  func lostPairs() throws -> [StoreProblem]
  /// The keys of an entity's own rows as far as they can be read from a damaged file, in ascending order.
  func readableKeys(of entity: EntityLayout) throws -> [Int64]
  /// Rows of the store's tables that belong to no entity, or have keys that no object has, as far as they can
  /// be read from a damaged file.
  func unreachableRows() throws -> [UnreachableRows]
  /// Tables some of whose pages can't be read. Nothing for a store that was not opened to salvage.
  func damagedTables() throws -> [DamagedTable]
  /// Properties of the model that the store has no place for. Nothing for a store that was not opened to
  /// salvage: it could not be opened.
  func missingProperties() throws -> [MissingProperty]
  /// What could not be read of a file that was opened to salvage, and is not among the rows.
  func partsLeftOut() -> LeftOutParts
}

/// What a salvage found of a table with damaged pages.
package struct DamagedTable: Sendable, Equatable {
  package var table: String
  /// The root entity of the table's hierarchy; nil for a table of pairs.
  package var entity: String?
  /// Why none of its rows can be told, as the end of a sentence that begins with "its rows are lost"; nil for
  /// a table that only has damaged pages.
  package var reason: String?
  /// Nobody can say which rows they held.
  package var unreadablePages: Int
  /// Rows that were found, and are too damaged to be read.
  package var unreadableRows: Int = 0
  /// Those of them that are on pages of the table: others may be former versions.
  package var lostRows: Int = 0
  /// Pages that nothing refers to any more, and that had rows of the table.
  package var recoveredPages: Int = 0
  /// The rows that were read from these pages. They may be former versions.
  package var recoveredRows: Int = 0
  /// Their keys in ascending order; none for pairs.
  package var recoveredKeys: [Int64] = []

  package init(table: String, entity: String?, unreadablePages: Int, reason: String? = nil) {
    self.table = table
    self.reason = reason
    self.entity = entity
    self.unreadablePages = unreadablePages
  }
}

/// Rows of one table that stand for no object, for the same reason.
package struct UnreachableRows: Sendable, Equatable {
  package var kind: StoreProblem.Kind
  package var table: String
  /// The root entity of the table's hierarchy.
  package var entity: String
  /// In ascending order.
  package var keys: [Int64]
  /// What is wrong with the rows, as the end of a sentence that begins with them.
  package var reason: String

  package init(
    _ kind: StoreProblem.Kind, table: String, entity: String, keys: [Int64], reason: String
  ) {
    self.kind = kind
    self.table = table
    self.entity = entity
    self.keys = keys
    self.reason = reason
  }

  package var problem: StoreProblem {
    StoreProblem(
      kind, entity: entity, count: keys.count,
      "Rows in the table of \(entity) \(reason) (keys \(shownKeys())).")
  }

  /// The first keys, for a message.
  package func shownKeys(_ most: Int = StoreProblem.objectsKept) -> String {
    let list: String = keys.prefix(most).map(String.init).joined(separator: ", ")
    return keys.count > most ? "\(list), … (\(keys.count) rows)" : list
  }
}

extension StoreExamining {
  package func unreachableRows() throws -> [UnreachableRows] { [] }
  package func damagedTables() throws -> [DamagedTable] { [] }
  package func missingProperties() throws -> [MissingProperty] { [] }
  package func partsLeftOut() -> LeftOutParts { LeftOutParts() }
  package func ownProblems() throws -> [StoreProblem] { [] }
  package func fileProblems() throws -> [StoreProblem] { [] }
  package func misreadValues() throws -> [RowID: [UnwritableValue]] { [:] }
  package func lostReferences() throws -> [StoreProblem] { [] }
  package func lostPairs() throws -> [StoreProblem] { [] }
}

extension StoreExamining where Self: StoreOperations {
  package func readableKeys(of entity: EntityLayout) throws -> [Int64] {
    try RowScan(entity, in: self).keys
  }
}
