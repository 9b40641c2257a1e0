import CoreDataModel
import CoreDataStorage
import Foundation

// To-many relationships as mutable collections of Foundation. Changes of the collection change the
// relationship at once, with its inverse. The same applies to arrays that attributes hold.

extension NSManagedObject {
  /// A to-many relationship, ordered or not, as a set that changes it. It always contains the relationship's
  /// present members. Adding, removing and testing single members (`contains`) do not load the others;
  /// counting and enumerating do. Stops for a key that is no to-many relationship.
  ///
  /// A cast to Swift's `Set` makes an empty one of it with Foundation on Linux; use its `allObjects`, or read
  /// the property.
  public final func mutableSetValue(forKey key: String) -> NSMutableSet {
    ManagedMutableSet(owner: self, slot: requireToMany(key))
  }

  /// An ordered to-many relationship as an ordered set that changes it. It loads the members, and contains
  /// those of the moment when it was made, with the changes made through it; make a new one after other
  /// changes. To add or remove single members of a large relationship without loading it, use
  /// ``mutableSetValue(forKey:)`` (new ones are appended) or the class's own methods.
  public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let slot: Int = requireToMany(key)
    guard runtime.layout.slots[slot].relationship?.isOrdered == true else {
      fatalError(
        "The relationship \(runtime.layout.name).\(key) is not ordered; use mutableSetValue(forKey:), or check Ordered in the model."
      )
    }
    return ManagedMutableOrderedSet(owner: self, slot: slot)
  }

  /// The set at the end of a path of to-one relationships: `category.items`.
  public final func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (owner, key) = lastOwner(keyPath)
    return owner.mutableSetValue(forKey: key)
  }

  /// The ordered set at the end of a path of to-one relationships.
  public final func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (owner, key) = lastOwner(keyPath)
    return owner.mutableOrderedSetValue(forKey: key)
  }

  /// An array that an attribute holds, transformable or transient, or that an accessor of ``customAccessors``
  /// returns, as an array that changes it: each change sets the property as ``setValue(_:forKey:)`` does.
  /// Always reads the property's present value; nil reads as empty, and adding the first member creates an
  /// array. An accessor is called for every member in a loop: loop over a copy if it is expensive. Stops for
  /// a property that holds anything else, and for relationships, whose members are a set.
  public final func mutableArrayValue(forKey key: String) -> NSMutableArray {
    if let slot = runtime.layout.slotByName[key], runtime.layout.slots[slot].relationship != nil {
      fatalError(
        "NSManagedObjects of entity '\(runtime.layout.name)' do not support mutableArrayValue(forKey:) for the relationship "
          + "'\(key)', whose members are a set: use mutableSetValue(forKey:), or mutableOrderedSetValue(forKey:) for an ordered one."
      )
    }
    let array = ManagedMutableArray(owner: self, key: key)
    _ = array.members
    return array
  }

  /// The array at the end of a path of to-one relationships.
  public final func mutableArrayValue(forKeyPath keyPath: String) -> NSMutableArray {
    let (owner, key) = lastOwner(keyPath)
    return owner.mutableArrayValue(forKey: key)
  }

  private final func requireToMany(_ key: String) -> Int {
    let slot: Int = requireSlot(key)
    guard runtime.layout.slots[slot].isToMany else {
      fatalError("\(runtime.layout.name).\(key) is no to-many relationship, so it has no mutable collection.")
    }
    fireFault(slot, .read)
    return slot
  }

  /// The object before the last key of a path, and that key.
  final func lastOwner(_ keyPath: String) -> (owner: NSManagedObject, key: String) {
    guard let dot = keyPath.lastIndex(of: ".") else { return (self, keyPath) }
    let path = String(keyPath[..<dot])
    guard let owner = value(forKeyPath: path) as? NSManagedObject else {
      fatalError(
        "\(path) of \(objectID) is nil or no to-one relationship, so there is nothing to change behind it.")
    }
    return (owner, String(keyPath[keyPath.index(after: dot)...]))
  }
}

