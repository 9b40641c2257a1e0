import CoreDataStorage
import Foundation

/// The members of a to-many relationship of one object, as far as they are known: a list, or what was changed
/// over members that only the store knows. Whoever changes them has found out whether the object is a member
/// (`NSManagedObject.isMember`), so what is recorded here is exact, loaded or not.
final class ToManyState {
  let isOrdered: Bool
  /// nil: not loaded; then the members are those of the store, less `removed`, and after them `added`.
  /// Unchecked as `NSManagedObject.state` is.
  @exclusivity(unchecked) var members: ObjectList?
  /// Against the last committed state. In both is a member of an ordered relationship that was taken out and
  /// put at the end.
  private(set) var added = ObjectList()
  private(set) var removed = ObjectList()
  /// The order is another one than that of the store with `added` at the end.
  private(set) var isReordered = false
  /// The order that was given to members which are to be loaded anew.
  private var order: ObjectList?
  /// Stands for all that happens until the next commit; made for the first mark.
  private var epoch: ToManyVersion.Epoch?
  /// How often the members were let go.
  private var unloads: Int = 0

  init(members: ObjectList?, isOrdered: Bool) {
    self.members = members
    self.isOrdered = isOrdered
  }

  /// The members of an object that was never stored: all of them are new.
  init(all members: ObjectList, isOrdered: Bool) {
    self.members = members
    self.isOrdered = isOrdered
    added = members
  }

  var isChanged: Bool { !added.isEmpty || !removed.isEmpty || isReordered }

  /// Whether an object is a member; nil: only the store can tell.
  func knows(_ object: NSManagedObject) -> Bool? {
    if members != nil { return members!.indexes(object) }
    if added.indexes(object) { return true }
    return removed.indexes(object) ? false : nil
  }

  /// Whether an object came in since the last commit, with a place of its own in an ordered relationship.
  func adds(_ object: NSManagedObject) -> Bool { added.indexes(object) }

  // MARK: Changing

  /// Takes in an object that is no member: at the end, or where it was once.
  func insert(_ object: NSManagedObject, at place: MemberPlace = .end) {
    let isBack: Bool = returns(object, to: place)
    let next: NSManagedObject? = isOrdered ? place.before : nil
    if members != nil {
      let isLast: Bool = members!.insert(object, before: next)
      // One that has a place in the store, or is to have one among those who have.
      let isLate: Bool = isLast || next.map { added.indexes($0) } ?? true
      if isOrdered, isBack || !isLate { isReordered = true }
    }
    if isBack { removed.remove(object) } else { added.insert(object, before: next) }
  }

  /// Whether an object that is no member only has to be taken off the list of those removed.
  private func returns(_ object: NSManagedObject, to place: MemberPlace) -> Bool {
    (!isOrdered || place.isStored) && removed.indexes(object)
  }

  /// Whether the members have to be loaded before `insert`.
  func needsMembers(toInsert object: NSManagedObject, at place: MemberPlace) -> Bool {
    guard members == nil, isOrdered, let next = place.before else { return false }
    return !returns(object, to: place) && !added.indexes(next)
  }

  /// Takes a member out. Of one that only the store knows the place is not found out.
  func remove(_ object: NSManagedObject) -> MemberPlace {
    let isStored: Bool = !added.indexes(object)
    order?.remove(object)
    var next: NSManagedObject?
    if members != nil {
      if isOrdered { next = members!.successor(of: object) }
      members!.remove(object)
    } else if !isStored, isOrdered {
      next = added.successor(of: object)
    }
    if isStored { removed.append(object) } else { added.remove(object) }
    return MemberPlace(before: next, isStored: isStored)
  }

  /// Moves a member of a loaded, ordered relationship. Returns the one that it stood before.
  func move(_ object: NSManagedObject, before next: NSManagedObject?) -> NSManagedObject? {
    guard members?.indexes(object) == true else { return next }
    let old: NSManagedObject? = members!.successor(of: object)
    members!.remove(object)
    members!.insert(object, before: next)
    isReordered = true
    return old
  }

  /// Gives loaded members another order. Returns who was moved, in the order of moving, and before
  /// whom it stood.
  func reorder(_ wanted: ObjectList) -> [(object: NSManagedObject, before: NSManagedObject?)] {
    guard members != nil else { return [] }
    let moves = members!.arrange(like: wanted)
    if !moves.isEmpty { isReordered = true }
    return moves
  }

  // MARK: Undo

  var mark: ToManyVersion {
    let epoch: ToManyVersion.Epoch = self.epoch ?? ToManyVersion.Epoch()
    self.epoch = epoch
    return ToManyVersion(isReordered: isReordered, epoch: epoch, unloads: unloads)
  }

  /// What was changed since a mark has been taken back.
  func settle(_ mark: ToManyVersion) {
    if isOfNow(mark), mark.unloads == unloads { isReordered = mark.isReordered }
  }

  /// Whether nothing was committed since a mark.
  func isOfNow(_ mark: ToManyVersion) -> Bool { mark.epoch != nil && mark.epoch === epoch }

