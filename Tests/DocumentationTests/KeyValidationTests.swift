import CoreData
import Testing

// snippet key
final class Caption: NSManagedObject {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    if key == "text" { try validateManagedValue(&value, by: validateText) }
  }

  // Apple:  @objc func validateText(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws
  func validateText(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let text = value.pointee as? String else { return }
    guard !text.isEmpty else { throw CocoaError(.validationStringTooShort) }
    value.pointee = text.lowercased() as NSString
  }
}
// end

@MainActor struct KeyValidationTests {
  private func makeContext() throws -> NSManagedObjectContext {
    let entity = NSEntityDescription()
    entity.name = "Caption"
    entity.managedObjectClassName = NSStringFromClass(Caption.self)
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    entity.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `a method for one property replaces its value in a save, or refuses it`() throws {
    let context = try makeContext()
    let caption = Caption(context: context)
    try context.save()
    #expect(caption.value(forKey: "text") == nil)
    caption.setValue("Sunset", forKey: "text")
    try context.save()
    #expect(caption.value(forKey: "text") as? String == "sunset")
    caption.setValue("", forKey: "text")
    let error = #expect(throws: CocoaError.self) { try context.save() }
    #expect(error?.code == .validationStringTooShort)
    context.rollback()
    #expect(caption.value(forKey: "text") as? String == "sunset")
  }

  @Test func `values reach the method as objects, and stay as they were unless it sets one`() throws {
    let caption = Caption(context: try makeContext())
    let day = Date(timeIntervalSinceReferenceDate: 1000)
    for given in [nil, 7, 2.5, true, "text", day, Data([1]), UUID(), ["a"]] as [Any?] {
      var value: Any? = given
      var seen: AnyObject?
      caption.validateManagedValue(&value) { seen = $0.pointee }
      #expect((seen == nil) == (given == nil))
      #expect((value == nil) == (given == nil))
      if let given, let value { #expect(type(of: given) == type(of: value)) }
      caption.validateManagedValue(&value) { $0.pointee = nil }
      #expect(value == nil)
    }
    var number: Any? = 7
    caption.validateManagedValue(&number) { $0.pointee = (($0.pointee as? Int ?? 0) + 1) as NSNumber }
    #expect(number as? Int == 8)
    var date: Any? = day
    caption.validateManagedValue(&date) { if $0.pointee as? Date == day { $0.pointee = nil } }
    #expect(date == nil)
  }
}
