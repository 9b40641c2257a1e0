import CoreDataModel
import CoreDataStorage

/// The names Apple's SQLite layout gives to tables and columns.
///
///     entity User                     ZUSER
///     attribute name                  ZNAME
///     to-one owner                    ZOWNER, Z<n>_OWNER (n: of the declared destination), Z_FOK_OWNER
///     to-many without inverse         Z<n>DOCUMENTS in the members' table (n: of the declaring entity)
///     many-to-many tags ↔ carePlans   Z_1TAGS (Z_1CAREPLANS, Z_13TAGS), Z_FOK_13TAGS
///     element city of address         ZADDRESS_CITY (Decisions/0023)
///
/// Two sub-entities of one table may need the same name; the later one, in depth-first order, gets a number:
/// `ZTEXT1`.
enum AppleNames {
  static func upper(_ name: String) -> String { name.uppercased() }
  static func table(_ entity: String) -> String { "Z" + upper(entity) }
  /// The name of an element is its path.
  static func column(_ property: String) -> String {
    "Z" + upper(property.contains(".") ? property.replacing(".", with: "_") : property)
  }
  static func toOneEntity(_ property: String, destination: Int) -> String {
    "Z\(destination)_" + upper(property)
  }
  static func order(_ property: String) -> String { "Z_FOK_" + upper(property) }
  static func hiddenKey(_ property: String, source: Int) -> String { "Z\(source)" + upper(property) }
  static func hiddenOrder(_ property: String, source: Int) -> String {
    "Z_FOK_\(source)" + upper(property)
  }
  static func joinTable(_ property: String, owner: Int) -> String { "Z_\(owner)" + upper(property) }
  static func joinKey(_ property: String, entity: Int) -> String { "Z_\(entity)" + upper(property) }
  static func joinOrder(of key: String) -> String {
    "Z_FOK_" + (key.hasPrefix("Z_") ? String(key.dropFirst(2)) : key)
  }
  static let reflexive: String = "REFLEXIVE"

  /// The table of an R-tree index.
  static func rTree(_ index: String, of entity: String) -> String { "Z_RT_\(entity)_\(index)" }
  /// A trigger that updates a derived attribute.
  static func derivation(_ attribute: String, of entity: String, watching table: String, _ suffix: String)
    -> String
  {
    "Z_DA_\(table)_\(entity)_\(attribute)_\(suffix)"
  }

  /// Whether a folded name is that of an R-tree, or of a trigger that updates R-trees or derived attributes.
  static func isTree(_ folded: String) -> Bool { folded.hasPrefix("Z_RT_") }
  static func isTrigger(_ folded: String) -> Bool { isTree(folded) || folded.hasPrefix("Z_DA_") }
  /// Whether a folded name may be that of an index of the layout.
  static func isIndex(_ folded: String) -> Bool { folded.hasPrefix("Z") }

  /// The names of columns and tables in a migration, between their former and their new ones.
  static func formerColumn(_ number: Int) -> String { "Z_FORMER_\(number)" }
  static func formerTable(_ number: Int) -> String { "Z_FORMER_TABLE_\(number)" }

  static let key: String = "Z_PK"
  static let entityNumber: String = "Z_ENT"
  static let version: String = "Z_OPT"
  static let fixedColumns: [String] = [key, entityNumber, version]
  static let keyType: String = "INTEGER"

  static func type(_ kind: ColumnKind) -> String {
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne: "INTEGER"
    case .double, .float: "FLOAT"
    case .date: "TIMESTAMP"
    case .decimal: "DECIMAL"
    case .string, .uri: "VARCHAR"
    case .uuid, .data, .transformable: "BLOB"
    }
  }
}
