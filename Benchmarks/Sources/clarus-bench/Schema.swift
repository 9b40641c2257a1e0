import Foundation

/// The table all contestants use: Apple's layout of an entity `Item`. Clarus creates the file; the others
/// name its columns, and stop at once if one has another name.
enum Schema {
  /// The entity's number: it is the model's only one.
  static let entity: Int32 = 1

  static let columns: [String] = [
    "Z_PK", "Z_ENT", "Z_OPT", "ZNUMBER", "ZSECTION", "ZQUANTITY", "ZPRIORITY", "ZPRICE", "ZWEIGHT", "ZCODE",
    "ZTITLE", "ZNOTE", "ZDONE",
  ]

  static let select: String = "SELECT \(columns.joined(separator: ", ")) FROM ZITEM"

  static let insert: String =
    "INSERT INTO ZITEM (\(columns.joined(separator: ", "))) "
    + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"

  /// The cost of assigning keys: Clarus increments the same counter.
  static func keysTaken(_ count: Int) -> String {
    "UPDATE Z_PRIMARYKEY SET Z_MAX = \(count) WHERE Z_ENT = \(entity)"
  }

  /// The settings of every connection; the journal mode (WAL) is in the file.
  static let pragmas: String = "PRAGMA synchronous = NORMAL"
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
