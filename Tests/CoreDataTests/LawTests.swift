import CoreData
import Foundation
import Testing

/// Random operations on the graph against a slow, obvious model of it.
@Suite
struct LawTests {
  private static let seeds: [UInt64] = {
    if let given = ProcessInfo.processInfo.environment["CLARUS_SEED"].flatMap(UInt64.init) { return [given] }
    let soak: Bool = ProcessInfo.processInfo.environment["CLARUS_SOAK"] == "1"
    return Array(1...(soak ? 3000 : 100))
  }()

  @Test(arguments: StoreKind.allCases)
  func `the graph does what the obvious model does`(kind: StoreKind) throws {
    for seed in Self.seeds {
      var walk = try RandomWalk(kind, seed: seed)
      do {
        try walk.run(steps: 60)
      } catch let difference as Difference {
        Issue.record(
          """
          seed \(seed), \(kind.rawValue): \(difference.text)
          \(walk.log.suffix(25).joined(separator: "\n"))
          """)
        return
      }
    }
  }
}

/// SplitMix64: small, good enough for tests, the same everywhere.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value: UInt64 = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

private struct Difference: Error {
  let text: String
}

/// What the graph should hold: dictionaries of names. Everything is by number; relationships are sets of pairs.
private struct Obvious: Equatable {
  /// item → title
  var titles: [Int: String] = [:]
  var categories: Set<Int> = []
  var tags: Set<Int> = []
  var playlists: Set<Int> = []
  var songs: Set<Int> = []
  var details: Set<Int> = []
  /// item → category
  var category: [Int: Int] = [:]
  /// item → detail
  var detail: [Int: Int] = [:]
  /// item and tag
  var tagged: Set<[Int]> = []
  /// playlist → songs
  var order: [Int: [Int]] = [:]

  mutating func delete(item: Int) {
    titles[item] = nil
    category[item] = nil
    if let gone = detail.removeValue(forKey: item) { details.remove(gone) }
    tagged = tagged.filter { $0[0] != item }
  }

  mutating func delete(category gone: Int) {
    for item in category.filter({ $0.value == gone }).keys { delete(item: item) }
    categories.remove(gone)
  }

  mutating func delete(tag: Int) {
    tags.remove(tag)
    tagged = tagged.filter { $0[1] != tag }
  }

  mutating func delete(song: Int) {
    songs.remove(song)
    for playlist in order.keys { order[playlist]?.removeAll { $0 == song } }
  }
}

private struct RandomWalk {
  let stack: Stack
  let context: NSManagedObjectContext
  let entities: [String] = ["Item", "Category", "Tag", "Playlist", "Song", "Detail"]
  var random: SeededRandom
  var now = Obvious()
  var saved = Obvious()
  var next: Int = 0
  var log: [String] = []
  /// Objects by number; dropped now and then, so that they must come back from the store.
  var objects: [Int: NSManagedObject] = [:]
  /// The ids of saved objects.
  var ids: [Int: NSManagedObjectID] = [:]

  init(_ kind: StoreKind, seed: UInt64) throws {
    stack = try Stack(kind)
    context = stack.context
    random = SeededRandom(seed: seed)
  }

