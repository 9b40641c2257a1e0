import CoreData
import FormsBase

// Prints what is wrong, or nothing but a number of checks.

nonisolated(unsafe) var count = 0
func check(_ holds: Bool, _ text: String, line: Int = #line) {
  count += 1
  if !holds { print("line \(line): \(text)") }
}

func attribute(_ name: String, _ type: NSAttributeDescription.AttributeType) -> NSAttributeDescription {
  let made = NSAttributeDescription()
  made.name = name
  made.type = type
  made.isOptional = true
  return made
}

func entity(_ name: String, _ type: AnyClass) -> NSEntityDescription {
  let made = NSEntityDescription()
  made.name = name
  made.managedObjectClassName = String(reflecting: type)
  return made
}

func relationship(_ name: String, _ to: NSEntityDescription, many: Bool, ordered: Bool = false)
  -> NSRelationshipDescription
{
  let made = NSRelationshipDescription()
  made.name = name
  made.destinationEntity = to
  made.maxCount = many ? 0 : 1
  made.isOrdered = ordered
  made.isOptional = true
  made.deleteRule = .nullifyDeleteRule
  return made
}

let item = entity("Item", Item.self)
let special = entity("Special", Special.self)
let tag = entity("Tag", Tag.self)
let box = entity("Box", Box.self)
let shelf = entity("Shelf", Shop.Shelf.self)
let board = entity("Board", Shop.Board.self)
item.properties = [
  attribute("name", .string), attribute("rank", .integer16), attribute("made", .date),
  attribute("int16", .integer16), attribute("int32", .integer32), attribute("int64", .integer64),
  attribute("bool", .boolean), attribute("double", .double), attribute("float", .float),
  attribute("wholeNumber", .integer64), attribute("maybe", .integer32), attribute("maybeInt", .integer64),
  attribute("text", .string), attribute("sure", .string), attribute("unwrapped", .string),
  attribute("date", .date), attribute("day", .date), attribute("data", .binaryData),
  attribute("id", .uuid), attribute("url", .uri), attribute("price", .decimal),
  attribute("amount", .decimal), attribute("kind", .integer16), attribute("grade", .integer16),
  attribute("maybeKind", .integer16), attribute("options", .integer32), attribute("alias", .string),
  attribute("shade", .transformable), attribute("words", .transformable),
  attribute("table", .transformable), attribute("anything", .transformable),
  attribute("object", .transformable), attribute("coding", .transformable),
  attribute("broken", .string), attribute("old", .string), attribute("free", .integer16),
  attribute("readOnly", .integer16), attribute("ofPackage", .integer16), attribute("secret", .string),
  attribute("here", .integer16), attribute("flagged", .integer16), attribute("note", .string),
  relationship("tags", tag, many: true), relationship("parent", item, many: false),
  relationship("box", box, many: false), relationship("children", item, many: true),
  relationship("maybeChildren", item, many: true), relationship("marks", tag, many: true),
  relationship("moreMarks", tag, many: true), relationship("steps", item, many: true, ordered: true),
  relationship("stages", item, many: true, ordered: true), relationship("loose", tag, many: true),
  relationship("plain", item, many: false), relationship("secretBox", box, many: false),
  relationship("secrets", item, many: true),
]
special.properties = [attribute("specialKind", .integer16)]
item.subentities = [special]
tag.properties = [
  attribute("text", .string), attribute("weight", .double), relationship("owner", item, many: false),
  relationship("items", item, many: true),
]
box.properties = [attribute("title", .string), relationship("items", item, many: true)]
shelf.properties = [
  attribute("width", .double), attribute("height", .double), attribute("state", .string),
  attribute("material", .string), relationship("upper", shelf, many: false),
  relationship("boards", board, many: true),
]
board.properties = [relationship("shelf", shelf, many: false)]
let model = NSManagedObjectModel()
model.entities = [item, special, tag, box, shelf, board]

let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
_ = try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/memory"))
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

