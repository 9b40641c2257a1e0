import CoreData
import Testing

// snippet hooks
final class Ticket: NSManagedObject {
  private static let titleKey = ManagedKey("title")
  private static let startKey = ManagedKey("start")
  private static let endKey = ManagedKey("end")

  var title: String? {
    get { managedValue(Self.titleKey) }
    set { setManagedValue(newValue, Self.titleKey) }
  }
  var start: Date? {
    get { managedValue(Self.startKey) }
    set { setManagedValue(newValue, Self.startKey) }
  }
  var end: Date? {
    get { managedValue(Self.endKey) }
    set { setManagedValue(newValue, Self.endKey) }
  }

  // One property. It may replace the value, or throw.
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    if key == "title", let text = value as? String { value = text.trimmingCharacters(in: .whitespaces) }
    try super.validateValue(&value, forKey: key)
  }

  // Several properties together.
  override func validateForInsert() throws {
    try super.validateForInsert()
    try checkDates()
  }

  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try checkDates()
  }

  private func checkDates() throws {
    guard let start, let end, end < start else { return }
    throw CocoaError(
      CocoaError.Code(rawValue: NSManagedObjectValidationError),
      userInfo: [
        NSLocalizedDescriptionKey: "A ticket can't end before it starts.",
        NSValidationObjectErrorKey: self, NSValidationKeyErrorKey: "end",
      ])
  }
}
// end

@MainActor @Suite struct ValidationTests {
  private func makeContext() throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Ticket"
    entity.managedObjectClassName = NSStringFromClass(Ticket.self)
    // snippet rules
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = false
    title.setValidationPredicates(
      [NSPredicate(format: "length <= 20")], withValidationWarnings: ["\(NSValidationStringTooLongError)"])
    // end
    let start = NSAttributeDescription()
    start.name = "start"
    start.attributeType = .dateAttributeType
    let end = NSAttributeDescription()
    end.name = "end"
    end.attributeType = .dateAttributeType
    entity.properties = [title, start, end]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `one error stands for itself`() throws {
    let context = try makeContext()
    let ticket = Ticket(context: context)
    ticket.title = "A title that is much too long"
    // snippet one
    do {
      try context.save()
    } catch let error as CocoaError {
      print(error.localizedDescription)  // a sentence for a person
      #expect(error.code.rawValue == NSValidationStringTooLongError)
      #expect(error.validationKey == "title")
      #expect(error.validationObject as? NSManagedObject === ticket)
    }
    // end
    #expect(context.hasChanges)
  }

  @Test func `several errors come together`() throws {
    let context = try makeContext()
    _ = Ticket(context: context)
    let second = Ticket(context: context)
    second.title = "Concert"
    second.start = Date(timeIntervalSince1970: 2000)
    second.end = Date(timeIntervalSince1970: 1000)
    var keys: [String] = []
    // snippet several
    do {
      try context.save()
    } catch let error as CocoaError where error.code.rawValue == NSValidationMultipleErrorsError {
      let errors = error.userInfo[NSDetailedErrorsKey] as? [CocoaError] ?? []
      keys = errors.compactMap(\.validationKey)
    }
    // end
    #expect(keys.sorted() == ["end", "title"])
  }

  @Test func `a hook replaces a value`() throws {
    let context = try makeContext()
    let ticket = Ticket(context: context)
    ticket.title = "  Opera "
    try context.save()
    #expect(ticket.title == "Opera")
  }

  @Test func `a value is asked about before it is set`() throws {
    let context = try makeContext()
    let ticket = Ticket(context: context)
    // snippet ask
    var value: Any? = "A title that is much too long"
    #expect(throws: CocoaError.self) { try ticket.validateValue(&value, forKey: "title") }
    // end
  }
}
