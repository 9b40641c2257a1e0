import CoreDataModel
import CoreDataStorage

extension StoreSchema {
  /// The schema of a fresh store in Apple's layout.
  ///
  /// `entities`: names of the entities of the store's configuration, nil for all.
  package init(layout: ModelLayout, entities: Set<String>? = nil) throws {
    self.init(layout: layout, rules: AppleLayout(), entities: entities)
  }
}

/// The layout of Apple's SQLite files. ``AppleNames`` defines the names, ``AppleEncoding`` the values.
package struct AppleLayout: SQLLayout {
  package init() {}

  package var dialect: any SQLDialect { SQLiteDialect() }
  package var encoding: any ValueEncoding { AppleEncoding() }

  package func table(_ entity: String) -> String { AppleNames.table(entity) }
  package var reservedTables: [String] { AppleBookkeeping.tables }
  package var key: String { AppleNames.key }
  package var version: String { AppleNames.version }
  package func entityNumber(hasSubentities: Bool) -> String? { AppleNames.entityNumber }
  package var fixedColumns: [String] { AppleNames.fixedColumns }

  package func attribute(_ name: String) -> String { AppleNames.column(name) }
  package func toOneKey(_ name: String) -> String { AppleNames.column(name) }
  package func toOneEntity(_ name: String, destination: Int) -> String {
    AppleNames.toOneEntity(name, destination: destination)
  }
  package func toOneOrder(_ name: String) -> String { AppleNames.order(name) }
  package func hiddenKey(_ name: String, of entity: String, source: Int) -> String {
    AppleNames.hiddenKey(name, source: source)
  }
  package func hiddenOrder(_ name: String, of entity: String, source: Int) -> String {
    AppleNames.hiddenOrder(name, source: source)
  }

  package func joinTable(_ name: String, of entity: String, owner: Int) -> String {
    AppleNames.joinTable(name, owner: owner)
  }
  package func joinKey(_ name: String, of entity: String, number: Int) -> String {
    AppleNames.joinKey(name, entity: number)
  }
  package var reflexiveKey: String? { AppleNames.reflexive }
  package func joinOrder(of key: String) -> String { AppleNames.joinOrder(of: key) }
  package var joinKeysAreUnique: Bool { true }

  package func type(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> String {
    purpose == .attribute ? AppleNames.type(kind) : AppleNames.keyType
  }

  /// Integers together with the to-one columns of the same entity, order and hidden keys, floats and dates,
  /// decimals, text, URIs, UUIDs, transformables, binary data.
  package func rank(_ purpose: ColumnSchema.Purpose, _ kind: ColumnKind) -> Int {
    switch purpose {
    case .toOneKey, .toOneEntity: return 0
    case .order, .hiddenKey: return 1
    case .attribute: break
    }
    switch kind {
    case .int16, .int32, .int64, .bool, .toOne: return 0
    case .double, .float, .date: return 2
    case .decimal: return 3
    case .string: return 4
    case .uri: return 5
    case .uuid: return 6
    case .transformable: return 7
    case .data: return 8
    }
  }

  package func numbered(_ name: String, _ number: Int) -> String { "\(name)\(number)" }
  package func fitted(_ name: String) -> String { name }
}
