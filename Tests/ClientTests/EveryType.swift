import CoreData

/// A class with an accessor of each type that fits its properties. Each key is used once, so that it is
/// checked for its type.
final class EveryType: NSManagedObject {
  enum Grade: Int16 {
    case low = 1
    case high = 2
  }
  enum Kind: String, CaseIterable { case plain, odd }
  struct Marks: OptionSet, Sendable {
    let rawValue: Int32
    static let first = Marks(rawValue: 1)
    static let second = Marks(rawValue: 2)
  }
  final class Spot: NSObject, NSSecureCoding {
    static let supportsSecureCoding: Bool = true
    let place: Int
    init(_ place: Int) { self.place = place }
    init?(coder: NSCoder) { place = coder.decodeInteger(forKey: "place") }
    func encode(with coder: NSCoder) { coder.encode(place, forKey: "place") }
    override func isEqual(_ object: Any?) -> Bool { (object as? Spot)?.place == place }
    override var hash: Int { place }
  }

  // Numbers.
  var i16: Int16 {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16Optional: Int16? {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16AsInt: Int {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16AsIntOptional: Int? {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16AsDouble: Double {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16Unsigned: UInt16 {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16Byte: UInt8? {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i16Number: NSNumber? {
    get { managedValue("i16") }
    set { setManagedValue(newValue, "i16") }
  }
  var i32: Int32 {
    get { managedValue("i32") }
    set { setManagedValue(newValue, "i32") }
  }
  var i32Optional: Int32? {
    get { managedValue("i32") }
    set { setManagedValue(newValue, "i32") }
  }
  var i32Unsigned: UInt16? {
    get { managedValue("i32") }
    set { setManagedValue(newValue, "i32") }
  }
  var i64: Int64 {
    get { managedValue("i64") }
    set { setManagedValue(newValue, "i64") }
  }
  var i64Optional: Int64? {
    get { managedValue("i64") }
    set { setManagedValue(newValue, "i64") }
  }
  var i64AsInt: Int {
    get { managedValue("i64") }
    set { setManagedValue(newValue, "i64") }
  }
  var i64Unsigned: UInt32 {
    get { managedValue("i64") }
    set { setManagedValue(newValue, "i64") }
  }
  var bool: Bool {
    get { managedValue("bool") }
    set { setManagedValue(newValue, "bool") }
  }
  var boolOptional: Bool? {
    get { managedValue("bool") }
    set { setManagedValue(newValue, "bool") }
  }
  var boolNumber: NSNumber? {
    get { managedValue("bool") }
    set { setManagedValue(newValue, "bool") }
  }
  var float: Float {
    get { managedValue("float") }
    set { setManagedValue(newValue, "float") }
  }
  var floatOptional: Float? {
    get { managedValue("float") }
    set { setManagedValue(newValue, "float") }
  }
  var double: Double {
    get { managedValue("double") }
    set { setManagedValue(newValue, "double") }
  }
  var doubleOptional: Double? {
    get { managedValue("double") }
    set { setManagedValue(newValue, "double") }
  }
  var decimal: NSDecimalNumber? {
    get { managedValue("decimal") }
    set { setManagedValue(newValue, "decimal") }
  }
  var decimalValue: Decimal {
    get { managedValue("decimal") }
    set { setManagedValue(newValue, "decimal") }
  }
  var decimalOptional: Decimal? {
    get { managedValue("decimal") }
    set { setManagedValue(newValue, "decimal") }
  }

  // Text, dates, bytes.
  var string: String? {
    get { managedValue("string") }
    set { setManagedValue(newValue, "string") }
  }
  var stringRequired: String {
    get { managedValue("string") }
    set { setManagedValue(newValue, "string") }
  }
  var stringObject: NSString? {
    get { managedValue("string") }
    set { setManagedValue(newValue, "string") }
  }
  var date: Date? {
    get { managedValue("date") }
    set { setManagedValue(newValue, "date") }
  }
  var dateRequired: Date {
    get { managedValue("date") }
    set { setManagedValue(newValue, "date") }
  }
  var dateObject: NSDate? {
    get { managedValue("date") }
    set { setManagedValue(newValue, "date") }
  }
  var dateScalar: TimeInterval {
    get { managedValue("date") }
    set { setManagedValue(newValue, "date") }
  }
  var data: Data? {
    get { managedValue("data") }
    set { setManagedValue(newValue, "data") }
  }
  var dataRequired: Data {
    get { managedValue("data") }
    set { setManagedValue(newValue, "data") }
  }
  var dataObject: NSData? {
    get { managedValue("data") }
    set { setManagedValue(newValue, "data") }
  }
  var uuid: UUID? {
    get { managedValue("uuid") }
    set { setManagedValue(newValue, "uuid") }
  }
  var uuidRequired: UUID {
    get { managedValue("uuid") }
    set { setManagedValue(newValue, "uuid") }
  }
  var uuidObject: NSUUID? {
    get { managedValue("uuid") }
    set { setManagedValue(newValue, "uuid") }
  }
  var url: URL? {
    get { managedValue("url") }
    set { setManagedValue(newValue, "url") }
  }
  var urlRequired: URL {
    get { managedValue("url") }
    set { setManagedValue(newValue, "url") }
  }
  var urlObject: NSURL? {
    get { managedValue("url") }
    set { setManagedValue(newValue, "url") }
  }

  // Raw values.
  var grade: Grade {
    get { managedValue("grade") }
    set { setManagedValue(newValue, "grade") }
  }
  var gradeOptional: Grade? {
    get { managedValue("grade") }
    set { setManagedValue(newValue, "grade") }
  }
  var kind: Kind? {
    get { managedValue("kind") }
    set { setManagedValue(newValue, "kind") }
  }
  var marks: Marks {
    get { managedValue("marks") }
    set { setManagedValue(newValue, "marks") }
  }

  // What transformable and composite attributes hold.
  var words: [String]? {
    get { managedValue("words") }
    set { setManagedValue(newValue, "words") }
  }
  var wordsRequired: [String] {
    get { managedValue("words") }
    set { setManagedValue(newValue, "words") }
  }
  var spot: Spot? {
    get { managedValue("spot") }
    set { setManagedValue(newValue, "spot") }
  }
  var spotObject: NSObject? {
    get { managedValue("spot") }
    set { setManagedValue(newValue, "spot") }
  }
  var anything: Any? {
    get { managedObjectValue("spot") }
    set { setManagedObjectValue(newValue, "spot") }
  }
  var address: [String: Any]? {
    get { managedValue("address") }
    set { setManagedValue(newValue, "address") }
  }

  // Relationships.
  var owner: EveryType? {
    get { managedObject("owner") }
    set { setManagedObject(newValue, "owner") }
  }
  var ownerRequired: EveryType {
    get { managedObject("owner") }
    set { setManagedObject(newValue, "owner") }
  }
  var ownerForced: EveryType {
    get { managedObject("owner")! }
    set { setManagedObject(newValue, "owner") }
  }
  var ownerAsValue: EveryType? {
    get { managedValue("owner") }
    set { setManagedValue(newValue, "owner") }
  }
  var members: Set<EveryType> {
    get { managedSet("members") }
    set { setManagedMembers(newValue, "members") }
  }
  var membersOptional: Set<EveryType>? {
    get { managedSet("members") }
    set { setManagedMembers(newValue, "members") }
  }
  var membersSet: NSSet? {
    get { managedSet("members") }
    set { setManagedMembers(newValue, "members") }
  }
  var membersSetRequired: NSSet {
    get { managedSet("members") }
    set { setManagedMembers(newValue, "members") }
  }
  var membersAsValue: Set<EveryType>? {
    get { managedValue("members") }
    set { setManagedValue(newValue, "members") }
  }
  var parts: [EveryType] {
    get { managedArray("parts") }
    set { setManagedMembers(newValue, "parts") }
  }
  var partsOptional: [EveryType]? {
    get { managedArray("parts") }
    set { setManagedMembers(newValue, "parts") }
  }
  var partsSet: NSOrderedSet? {
    get { managedOrderedSet("parts") }
    set { setManagedMembers(newValue, "parts") }
  }
  var partsSetRequired: NSOrderedSet {
    get { managedOrderedSet("parts") }
    set { setManagedMembers(newValue, "parts") }
  }
  var partsAsValue: [EveryType]? {
    get { managedValue("parts") }
    set { setManagedValue(newValue, "parts") }
  }
  var partsSetAsValue: NSOrderedSet? {
    get { managedValue("parts") }
    set { setManagedValue(newValue, "parts") }
  }

  // By key-value coding.
  var codedNumber: Int32 {
    get { value(forKey: "i32") as! Int32 }
    set { setValue(newValue, forKey: "i32") }
  }
  var codedDate: Date {
    get { value(forKey: "date") as! Date }
    set { setValue(newValue, forKey: "date") }
  }
  var codedURL: URL {
    get { value(forKey: "url") as! URL }
    set { setValue(newValue, forKey: "url") }
  }
  var codedData: Data {
    get { (managedValue("data") as Data?) ?? Data() }
    set { setManagedValue(newValue, "data") }
  }
  var codedSet: NSSet {
    get { (value(forKey: "members") as? NSSet) ?? NSSet() }
    set { setValue(newValue, forKey: "members") }
  }
  var codedOwner: EveryType {
    get { value(forKey: "owner") as! EveryType }
    set { setValue(newValue, forKey: "owner") }
  }
  var codedMembers: Set<EveryType> {
    get { value(forKey: "members") as! Set<EveryType> }
    set { setValue(newValue, forKey: "members") }
  }
  var codedWords: [String] {
    get { (value(forKey: "words") as? [String]) ?? [] }
    set { setValue(newValue, forKey: "words") }
  }
  /// Something is made of the value, so that this has no name in key paths; trying it out must not
  /// stop all the same.
  var memberCount: Int { (value(forKey: "members") as! NSSet).count }
  var yearOfDate: Int { Int((value(forKey: "date") as! Date).timeIntervalSinceReferenceDate) }
  var lengthOfText: Int { (value(forKey: "string") as! String).count }

  // MARK: Model

  static let attributes: [(String, NSAttributeType)] = [
    ("i16", .integer16AttributeType), ("i32", .integer32AttributeType), ("i64", .integer64AttributeType),
    ("bool", .booleanAttributeType), ("float", .floatAttributeType), ("double", .doubleAttributeType),
    ("decimal", .decimalAttributeType), ("string", .stringAttributeType), ("date", .dateAttributeType),
    ("data", .binaryDataAttributeType), ("uuid", .UUIDAttributeType), ("url", .URIAttributeType),
    ("grade", .integer16AttributeType), ("kind", .stringAttributeType), ("marks", .integer32AttributeType),
    ("words", .transformableAttributeType), ("spot", .transformableAttributeType),
  ]

  static func makeModel() -> NSManagedObjectModel {
    let entity = NSEntityDescription()
    entity.name = "EveryType"
    entity.managedObjectClassName = NSStringFromClass(EveryType.self)
    var properties: [NSPropertyDescription] = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      if type == .transformableAttributeType { attribute.valueTransformerName = "NSSecureUnarchiveFromData" }
      return attribute
    }
    let city = NSAttributeDescription()
    city.name = "city"
    city.attributeType = .stringAttributeType
    let address = NSCompositeAttributeDescription()
    address.name = "address"
    address.isOptional = true
    address.elements = [city]
    properties.append(address)
    let made: [NSRelationshipDescription] = [("owner", 1, false), ("members", 0, false), ("parts", 0, true)]
      .map {
        let relationship = NSRelationshipDescription()
        relationship.name = $0.0
        relationship.destinationEntity = entity
        relationship.maxCount = $0.1
        relationship.isOrdered = $0.2
        relationship.isOptional = true
        return relationship
      }
    made[0].inverseRelationship = made[1]
    made[1].inverseRelationship = made[0]
    let whole = NSRelationshipDescription()
    whole.name = "whole"
    whole.destinationEntity = entity
    whole.maxCount = 1
    whole.isOptional = true
    whole.inverseRelationship = made[2]
    made[2].inverseRelationship = whole
    entity.properties = properties + made + [whole]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  static func makeContext(_ type: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    let file: URL = FileManager.default.temporaryDirectory.appendingPathComponent(
      "types-\(UUID().uuidString).sqlite")
    try coordinator.addPersistentStore(
      ofType: type, configurationName: nil, at: type == NSInMemoryStoreType ? nil : file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }
}
