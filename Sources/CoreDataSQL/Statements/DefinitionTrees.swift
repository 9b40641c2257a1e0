// The definitions of tables, indexes and triggers, as values.

/// `CREATE TABLE name (columns, PRIMARY KEY (…))`
package struct TableDefinition: Sendable, Hashable {
  package var name: String
  package var columns: [ColumnDefinition]
  /// For a key of several columns; a single one is marked as the key itself.
  package var primaryKey: [String] = []
  /// Blanks inside the outer parentheses, as Apple's text has them.
  package var isPadded: Bool = false

  package init(
    _ name: String, _ columns: [ColumnDefinition], primaryKey: [String] = [], isPadded: Bool = false
  ) {
    self.name = name
    self.columns = columns
    self.primaryKey = primaryKey
    self.isPadded = isPadded
  }
}

package struct ColumnDefinition: Sendable, Hashable {
  package var name: String
  /// As the layout spells it, with a collation if it has one.
  package var type: String
  package var isPrimaryKey: Bool = false
  package var isRequired: Bool = false
  package var standard: SQLExpression?
  package var reference: ReferenceDefinition?

  package init(
    _ name: String, _ type: String, isPrimaryKey: Bool = false, isRequired: Bool = false,
    standard: SQLExpression? = nil, reference: ReferenceDefinition? = nil
  ) {
    self.name = name
    self.type = type
    self.isPrimaryKey = isPrimaryKey
    self.isRequired = isRequired
    self.standard = standard
    self.reference = reference
  }
}

/// `REFERENCES table (column)`, checked when a transaction is committed.
package struct ReferenceDefinition: Sendable, Hashable {
  package var table: String
  package var column: String
  /// Whether the row is deleted with the row that it refers to.
  package var cascades: Bool

  package init(_ table: String, _ column: String, cascades: Bool) {
    self.table = table
    self.column = column
    self.cascades = cascades
  }
}

/// A constraint that is added to a table after its creation, because it may refer to tables created later.
///
///     ALTER TABLE item ADD CONSTRAINT item_category_fk FOREIGN KEY (category_id) REFERENCES category (_id) …
///     ALTER TABLE item ADD CONSTRAINT item_unique_code UNIQUE (code) …
package struct ConstraintDefinition: Sendable, Hashable {
  package enum Rule: Sendable, Hashable {
    case foreignKey(ReferenceDefinition)
    case unique
  }

  package var name: String
  package var table: String
  package var columns: [String]
  package var rule: Rule
}

/// `CREATE INDEX name ON table (columns) WHERE condition`
package struct IndexDefinition: Sendable, Hashable {
  package struct Column: Sendable, Hashable {
    package var value: SQLExpression
    /// As the layout spells it.
    package var collation: String?
    /// nil if the definition does not contain it.
    package var ascending: Bool?

    package init(_ value: SQLExpression, collation: String? = nil, ascending: Bool? = nil) {
      self.value = value
      self.collation = collation
      self.ascending = ascending
    }
  }

  package var name: String
  package var table: String
  package var columns: [Column]
  package var isUnique: Bool = false
  package var condition: SQLExpression = .truth(true)
}

/// An index of boxes: SQLite's table of the module `rtree`, with two columns for each number.
package struct RTreeDefinition: Sendable, Hashable {
  package var name: String
  package var key: String
  package var bounds: [String]
}

/// `CREATE TRIGGER name AFTER event ON table FOR EACH ROW WHEN (condition) BEGIN …; END`
package struct TriggerDefinition: Sendable, Hashable {
  package enum Event: Sendable, Hashable {
    case insert, delete
    /// An update of these columns, or of any.
    case update(of: [String])
  }

  package var name: String
  /// Whether it belongs to one connection, and never to the file.
  package var isTemporary: Bool = false
  package var event: Event
  package var table: String
  package var condition: SQLExpression?
  package var body: [RowTree]
  /// Whether a blank precedes each semicolon too.
  package var hasWideSemicolons: Bool = false
}

/// Any statement that changes a schema.
package enum SchemaTree: Sendable, Hashable {
  case table(TableDefinition)
  case constraint(ConstraintDefinition)
  case index(IndexDefinition)
  case rTree(RTreeDefinition)
  case trigger(TriggerDefinition)
  /// `CREATE SEQUENCE name INCREMENT BY step`: allocates keys, in databases that have sequences.
  case sequence(String, step: Int)
  /// `CREATE VIEW name AS select`
  case view(String, SelectStatement)
}
