import CoreData
import Foundation

// The graph that is changed is in Models/Folders.xcdatamodel: folders, each with documents that are deleted
// with it; an index on the relationship, as every to-one has.

extension BenchFolder {
  static let membersEach: Int = 100
}

/// A context with every folder and document in memory, relationships included.
final class FolderStack {
  let context: NSManagedObjectContext
  let folders: [BenchFolder]
  let documents: [BenchDocument]
  private var made: [BenchDocument] = []
  private let container: NSPersistentContainer

  init(store: URL, undo: Bool = false) throws {
    container = try BenchStore.open(store, BenchStore.model("Folders"))
    context = container.newBackgroundContext()
    (folders, documents) = try context.performAndWait { [context] in
      let request: NSFetchRequest<BenchFolder> = BenchFolder.fetchRequest()
      request.relationshipKeyPathsForPrefetching = ["documents"]
      request.returnsObjectsAsFaults = false
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let folders: [BenchFolder] = try context.fetch(request)
      let rest: NSFetchRequest<BenchDocument> = BenchDocument.fetchRequest()
      rest.returnsObjectsAsFaults = false
      rest.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let documents: [BenchDocument] = try context.fetch(rest)
      guard folders.reduce(0, { $0 + $1.documents.count }) == documents.count else {
        throw BenchmarkError("documents without a folder")
      }
      if undo {
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
        context.undoManager?.beginUndoGrouping()
      }
      return (folders, documents)
    }
  }

  /// Makes the change and posts it, as the end of an event does.
  func apply(_ change: GraphChange) {
    context.performAndWait {
      switch change {
      case .set: for document in documents { document.number += 1 }
      case .move:
        for (place, document) in documents.enumerated() {
          document.folder = folders[GraphChange.newFolder(of: place, among: folders.count)]
        }
      case .link:
        made = documents.indices.map { place in
          let document = BenchDocument(context: context)
          document.number = Int64(documents.count + place)
          document.title = NewDocument.title
          document.folder = folders[GraphChange.newFolder(of: place, among: folders.count)]
          return document
        }
      case .delete: for folder in folders { context.delete(folder) }
      }
      context.processPendingChanges()
    }
  }

  func undo() {
    context.performAndWait {
      context.undoManager?.endUndoGrouping()
      context.undoManager?.undo()
      context.processPendingChanges()
    }
  }

  func save() throws { try context.performAndWait { try context.save() } }

  /// A checksum of the graph.
  var sum: Int {
    context.performAndWait {
      var sum = GraphSum()
      for (place, document) in (documents + made).enumerated()
      where document.managedObjectContext != nil && !document.isDeleted {
        sum.add(place, number: document.number, folder: document.folder?.number ?? -1)
      }
      return sum.value
    }
  }

  func close() throws {
    context.performAndWait {
      context.undoManager = nil
      context.reset()
    }
    try BenchStore.close(container)
  }

  /// Writes `count` documents and a hundredth as many folders.
  static func write(_ count: Int, to url: URL) throws {
    let container: NSPersistentContainer = try BenchStore.open(url, BenchStore.model("Folders"))
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      var folder: BenchFolder?
      for number in 0..<count {
        if number % BenchFolder.membersEach == 0 {
          folder = BenchFolder(context: context)
          folder?.number = Int64(number / BenchFolder.membersEach)
        }
        let document = BenchDocument(context: context)
        document.number = Int64(number)
        document.title = "Document \(number)"
        document.folder = folder
      }
      try context.save()
      context.reset()
    }
    try BenchStore.close(container)
  }
}
