/// Lines of source with their indentation.
struct SourceText {
  private(set) var lines: [String] = []
  private var depth = 0

  mutating func line(_ text: String = "") {
    lines.append(text.isEmpty ? "" : String(repeating: "  ", count: depth) + text)
  }

  /// `head {`, the lines of the body, `}`.
  mutating func block(_ head: String, _ body: (inout SourceText) -> Void) {
    line("\(head) {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }

  /// An empty line, unless one is there or a block has just begun.
  mutating func gap() {
    guard let last = lines.last, !last.isEmpty, !last.hasSuffix("{"), !last.hasPrefix("#if"),
      !last.hasPrefix("#else")
    else { return }
    lines.append("")
  }

  mutating func add(_ other: SourceText) {
    for text in other.lines { line(text) }
  }

  /// The same lines under a condition of the compiler, and others where it does not hold.
  mutating func condition(
    _ test: String, _ body: (inout SourceText) -> Void, otherwise: ((inout SourceText) -> Void)? = nil
  ) {
    lines.append("#if \(test)")
    body(&self)
    if let otherwise {
      lines.append("#else")
      otherwise(&self)
    }
    lines.append("#endif")
  }

  var text: String { lines.joined(separator: "\n") + "\n" }
}
