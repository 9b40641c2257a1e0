import CoreDataStorage
import Foundation

/// The members of a to-many relationship of one object: a list, or the changes relative to the stored
/// members. Before a change it is determined whether the object is a member (`NSManagedObject.isMember`), so
/// the changes recorded here are exact, loaded or not.
final class ToManyState {
  let isOrdered: Bool
  /// nil: not loaded; then the members are those of the store without `removed`, followed by `added`.
  /// Unchecked as `NSManagedObject.state` is.
  @exclusivity(unchecked) var members: ObjectList?
  /// Changes since the last committed state. A member of an ordered relationship that was removed and
  /// appended again is in both.
  private(set) var added = ObjectList()
  private(set) var removed = ObjectList()
  /// Whether the order differs from that of the store with `added` at the end.
  private(set) var isReordered = false
  /// The order of members that are to be loaded again.
  private var order: ObjectList?
  /// Represents the time until the next commit; created for the first version.
  private var epoch: ToManyVersion.Epoch?
  /// How often the members were unloaded.
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

  /// Whether an object is a member; nil if only the store can tell.
  func knows(_ object: NSManagedObject) -> Bool? {
    if members != nil { return members!.indexes(object) }
    if added.indexes(object) { return true }
    return removed.indexes(object) ? false : nil
  }

  /// Whether an object was added since the last commit, with a position of its own in an ordered
  /// relationship.
  func adds(_ object: NSManagedObject) -> Bool { added.indexes(object) }

  // MARK: Changing

  /// Inserts an object that is no member: at the end, or at its former position.
  func insert(_ object: NSManagedObject, at place: MemberPlace = .end) {
    let isBack: Bool = returns(object, to: place)
    let next: NSManagedObject? = isOrdered ? place.before : nil
    if members != nil {
      let isLast: Bool = members!.insert(object, before: next)
      // It has a position in the store, or gets one among members that have.
      let isLate: Bool = isLast || next.map { added.indexes($0) } ?? true
      if isOrdered, isBack || !isLate { isReordered = true }
    }
    if isBack { removed.remove(object) } else { added.insert(object, before: next) }
  }

  /// Whether an object that is no member only has to be removed from `removed`.
  private func returns(_ object: NSManagedObject, to place: MemberPlace) -> Bool {
    (!isOrdered || place.isStored) && removed.indexes(object)
  }

  /// Whether the members have to be loaded before `insert`.
  func needsMembers(toInsert object: NSManagedObject, at place: MemberPlace) -> Bool {
    guard members == nil, isOrdered, let next = place.before else { return false }
    return !returns(object, to: place) && !added.indexes(next)
  }

  /// Removes a member. The position of one that only the store has is not determined.
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

  /// Removes all members at once, if they are these, loaded, unordered and unchanged: what `remove` does for
  /// each. Returns whether it has.
  func removeAll(_ objects: [NSManagedObject]) -> Bool {
    guard !isOrdered, added.isEmpty, removed.isEmpty, order == nil, let members,
      members.count == objects.count, members.elementsEqual(objects, by: ===)
    else { return false }
    removed = members
    self.members = ObjectList()
    return true
  }

  /// Moves a member of a loaded, ordered relationship. Returns the member that followed it.
  func move(_ object: NSManagedObject, before next: NSManagedObject?) -> NSManagedObject? {
    guard members?.indexes(object) == true else { return next }
    let old: NSManagedObject? = members!.successor(of: object)
    members!.remove(object)
    members!.insert(object, before: next)
    isReordered = true
    return old
  }

  /// Reorders loaded members. Returns the members that were moved, in the order of moving, each with the
  /// member that followed it.
  func reorder(_ wanted: ObjectList) -> [(object: NSManagedObject, before: NSManagedObject?)] {
    guard members != nil else { return [] }
    let moves = members!.arrange(like: wanted)
    if !moves.isEmpty { isReordered = true }
    return moves
  }

  // MARK: A save

  /// What is known of the members, and what was changed.
  struct Content {
    fileprivate var members: ObjectList?
    fileprivate var added: ObjectList
    fileprivate var removed: ObjectList
    fileprivate var isReordered: Bool
    fileprivate var order: ObjectList?

    /// Whether members were added, removed or moved between the two.
    func differs(from other: Content) -> Bool {
      func same(_ one: ObjectList, _ two: ObjectList) -> Bool {
        var two: ObjectList = two
        return one.count == two.count && one.allSatisfy { two.indexes($0) }
      }
      return !same(added, other.added) || !same(removed, other.removed)
        || isReordered != other.isReordered || isReordered && !isInSameOrder(other)
    }

    private func isInSameOrder(_ other: Content) -> Bool {
      guard let members, let others = other.members else { return false }
      return members.objects.elementsEqual(others.objects, by: ===)
    }
  }

  /// What is known of the members, and what was changed since the last save.
  var content: Content {
    get {
      Content(members: members, added: added, removed: removed, isReordered: isReordered, order: order)
    }
    set {
      (members, added, removed) = (newValue.members, newValue.added, newValue.removed)
      (isReordered, order) = (newValue.isReordered, newValue.order)
    }
  }

