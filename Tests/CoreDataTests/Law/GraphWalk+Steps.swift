import CoreData
import Foundation

extension GraphWalk {
  // MARK: Steps

  mutating func take(_ step: Int) throws {
    switch step {
    case 0..<22: insert()
    case 22..<34: try setCategory()
    case 34..<44: try setDetail()
    case 44..<60: try setTags()
    case 60..<72: try setSongs()
    case 72..<80: try delete()
    case 80..<86: try setPrice()
    case 86..<90: try moveSongs()
    case 90..<92: try change(.setPrice)
    case 92..<94: try change(.insert)
    case 94..<96: try change(.delete)
    case 96..<98: try change(.setCategory)
    case 98..<102:
      log.append("process")
      context.processPendingChanges()
    case 102..<106:
      log.append("save")
      try save()
    case Self.firstUndoStep..<112: try undo()
    default: try leave(step)
    }
  }

  /// Steps that change nothing of the graph, or take everything back.
  private mutating func leave(_ step: Int) throws {
    switch step {
    case 112..<114:
      log.append("rollback")
      context.rollback()
      now = saved
      forgetUndo()
      objects = objects.filter { $0.value.managedObjectContext != nil }
    case 114:
      log.append("reset")
      context.reset()
      now = saved
      forgetUndo()
      objects = [:]
    case 115:
      guard !hasUndo else { return }
      log.append("forget")
      context.processPendingChanges()
      objects = objects.filter { $0.value.isInserted }
    case 116:
      guard !context.hasChanges else { return }
      log.append("refresh all")
      context.refreshAllObjects()
    case 117:
      guard let number = any(now.items.keys) else { return }
      log.append("refresh \(number)")
      let item: NSManagedObject = try object(number)
      context.refresh(item, mergeChanges: item.hasChanges || Bool.random(using: &random))
    default:
      log.append("check")
      try check(context, now, "in the walk")
    }
  }

  /// Where the steps that are no events of their own begin.
  static let firstUndoStep: Int = 106

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
    try check(context, now, "after \(log.last ?? "")")
  }

  mutating func insert() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1:
      let made: Int = make("Item")
      now.items[made] = 0
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

  mutating func setSongs() throws {
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

  mutating func delete() throws {
    let all: [Int] =
      Array(now.items.keys) + now.categories + now.tags + now.playlists + now.songs + now.details
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
    default: now.delete(detail: gone)
    }
  }
}
