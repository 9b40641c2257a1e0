/// A hash table from 64-bit keys to 64-bit payloads: the core of identity maps.
///
/// Open addressing with linear probing and backward-shift deletion, at most three quarters full. Primary keys
/// are allocated in sequence; multiplying by an odd constant spreads them. `Dictionary` costs five times as
/// much for each row, which would slow down a fetch of 200,000 objects (Decisions/0003).
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
  @usableFromInline var shift: UInt64 = 64
  public private(set) var count: Int = 0

  public init() {}

  /// The place where the search for a key begins.
  @inlinable
  func home(_ key: Int64) -> Int { Self.home(key, shift) }

  /// Multiplying by the golden ratio spreads keys in sequence almost evenly, so probe chains stay short.
  @inlinable
  static func home(_ key: Int64, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// The payload of a key.
  @inlinable
  public func find(_ key: Int64) -> UInt64? {
    guard !entries.isEmpty else { return nil }
    return entries.withUnsafeBufferPointer { places in
      let mask: Int = places.count &- 1
      var place: Int = home(key)
      while true {
        let entry: Entry = places[place]
        if entry.key == key { return entry.payload }
        if entry.key == Self.free { return nil }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Reserves capacity for `more` further keys.
  public mutating func reserve(more: Int) {
    let wanted: Int = (count + more) * 4 / 3 + 1
    guard wanted > entries.count else { return }
    var capacity: Int = 16
    while capacity < wanted { capacity *= 2 }
    resize(to: capacity)
  }

  private mutating func resize(to capacity: Int) {
    let old: [Entry] = entries
    entries = Array(repeating: Entry(key: Self.free, payload: 0), count: capacity)
    shift = UInt64(64 - capacity.trailingZeroBitCount)
    let mask: Int = capacity - 1
    for entry in old where entry.key != Self.free {
      var place: Int = home(entry.key)
      while entries[place].key != Self.free { place = (place + 1) & mask }
      entries[place] = entry
    }
  }

  /// Sets a key's payload; returns the one it replaces.
  @discardableResult
  public mutating func insert(_ key: Int64, _ payload: UInt64) -> UInt64? {
    reserve(more: 1)
    return entries.withUnsafeMutableBufferPointer { places in
      let mask: Int = places.count &- 1
      var place: Int = Self.home(key, shift)
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
      // Move later members of the probe chain back over the hole, so that no search stops there.
      var next: Int = (hole &+ 1) & mask
      while places[next].key != Self.free {
        let wanted: Int = Self.home(places[next].key, shift)
        if (next &- wanted) & mask >= (next &- hole) & mask {
          places[hole] = places[next]
          hole = next
        }
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