  // MARK: Loading and saving

  /// Takes the store's members and lays what was changed meanwhile on top. Of those that are gone the store
  /// will hear by itself. Returns whether there were any.
  @discardableResult
  func load(_ stored: [NSManagedObject], except isGone: (NSManagedObject) -> Bool = { _ in false }) -> Bool {
    var list = ObjectList(stored)
    if !removed.isEmpty || !added.isEmpty {
      leaveOut(doneIn: &list)
      for object in removed { list.remove(object) }
      for object in added { list.append(object) }
    }
    let gone: [NSManagedObject] = stored.filter(isGone)
    for object in gone { list.remove(object) }
    if let order {
      list = ObjectList(order.filter { list.indexes($0) } + list.objects)
      self.order = nil
    }
    members = list
    return !gone.isEmpty
  }

  /// Leaves out what somebody else has done in the store as well: what is recorded is exact again. `stored`
  /// need not have members that were neither added nor removed.
  func leaveOut(doneIn stored: inout ObjectList) {
    removed = ObjectList(removed.filter { stored.indexes($0) })
    added = ObjectList(added.filter { !stored.indexes($0) || removed.indexes($0) })
  }

  /// Lets the members go, to be loaded anew; what was changed stays so. Where the store may have others by
  /// now, `leaveOut` has to follow before anything is changed.
  func unload() {
    if isReordered, let members { order = members }
    members = nil
    unloads += 1
  }

  /// Whether there is such an object among the members, or among those added or removed.
  func has(where isSought: (NSManagedObject) -> Bool) -> Bool {
    members?.contains(where: isSought) == true || added.contains(where: isSought)
      || removed.contains(where: isSought)
  }

  /// Forgets objects whose rows are gone, whatever was done with them.
  func drop(where isGone: (NSManagedObject) -> Bool) {
    let gone: [NSManagedObject] = [members ?? ObjectList(), added, removed].flatMap { $0.filter(isGone) }
    for object in gone {
      members?.remove(object)
      added.remove(object)
      removed.remove(object)
    }
  }

  // MARK: Deletions and merges

  /// What was added and removed before the deletion of the owner was passed on; nil: nothing.
  private var beforeDeletion: (added: ObjectList, removed: ObjectList)?

  /// The deletion of the owner is about to be passed on.
  func noteDeletion() { beforeDeletion = isChanged ? (added, removed) : nil }

  /// Who was taken out since, and whether it is a member in the store.
  var detachedMembers: [(object: NSManagedObject, isStored: Bool)] {
    var before: (added: ObjectList, removed: ObjectList) = beforeDeletion ?? (ObjectList(), ObjectList())
    let new: [NSManagedObject] = before.added.filter { !added.indexes($0) }
    let stored: [NSManagedObject] = removed.filter {
      !before.removed.indexes($0) && !before.added.indexes($0)
    }
    return new.map { ($0, false) } + stored.map { ($0, true) }
  }

  /// A member was not added after all.
  func forgetAddition(of object: NSManagedObject) {
    if !removed.indexes(object) { forget(object) }
    added.remove(object)
  }

  /// A member was not removed after all: it has the place that the store has for it.
  func forgetRemoval(of object: NSManagedObject) {
    guard removed.indexes(object) else { return }
    if members != nil { unload() }
    removed.remove(object)
  }

  /// The store does not have a member any more.
  func forgetStored(_ object: NSManagedObject) {
    removed.remove(object)
    if !added.indexes(object) { forget(object) }
  }

  private func forget(_ object: NSManagedObject) {
    members?.remove(object)
    order?.remove(object)
  }

  /// Members were not moved after all.
  func forgetOrder() {
    guard isReordered else { return }
    isReordered = false
    unload()
    order = nil
  }

  /// The store's members before their owner is deleted there, for an undo that brings it back.
  var lastStored: [RowID] = []

  /// What is now is what the store has.
  func commit() {
    added = ObjectList()
    removed = ObjectList()
    isReordered = false
    order = nil
    epoch = nil
  }

  /// Who is a member, and was not; and the other way round. Moves to the end are neither.
  var pairs: (added: [NSManagedObject], removed: [NSManagedObject]) {
    if added.isEmpty || removed.isEmpty { return (added.objects, removed.objects) }
    return (added.filter { !removed.indexes($0) }, removed.filter { !added.indexes($0) })
  }
}

/// Where a member was.
struct MemberPlace {
  static var end: MemberPlace { MemberPlace(before: nil, isStored: false) }

  /// In an ordered relationship: the member behind it; nil: it was the last one, or it is not known.
  var before: NSManagedObject?
  /// It was a member in the store: while that has it still, its place is there.
  var isStored: Bool
}

/// What a change of members can't be taken back by itself.
struct ToManyVersion {
  /// The time between two commits. An object and no number: the members may have been made anew since, and
  /// count from the beginning.
  final class Epoch: Sendable {}

  static let none = ToManyVersion(isReordered: true, epoch: nil, unloads: 0)

  let isReordered: Bool
  let epoch: Epoch?
  let unloads: Int
}
