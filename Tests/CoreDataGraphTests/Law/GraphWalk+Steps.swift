import CoreData
import Foundation
import StackSupport

extension GraphWalk {
  // MARK: Steps

  mutating func take(_ step: Int) throws {
    switch step {
    case 0..<24: insert()
    case 24..<34: try setCategory()
    case 34..<42: try setDetail()
    case 42..<58: try setTags()
    case 58..<72: try setSongs()
    case 72..<80: try delete()
    case 80..<84: try setPrice()
    case 84..<88: try moveSongs()
    case 88..<98: try setTracks()
    case 98..<106: try setFriends()
    case 106..<108: try change(.setPrice)
    case 108..<110: try change(.insert)
    case 110..<113: try change(.delete)
    case 113..<115: try change(.setCategory)
    case 115..<117: try change(.setPair)
    case 117..<119: try change(.setTogether)
    case 119..<123:
      log.append("process")
      context.processPendingChanges()
    case 123..<128:
      log.append("save")
      try save()
    case Self.firstUndoStep..<136: try undo()
    default: try leave(step)
    }
  }

  /// Steps that change nothing of the graph, or take everything back.
  private mutating func leave(_ step: Int) throws {
    switch step {
    case 136..<138:
      log.append("rollback")
      context.rollback()
      now = saved
      forgetUndo()
      objects = objects.filter { $0.value.managedObjectContext != nil }
    case 138:
      log.append("reset")
      context.reset()
      now = saved
      forgetUndo()
      objects = [:]
    case 139:
      guard !hasUndo else { return }
      log.append("forget")
      context.processPendingChanges()
      objects = objects.filter { $0.value.isInserted }
    case 140:
      guard !context.hasChanges else { return }
      log.append("refresh all")
      context.refreshAllObjects()
    case 141..<148:
      guard let number = any(now.numbers) else { return }
      log.append("refresh \(number)")
      let object: NSManagedObject = try object(number)
      context.refresh(object, mergeChanges: object.hasChanges || Bool.random(using: &random))
    default:
      log.append("check")
      try check(context, now, "in the walk")
    }
  }

  /// Where the steps that are no events of their own begin.
  static let firstUndoStep: Int = 128

  private mutating func undo() throws {
    guard hasUndo else { return }
    if Bool.random(using: &random) {
      guard let graph = undone.popLast() else { return }
      log.append("undo")
      redone.append(now)
      now = graph
      context.undo()
    } else {
      guard let graph = redone.popLast() else { return }
      log.append("redo")
      undone.append(now)
      now = graph
      context.redo()
    }
    if Bool.random(using: &random) { try check(context, now, "after \(log.last ?? "")") }
  }

