import CoreData
import Foundation
import TestSupport
import Testing

/// The ways in which stores wait for their readers and writers.
public enum StoreSetting: String, CaseIterable, Codable, Sendable, CustomTestStringConvertible {
  case wal, rollbackJournal, nowhere, inMemory, xml, binary, atomic, incremental

  /// As those of `StoreKind`.
  public static let allCases: [StoreSetting] = Soak.isOn ? every : composite
  public static let every: [StoreSetting] = composite + [.xml, .binary]
  public static let ofProgram: [StoreSetting] = [.atomic, .incremental]
  public static let composite: [StoreSetting] = [.wal, .rollbackJournal, .nowhere, .inMemory]

  public var testDescription: String { rawValue }
  public var kind: StoreKind {
    switch self {
    case .wal, .rollbackJournal, .nowhere: .sqlite
    case .inMemory: .inMemory
    case .xml: .xml
    case .binary: .binary
    case .atomic: .atomic
    case .incremental: .incremental
    }
  }

  /// The usual setting of a kind.
  public init(_ kind: StoreKind) {
    self =
      switch kind {
      case .sqlite: .wal
      case .sqliteInMemory: .nowhere
      case .inMemory: .inMemory
      case .xml: .xml
      case .binary: .binary
      case .atomic: .atomic
      case .incremental: .incremental
      }
  }
  /// Those that several coordinators, or plain SQL, can reach.
  public static let files: [StoreSetting] = [.wal, .rollbackJournal]

  @discardableResult
  public func addStore(
    to coordinator: NSPersistentStoreCoordinator, in folder: TemporaryFolder, named name: String = "World"
  ) throws -> NSPersistentStore {
    let url: URL? =
      switch self {
      case .wal, .rollbackJournal: folder.file("\(name).sqlite")
      case .nowhere: URL(fileURLWithPath: "/dev/null")
      case .inMemory, .xml, .binary, .atomic, .incremental: kind.url(name, in: folder)
      }
    return try coordinator.addPersistentStore(
      ofType: kind.type, configurationName: nil, at: url,
      options: self == .rollbackJournal ? [NSSQLitePragmasOption: ["journal_mode": "DELETE"]] : nil)
  }
}
