import CoreData

extension AppDelegate {
  static let model: NSManagedObjectModel = {
    func attribute(_ name: String, _ type: NSAttributeType, isOptional: Bool = true) -> NSAttributeDescription
    {
      let made = NSAttributeDescription()
      (made.name, made.attributeType, made.isOptional) = (name, type, isOptional)
      return made
    }
    let (note, folder) = (NSEntityDescription(), NSEntityDescription())
    (note.name, note.managedObjectClassName) = ("Note", "Note")
    (folder.name, folder.managedObjectClassName) = ("Folder", "Folder")
    let (owner, notes) = (NSRelationshipDescription(), NSRelationshipDescription())
    (owner.name, owner.destinationEntity, owner.maxCount) = ("folder", folder, 1)
    (notes.name, notes.destinationEntity, notes.maxCount) = ("notes", note, 0)
    (owner.inverseRelationship, notes.inverseRelationship) = (notes, owner)
    note.properties = [
      attribute("title", .stringAttributeType, isOptional: false), attribute("text", .stringAttributeType),
      attribute("createdAt", .dateAttributeType), attribute("isPinned", .booleanAttributeType),
      attribute("rating", .integer16AttributeType), owner,
    ]
    folder.properties = [attribute("name", .stringAttributeType), notes]
    let model = NSManagedObjectModel()
    model.entities = [note, folder]
    return model
  }()
}

final class Counter: NSObject, NoteListDelegate {
  var count = 0

  func listDidChange(_ list: NoteList) { count += 1 }
}

let app = AppDelegate()
let context = app.persistentContainer.viewContext
let list = try NoteList(context)
let counter = Counter()
list.delegate = counter
let folder = Folder(context: context)
folder.name = "Home"
let first = Note(context: context)
first.text = "Water the plants before Friday"
first.isPinned = true
let row = NoteRow(first)
print(row.label)
first.title = "  Plants "
folder.addToNotes(first)
app.saveContext()
print(row.label, folder.titles, list.changes, first.createdAt == nil)
let second = Note(context: context)
second.title = "   "
do {
  try context.save()
} catch {
  print(error.localizedDescription)
}
second.title = "Second"
second.rating = 9
do {
  try context.save()
} catch {
  print((error as NSError).code == CocoaError.Code.validationNumberTooLarge.rawValue)
}
second.rating = 5
app.saveContext()
print(try context.count(for: Note.fetchRequest()), list.controller.fetchedObjects?.count ?? 0)
print(folder.value(forKey: #keyPath(Folder.badge)) ?? "none", counter.count)
