import CoreData
import Foundation
import StackSupport

// What a second context saves, and the first one merges.
extension GraphWalk {
  enum ForeignChange {
    case setPrice, insert, delete, setCategory, setPair, setTogether
  }

  /// Changes the store through another context and merges its save, in one of the ways there are.
  mutating func change(_ change: ForeignChange) throws {
    context.processPendingChanges()
    let other: NSManagedObjectContext = stack.other()
    nonisolated(unsafe) var told: Notification?
    let recorder = Recorder([.NSManagedObjectContextDidSave], of: other) { told = $0 }
    let before: ObviousGraph = saved
    var walk: GraphWalk = self
    var failure: (any Error)?
    other.performAndWait {
      do {
        if try walk.make(change, in: other) { try other.save() }
      } catch { failure = error }
    }
    _ = recorder
    if let failure { throw failure }
    self = walk
    guard let told else { return }
    // Held, so that what becomes of them shows.
    let doomed: [Int: NSManagedObject] = objects.filter { number, object in
      !saved.has(number) && before.has(number) && object.managedObjectContext != nil
    }
    let wasChanged: Bool = context.hasChanges
    if Bool.random(using: &random) {
      context.mergeChanges(fromContextDidSave: told)
    } else {
      var changes: [AnyHashable: Any] = [:]
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey] {
        let objects: Set<NSManagedObject> = told.userInfo?[key] as? Set<NSManagedObject> ?? []
        changes[key] = objects.map(\.objectID)
      }
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
    }
    for (number, object) in doomed {
      guard object.isDeleted, object.managedObjectContext === context, context.deletedObjects.contains(object)
      else { throw GraphDifference(text: "\(number) is not deleted after the merge") }
    }
    if !wasChanged, context.hasChanges { throw GraphDifference(text: "the merge made changes") }
    take(over: before)
    if change == .setTogether, Bool.random(using: &random) { try takeBackTogether(before) }
    // What can be undone is known by property; here it is known as whole graphs.
    forgetUndo()
    try check(context, now, "after the merge")
  }

  /// What was the same here as in the store is now what the store says.
  private mutating func take(over before: ObviousGraph) {
    if now == before {
      now = saved
      return
    }
    for (item, price) in saved.items {
      guard let old = before.items[item] else {
        now.items[item] = price
        continue
      }
      if let mine = now.items[item], mine == old { now.items[item] = price }
    }
    now.tags.formUnion(saved.tags.subtracting(before.tags))
    let (tagged, friends) = (now.tagged, now.friends)
    now.tagged = saved.tagged.union(tagged.subtracting(before.tagged))
      .subtracting(before.tagged.subtracting(tagged))
    now.friends = saved.friends.union(friends.subtracting(before.friends))
      .subtracting(before.friends.subtracting(friends))
    for gone in before.items.keys where saved.items[gone] == nil { now.leave(item: gone) }
    for gone in before.details.subtracting(saved.details) { now.delete(detail: gone) }
    for gone in before.tags.subtracting(saved.tags) { now.delete(tag: gone) }
  }

  /// A pair of a many-to-many relationship that both contexts know: an item and a tag, or two people.
  private struct Together: Hashable {
    let pair: [Int]
    let isTag: Bool

    var key: String { isTag ? "tags" : "friends" }

    func isIn(_ graph: ObviousGraph) -> Bool {
      isTag ? graph.tagged.contains(pair) : graph.friends.contains(Set(pair))
    }

    func toggle(_ graph: inout ObviousGraph) {
      if isTag {
        graph.tagged.formSymmetricDifference([pair])
      } else {
        graph.friends.formSymmetricDifference([Set(pair)])
      }
    }
  }

  /// One of the pairs that two graphs differ in, or any one.
  private mutating func anyTogether(_ one: ObviousGraph, _ other: ObviousGraph) -> Together? {
    let tagged: [Together] = one.tagged.symmetricDifference(other.tagged).map {
      Together(pair: $0, isTag: true)
    }
    let friends: [Together] = one.friends.symmetricDifference(other.friends).map {
      Together(pair: $0.sorted(), isTag: false)
    }
    let known: [Together] = (tagged + friends)
      .filter { $0.pair.allSatisfy { saved.has($0) && now.has($0) } }
      .sorted { $0.pair.lexicographicallyPrecedes($1.pair) }
    if let one = known.randomElement(using: &random) { return one }
    let people: Set<Int> = now.people.intersection(saved.people)
    if Bool.random(using: &random), let one = any(people), let other = any(people.subtracting([one])) {
      return Together(pair: [one, other], isTag: false)
    }
    guard let item = any(saved.items.keys.filter { now.items[$0] != nil }),
      let tag = any(saved.tags.intersection(now.tags))
    else { return nil }
    return Together(pair: [item, tag], isTag: true)
  }

  /// After a merge, before anything is loaded: what the other context has done to a pair is done the other
  /// way round here.
  private mutating func takeBackTogether(_ before: ObviousGraph) throws {
    guard let together = anyTogether(before, saved) else { return }
    let isIn: Bool = together.isIn(now)
    log.append("then \(isIn ? "part" : "join") \(together.pair) here")
    let set: NSMutableSet = try object(together.pair[0]).mutableSetValue(forKey: together.key)
    let member: NSManagedObject = try object(together.pair[1])
    if isIn { set.remove(member) } else { set.add(member) }
    together.toggle(&now)
    context.processPendingChanges()
  }

  private mutating func make(_ change: ForeignChange, in other: NSManagedObjectContext) throws -> Bool {
    func stored(_ number: Int) throws -> NSManagedObject {
      guard let id = ids[number] else { throw GraphDifference(text: "object \(number) has no id") }
      return try other.existingObject(with: id)
    }
    switch change {
    case .setPrice:
      guard let item = any(saved.items.keys) else { return false }
      let price: Int = Int.random(in: 1001...2000, using: &random)
      log.append("elsewhere: price of \(item) = \(price)")
      try stored(item).setValue(Double(price), forKey: "price")
      saved.items[item] = price
    case .insert:
      next += 1
      let isTag: Bool = Bool.random(using: &random)
      log.append("elsewhere: insert \(next) \(isTag ? "Tag" : "Item")")
      let made: NSManagedObject = other.make(
        isTag ? "Tag" : "Item", [isTag ? "name" : "title": "\(next)"])
      try other.obtainPermanentIDs(for: [made])
      ids[next] = made.objectID
      if isTag { saved.tags.insert(next) } else { saved.items[next] = 0 }
    case .delete:
      // Below a category that is deleted may be what only this context has put there.
      let gone: Int? = any(
        Array(saved.items.keys) + saved.tags
          + (context.hasChanges
            ? [] : Array(saved.categories) + saved.songs + saved.people + saved.playlists))
      guard let gone else { return false }
      log.append("elsewhere: delete \(gone)")
      other.delete(try stored(gone))
      if saved.categories.contains(gone) {
        saved.delete(category: gone)
      } else if saved.tags.contains(gone) {
        saved.delete(tag: gone)
      } else if saved.songs.contains(gone) {
        saved.delete(song: gone)
      } else if saved.people.contains(gone) {
        saved.delete(person: gone)
      } else if saved.playlists.contains(gone) {
        saved.delete(playlist: gone)
      } else {
        saved.delete(item: gone)
      }
    case .setCategory:
      guard !context.hasChanges, let item = any(saved.items.keys), let category = any(saved.categories)
      else { return false }
      log.append("elsewhere: category of \(item) = \(category)")
      try stored(item).setValue(try stored(category), forKey: "category")
      saved.category[item] = category
    case .setTogether:
      // Also what this context has done and not saved.
      guard let together = anyTogether(saved, now) else { return false }
      let isIn: Bool = together.isIn(saved)
      log.append("elsewhere: \(isIn ? "part" : "join") \(together.pair)")
      let set: NSMutableSet = try stored(together.pair[0]).mutableSetValue(forKey: together.key)
      let member: NSManagedObject = try stored(together.pair[1])
      if isIn { set.remove(member) } else { set.add(member) }
      together.toggle(&saved)
    case .setPair:
      guard !context.hasChanges else { return false }
      if Bool.random(using: &random) {
        guard let item = any(saved.items.keys), let tag = any(saved.tags) else { return false }
        let isTagged: Bool = saved.tagged.contains([item, tag])
        log.append("elsewhere: \(isTagged ? "untag" : "tag") \(item) \(tag)")
        let tags: NSMutableSet = try stored(item).mutableSetValue(forKey: "tags")
        if isTagged { tags.remove(try stored(tag)) } else { tags.add(try stored(tag)) }
        if isTagged { saved.tagged.remove([item, tag]) } else { saved.tagged.insert([item, tag]) }
      } else {
        guard let playlist = any(saved.playlists), let song = any(saved.songs) else { return false }
        let isIn: Bool = saved.order[playlist]?.contains(song) == true
        log.append("elsewhere: \(isIn ? "take" : "add") \(song) to \(playlist)")
        let songs: NSMutableSet = try stored(playlist).mutableSetValue(forKey: "songs")
        if isIn { songs.remove(try stored(song)) } else { songs.add(try stored(song)) }
        saved.order[playlist]?.removeAll { $0 == song }
        if !isIn { saved.order[playlist]?.append(song) }
      }
    }
    return true
  }
}