  /// Makes the changes again that lead from one content to another. Returns whether there are any. `saved`
  /// became the stored content since.
  func repeatChanges(from saved: Content, to late: Content) -> Bool {
    func newcomers(_ list: ObjectList, _ old: ObjectList) -> [NSManagedObject] {
      var old: ObjectList = old
      return list.filter { !old.indexes($0) }
    }
    let gone: [NSManagedObject] =
      newcomers(late.removed, saved.removed) + newcomers(saved.added, late.added)
    let come: [NSManagedObject] =
      newcomers(late.added, saved.added) + newcomers(saved.removed, late.removed)
    for object in gone where knows(object) != false { _ = remove(object) }
    for object in come where knows(object) != true { insert(object) }
    var isMoved = false
    if isOrdered, late.isReordered, let wanted = late.members { isMoved = !reorder(wanted).isEmpty }
    return !gone.isEmpty || !come.isEmpty || isMoved
  }

  // MARK: Undo

  var mark: ToManyVersion {
    let epoch: ToManyVersion.Epoch = self.epoch ?? ToManyVersion.Epoch()
    self.epoch = epoch
    return ToManyVersion(isReordered: isReordered, epoch: epoch, unloads: unloads)
  }

  /// Called after all changes since a version have been undone.
  func restoreOrderFlag(_ mark: ToManyVersion) {
    if isOfNow(mark), mark.unloads == unloads { isReordered = mark.isReordered }
  }

  /// Whether nothing was committed since a version.
  func isOfNow(_ mark: ToManyVersion) -> Bool { mark.epoch != nil && mark.epoch === epoch }

  // MARK: Loading and saving

  /// Sets the store's members and applies the changes made meanwhile. Members that no longer exist are left
  /// out; the store will find that out itself. Returns whether there were any.
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

  /// Removes changes that another context has also stored: what is recorded is exact again. `stored` need not
  /// contain members that were neither added nor removed.
  func leaveOut(doneIn stored: inout ObjectList) {
    removed = ObjectList(removed.filter { stored.indexes($0) })
    added = ObjectList(added.filter { !stored.indexes($0) || removed.indexes($0) })
  }

  /// Unloads the members, to be loaded again; changes stay. If the store may have other members by now,
  /// `leaveOut` must follow before anything is changed.
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

  /// Removes objects whose rows were deleted, whatever was changed about them.
  func drop(where isGone: (NSManagedObject) -> Bool) {
    let gone: [NSManagedObject] = [members ?? ObjectList(), added, removed].flatMap { $0.filter(isGone) }
    for object in gone {
      members?.remove(object)
      added.remove(object)
      removed.remove(object)
    }
  }

  // MARK: Deletions and merges

  /// What was added and removed before the deletion of the owner was propagated; nil: nothing.
  private var beforeDeletion: (added: ObjectList, removed: ObjectList)?

  /// Called before the deletion of the owner is propagated.
  func noteDeletion() { beforeDeletion = isChanged ? (added, removed) : nil }

  /// The members removed since, and whether they are members in the store.
  var detachedMembers: [(object: NSManagedObject, isStored: Bool)] {
    var before: (added: ObjectList, removed: ObjectList) = beforeDeletion ?? (ObjectList(), ObjectList())
    let new: [NSManagedObject] = before.added.filter { !added.indexes($0) }
    let stored: [NSManagedObject] = removed.filter {
      !before.removed.indexes($0) && !before.added.indexes($0)
    }
    return new.map { ($0, false) } + stored.map { ($0, true) }
  }

  /// Removes a recorded addition.
  func discardAddition(of object: NSManagedObject) {
    if !removed.indexes(object) { removeEverywhere(object) }
    added.remove(object)
  }

  /// Removes a recorded removal: the member gets the position that the store has for it.
  func discardRemoval(of object: NSManagedObject) {
    guard removed.indexes(object) else { return }
    if members != nil { unload() }
    removed.remove(object)
  }

  /// Called after the store no longer has a member.
  func removeStored(_ object: NSManagedObject) {
    removed.remove(object)
    if !added.indexes(object) { removeEverywhere(object) }
  }

  private func removeEverywhere(_ object: NSManagedObject) {
    members?.remove(object)
    order?.remove(object)
  }

  /// Removes a recorded reordering.
  func discardOrder() {
    guard isReordered else { return }
    isReordered = false
    unload()
    order = nil
  }

  /// Marks the present members as the store's.
  func commit() {
    added = ObjectList()
    removed = ObjectList()
    isReordered = false
    order = nil
    epoch = nil
  }

  /// The objects that are members and were not, and the other way round. Moves to the end are neither.
  var pairs: (added: [NSManagedObject], removed: [NSManagedObject]) {
    if added.isEmpty || removed.isEmpty { return (added.objects, removed.objects) }
    return (added.filter { !removed.indexes($0) }, removed.filter { !added.indexes($0) })
  }
}

/// The former position of a member.
struct MemberPlace {
  static var end: MemberPlace { MemberPlace(before: nil, isStored: false) }

  /// In an ordered relationship: the member after it; nil if it was the last one, or if it is unknown.
  var before: NSManagedObject?
  /// It was a member in the store: while the store still has it, its position is there.
  var isStored: Bool
}

/// The part of a change of members that its reverse alone does not restore.
struct ToManyVersion {
  /// The time between two commits. An object and not a number, because the members' state may have been
  /// created again since, and would count from the beginning.
  final class Epoch: Sendable {}

  static let none = ToManyVersion(isReordered: true, epoch: nil, unloads: 0)

  let isReordered: Bool
  let epoch: Epoch?
  let unloads: Int
}
