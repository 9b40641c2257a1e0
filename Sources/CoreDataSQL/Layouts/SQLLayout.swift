import CoreDataModel
import CoreDataStorage

/// How entities and attributes become tables and columns: every name, every type, and how values are encoded.
/// ``SchemaBuilder`` asks it while it fills a ``StoreSchema``; compilers then know the schema only.
///
/// Two layouts exist: Apple's, which SQLite files have, and a readable one for servers (Decisions/0059).
package protocol SQLLayout: Sendable {
  /// What the layout's databases understand.
  var dialect: any SQLDialect { get }
  var encoding: any ValueEncoding { get }

  // MARK: Tables

  func table(_ entity: String) -> String
  /// Names that no entity's table gets.
  var reservedTables: [String] { get }
  var key: String { get }
  var version: String { get }
  /// The column that tells the entity of a row; nil where a lone entity needs none.
  func entityNumber(hasSubentities: Bool) -> String?
  /// Names that no property's column gets.
  var fixedColumns: [String] { get }

  // MARK: Columns

  /// Of an element of a composite attribute the name is its path.
  func attribute(_ name: String) -> String
  func toOneKey(_ name: String) -> String
  /// `destination`: the number of the declared destination.
  func toOneEntity(_ name: String, destination: Int) -> String
  /// The place among the members of an ordered inverse.
  func toOneOrder(_ name: String) -> String
  /// The owner's key in the members' table of a to-many without inverse. `source`: the number of the entity
  /// that declares it.
  func hiddenKey(_ name: String, of entity: String, source: Int) -> String
  func hiddenOrder(_ name: String, of entity: String, source: Int) -> String

  // MARK: Join tables

  func joinTable(_ name: String, of entity: String, owner: Int) -> String
  /// The column with the keys of an entity, to which the relationship leads.
  func joinKey(_ name: String, of entity: String, number: Int) -> String
  /// The second column of a relationship that is its own inverse; nil if it is named as others are.
  var reflexiveKey: String? { get }
  func joinOrder(of key: String) -> String
  /// Whether no two join tables have a column of the same name.
  var joinKeysAreUnique: Bool { get }

  // MARK: Types and order

  func type(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> String
  /// Columns of a lower rank come first.
  func rank(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> Int
  /// The name that the n-th property (from 1) of those gets that ask for a name that is taken.
  func numbered(_ name: String, _ number: Int) -> String
  /// A name that the database can hold.
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

/// Names already given out; the next one with the same letters gets a number.
struct NamePool {
  private let rules: any SQLLayout
  private var taken: Set<String>

  init(_ rules: any SQLLayout, reserved: [String] = []) {
    self.rules = rules
    taken = Set(reserved.map(DatabaseNames.fold))
  }

  mutating func take(_ name: String) -> String {
    var candidate: String = rules.fitted(name)
    var number: Int = 0
    while !taken.insert(DatabaseNames.fold(candidate)).inserted {
      number += 1
      candidate = rules.fitted(rules.numbered(name, number))
    }
    return candidate
  }
}
