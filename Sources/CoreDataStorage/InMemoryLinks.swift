/// The pairs of owner and member for one link of the schema (see `InMemorySchema`). Holds keys only; the rows
/// contain the entity.
struct InMemoryLink: Sendable {
  struct Pair: Hashable, Sendable {
    var owner: Int64
    var member: Int64
  }

  /// owner → members, ascending; no entry for an owner without members.
  private(set) var forward: [Int64: [Int64]] = [:]
  /// member → owners, ascending. Kept for joins and hidden keys; empty for an index over a to-one.
  private(set) var backward: [Int64: [Int64]] = [:]
  /// Positions of members at their owner; only for links that are ordered on that side.
  private(set) var forwardOrder: [Pair: Int] = [:]
  /// Positions of owners at their member; the pair's owner is the member here.
  private(set) var backwardOrder: [Pair: Int] = [:]

  // MARK: Reading

  /// The keys at the other end, ascending, or in their order if the link is ordered.
  func keys(of key: Int64, isForward: Bool, isOrdered: Bool) -> [Int64] {
    let keys: [Int64] = (isForward ? forward[key] : backward[key]) ?? []
    guard isOrdered, keys.count > 1 else { return keys }
    let order: [Pair: Int] = isForward ? forwardOrder : backwardOrder
    return keys.map { (order[Pair(owner: key, member: $0)] ?? .max, $0) }
      .sorted { $0 < $1 }
      .map(\.1)
  }

  /// Whether a key is at the other end.
  func contains(_ member: Int64, at key: Int64, isForward: Bool) -> Bool {
    let keys: [Int64] = (isForward ? forward[key] : backward[key]) ?? []
    let place: Int = Self.place(of: member, in: keys)
    return place < keys.count && keys[place] == member
  }

  // MARK: Changing

  /// For an index over a to-one, after a row's target has changed.
  mutating func move(member: Int64, from old: Int64?, to new: Int64?) {
    guard old != new else { return }
    if let old {
      Self.remove(member, from: &forward, at: old)
      forwardOrder[Pair(owner: old, member: member)] = nil
    }
    if let new { Self.insert(member, into: &forward, at: new) }
  }

  mutating func addPair(owner: Int64, member: Int64, isHidden: Bool = false) {
    if isHidden, let previous = backward[member]?.first, previous != owner {
      removePair(owner: previous, member: member)
    }
    Self.insert(member, into: &forward, at: owner)
    Self.insert(owner, into: &backward, at: member)
  }

  mutating func removePair(owner: Int64, member: Int64) {
    Self.remove(member, from: &forward, at: owner)
    Self.remove(owner, from: &backward, at: member)
    forwardOrder[Pair(owner: owner, member: member)] = nil
    backwardOrder[Pair(owner: member, member: owner)] = nil
  }

  /// For a relationship that is its own inverse: both ends hold the pair in `forward`.
  mutating func addSymmetricPair(_ one: Int64, _ other: Int64) {
    Self.insert(other, into: &forward, at: one)
    Self.insert(one, into: &forward, at: other)
  }

  mutating func removeSymmetricPair(_ one: Int64, _ other: Int64) {
    Self.remove(other, from: &forward, at: one)
    Self.remove(one, from: &forward, at: other)
    forwardOrder[Pair(owner: one, member: other)] = nil
    forwardOrder[Pair(owner: other, member: one)] = nil
  }

  /// Removes every pair of a deleted row.
  mutating func removeAllPairs(of key: Int64, isForward: Bool, isSymmetric: Bool) {
    if isSymmetric {
      for other in forward[key] ?? [] { removeSymmetricPair(key, other) }
    } else if isForward {
      for member in forward[key] ?? [] { removePair(owner: key, member: member) }
    } else {
      for owner in backward[key] ?? [] { removePair(owner: owner, member: key) }
    }
  }

  /// Sets the positions of one end's members. Keys that are no members are left out.
  mutating func setOrder(of key: Int64, to members: [Int64], isForward: Bool) {
    let known: Set<Int64> = Set((isForward ? forward[key] : backward[key]) ?? [])
    var position: Int = 0
    for member in members where known.contains(member) {
      let pair = Pair(owner: key, member: member)
      if isForward { forwardOrder[pair] = position } else { backwardOrder[pair] = position }
      position += 1
    }
  }

  /// Appends members to the order; with `keepsPlaces`, only those that have no position yet.
  mutating func appendToOrder(of key: Int64, added: [Int64], isForward: Bool, keepsPlaces: Bool = false) {
    let members: [Int64] = (isForward ? forward[key] : backward[key]) ?? []
    if isForward {
      Self.append(added, to: &forwardOrder, of: key, after: members, keepsPlaces)
    } else {
      Self.append(added, to: &backwardOrder, of: key, after: members, keepsPlaces)
    }
  }

  private static func append(
    _ added: [Int64], to order: inout [Pair: Int], of key: Int64, after members: [Int64], _ keepsPlaces: Bool
  ) {
    if added.isEmpty { return }
    var last: Int = members.reduce(-1) { max($0, order[Pair(owner: key, member: $1)] ?? -1) }
    for member in added {
      let pair = Pair(owner: key, member: member)
      if keepsPlaces, order[pair] != nil { continue }
      last += 1
      order[pair] = last
    }
  }

  // MARK: Sorted lists

  private static func place(of key: Int64, in list: [Int64]) -> Int {
    // New members usually have the highest key.
    if let last = list.last, last < key { return list.count }
    var low: Int = 0
    var high: Int = list.count
    while low < high {
      let middle: Int = (low + high) / 2
      if list[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func insert(_ key: Int64, into lists: inout [Int64: [Int64]], at owner: Int64) {
    func add(to list: inout [Int64]) {
      let place: Int = place(of: key, in: list)
      if place < list.count, list[place] == key { return }
      list.insert(key, at: place)
    }
    add(to: &lists[owner, default: []])
  }

  private static func remove(_ key: Int64, from lists: inout [Int64: [Int64]], at owner: Int64) {
    func removeKey(from list: inout [Int64]?) {
      guard let place = list.map({ place(of: key, in: $0) }), place < list!.count, list![place] == key
      else { return }
      list!.remove(at: place)
      if list!.isEmpty { list = nil }
    }
    removeKey(from: &lists[owner])
  }
}
