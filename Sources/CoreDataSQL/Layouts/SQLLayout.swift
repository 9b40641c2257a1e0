import CoreDataModel
import CoreDataStorage

/// How entities and attributes become tables and columns: every name, every type, and how values are encoded.
/// ``SchemaBuilder`` uses it to fill a ``StoreSchema``; compilers then use the schema only.
///
/// Two layouts exist: Apple's, which SQLite files have, and a readable one for servers (Decisions/0059).
package protocol SQLLayout: Sendable {
  /// The dialect of the layout's databases.
  var dialect: any SQLDialect { get }
  var encoding: any ValueEncoding { get }

  // MARK: Tables

  func table(_ entity: String) -> String
  /// Names that must not be used for an entity's table.
  var reservedTables: [String] { get }
  var key: String { get }
  var version: String { get }
  /// The column with the number of a row's entity; nil if an entity without sub-entities needs none.
  func entityNumber(hasSubentities: Bool) -> String?
  /// Names that must not be used for a property's column.
  var fixedColumns: [String] { get }

  // MARK: Columns

  /// The name of a composite attribute's element is its path.
  func attribute(_ name: String) -> String
  func toOneKey(_ name: String) -> String
  /// `destination`: the number of the declared destination.
  func toOneEntity(_ name: String, destination: Int) -> String
  /// The position among the members of an ordered inverse.
  func toOneOrder(_ name: String) -> String
  /// The owner's key in the members' table of a to-many without inverse. `source`: the number of the
  /// declaring entity.
  func hiddenKey(_ name: String, of entity: String, source: Int) -> String
  func hiddenOrder(_ name: String, of entity: String, source: Int) -> String

  // MARK: Join tables

  func joinTable(_ name: String, of entity: String, owner: Int) -> String
  /// The column with the keys of the entity that the relationship leads to.
  func joinKey(_ name: String, of entity: String, number: Int) -> String
  /// The second column of a relationship that is its own inverse; nil if it follows the rule of the others.
  var reflexiveKey: String? { get }
  func joinOrder(of key: String) -> String
  /// Whether no two join tables have a column of the same name.
  var joinKeysAreUnique: Bool { get }

  // MARK: Types and order

  func type(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> String
  /// Columns of a lower rank come first.
  func rank(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> Int
  /// The name of the n-th property (from 1) of several that need the same name.
  func numbered(_ name: String, _ number: Int) -> String
  /// A name that the database accepts.
  func fitted(_ name: String) -> String
}

extension StoreSchema {
  /// The schema of a fresh store.
  ///
  /// `entities`: names of the entities of the store's configuration, nil for all.
  package init(layout: ModelLayout, rules: any SQLLayout, entities: Set<String>? = nil) {
    self = SchemaBuilder(
      layout: layout, rules: rules, entities: entities, numbers: layout.entities.map { $0.index + 1 }
    ).build()
  }
}

/// The names already used; a name that differs only in case gets a number.
struct NamePool {
  private let rules: any SQLLayout
  private var taken: Set<String>

  init(_ rules: any SQLLayout, reserved: [String] = []) {
    self.rules = rules
    taken = Set(reserved.map(DatabaseNames.fold))
  }

  mutating func claim(_ name: String) -> String {
    var candidate: String = rules.fitted(name)
    var number: Int = 0
    while !taken.insert(DatabaseNames.fold(candidate)).inserted {
      number += 1
      candidate = rules.fitted(rules.numbered(name, number))
    }
    return candidate
  }
}