  mutating func run(steps: Int) throws {
    for _ in 0..<steps {
      let step: Int = Int.random(in: 0..<100, using: &random)
      var failure: (any Error)?
      context.performAndWait {
        do { try take(step) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    var failure: (any Error)?
    context.performAndWait {
      do {
        try save()
        try check(context, now, "at the end")
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  // MARK: Objects by number

  private func number(_ object: NSManagedObject) -> Int {
    Int(
      object.value(forKey: ["Item": "title", "Detail": "text"][object.entity.name ?? ""] ?? "name") as? String
        ?? "")
      ?? -1
  }

  /// The number is kept in the name: of items in front of the title's changes.
  private mutating func make(_ entity: String) -> Int {
    next += 1
    let key: String = ["Item": "title", "Detail": "text"][entity] ?? "name"
    objects[next] = context.make(entity, [key: "\(next)"])
    return next
  }

  private mutating func object(_ number: Int) throws -> NSManagedObject {
    if let known = objects[number] { return known }
    guard let id = ids[number] else { throw Difference(text: "object \(number) has no id") }
    let found: NSManagedObject = context.object(with: id)
    objects[number] = found
    return found
  }

  private mutating func any(_ numbers: some Sequence<Int>) -> Int? {
    numbers.sorted().randomElement(using: &random)
  }

  // MARK: Steps

  private mutating func take(_ step: Int) throws {
    switch step {
    case 0..<22: insert()
    case 22..<34: try setCategory()
    case 34..<44: try setDetail()
    case 44..<60: try setTags()
    case 60..<72: try setSongs()
    case 72..<80: try delete()
    case 80..<88:
      log.append("save")
      try save()
    case 88..<91:
      log.append("rollback")
      context.rollback()
      now = saved
      objects = objects.filter { $0.value.managedObjectContext != nil }
    case 91..<94:
      log.append("forget")
      context.processPendingChanges()
      objects = objects.filter { $0.value.isInserted }
    case 94..<96:
      guard !context.hasChanges else { return }
      log.append("refresh all")
      context.refreshAllObjects()
    case 96..<98:
      log.append("process")
      context.processPendingChanges()
    default:
      log.append("check")
      try check(context, now, "in the walk")
    }
  }

  private mutating func insert() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      let made: Int = make("Item")
      now.titles[made] = "\(made)"
    case 2: now.categories.insert(make("Category"))
    case 3: now.tags.insert(make("Tag"))
    case 4:
      let made: Int = make("Playlist")
      now.playlists.insert(made)
      now.order[made] = []
    default: now.songs.insert(make("Song"))
    }
    log.append("insert \(next) \(objects[next]?.entity.name ?? "")")
  }

  private mutating func setCategory() throws {
    guard let item = any(now.titles.keys) else { return }
    if Int.random(in: 0..<5, using: &random) == 0 {
      log.append("category of \(item) = nil")
      try object(item).setValue(nil, forKey: "category")
      now.category[item] = nil
      return
    }
    guard let category = any(now.categories) else { return }
    if Bool.random(using: &random) {
      log.append("category of \(item) = \(category)")
      try object(item).setValue(try object(category), forKey: "category")
    } else if Bool.random(using: &random) {
      log.append("add \(item) to category \(category)")
      (try object(category) as? Category)?.addToItems(try object(item) as! Item)
    } else {
      log.append("items of category \(category) = [\(item)]")
      try object(category).setValue(NSSet(array: [try object(item)]), forKey: "items")
      now.category = now.category.filter { $0.value != category }
    }
    now.category[item] = category
  }

  private mutating func setDetail() throws {
    guard let item = any(now.titles.keys) else { return }
    let detail: Int
    if let known = any(now.details), Bool.random(using: &random) {
      detail = known
    } else {
      detail = make("Detail")
      now.details.insert(detail)
    }
    if Bool.random(using: &random) {
      log.append("detail of \(item) = \(detail)")
      try object(item).setValue(try object(detail), forKey: "detail")
    } else {
      log.append("item of detail \(detail) = \(item)")
      try object(detail).setValue(try object(item), forKey: "item")
    }
    now.detail = now.detail.filter { $0.value != detail }
    now.detail[item] = detail
  }

  private mutating func setTags() throws {
    guard let item = any(now.titles.keys), let tag = any(now.tags) else { return }
    let pair: [Int] = [item, tag]
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      log.append("tag \(pair)")
      (try object(item) as? Item)?.addToTags(try object(tag) as! Tag)
      now.tagged.insert(pair)
    case 2:
      log.append("untag \(pair)")
      (try object(item) as? Item)?.removeFromTags(try object(tag) as! Tag)
      now.tagged.remove(pair)
    case 3:
      log.append("tags of \(item) = [\(tag)]")
      try object(item).setValue(NSSet(array: [try object(tag)]), forKey: "tags")
      now.tagged = now.tagged.filter { $0[0] != item }
      now.tagged.insert(pair)
    default:
      log.append("items of tag \(tag) = [\(item)]")
      try object(tag).setValue(NSSet(array: [try object(item)]), forKey: "items")
      now.tagged = now.tagged.filter { $0[1] != tag }
      now.tagged.insert(pair)
    }
  }

  private mutating func setSongs() throws {
    guard let playlist = any(now.playlists), let song = any(now.songs) else { return }
    var order: [Int] = now.order[playlist] ?? []
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      log.append("songs of \(playlist) shuffled")
      order = order.shuffled(using: &random)
      try object(playlist).setValue(NSOrderedSet(array: try order.map { try object($0) }), forKey: "songs")
    case 1:
      log.append("add \(playlist) to song \(song)")
      let lists: NSSet = try object(song).value(forKey: "playlists") as? NSSet ?? NSSet()
      try object(song).setValue(NSSet(array: lists.allObjects + [try object(playlist)]), forKey: "playlists")
      if !order.contains(song) { order.append(song) }
    case 2:
      order.removeAll { $0 == song }
      order.insert(song, at: Int.random(in: 0...order.count, using: &random))
      log.append("songs of \(playlist) = \(order)")
      try object(playlist).setValue(NSOrderedSet(array: try order.map { try object($0) }), forKey: "songs")
    default:
      log.append("remove \(song) from \(playlist)")
      order.removeAll { $0 == song }
      try object(playlist).setValue(try order.map { try object($0) }, forKey: "songs")
    }
    now.order[playlist] = order
  }

  private mutating func delete() throws {
    let all: [Int] =
      Array(now.titles.keys) + now.categories + now.tags + now.playlists + now.songs + now.details
    guard let gone = any(all) else { return }
    let object: NSManagedObject = try object(gone)
    log.append("delete \(gone) \(object.entity.name ?? "")")
    context.delete(object)
    // The obvious model propagates at once.
    context.processPendingChanges()
    switch object.entity.name {
    case "Item": now.delete(item: gone)
    case "Category": now.delete(category: gone)
    case "Tag": now.delete(tag: gone)
    case "Playlist":
      now.playlists.remove(gone)
      now.order[gone] = nil
    case "Song": now.delete(song: gone)
    default:
      now.details.remove(gone)
      now.detail = now.detail.filter { $0.value != gone }
    }
  }

  private mutating func save() throws {
    do {
      try context.save()
    } catch {
      throw Difference(text: "the save failed: \(error)")
    }
    if context.hasChanges { throw Difference(text: "changes are left after the save") }
    saved = now
    for (number, object) in objects where object.managedObjectContext != nil {
      if object.objectID.isTemporaryID {
        throw Difference(text: "\(number) has a temporary id after the save")
      }
      ids[number] = object.objectID
    }
    objects = objects.filter { $0.value.managedObjectContext != nil }
    try check(context, now, "after the save")
    let fresh: NSManagedObjectContext = stack.other()
    try fresh.performAndWait { try check(fresh, now, "in a second context") }
  }

  // MARK: Checking

  /// Reads everything through fetches and relationships and compares.
  private func check(_ context: NSManagedObjectContext, _ wanted: Obvious, _ place: String) throws {
    func compare<T: Equatable>(_ what: String, _ found: T, _ wanted: T) throws {
      if found != wanted { throw Difference(text: "\(what) \(place): found \(found), wanted \(wanted)") }
    }
    func related(_ object: NSManagedObject, _ key: String) -> Set<Int> {
      Set((object.value(forKey: key) as? Set<NSManagedObject> ?? []).map(number))
    }
    func invert(_ pairs: [Int: Int]) -> [Int: Set<Int>] {
      Dictionary(grouping: pairs.keys) { pairs[$0] ?? 0 }.mapValues(Set.init)
    }
    var found: [String: [Int: NSManagedObject]] = [:]
    for entity in entities {
      let all: [NSManagedObject] = try context.all(NSManagedObject.self, entity)
      try compare("ids of \(entity)", Set(all.map(\.objectID)).count, all.count)
      found[entity] = Dictionary(all.map { (number($0), $0) }) { first, _ in first }
      try compare(
        "count of \(entity)", try context.count(for: context.request(NSManagedObject.self, entity)), all.count
      )
    }
    func keys(_ entity: String) -> Set<Int> { Set(found[entity]?.keys.map { $0 } ?? []) }
    try compare("items", keys("Item"), Set(wanted.titles.keys))
    try compare("categories", keys("Category"), wanted.categories)
    try compare("tags", keys("Tag"), wanted.tags)
    try compare("playlists", keys("Playlist"), wanted.playlists)
    try compare("songs", keys("Song"), wanted.songs)
    try compare("details", keys("Detail"), wanted.details)
    let members: [Int: Set<Int>] = invert(wanted.category)
    for (number, object) in found["Category"] ?? [:] {
      try compare("items of category \(number)", related(object, "items"), members[number] ?? [])
    }
    for (number, object) in found["Item"] ?? [:] {
      try compare(
        "category of item \(number)", (object.value(forKey: "category") as? NSManagedObject).map(self.number),
        wanted.category[number])
      try compare(
        "detail of item \(number)", (object.value(forKey: "detail") as? NSManagedObject).map(self.number),
        wanted.detail[number])
      try compare(
        "tags of item \(number)", related(object, "tags"),
        Set(wanted.tagged.filter { $0[0] == number }.map { $0[1] }))
    }
    for (number, object) in found["Detail"] ?? [:] {
      try compare(
        "item of detail \(number)", (object.value(forKey: "item") as? NSManagedObject).map(self.number),
        wanted.detail.first { $0.value == number }?.key)
    }
    for (number, object) in found["Tag"] ?? [:] {
      try compare(
        "items of tag \(number)", related(object, "items"),
        Set(wanted.tagged.filter { $0[1] == number }.map { $0[0] }))
    }
    for (number, object) in found["Playlist"] ?? [:] {
      let songs: [Int] =
        (object.value(forKey: "songs") as? NSOrderedSet)?.array.map {
          self.number($0 as! NSManagedObject)
        } ?? []
      try compare("songs of playlist \(number)", songs, wanted.order[number] ?? [])
    }
    for (number, object) in found["Song"] ?? [:] {
      try compare(
        "playlists of song \(number)", related(object, "playlists"),
        Set(wanted.order.filter { $0.value.contains(number) }.keys))
    }
    // What queries say, must be what the objects say.
    for category in wanted.categories.sorted().prefix(2) {
      guard let object = found["Category"]?[category] else { continue }
      let items: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Item", NSPredicate(format: "category == %@", object))
      try compare("items by query of category \(category)", Set(items.map(number)), members[category] ?? [])
    }
    for tag in wanted.tags.sorted().prefix(2) where !context.hasChanges {
      let items: [NSManagedObject] = try context.all(
        NSManagedObject.self, "Item", NSPredicate(format: "ANY tags.name == %@", "\(tag)"))
      try compare(
        "items by query of tag \(tag)", Set(items.map(number)),
        Set(wanted.tagged.filter { $0[1] == tag }.map { $0[0] }))
    }
  }
}