private final class ManagedMutableSet: NSMutableSet {
  private let owner: NSManagedObject?
  private let slot: Int
  /// For a copy, which belongs to no relationship.
  private let copied = NSMutableSet()

  init(owner: NSManagedObject, slot: Int) {
    self.owner = owner
    self.slot = slot
    super.init(capacity: 0)
  }

  required init?(coder: NSCoder) { nil }

  /// Foundation uses it to make copies.
  required init(capacity numItems: Int) {
    owner = nil
    slot = 0
    super.init(capacity: numItems)
  }

  override var count: Int { owner?.members(slot).count ?? copied.count }

  override func member(_ object: Any) -> Any? {
    guard let owner else { return copied.member(object) }
    guard let object = object as? NSManagedObject, owner.fits(object, slot) else { return nil }
    return owner.isMember(slot, object) ? object : nil
  }

  override func objectEnumerator() -> NSEnumerator {
    guard let owner else { return copied.objectEnumerator() }
    return NSArray(array: owner.members(slot).objects).objectEnumerator()
  }

  // Foundation's other mutators are based on these two.

  override func add(_ object: Any) {
    guard let owner else { return copied.add(object) }
    owner.link(slot, .member(object, of: owner, slot))
  }

  override func remove(_ object: Any) {
    guard let owner else { return copied.remove(object) }
    if let member = object as? NSManagedObject { owner.unlinkMember(slot, member) }
  }
}

private final class ManagedMutableOrderedSet: NSMutableOrderedSet {
  // Foundation on Linux reads its own storage in functions that can't be overridden (`firstObject`,
  // enumerators), so the members must be in it.
  private let owner: NSManagedObject?
  private let slot: Int
  /// The number of nested changes: one may consist of others.
  private var depth: Int = 0

  init(owner: NSManagedObject, slot: Int) {
    self.owner = owner
    self.slot = slot
    super.init(capacity: 0)
    depth = 1
    for member in owner.members(slot) { super.add(member) }
    depth = 0
  }

  required init?(coder: NSCoder) { nil }
  required init(arrayLiteral elements: Any...) {
    fatalError("A relationship's ordered set is asked for with mutableOrderedSetValue(forKey:).")
  }

  /// Changes the storage, and then sets the relationship to it.
  private func change(_ body: () -> Void) {
    depth += 1
    body()
    depth -= 1
    guard depth == 0, let owner else { return }
    owner.setMembers(slot, array.compactMap { NSManagedObject.member($0, of: owner, slot) })
  }

  /// Foundation stops the program without a word.
  private func requirePlace(_ index: Int, upTo last: Int, _ owner: NSManagedObject) {
    if index >= 0, index <= last { return }
    fatalError(
      "Index \(index) is not in the ordered relationship '\(owner.runtime.layout.slots[slot].name)' of "
        + "\(owner.runtime.layout.name), which has \(count) members; indexes are from 0 on.")
  }

  // Changes of one member change only that member.

  override func insert(_ object: Any, at idx: Int) {
    guard depth == 0, let owner else { return super.insert(object, at: idx) }
    let member: NSManagedObject = .member(object, of: owner, slot)
    requirePlace(idx, upTo: count, owner)
    if contains(member) { return }
    let next: NSManagedObject? = idx < count ? self.object(at: idx) as? NSManagedObject : nil
    super.insert(member, at: idx)
    owner.link(slot, member)
    if let next { owner.moveMember(slot, member, before: next) }
  }

  override func removeObject(at idx: Int) {
    if depth == 0, let owner { requirePlace(idx, upTo: count - 1, owner) }
    let member: Any? = depth == 0 ? object(at: idx) : nil
    super.removeObject(at: idx)
    if let member = member as? NSManagedObject { owner?.unlinkMember(slot, member) }
  }

  override func add(_ object: Any) {
    guard depth == 0 else { return super.add(object) }
    insert(object, at: count)
  }

  override func remove(_ object: Any) {
    guard depth == 0, contains(object) else { return super.remove(object) }
    super.remove(object)
    if let member = object as? NSManagedObject { owner?.unlinkMember(slot, member) }
  }

