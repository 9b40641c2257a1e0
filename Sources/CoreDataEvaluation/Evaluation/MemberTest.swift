import CoreDataPredicates
import Foundation

/// `IN` a constant list, without options.
struct MemberTest: Sendable {
  private let members: Set<PredicateValue>
  private let texts: TextSet
  /// The numbers among the members; nil when one of them is no integer, and the set is used.
  private let integers: [Int64]?

  /// The result for nil.
  let whenNull: Bool

  init(_ members: some Sequence<PredicateValue>) {
    self.members = Set(members)
    whenNull = self.members.contains(.null)
    texts = TextSet(self.members.compactMap { if case .string(let text) = $0 { text } else { nil } })
    let numbers: [PredicateValue] = self.members.filter(\.isNumber)
    let integers: [Int64] = numbers.compactMap { number in
      switch number {
      case .integer(let value): value
      case .bool(let value): value ? 1 : 0
      default: nil
      }
    }
    self.integers = integers.count == numbers.count ? integers.sorted() : nil
  }

  func holds(_ value: PredicateValue) -> Bool { members.contains(value) }

  func holds(_ value: Int64) -> Bool {
    guard let integers else { return members.contains(.integer(value)) }
    var (low, high): (Int, Int) = (0, integers.count)
    while low < high {
      let middle: Int = (low + high) / 2
      if integers[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low < integers.count && integers[low] == value
  }

  func holds(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    texts.contains(bytes) ?? members.contains(.string(String(decoding: bytes, as: UTF8.self)))
  }
}

/// Texts that are found by their bytes.
///
/// A few are compared one after the other; more are in a hash table with open addressing, at most half full.
private final class TextSet: @unchecked Sendable {
  // Immutable after init.

  private struct Place {
    var start: Int32
    var count: Int32
  }

  private let bytes: UnsafeMutablePointer<UInt8>
  private let places: UnsafeMutablePointer<Place>
  private let count: Int
  /// Indexes of texts, −1 for none; the size is a power of two. nil for a few texts.
  private let table: UnsafeMutablePointer<Int32>?
  private let mask: Int
  /// Whether a text with broken UTF-8 could be repaired to one of these.
  private let holdsReplacement: Bool

  private static let few: Int = 8

  init(_ texts: [String]) {
    let size: Int = texts.reduce(0) { $0 + $1.utf8.count }
    let bytes: UnsafeMutablePointer<UInt8> = .allocate(capacity: max(1, size))
    self.bytes = bytes
    places = .allocate(capacity: max(1, texts.count))
    count = texts.count
    holdsReplacement = texts.contains { $0.unicodeScalars.contains("\u{FFFD}") }
    var end: Int = 0
    for (number, text) in texts.enumerated() {
      var text: String = text
      let length: Int = text.withUTF8 { source in
        if let start = source.baseAddress { (bytes + end).initialize(from: start, count: source.count) }
        return source.count
      }
      (places + number).initialize(to: Place(start: Int32(end), count: Int32(length)))
      end += length
    }
    guard texts.count > Self.few else {
      (table, mask) = (nil, 0)
      return
    }
    var capacity: Int = 32
    while capacity < texts.count * 2 { capacity *= 2 }
    let table: UnsafeMutablePointer<Int32> = .allocate(capacity: capacity)
    table.initialize(repeating: -1, count: capacity)
    self.table = table
    mask = capacity - 1
    for number in 0..<texts.count {
      var home: Int = Self.hash(text(number)) & mask
      while table[home] >= 0 { home = (home + 1) & mask }
      table[home] = Int32(number)
    }
  }

  deinit {
    bytes.deallocate()
    places.deallocate()
    table?.deallocate()
  }

  /// nil if the text may have broken UTF-8 and be one of these when repaired.
  func contains(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool? {
    if holdsReplacement, !wanted.isASCII { return nil }
    guard let table else {
      for number in 0..<count where ByteSearch.equals(text(number), wanted) { return true }
      return false
    }
    var home: Int = Self.hash(wanted) & mask
    while table[home] >= 0 {
      if ByteSearch.equals(text(Int(table[home])), wanted) { return true }
      home = (home + 1) & mask
    }
    return false
  }

  @inline(__always)
  private func text(_ number: Int) -> UnsafeBufferPointer<UInt8> {
    let place: Place = places[number]
    return UnsafeBufferPointer(start: bytes + Int(place.start), count: Int(place.count))
  }

  /// Seeded by the process, so that no input can be chosen to collide.
  private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
    return hasher.finalize()
  }
}