let a = Item(entity: item, insertInto: context)
let b = Item(entity: item, insertInto: context)
let c = Item(entity: item, insertInto: context)
let crate = Box(entity: box, insertInto: context)
let t = Tag(entity: tag, insertInto: context)
let u = Tag(entity: tag, insertInto: context)

a.int16 = 16
a.int16 += 1
a.int32 = 32
a.int64 = 1 << 40
a.bool.toggle()
a.double = 1.5
a.float = 2.5
a.wholeNumber = -7
a.maybe = 9
a.maybeInt = nil
check(a.int16 == 17 && a.int32 == 32 && a.int64 == 1 << 40 && a.bool, "scalars")
check(a.double == 1.5 && a.float == 2.5 && a.wholeNumber == -7, "numbers")
check(a.maybe == 9 && a.maybeInt == nil && b.maybe == nil && b.int16 == 0, "numbers that may be missing")
a.text = "a long text that does not fit into the inline form of a string"
a.text?.append("!")
a.sure = "sure"
a.unwrapped = "unwrapped"
check(a.text?.hasSuffix("string!") == true && a.sure == "sure" && a.unwrapped == "unwrapped", "text")
check(b.text == nil && b.sure.isEmpty && b.unwrapped == nil, "no text")
let now = Date(timeIntervalSinceReferenceDate: 1000)
a.date = now
a.day = now
a.data = Data([1, 2])
a.id = UUID(uuidString: "00000000-0000-0000-0000-000000000001")
a.url = URL(string: "https://example.org/")
a.price = NSDecimalNumber(string: "1.25")
a.amount = Decimal(3)
check(a.date == now && a.day == now && a.data == Data([1, 2]), "dates and data")
check(a.id?.uuidString.hasSuffix("1") == true && a.url?.host == "example.org", "ids and addresses")
check(a.price?.decimalValue == Decimal(string: "1.25") && a.amount == 3, "decimals")
a.kind = .two
a.grade = .high
a.maybeKind = .three
a.options = [.init(rawValue: 4)]
a.alias = "label"
check(a.kind == .two && a.grade == .high && a.maybeKind == .three && b.maybeKind == nil, "raw values")
check(a.options.rawValue == 4 && a.alias == "label", "option sets, aliases")
a.shade = Shade(gray: 3)
a.words = ["x"]
a.words?.append("y")
a.table = ["one": 1]
a.anything = "anything"
a.object = NSString("object")
a.coding = NSNumber(value: 3)
check(a.shade?.gray == 3 && a.words == ["x", "y"] && a.table == ["one": 1], "transformable values")
check(a.anything as? String == "anything" && a.object as? String == "object", "values of any class")
check((a.coding as? NSNumber)?.intValue == 3 && b.anything == nil, "values of a protocol")

a.parent = b
a.box = crate
a.children = [b]
a.children.insert(c)
a.maybeChildren = [c]
a.marks = NSSet(array: [t])
a.moreMarks = NSSet(array: [t, u])
a.steps = NSOrderedSet(array: [c, b])
a.stages = NSOrderedSet(array: [b])
a.plain = c
a.loose.add(t)
check(a.parent === b && a.box === crate && b.parent == nil && a.plain === c, "to-one")
check(a.children == [b, c] && a.maybeChildren == [c] && b.children.isEmpty, "sets")
check(a.marks?.count == 1 && a.moreMarks.count == 2 && a.loose.count == 1, "Foundation's sets")
check(a.steps?.array as? [Item] == [c, b] && a.stages.count == 1, "ordered sets")

a.name = "name"
a.rank = 4
a.make(now)
check(a.name == "name" && a.rank == 9 && a.made == now, "overrides")
check((a as Named).name == "name" && (a as Named).rank == 9, "overrides, through the superclass")
a.addToTags(t)
check((a.value(forKey: "tags") as? NSSet)?.count == 1, "a method of another module")
a.broken = "broken"
a.free = 3
a.ofPackage = 6
a.here = 8
check(a.broken == "broken" && a.free == 3 && a.ofPackage == 6 && a.here == 8, "modifiers, conditions")
check(a.reachPrivate(b, crate) && a.readOnly == 5 && readNote(a) == "note", "private members")
#if FORMS
  a.flagged = 2
  check(a.flagged == 2, "a condition of the build")
