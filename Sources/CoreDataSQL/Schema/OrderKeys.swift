import CoreDataStorage

/// The sparse integers that order the members of ordered relationships: 2048, 3072, 4096 …, so that a member
/// can be inserted between two others without changing them.
package enum OrderKeys {
  package static let first: Int64 = 2048
  package static let step: Int64 = 1024

  /// Order keys for members in their new order, given the keys they have now (nil for new ones): strictly
  /// ascending, with as few changes as a longest ascending subsequence allows. If a gap is too narrow, all
  /// are numbered again.
  ///
  /// Cost: n log n.
  package static func assign(current: [Int64?]) -> [Int64] {
    let kept: [Bool] = AscendingRun.longest(in: current)
    var result: [Int64] = current.map { $0 ?? 0 }
    var index: Int = 0
    var previous: Int64?
    while index < current.count {
      if kept[index] {
        previous = result[index]
        index += 1
        continue
      }
      var end: Int = index
      while end < current.count, !kept[end] { end += 1 }
      let count = Int64(end - index)
      if end == current.count {
        for place in 0..<count {
          if let previous {
            let (key, overflow) = previous.addingReportingOverflow((place + 1) * step)
            if overflow { return fresh(current.count) }
            result[index + Int(place)] = key
          } else {
            result[index + Int(place)] = first + place * step
          }
        }
      } else {
        let low: Int64 = previous ?? 0
        let (gap, overflow) = result[end].subtractingReportingOverflow(low)
        let width: Int64 = overflow ? step * (count + 1) : gap / (count + 1)
        if width < 1 { return fresh(current.count) }
        for place in 0..<count { result[index + Int(place)] = low + (place + 1) * width }
      }
      previous = result[end - 1]
      index = end
    }
    return result
  }

  private static func fresh(_ count: Int) -> [Int64] { (0..<Int64(count)).map { first + $0 * step } }

  /// The keys of `count` members after the last one; nil if no numbers are left.
  package static func append(_ count: Int, after last: Int64?) -> [Int64]? {
    guard let last else { return (0..<Int64(count)).map { first + $0 * step } }
    let (end, overflow) = last.addingReportingOverflow(Int64(count) * step)
    if overflow { return nil }
    return Array(stride(from: last + step, through: end, by: Int(step)))
  }
}
