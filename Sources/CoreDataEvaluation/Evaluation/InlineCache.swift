import CoreDataPredicates
import Foundation
import Synchronization

/// A few entries in the order in which they were first needed, read without a lock: nearly always the first
/// one is the right one.
///
/// Entries beyond the capacity are made for each use; a program with so many kinds of objects is slower, but
/// correct. The cache is stored inline in its owner, so that an empty one, which most predicates have, costs
/// a word and no allocation.
struct InlineCache<Entry: AnyObject & Sendable>: ~Copyable, @unchecked Sendable {
  // Links are appended, complete, by an atomic exchange with 0, and exist as long as the cache.

  private final class Link {
    let entry: Entry
    /// An owned `Link`, or 0.
    let next: Atomic<UInt> = .init(0)

    init(_ entry: Entry) { self.entry = entry }
  }

  private static var capacity: Int { 16 }
  /// An owned `Link`, or 0.
  private let first: Atomic<UInt> = .init(0)

  deinit {
    var address: UInt = first.load(ordering: .acquiring)
    if address == 0 { return }
    while let link = Self.link(address) {
      address = link.takeUnretainedValue().next.load(ordering: .acquiring)
      link.release()
    }
  }

  private static func link(_ address: UInt) -> Unmanaged<Link>? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
  }

  @inline(__always)
  func entry(where isWanted: (Entry) -> Bool, else make: () -> Entry) -> Entry {
    if let link = Self.link(first.load(ordering: .acquiring)) {
      let entry: Entry = link._withUnsafeGuaranteedRef { $0.entry }
      if isWanted(entry) { return entry }
    }
    return search(isWanted, make)
  }

  private func search(_ isWanted: (Entry) -> Bool, _ make: () -> Entry) -> Entry {
    var last: Unmanaged<Link>?
    var next: UInt = first.load(ordering: .acquiring)
    var count: Int = 0
    var made: Entry?
    while true {
      if let link = Self.link(next) {
        let entry: Entry = link._withUnsafeGuaranteedRef { $0.entry }
        if isWanted(entry) { return entry }
        (last, count) = (link, count + 1)
        next = link._withUnsafeGuaranteedRef { $0.next.load(ordering: .acquiring) }
        continue
      }
      let entry: Entry = made ?? make()
      made = entry
      if count >= Self.capacity { return entry }
      let new: Unmanaged<Link> = .passRetained(Link(entry))
      let address = UInt(bitPattern: new.toOpaque())
      let (appended, found): (Bool, UInt) =
        last.map { $0._withUnsafeGuaranteedRef { Self.append(address, to: $0.next) } }
        ?? Self.append(address, to: first)
      if appended { return entry }
      // Another thread has appended one first: the search continues with it.
      new.release()
      next = found
    }
  }

  private static func append(_ address: UInt, to place: borrowing Atomic<UInt>) -> (Bool, UInt) {
    let result = place.compareExchange(expected: 0, desired: address, ordering: .acquiringAndReleasing)
    return (result.exchanged, result.original)
  }
}
