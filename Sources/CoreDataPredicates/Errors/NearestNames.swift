/// Finds the names that a mistyped one resembles.
package enum NearestNames {
  /// The candidates that differ from `name` by case or by a few edits, best first, at most three.
  ///
  /// Cost: length × length for each candidate; long names are compared by their first characters.
  package static func of(_ name: String, among candidates: some Sequence<String>) -> [String] {
    let wanted: [Character] = Array(name.lowercased().prefix(64))
    let tolerance: Int = max(1, wanted.count / 3)
    var scored: [(distance: Int, name: String)] = []
    for candidate in candidates {
      let letters: [Character] = Array(candidate.lowercased().prefix(64))
      let distance: Int = editDistance(wanted, letters)
      let isPart: Bool = wanted.count >= 3 && (letters.starts(with: wanted) || wanted.starts(with: letters))
      if distance <= tolerance {
        scored.append((distance, candidate))
      } else if isPart && letters.count >= 3 {
        scored.append((tolerance + 1, candidate))
      }
    }
    return scored.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
  }

  /// A sentence to append to a message: `Did you mean "name" or "names"?`, or the existing names if none is
  /// similar.
  package static func advice(for name: String, among candidates: some Collection<String>) -> String {
    let near: [String] = of(name, among: candidates)
    if !near.isEmpty {
      return "Did you mean " + near.map { "\"\($0)\"" }.joined(separator: " or ") + "?"
    }
    let known: [String] = candidates.sorted()
    if known.isEmpty { return "There are none." }
    let shown: String = known.prefix(12).joined(separator: ", ")
    return known.count > 12 ? "There are \(shown) and \(known.count - 12) more." : "There are \(shown)."
  }

  /// The number of insertions, deletions, replacements and swaps of neighbours between two words.
  static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last: [Int] = Array(0...b.count)
    for i in 1...a.count {
      var row: [Int] = [i] + Array(repeating: 0, count: b.count)
      for j in 1...b.count {
        let replaced: Int = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        row[j] = min(replaced, last[j] + 1, row[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          row[j] = min(row[j], beforeLast[j - 2] + 1)
        }
      }
      beforeLast = last
      last = row
    }
    return last[b.count]
  }
}
