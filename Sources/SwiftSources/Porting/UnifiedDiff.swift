/// The difference of two texts, as `diff -u` and `git` write it.
package enum UnifiedDiff {
  /// Empty for equal texts.
  package static func text(from old: String, to new: String, path: String, context: Int = 3) -> String {
    let oldLines: [Substring] = lines(of: old)
    let newLines: [Substring] = lines(of: new)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    // Numbers are compared many times faster than texts.
    var numbers: [Substring: Int] = [:]
    func number(_ line: Substring) -> Int {
      if let known = numbers[line] { return known }
      let next: Int = numbers.count
      numbers[line] = next
      return next
    }
    let (before, after): ([Int], [Int]) = (oldLines.map(number), newLines.map(number))
    for change in after.difference(from: before) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    if removed.isEmpty, inserted.isEmpty { return "" }
    // Each line of the result: its mark, its text, and where it is in both texts.
    var all: [(mark: Character, text: Substring, old: Int, new: Int)] = []
    var (oldIndex, newIndex): (Int, Int) = (0, 0)
    while oldIndex < oldLines.count || newIndex < newLines.count {
      if removed.contains(oldIndex) {
        all.append(("-", oldLines[oldIndex], oldIndex, newIndex))
        oldIndex += 1
      } else if inserted.contains(newIndex) {
        all.append(("+", newLines[newIndex], oldIndex, newIndex))
        newIndex += 1
      } else {
        all.append((" ", oldLines[oldIndex], oldIndex, newIndex))
        oldIndex += 1
        newIndex += 1
      }
    }
    let absolute: Bool = path.hasPrefix("/")
    var result: String = oldLines.isEmpty ? "--- /dev/null\n" : "--- \(absolute ? "" : "a/")\(path)\n"
    result += "+++ \(absolute ? "" : "b/")\(path)\n"
    var index: Int = 0
    while let first = all[index...].firstIndex(where: { $0.mark != " " }) {
      let start: Int = max(first - context, 0)
      var end: Int = first
      var last: Int = first
      while end < all.count, end - last <= 2 * context {
        if all[end].mark != " " { last = end }
        end += 1
      }
      end = min(last + context + 1, all.count)
      let hunk = all[start..<end]
      let (oldCount, newCount): (Int, Int) = (hunk.count { $0.mark != "+" }, hunk.count { $0.mark != "-" })
      result +=
        "@@ -\(oldCount == 0 ? 0 : all[start].old + 1),\(oldCount) +\(all[start].new + 1),\(newCount) @@\n"
      for line in hunk { result += "\(line.mark)\(line.text)\n" }
      index = end
      if index >= all.count { break }
    }
    return result
  }

  /// A carriage return at the end of a line belongs to it, as in `diff`: the two characters of a line end are
  /// one `Character`, which no line feed is equal to.
  private static func lines(of text: String) -> [Substring] {
    var lines: [Substring] = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { Substring($0) }
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }
}