  override func replaceObject(at idx: Int, with obj: Any) {
    if depth == 0, let owner { requirePlace(idx, upTo: count - 1, owner) }
    change { super.replaceObject(at: idx, with: obj) }
  }
  override func removeAllObjects() { change { super.removeAllObjects() } }
  override func addObjects(from array: [Any]) { change { super.addObjects(from: array) } }
  override func removeObjects(in array: [Any]) { change { super.removeObjects(in: array) } }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    change { super.insert(objects, at: indexes) }
  }
  override func removeObjects(at indexes: IndexSet) { change { super.removeObjects(at: indexes) } }
  override func removeObjects(in range: NSRange) { change { super.removeObjects(in: range) } }
  override func setObject(_ obj: Any, at idx: Int) { change { super.setObject(obj, at: idx) } }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) {
    change { super.exchangeObject(at: idx1, withObjectAt: idx2) }
  }
  override func moveObjects(at indexes: IndexSet, to idx: Int) {
    change { super.moveObjects(at: indexes, to: idx) }
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    change { super.replaceObjects(at: indexes, with: objects) }
  }
  override func union(_ other: NSOrderedSet) { change { super.union(other) } }
  override func minus(_ other: NSOrderedSet) { change { super.minus(other) } }
  override func intersect(_ other: NSOrderedSet) { change { super.intersect(other) } }
  override func unionSet(_ other: Set<AnyHashable>) { change { super.unionSet(other) } }
  override func minusSet(_ other: Set<AnyHashable>) { change { super.minusSet(other) } }
  override func intersectSet(_ other: Set<AnyHashable>) { change { super.intersectSet(other) } }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    change { super.sort(comparator: cmptr) }
  }
  override func sort(options opts: NSSortOptions = [], usingComparator cmptr: (Any, Any) -> ComparisonResult)
  {
    change { super.sort(options: opts, usingComparator: cmptr) }
  }
}

private final class ManagedMutableArray: NSMutableArray {
  private let owner: NSManagedObject?
  private let key: String
  /// The members of an array that belongs to no object.
  private var own: [Any] = []
  /// The members read last, and the object that held them.
  private var last: (held: AnyObject, members: [Any])?

  init(owner: NSManagedObject, key: String) {
    self.owner = owner
    self.key = key
    super.init(capacity: 0)
  }

  required init?(coder: NSCoder) { nil }

  /// Foundation uses it to make copies.
  override init(capacity numItems: Int) {
    (owner, key) = (nil, "")
    super.init(capacity: numItems)
  }

  required init(arrayLiteral elements: Any...) {
    (owner, key) = (nil, "")
    super.init(capacity: elements.count)
    own = elements
  }

  required init(objects: UnsafePointer<AnyObject>?, count cnt: Int) {
    (owner, key) = (nil, "")
    super.init(capacity: cnt)
    own = UnsafeBufferPointer(start: objects, count: objects == nil ? 0 : cnt).map { $0 }
  }

  fileprivate var members: [Any] {
    get {
      guard let owner else { return own }
      if let known = known(owner) { return known }
      let value: Any? = owner.value(forKey: key)
      switch value {
      case nil: return []
      case let array as [Any]:
        keep(array, of: value)
        return array
      case let array as NSArray: return array.map { $0 }
      case let other?:
        fatalError(
          "\(owner.runtime.layout.name).\(key) holds a \(type(of: other)), so it has no mutable array; use setValue(_:forKey:)."
        )
      }
    }
    set {
      guard let owner else {
        own = newValue
        return
      }
      owner.setValue(newValue, forKey: key)
    }
  }

  // Foundation iterates by `object(at:)`, which would read the whole attribute for every member. A slot holds
  // a new object each time it is set or loaded, so the same object means the same members. An accessor may
  // return something else each time.

  private func known(_ owner: NSManagedObject) -> [Any]? {
    guard let last, let slot = owner.runtime.layout.slotByName[key] else { return nil }
    owner.fireFault(slot, .read)
    guard case .object(let held)? = owner.state?.values[slot], held === last.held else { return nil }
    return last.members
  }

