import CoreData
import Foundation

/// The stack, as Xcode's template has it in the app's delegate.
class AppDelegate: NSObject {
  lazy var persistentContainer: NSPersistentContainer = {
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: AppDelegate.model)
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores(completionHandler: { (storeDescription, error) in
      if let error = error as NSError? {
        fatalError("Unresolved error \(error), \(error.userInfo)")
      }
    })
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    return container
  }()

  func saveContext() {
    let context = persistentContainer.viewContext
    if context.hasChanges {
      do {
        try context.save()
      } catch {
        let nserror = error as NSError
        fatalError("Unresolved error \(nserror), \(nserror.userInfo)")
      }
    }
  }
}

@objc(Note)
public class Note: NSManagedObject {
  @NSManaged public var title: String?
  @NSManaged public var text: String?
  @NSManaged public var createdAt: Date?
  @NSManaged public var isPinned: Bool
  @NSManaged public var rating: Int16
  @NSManaged public var folder: Folder?

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Note> {
    return NSFetchRequest<Note>(entityName: "Note")
  }

  public override func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(Date(), forKey: "createdAt")
  }

  public override func willSave() {
    super.willSave()
    if let text = text, primitiveValue(forKey: "title") == nil {
      setPrimitiveValue(String(text.prefix(20)), forKey: "title")
    }
  }

  @objc func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let title = value.pointee as? String else { return }
    let trimmed = title.trimmingCharacters(in: .whitespaces)
    if trimmed.isEmpty {
      throw NSError(
        domain: "Notes", code: NSManagedObjectValidationError,
        userInfo: [NSLocalizedDescriptionKey: "A note needs a title.", NSValidationKeyErrorKey: "title"])
    }
    if trimmed != title { value.pointee = trimmed as NSString }
  }

  public override func validateForInsert() throws {
    try super.validateForInsert()
    if rating > 5 { throw CocoaError(.validationNumberTooLarge) }
  }
}

public class Folder: NSManagedObject {
  @NSManaged public var name: String
  @NSManaged public var notes: NSSet?

  @NSManaged public func addToNotes(_ value: Note)
  @NSManaged public func removeFromNotes(_ value: Note)
  @NSManaged public func addToNotes(_ values: NSSet)

  /// For the badge of a row.
  var titles: [String] {
    (notes as? Set<Note> ?? []).compactMap(\.title).sorted()
  }
}

extension Folder {
  /// What a table reads by its key path.
  @objc var badge: String { "\(titles.count) in \(name)" }
}

extension Note: Identifiable {}

/// Who wants to know of a list that has changed.
@objc protocol NoteListDelegate {
  @objc optional func listDidChange(_ list: NoteList)
  @objc optional func listDidEnd()
}

/// What a table of notes shows.
final class NoteList: NSObject, NSFetchedResultsControllerDelegate {
  let controller: NSFetchedResultsController<Note>
  var changes: [String] = []
  weak var delegate: NoteListDelegate?

  init(_ context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<Note> = Note.fetchRequest()
    request.predicate = NSPredicate(format: "isPinned == YES")
    request.sortDescriptors = [NSSortDescriptor(key: #keyPath(Note.title), ascending: true)]
    request.fetchBatchSize = 20
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    controller.delegate = self
    try controller.performFetch()
  }

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    changes.append("begin")
  }

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    let title: String = (anObject as? Note)?.title ?? ""
    switch type {
    case .insert: changes.append("insert \(title)")
    case .delete: changes.append("delete \(title)")
    case .update, .move: changes.append("update \(title)")
    @unknown default: changes.append("?")
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
    changes.append("end")
    delegate?.listDidChange?(self)
    delegate?.listDidEnd?()
  }
}

/// The label of a row, which follows its note.
final class NoteRow {
  var label: String = ""
  private var observation: NSKeyValueObservation?

  init(_ note: Note) {
    observation = note.observe(\.title, options: [.initial, .new]) { [weak self] note, _ in
      self?.label = note.title ?? "Untitled"
    }
  }
}