#endif

a.primitiveText = "primitive"
a.primitiveKind = .three
a.primitiveDouble = 4.5
check(a.primitiveText == "primitive" && a.text == "primitive", "primitive text")
check(a.primitiveKind == .three && a.kind == .three && b.primitiveKind == .one, "primitive raw values")
check(a.primitiveDouble == 4.5 && b.primitiveDouble == 0, "primitive numbers")

a.removeFromChildren(b)
a.addToChildren(a)
a.addToChildren([b, c])
a.removeFromChildren(NSSet(array: [a]))
check(a.children == [b, c], "addToChildren, removeFromChildren")
a.addMarksObject(u)
a.removeMarksObject(t)
a.addMarks(NSSet(array: [t]))
a.removeMarks(NSSet(array: [u]))
check(a.marks?.allObjects as? [Tag] == [t], "methods of older generated classes")
a.insertIntoSteps(a, at: 1)
check(a.steps?.array as? [Item] == [c, a, b], "insertIntoSteps(_:at:)")
a.removeFromSteps(at: 0)
check(a.steps?.array as? [Item] == [a, b], "removeFromSteps(at:)")
a.replaceSteps(at: 0, with: c)
check(a.steps?.array as? [Item] == [c, b], "replaceSteps(at:with:)")
a.removeFromSteps(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
a.insertIntoSteps([b, c], at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
a.replaceSteps(at: NSIndexSet(index: 1), with: [a])
check(a.steps?.array as? [Item] == [b, a], "forms with indexes")
a.addToSteps(c)
a.removeFromSteps(b)
a.removeFromSteps(NSOrderedSet(array: [a]))
a.addToSteps(NSOrderedSet(array: [a, b]))
check(a.steps?.array as? [Item] == [c, a, b], "ordered sets by methods")

let shelved = Shop.Shelf(entity: shelf, insertInto: context)
shelved.width = 2
shelved.height = 3
shelved.state = .init(rawValue: "full")
check(shelved.width * shelved.height == 6 && shelved.state.rawValue == "full", "nested classes")
let plank = Shop.Board(entity: board, insertInto: context)
shelved.material = .init(rawValue: "oak")
shelved.upper = shelved
shelved.addToBoards(plank)
plank.shelf = shelved
check(
  shelved.material.rawValue == "oak" && shelved.upper === shelved && shelved.boards == [plank]
    && plank.shelf === shelved, "types beside nested classes")
let rare = Special(entity: special, insertInto: context)
rare.specialKind = .two
rare.text = "inherited"
check(rare.specialKind == .two && rare.text == "inherited", "subclasses")
t.weight = 1.5
t.text = "tag"
t.items = [a]
t.owner = a
check(t.weight == 1.5 && t.text == "tag" && t.items == [a] && t.owner === a, "another module's class")

// Ways of access.
func title(_ titled: some Titled) -> String? {
  titled.title = "some"
  return titled.title
}
let titled: any Titled = crate
titled.title = "any"
check(crate.title == "any" && title(crate) == "some", "a protocol")
func double(_ value: inout Int16) { value *= 2 }
double(&a.int16)
check(a.int16 == 34, "inout")
a[keyPath: \.text] = "by key path"
check(a[keyPath: \Item.text] == "by key path", "key paths")
let request = NSFetchRequest<Item>(entityName: "Item")
request.sortDescriptors = [NSSortDescriptor(keyPath: \Item.int16, ascending: false)]
request.predicate = NSPredicate(format: "int16 > 1")
// A class without coding can't be stored.
a.shade = nil
try context.save()
check(try context.fetch(request) == [a], "a fetch")
for number in 0..<20_000 { b.text = "a text of some length that is set again and again \(number)" }
check(b.text?.hasSuffix("19999") == true, "many sets")

print("\(count) checks")
