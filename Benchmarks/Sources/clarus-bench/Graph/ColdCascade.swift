import CoreData
import Foundation
import GRDB

// Folders are deleted whose documents are in the file only. Objects are told of their deletion and are in the
// notifications, with their values, and a row that somebody else has changed since it was read is not
// deleted: "row by row" is what C does for the same, without objects. "By query" deletes documents by their
// folder's key, and knows afterwards neither which they were nor whether they had changed.

extension GraphSuite {
  func raceCold(_ template: URL) throws -> Race.Outcome {
    try race(.cold, .delete).run([
      saving("C sqlite3, by query", against: nil, template) { try FolderFloor(store: $0, change: .delete) },
      saving("C sqlite3, row by row", against: "C sqlite3, by query", template) {
        try FolderRowFloor(store: $0, knowsDocuments: false)
      },
      saving("GRDB, by query", against: "C sqlite3, by query", template) { try ColdRecords(store: $0) },
      saving("Clarus", against: "C sqlite3, row by row", template) { try ColdFolders(store: $0) },
    ])
  }
}

/// Clarus, the folders fetched before the clock starts.
private struct ColdFolders: GraphSaver {
  private let container: NSPersistentContainer
  private let context: NSManagedObjectContext
  private let folders: [BenchFolder]

  init(store: URL) throws {
    container = try BenchStore.open(store, BenchStore.model("Folders"))
    context = container.newBackgroundContext()
    folders = try context.performAndWait { [context] in
      let request: NSFetchRequest<BenchFolder> = BenchFolder.fetchRequest()
      request.returnsObjectsAsFaults = false
      return try context.fetch(request)
    }
  }

  func run() throws {
    try context.performAndWait {
      for folder in folders { context.delete(folder) }
      try context.save()
    }
  }

  func close() throws {
    context.performAndWait { context.reset() }
    try BenchStore.close(container)
  }
}

/// GRDB: a query for each folder's documents, and one for the folder.
private struct ColdRecords: GraphSaver {
  private let queue: DatabaseQueue
  private let folders: [Int64]

  init(store: URL) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { try $0.execute(sql: Schema.pragmas) }
    queue = try DatabaseQueue(path: store.path, configuration: configuration)
    folders = try queue.read { try Int64.fetchAll($0, sql: "SELECT Z_PK FROM ZFOLDER") }
  }

  func run() throws {
    try queue.write { database in
      let documents: Table<Row> = Table("ZDOCUMENT")
      let owners: Table<Row> = Table("ZFOLDER")
      for folder in folders {
        try documents.filter(Column("ZFOLDER") == folder).deleteAll(database)
        try owners.filter(Column("Z_PK") == folder).deleteAll(database)
      }
    }
  }

  func close() throws { try queue.close() }
}
