/// A hash table from 64-bit keys to 64-bit payloads: the core of identity maps.
///
/// Open addressing with linear probing and backward-shift deletion, at most three quarters full. Primary keys
/// are allocated in sequence, and fetched and freed in sequence: 16 successive ones lie side by side, so that
/// a large table is not read at a random place for each row; the blocks of 16 are spread by multiplying. The
/// members of a probe chain are in the order of their homes (Robin Hood hashing), so that a removal stops at
/// the first one that is at home. `Dictionary` costs five times as much for each row, which would slow down a
/// fetch of 200,000 objects (Decisions/0003).
@frozen
public struct Int64HashMap: @unchecked Sendable {
  // Sendable: a value whose storage is uniquely owned; guarded by its owner like any struct.

  @frozen
  @usableFromInline
  struct Entry {
    @usableFromInline var key: Int64
    @usableFromInline var payload: UInt64
    @inlinable
    init(key: Int64, payload: UInt64) {
      self.key = key
      self.payload = payload
    }
  }

  /// Marks a free place. No store allocates it as a key: primary keys are positive, temporary ones start at
  /// -1.
  @usableFromInline static let free: Int64 = .min

  @usableFromInline var entries: [Entry] = []
  /// What leaves the number of a block. There are two blocks at least.
  @usableFromInline var shift: UInt64 = 63
  public private(set) var count: Int = 0

  public init() {}

  /// The place where the search for a key begins.
  @inlinable
  func home(_ key: Int64) -> Int { Self.home(key, shift) }

  /// Multiplying by the golden ratio spreads blocks in sequence almost evenly, so probe chains stay short.
  @inlinable
  static func home(_ key: Int64, _ shift: UInt64) -> Int {
    let bits = UInt64(bitPattern: key)
    let block: UInt64 = ((bits &>> 4) &* 0x9E37_79B9_7F4A_7C15) &>> shift
    return Int(truncatingIfNeeded: block &<< 4 | bits & 15)
  }

  /// The payload of a key.
  @inlinable
  public func find(_ key: Int64) -> UInt64? {
    guard !entries.isEmpty else { return nil }
    return entries.withUnsafeBufferPointer { places in
      let mask: Int = places.count &- 1
      let first: Int = home(key)
      var place: Int = first
      while true {
        let entry: Entry = places[place]
        if entry.key == key { return entry.payload }
        if entry.key == Self.free { return nil }
        // The key would have come before an entry that is closer to its home.
        if (place &- home(entry.key)) & mask < (place &- first) & mask { return nil }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Reserves capacity for `more` further keys.
  public mutating func reserve(more: Int) {
    let wanted: Int = (count + more) * 4 / 3 + 1
    guard wanted > entries.count else { return }
    var capacity: Int = 32
    while capacity < wanted { capacity *= 2 }
    resize(to: capacity)
  }

  private mutating func resize(to capacity: Int) {
    let old: [Entry] = entries
    entries = Array(repeating: Entry(key: Self.free, payload: 0), count: capacity)
    shift = UInt64(64 + 4 - capacity.trailingZeroBitCount)
    let shift: UInt64 = self.shift
    entries.withUnsafeMutableBufferPointer { places in
      for entry in old where entry.key != Self.free {
        Self.place(entry, Self.home(entry.key, shift), places, shift)
      }
    }
  }

  /// Puts an entry whose key is not in the table at a place of its chain. It displaces the first one that is
  /// closer to its home than itself, which goes on.
  private static func place(
    _ entry: Entry, _ start: Int, _ places: UnsafeMutableBufferPointer<Entry>, _ shift: UInt64
  ) {
    let mask: Int = places.count &- 1
    var entry: Entry = entry
    var place: Int = start
    var distance: Int = (place &- home(entry.key, shift)) & mask
    while true {
      let found: Entry = places[place]
      if found.key == free { break }
      let other: Int = (place &- home(found.key, shift)) & mask
      if other < distance {
        places[place] = entry
        entry = found
        distance = other
      }
      place = (place &+ 1) & mask
      distance &+= 1
    }
    places[place] = entry
  }

  /// Sets a key's payload; returns the one it replaces.
  @discardableResult
  public mutating func insert(_ key: Int64, _ payload: UInt64) -> UInt64? {
    reserve(more: 1)
    let shift: UInt64 = self.shift
    return entries.withUnsafeMutableBufferPointer { places in
      let mask: Int = places.count &- 1
      let first: Int = Self.home(key, shift)
      var place: Int = first
      while true {
        let found: Int64 = places[place].key
        if found == key {
          let old: UInt64 = places[place].payload
          places[place].payload = payload
          return old
        }
        if found == Self.free {
          places[place] = Entry(key: key, payload: payload)
          count += 1
          return nil
        }
        if (place &- Self.home(found, shift)) & mask < (place &- first) & mask {
          Self.place(Entry(key: key, payload: payload), place, places, shift)
          count += 1
          return nil
        }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Removes a key; returns its payload. With `ifPayload`, removes only an entry with that payload.
  @discardableResult
  public mutating func remove(_ key: Int64, ifPayload expected: UInt64? = nil) -> UInt64? {
    guard !entries.isEmpty else { return nil }
    let shift: UInt64 = self.shift
    let removed: UInt64? = entries.withUnsafeMutableBufferPointer { places in
      let mask: Int = places.count &- 1
      var hole: Int = Self.home(key, shift)
      while places[hole].key != key {
        if places[hole].key == Self.free { return nil }
        hole = (hole &+ 1) & mask
      }
      let payload: UInt64 = places[hole].payload
      if let expected, expected != payload { return nil }
      // Move later members of the probe chain back over the hole, so that no search stops there. One that is
      // at home begins another chain.
      var next: Int = (hole &+ 1) & mask
      while places[next].key != Self.free, Self.home(places[next].key, shift) != next {
        places[hole] = places[next]
        hole = next
        next = (next &+ 1) & mask
      }
      places[hole] = Entry(key: Self.free, payload: 0)
      return payload
    }
    if removed != nil { count -= 1 }
    return removed
  }

  /// Every key with its payload, in no particular order.
  public func forEach(_ body: (Int64, UInt64) throws -> Void) rethrows {
    for entry in entries where entry.key != Self.free { try body(entry.key, entry.payload) }
  }
}
