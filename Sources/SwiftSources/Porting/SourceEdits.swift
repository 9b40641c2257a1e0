/// Changes of a source, which are made together.
struct SourceEdits {
  private let source: SourceText
  private var edits: [Edit] = []

  private struct Edit {
    let range: Range<Int>
    let text: String
  }

  init(_ source: SourceText) { self.source = source }

  /// Of edits that overlap the one that begins first is made, and of these the longest. A removal that begins
  /// in another edit removes what is behind that one.
  mutating func replace(_ range: Range<Int>, by text: String) { edits.append(Edit(range: range, text: text)) }

  /// Puts spaces in the place of a text, so that what follows stays where it is.
  mutating func blank(_ range: Range<Int>) {
    replace(range, by: String(source[range].map { $0.isNewline ? $0 : " " }))
  }

  /// Removes a text with the white space after it, or with the line if nothing else is on it.
  mutating func remove(_ range: Range<Int>) {
    let bytes: [UInt8] = source.bytes
    var end: Int = range.upperBound
    while end < bytes.count, bytes[end] == Ascii.space || bytes[end] == Ascii.tab { end += 1 }
    var start: Int = range.lowerBound
    while start > 0, bytes[start - 1] == Ascii.space || bytes[start - 1] == Ascii.tab { start -= 1 }
    let endsLine: Bool =
      end == bytes.count || bytes[end] == Ascii.newline || bytes[end] == Ascii.carriageReturn
    if endsLine, start == 0 || bytes[start - 1] == Ascii.newline {
      if end < bytes.count, bytes[end] == Ascii.carriageReturn { end += 1 }
      if end < bytes.count { end += 1 }
      replace(start..<end, by: "")
    } else if endsLine {
      replace(start..<range.upperBound, by: "")
    } else {
      replace(range.lowerBound..<end, by: "")
    }
  }

  // MARK: The new text

  struct Written {
    let source: SourceText
    let changedLineCount: Int
    fileprivate let places: [(old: Range<Int>, end: Int)]

    /// Where a place of the old text is; one in what was replaced is at the end of that.
    func position(ofOffset offset: Int) -> (line: Int, column: Int) {
      // The first one behind the place: they are in order, and there may be one for each line.
      var (low, high) = (0, places.count)
      while low < high {
        let middle: Int = (low + high) / 2
        if places[middle].old.lowerBound <= offset { low = middle + 1 } else { high = middle }
      }
      let edit: (old: Range<Int>, end: Int)? = low == 0 ? nil : places[low - 1]
      let new: Int = edit.map { $0.end + max(0, offset - $0.old.upperBound) } ?? offset
      return source.position(of: min(new, source.bytes.count))
    }
  }

  func written() -> Written {
    let ordered: [Edit] = edits.sorted {
      ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.bytes.count)
    var position: Int = 0
    var changed: Set<Int> = []
    var places: [(old: Range<Int>, end: Int)] = []
    for edit in ordered {
      var range: Range<Int> = edit.range
      if range.lowerBound < position {
        guard edit.text.isEmpty, range.upperBound > position else { continue }
        range = position..<range.upperBound
        // Several removals, with nothing else on their line.
        let start: Int = bytes.lastIndex { $0 != Ascii.space && $0 != Ascii.tab }.map { $0 + 1 } ?? 0
        let end: Int = endOfLine(range.upperBound)
        if end > range.upperBound, start == 0 || bytes[start - 1] == Ascii.newline {
          bytes.removeSubrange(start...)
          range = position..<end
        }
      }
      bytes += source.bytes[position..<range.lowerBound] + lineEnds(of: Array(edit.text.utf8))
      places.append((range, bytes.count))
      position = range.upperBound
      let (first, _) = source.position(of: range.lowerBound)
      let (last, _) = source.position(of: max(range.lowerBound, range.upperBound - 1))
      changed.formUnion(first...last)
    }
    bytes += source.bytes[position...]
    return Written(
      source: SourceText(path: source.path, String(decoding: bytes, as: UTF8.self)),
      changedLineCount: changed.count, places: places)
  }

  /// Behind the line break at a place, if there is one.
  private func endOfLine(_ place: Int) -> Int {
    var end: Int = place
    if end < source.bytes.count, source.bytes[end] == Ascii.carriageReturn { end += 1 }
    return end < source.bytes.count && source.bytes[end] == Ascii.newline ? end + 1 : place
  }

  /// With the line ends of the file.
  private func lineEnds(of text: [UInt8]) -> [UInt8] {
    guard source.hasCarriageReturns else { return text }
    var result: [UInt8] = []
    for byte in text {
      if byte == Ascii.newline, result.last != Ascii.carriageReturn { result.append(Ascii.carriageReturn) }
      result.append(byte)
    }
    return result
  }
}
