/// Finds the elements that keep their positions when a list is reordered: given the old positions in the new
/// order, a longest ascending subsequence of them.
package enum AscendingRun {
  /// Whether each key is part of the subsequence; nil keys never are.
  ///
  /// Cost: n log n.
  package static func longest(in keys: [Int64?]) -> [Bool] {
    var tails: [Int] = []
    var previous = [Int](repeating: -1, count: keys.count)
    for (index, key) in keys.enumerated() {
      guard let key else { continue }
      var low: Int = 0
      var high: Int = tails.count
      while low < high {
        let middle: Int = (low + high) / 2
        if keys[tails[middle]]! < key { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var kept = [Bool](repeating: false, count: keys.count)
    var index: Int = tails.last ?? -1
    while index >= 0 {
      kept[index] = true
      index = previous[index]
    }
    return kept
  }
}
