import Foundation

/// The code of closures: two that were made at one place in the source have the same, whatever they have
/// captured.
///
/// A closure consists of two words, the address of its code and its captured values.
package enum ClosureCode {
  // In a separate structure, because a closure passed to a generic function is first wrapped in another one.
  private struct Holder {
    let comparator: Comparator
  }

  /// Whether the layout is as described: closures made at one place have the same code, others have not.
  package static let isReadable: Bool = {
    guard MemoryLayout<Holder>.size == 2 * MemoryLayout<UInt>.size else { return false }
    return read(closure(.orderedSame)) == read(closure(.orderedAscending))
      && read(closure(.orderedSame)) != read(otherClosure(.orderedSame))
  }()

  /// Whether two closures were made at one place. False if that can't be determined.
  package static func isSame(
    _ first: @escaping Comparator, _ second: @escaping Comparator, uses: Bool = RuntimeLayout.isUsed
  ) -> Bool {
    uses && isReadable && read(first) == read(second)
  }

  private static func read(_ comparator: @escaping Comparator) -> UInt {
    let holder = Holder(comparator: comparator)
    return withUnsafeBytes(of: holder) { $0.loadUnaligned(as: UInt.self) }
  }

  // Not inlined, so that its captures are not optimised away.
  @inline(never) private static func closure(_ result: ComparisonResult) -> Comparator {
    { _, _ in result }
  }

  @inline(never) private static func otherClosure(_ result: ComparisonResult) -> Comparator {
    { first, _ in first is NSNull ? .orderedDescending : result }
  }
}