  mutating func insert() {
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1:
      let made: Int = make("Item")
      now.items[made] = 0
    case 2: now.categories.insert(make("Category"))
    case 3: now.tags.insert(make("Tag"))
    case 4:
      let made: Int = make("Playlist")
      now.playlists.insert(made)
      now.order[made] = []
    case 5:
      let made: Int = make("Album")
      now.tracks[made] = []
    case 6: now.people.insert(make("Employee"))
    default: now.songs.insert(make("Song"))
    }
    log.append("insert \(next) \(objects[next]?.entity.name ?? "")")
  }

  mutating func setCategory() throws {
    guard let item = any(now.items.keys) else { return }
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

  mutating func setDetail() throws {
    guard let item = any(now.items.keys) else { return }
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

  mutating func setTags() throws {
    guard let item = any(now.items.keys), let tag = any(now.tags) else { return }
    let pair: [Int] = [item, tag]
    switch Int.random(in: 0..<8, using: &random) {
    case 5:
      log.append("tag \(pair) from the tag's side")
      try object(tag).mutableSetValue(forKey: "items").add(try object(item))
      now.tagged.insert(pair)
    case 6, 7:
      log.append("untag \(pair) from the tag's side")
      try object(tag).mutableSetValue(forKey: "items").remove(try object(item))
      now.tagged.remove(pair)
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

  mutating func setSongs() throws {
    guard let playlist = any(now.playlists), let song = any(now.songs) else { return }
    var order: [Int] = now.order[playlist] ?? []
    switch Int.random(in: 0..<10, using: &random) {
    case 4, 5:
      log.append("add \(song) to \(playlist)")
      try object(playlist).mutableSetValue(forKey: "songs").add(try object(song))
      if !order.contains(song) { order.append(song) }
    case 6, 7:
      log.append("take \(song) out of \(playlist)")
      try object(playlist).mutableSetValue(forKey: "songs").remove(try object(song))
      order.removeAll { $0 == song }
    case 8:
      log.append("take \(song) out of \(playlist) from the song's side")
      try object(song).mutableSetValue(forKey: "playlists").remove(try object(playlist))
      order.removeAll { $0 == song }
    case 9:
      log.append("put \(song) into \(playlist)")
      let place: Int = Int.random(in: 0...order.count, using: &random)
      try object(playlist).mutableOrderedSetValue(forKey: "songs").insert(try object(song), at: place)
      if !order.contains(song) { order.insert(song, at: place) }
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

  mutating func setPrice() throws {
    guard let item = any(now.items.keys) else { return }
    let price: Int = Int.random(in: 1...1000, using: &random)
    log.append("price of \(item) = \(price)")
    try object(item).setValue(Double(price), forKey: "price")
    now.items[item] = price
  }

  mutating func moveSongs() throws {
    guard let playlist = any(now.playlists), var order = now.order[playlist], order.count > 1 else { return }
    let start: Int = Int.random(in: 0..<order.count, using: &random)
    let end: Int = Int.random(in: 0..<order.count, using: &random)
    log.append("move song \(start) of \(playlist) to \(end)")
    order.insert(order.remove(at: start), at: end)
    try object(playlist).mutableOrderedSetValue(forKey: "songs").moveObjects(at: [start], to: end)
    now.order[playlist] = order
  }

  mutating func setTracks() throws {
    guard let album = any(now.tracks.keys), let song = any(now.songs) else { return }
    var order: [Int] = now.tracks[album] ?? []
    let isMember: Bool = order.contains(song)
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      log.append("album of \(song) = \(album)")
      try object(song).setValue(try object(album), forKey: "album")
      if !isMember { order.append(song) }
    case 2, 3:
      log.append("add track \(song) to \(album)")
      try object(album).mutableSetValue(forKey: "songs").add(try object(song))
      if !isMember { order.append(song) }
    case 4:
      log.append("take track \(song) out of \(album)")
      try object(album).mutableSetValue(forKey: "songs").remove(try object(song))
      now.tracks[album]?.removeAll { $0 == song }
      return
    case 5:
      log.append("album of \(song) = nil")
      try object(song).setValue(nil, forKey: "album")
      return now.takeOut(song: song)
    case 6:
      log.append("tracks of \(album) shuffled")
      order = order.shuffled(using: &random)
      try object(album).setValue(NSOrderedSet(array: try order.map { try object($0) }), forKey: "songs")
      now.tracks[album] = order
      return
    default:
      let place: Int = Int.random(in: 0...order.count, using: &random)
      log.append("put track \(song) into \(album) at \(place)")
      try object(album).mutableOrderedSetValue(forKey: "songs").insert(try object(song), at: place)
      if !isMember { order.insert(song, at: place) }
    }
    now.takeOut(song: song)
    now.tracks[album] = order
  }

  mutating func setFriends() throws {
    guard let one = any(now.people), let other = any(now.people), one != other else { return }
    let set: NSMutableSet = try object(one).mutableSetValue(forKey: "friends")
    switch Int.random(in: 0..<5, using: &random) {
    case 0, 1:
      log.append("friends \(one) \(other)")
      set.add(try object(other))
    case 2, 3:
      log.append("no friends \(one) \(other)")
      set.remove(try object(other))
      now.friends.remove([one, other])
      return
    default:
      log.append("friends of \(one) = [\(other)]")
      try object(one).setValue(NSSet(array: [try object(other)]), forKey: "friends")
      now.friends = now.friends.filter { !$0.contains(one) }
    }
    now.friends.insert([one, other])
  }

  mutating func delete() throws {
    guard let gone = any(now.numbers) else { return }
    let object: NSManagedObject = try object(gone)
    log.append("delete \(gone) \(object.entity.name ?? "")")
    context.delete(object)
    // The obvious model propagates at once.
    context.processPendingChanges()
    switch object.entity.name {
    case "Item": now.delete(item: gone)
    case "Category": now.delete(category: gone)
    case "Tag": now.delete(tag: gone)
    case "Playlist": now.delete(playlist: gone)
    case "Album": now.delete(album: gone)
    case "Employee": now.delete(person: gone)
    case "Song": now.delete(song: gone)
    default: now.delete(detail: gone)
    }
  }
}
