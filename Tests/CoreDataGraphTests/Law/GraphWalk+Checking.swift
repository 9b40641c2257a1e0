import CoreData
import Foundation
import StackSupport

extension GraphWalk {
  // MARK: Checking

  /// Reads everything through fetches and relationships and compares.
  func check(_ context: NSManagedObjectContext, _ wanted: ObviousGraph, _ place: String) throws {
    func compare<T: Equatable>(_ what: String, _ found: T, _ wanted: T) throws {
      if found != wanted { throw GraphDifference(text: "\(what) \(place): found \(found), wanted \(wanted)") }
    }
    func related(_ object: NSManagedObject, _ key: String) -> Set<Int> {
      Set((object.value(forKey: key) as? Set<NSManagedObject> ?? []).map(number))
    }
    func listed(_ object: NSManagedObject) -> [Int] {
      (object.value(forKey: "songs") as? NSOrderedSet)?.array.map { self.number($0 as! NSManagedObject) }
        ?? []
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
    try compare("items", keys("Item"), Set(wanted.items.keys))
    try compare("categories", keys("Category"), wanted.categories)
    try compare("tags", keys("Tag"), wanted.tags)
    try compare("playlists", keys("Playlist"), wanted.playlists)
    try compare("songs", keys("Song"), wanted.songs)
    try compare("details", keys("Detail"), wanted.details)
    try compare("albums", keys("Album"), Set(wanted.tracks.keys))
    try compare("people", keys("Employee"), wanted.people)
    let members: [Int: Set<Int>] = invert(wanted.category)
    for (number, object) in found["Category"] ?? [:] {
      try compare("items of category \(number)", related(object, "items"), members[number] ?? [])
    }
    for (number, object) in found["Item"] ?? [:] {
      try compare(
        "price of item \(number)", (object.value(forKey: "price") as? Double) ?? 0,
        Double(wanted.items[number] ?? 0))
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
      try compare("songs of playlist \(number)", listed(object), wanted.order[number] ?? [])
    }
    for (number, object) in found["Album"] ?? [:] {
      try compare("songs of album \(number)", listed(object), wanted.tracks[number] ?? [])
    }
    for (number, object) in found["Employee"] ?? [:] {
      try compare(
        "friends of \(number)", related(object, "friends"),
        Set(wanted.friends.filter { $0.contains(number) }.flatMap { $0.subtracting([number]) }))
    }
    for (number, object) in found["Song"] ?? [:] {
      try compare(
        "playlists of song \(number)", related(object, "playlists"),
        Set(wanted.order.filter { $0.value.contains(number) }.keys))
      try compare(
        "album of song \(number)", (object.value(forKey: "album") as? NSManagedObject).map(self.number),
        wanted.tracks.first { $0.value.contains(number) }?.key)
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
