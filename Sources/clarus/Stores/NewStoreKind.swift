import CoreDataGraph
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The kind of a store to be made.
enum NewStoreKind {
  /// What endings name which kind, for a command's help.
  static var endings: String {
    StoreRegistry.fileKinds.map { kind in
      "\(kind.fileEndings.map { ".\($0)" }.joined(separator: ", ")): \(kind.type.lowercased())"
    }.joined(separator: "; ")
  }

  /// The names that `--to` accepts.
  static var names: [String] { StoreRegistry.fileKinds.map { $0.type.lowercased() } }

  /// The kind with that name; without a name the one that the file's ending names, or else the source's.
  static func choose(_ name: String?, path: String, source: any StoreEngineKind) throws -> any StoreEngineKind
  {
    let kinds: [any StoreEngineKind] = StoreRegistry.fileKinds
    guard let name else {
      let ending: String = URL(fileURLWithPath: path).pathExtension.lowercased()
      return kinds.first { $0.fileEndings.contains(ending) } ?? source
    }
    guard let kind = kinds.first(where: { $0.type.lowercased() == name.lowercased() }) else {
      throw CommandFailure(
        "--to: There is no kind \"\(name)\". \(NearestNames.advice(for: name, among: names))")
    }
    return kind
  }

  /// The kind of a new store that nothing else decides.
  static func standard() throws -> any StoreEngineKind {
    guard let kind = StoreRegistry.fileKind(ofType: NSSQLiteStoreType) else {
      throw CommandFailure("There is no kind of stores that are files.")
    }
    return kind
  }
}