  private func keep(_ members: [Any], of value: Any?) {
    last = nil
    guard let owner, owner.runtime.accessors?[key] == nil, let slot = owner.runtime.layout.slotByName[key],
      // An instance of a class may change internally.
      let value, !(type(of: value) is AnyClass), case .object(let held)? = owner.state?.values[slot]
    else { return }
    last = (held, members)
  }

  override var count: Int { members.count }
  override func object(at index: Int) -> Any { members[index] }

  // Foundation's other mutators are based on these.

  override func insert(_ anObject: Any, at index: Int) { members.insert(anObject, at: index) }
  override func removeObject(at index: Int) { members.remove(at: index) }
  override func add(_ anObject: Any) { members.append(anObject) }
  override func removeLastObject() { if !members.isEmpty { members.removeLast() } }
  override func replaceObject(at index: Int, with anObject: Any) { members[index] = anObject }

  // These are one change each, or are implemented by Foundation for its own class only.

  override func removeAllObjects() { members = [] }
  override func setArray(_ otherArray: [Any]) { members = otherArray }
  override func addObjects(from otherArray: [Any]) { members += otherArray }
  override func exchangeObject(at idx1: Int, withObjectAt idx2: Int) { members.swapAt(idx1, idx2) }
  override func insert(_ objects: [Any], at indexes: IndexSet) {
    var changed: [Any] = members
    for (index, object) in zip(indexes, objects) { changed.insert(object, at: index) }
    members = changed
  }
  override func removeObjects(at indexes: IndexSet) {
    members = members.enumerated().filter { !indexes.contains($0.offset) }.map(\.element)
  }
  override func removeObjects(in range: NSRange) { replaceObjects(in: range, withObjectsFrom: []) }
  override func replaceObjects(in range: NSRange, withObjectsFrom otherArray: [Any]) {
    members.replaceSubrange(range.location..<range.location + range.length, with: otherArray)
  }
  override func replaceObjects(
    in range: NSRange, withObjectsFrom otherArray: [Any], range otherRange: NSRange
  ) {
    replaceObjects(
      in: range,
      withObjectsFrom: Array(otherArray[otherRange.location..<otherRange.location + otherRange.length]))
  }
  override func replaceObjects(at indexes: IndexSet, with objects: [Any]) {
    var changed: [Any] = members
    for (index, object) in zip(indexes, objects) { changed[index] = object }
    members = changed
  }
  override func sort(options opts: NSSortOptions, usingComparator cmptr: (Any, Any) -> ComparisonResult) {
    members = plain.sortedArray(options: opts, usingComparator: cmptr)
  }
  override func sort(comparator cmptr: (Any, Any) -> ComparisonResult) {
    sort(options: [], usingComparator: cmptr)
  }

  // Read once, not for each member.

  private var plain: NSArray { NSArray(array: members) }
  override func objects(at indexes: IndexSet) -> [Any] {
    let members: [Any] = members
    return indexes.map { members[$0] }
  }
  override func objectEnumerator() -> NSEnumerator { plain.objectEnumerator() }
  override func reverseObjectEnumerator() -> NSEnumerator { plain.reverseObjectEnumerator() }
  override func contains(_ anObject: Any) -> Bool { plain.contains(anObject) }
  override func index(of anObject: Any) -> Int { plain.index(of: anObject) }
  override func copy(with zone: NSZone? = nil) -> Any { plain }
  override func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableArray(array: members) }
  /// It is archived as an array of the present members.
  override var classForCoder: AnyClass { NSMutableArray.self }
}

extension NSManagedObject {
  /// A value that is to become a member; stops if it is no managed object.
  fileprivate static func member(_ value: Any, of owner: NSManagedObject, _ slot: Int) -> NSManagedObject {
    guard let member = value as? NSManagedObject else {
      fatalError(
        "Unacceptable type of value for to-many relationship '\(owner.runtime.layout.slots[slot].name)': \(type(of: value)); "
          + "add managed objects.")
    }
    return member
  }
}
