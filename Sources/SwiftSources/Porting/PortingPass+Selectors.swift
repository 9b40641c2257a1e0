// Selectors: the methods that the Objective-C runtime calls by name.
extension PortingPass {
  private static let comparisons: Set<String> = [
    "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
    "localizedStandardCompare",
  ]

  mutating func selector(_ index: Int, _ last: Int) {
    let inner: Range<Int> = (index + 2)..<(last - 1)
    if text(inner.lowerBound) == "getter", text(inner.lowerBound + 1) == ":",
      text(index - 2) == "NSStringFromSelector", text(index - 1) == "(", text(last) == ")",
      let path = path(in: (inner.lowerBound + 2)..<inner.upperBound), !path.contains(".")
    {
      note(.propertySelector, at: range(index - 2, last + 1))
      edit(range(index - 2, last + 1), "\"\(path)\"")
      return
    }
    // #selector(NSString.localizedStandardCompare(_:))
    if ["NSString", "NSNumber", "NSDate", "String"].contains(text(inner.lowerBound)),
      text(inner.lowerBound + 1) == ".", Self.comparisons.contains(text(inner.lowerBound + 2))
    {
      let rest: String = (inner.lowerBound + 3..<inner.upperBound).map(text).joined()
      if rest.isEmpty || rest == "(_:)" {
        note(.comparisonSelector, at: range(index, last))
        edit(range(index, last), "Selector(\"\(text(inner.lowerBound + 2)):\")")
        return
      }
    }
    if namedSelector(index, last, inner) { return }
    // The call around it: addObserver(self, selector: #selector(…), name: …)
    guard text(index - 2) == "selector", text(index - 1) == ":", text(last) == ",", text(last + 1) == "name"
    else { return note(.selector, at: range(index, last)) }
    guard let call = methodCall(inner) else { return note(.unreadableObserver, at: range(index, last)) }
    note(.observer, at: range(index, last))
    edit(tokens[index - 2].range, "method")
    edit(range(index, last), call)
  }

  /// `let didSave = #selector(…)`, which calls of `addObserver(self, selector: didSave, name: …)` name and
  /// nothing else: they get the closure, and the constant goes.
  private mutating func namedSelector(_ index: Int, _ last: Int, _ inner: Range<Int>) -> Bool {
    guard text(index - 1) == "=", isWord(index - 2), text(index - 3) == "let", tokens[index - 3].startsLine,
      last < tokens.count, tokens[last].startsLine, let call = methodCall(inner)
    else { return false }
    var uses: [Int] = []
    var depth: Int = 0
    var place: Int = last
    while place < tokens.count, depth >= 0 {
      if ["(", "[", "{"].contains(text(place)) { depth += 1 }
      if [")", "]", "}"].contains(text(place)) { depth -= 1 }
      if text(place) == text(index - 2), text(place - 1) != "." { uses.append(place) }
      place += 1
    }
    let areObservers: Bool = uses.allSatisfy {
      text($0 - 2) == "selector" && text($0 - 1) == ":" && text($0 + 1) == "," && text($0 + 2) == "name"
    }
    guard !uses.isEmpty, areObservers else { return false }
    remove(index - 3, last)
    for use in uses {
      note(.observer, at: range(use - 2, use + 1))
      edit(tokens[use - 2].range, "method")
      edit(tokens[use].range, call)
    }
    return true
  }

  /// `self.didSave(notification:)` as a closure with the observer and the notification.
  private func methodCall(_ inner: Range<Int>) -> String? {
    var start: Int = inner.lowerBound
    while start + 1 < inner.upperBound, text(start + 1) == ".", text(start) == "self" || isType(text(start)) {
      start += 2
    }
    guard isWord(start) else { return nil }
    let name: String = text(start)
    let rest: [String] = ((start + 1)..<inner.upperBound).map { text($0) }
    let label: String?
    switch rest.count {
    case 0:
      // The declaration says what it takes.
      guard let method = functions[name]?.first, text(method + 2) == "(" else { return nil }
      let first: String = text(method + 3)
      label = first == ")" ? nil : first
    case 4 where rest[0] == "(" && rest[2] == ":" && rest[3] == ")": label = rest[1]
    default: return nil
    }
    // Nothing catches what a method throws that is called by its selector.
    let attempt: String = isThrowing(name) ? "try? " : ""
    guard let label else { return "{ observer, _ in \(attempt)observer.\(name)() }" }
    return "{ \(attempt)$0.\(name)(\(label == "_" ? "" : "\(label): ")$1) }"
  }

  private func isThrowing(_ method: String) -> Bool {
    (functions[method] ?? []).contains { text($0 + 2) == "(" && text(end(of: $0 + 2)) == "throws" }
  }
}
