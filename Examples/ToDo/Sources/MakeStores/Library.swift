import CoreData

/// Writes the small store that ships with the project: books by well-known authors, facts of public record.
///
/// It has every common feature: a hierarchy (`AudioBook` is a `Book`), a to-one (`Book.genre`), a
/// many-to-many (`Book.authors`), dates, decimals, nil values, a fetch index, a uniqueness constraint.
@main
struct MakeStores {
  static func main() {
    guard let folder = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: make-stores FOLDER\n".utf8))
      exit(2)
    }
    do {
      try Library.write(to: URL(fileURLWithPath: folder).appendingPathComponent("Library.sqlite"))
    } catch {
      FileHandle.standardError.write(Data("make-stores: \(error)\n".utf8))
      exit(1)
    }
  }
}

enum Library {
  static func write(to url: URL) throws {
    let manager = FileManager.default
    for suffix in ["", "-wal", "-shm"] where manager.fileExists(atPath: url.path + suffix) {
      try manager.removeItem(atPath: url.path + suffix)
    }
    let container = NSPersistentContainer(name: "Library", managedObjectModel: LibraryModel.make())
    let description = NSPersistentStoreDescription(url: url)
    // A single file: no journal stays beside it.
    description.setValue("DELETE" as NSString, forPragmaNamed: "journal_mode")
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }

    let context: NSManagedObjectContext = container.viewContext
    var authors: [String: NSManagedObject] = [:]
    var genres: [String: NSManagedObject] = [:]
    for book in books {
      let object: NSManagedObject = NSEntityDescription.insertNewObject(
        forEntityName: book.narrator == nil ? "Book" : "AudioBook", into: context)
      object.setValue(book.title, forKey: "title")
      object.setValue(NSNumber(value: book.year), forKey: "firstPublished")
      object.setValue(book.pages.map { NSNumber(value: $0) }, forKey: "pages")
      if let narrator = book.narrator { object.setValue(narrator, forKey: "narrator") }
      let genre: NSManagedObject = named(book.genre, entity: "Genre", known: &genres, in: context)
      object.setValue(genre, forKey: "genre")
      let writers: [NSManagedObject] = book.authors.map { author in
        let object: NSManagedObject = named(author.name, entity: "Author", known: &authors, in: context)
        object.setValue(author.born.date, forKey: "born")
        object.setValue(author.died?.date, forKey: "died")
        return object
      }
      object.setValue(NSSet(array: writers), forKey: "authors")
    }
    try context.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    print("wrote \(url.path): \(books.count) books, \(authors.count) authors, \(genres.count) genres")
  }

  /// The object of that name, inserted at its first use.
  private static func named(
    _ name: String, entity: String, known: inout [String: NSManagedObject],
    in context: NSManagedObjectContext
  ) -> NSManagedObject {
    if let object = known[name] { return object }
    let object: NSManagedObject = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    object.setValue(name, forKey: "name")
    known[name] = object
    return object
  }
}

extension String {
  /// The date of `1815-12-10`, at noon UTC.
  var date: Date? { ISO8601DateFormatter().date(from: self + "T12:00:00Z") }
}
