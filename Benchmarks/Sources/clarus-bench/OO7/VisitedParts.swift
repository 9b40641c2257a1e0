/// Which atomic parts a depth-first search has visited, by number: an array of stamps, the same for every
/// implementation, so that a traversal costs what its objects cost.
final class VisitedParts {
  private var stamps: [UInt32]
  private var current: UInt32 = 0

  init(_ configuration: OO7Configuration) {
    stamps = Array(
      repeating: 0,
      count: configuration.atomicParts + configuration.numNewCompParts * configuration.numAtomicPerComp + 1)
  }

  /// Forgets all.
  func startOver() { current += 1 }

  /// True the first time.
  @inline(__always)
  func insert(_ number: Int) -> Bool {
    guard stamps[number] != current else { return false }
    stamps[number] = current
    return true
  }
}
