// Requests that are cast to another type of result.
extension PortingPass {
  mutating func genericRequest(_ index: Int) {
    if madeRequest(index) { return }
    var next: Int = index + 1
    guard text(next) == "!" || text(next) == "?" else { return }
    next += 1
    guard text(next) == "NSFetchRequest", text(next + 1) == "<", let close = partner(of: next + 1, ">", 1)
    else { return }
    let result: String = source[range(next + 2, close)]
    // `Item.fetchRequest() as! NSFetchRequest<Item>` is no cast here.
    let isCall: Bool =
      text(index - 1) == ")" && text(index - 2) == "(" && text(index - 3) == "fetchRequest"
      && text(index - 4) == "." && isWord(index - 5)
    if isCall, text(index - 5) == text(close - 1) { return }
    // A name before the cast is copied, and so is the request of a class; longer expressions are left to be
    // looked at.
    let last: Int = isCall ? index - 5 : index - 1
    var start: Int = isWord(last) ? last : index
    while start < index, text(start - 1) == ".", isWord(start - 2) { start -= 2 }
    let before: String = text(start - 1)
    guard text(index + 1) == "!", start < index, text(start) != ".",
      ["return", "in", "=", "(", ",", ":", "{"].contains(before), !isCall || !isOpen(result)
    else { return note(.genericRequest, at: range(index, close + 1)) }
    note(isHandedOn(start) ? .copiedRequest : .requestCast, at: range(start, close + 1))
    edit(range(start, close + 1), "NSFetchRequest<\(result)>(\(source[range(start, index)]))")
  }

  /// Whether the request is an argument without a label of a function that may change it, which fetches and
  /// initialisers do not.
  private func isHandedOn(_ start: Int) -> Bool {
    guard text(start - 1) == "(", isWord(start - 2) else { return false }
    let function: String = text(start - 2)
    return !["fetch", "execute", "init", "return", "in"].contains(function)
      && function.first?.isUppercase == false
  }

  /// `NSFetchRequest<A>(entityName: "B") as! NSFetchRequest<B>`: the request is made with its final type.
  private mutating func madeRequest(_ index: Int) -> Bool {
    guard text(index + 1) == "!", text(index + 2) == "NSFetchRequest", text(index + 3) == "<",
      text(index - 1) == ")", let end = partner(of: index + 3, ">", 1),
      let open = partner(of: index - 1, "(", -1), text(open - 1) == ">",
      let angle = partner(of: open - 1, "<", -1), text(angle - 1) == "NSFetchRequest"
    else { return false }
    note(.requestCast, at: range(angle - 1, end + 1))
    edit(range(angle + 1, open - 1), source[range(index + 4, end)])
    edit(tokens[index - 1].range.upperBound..<tokens[end].range.upperBound, "")
    return true
  }

  /// The bracket that belongs to the one at a place, ahead or behind.
  private func partner(of index: Int, _ closing: String, _ step: Int) -> Int? {
    let opening: String = text(index)
    var depth: Int = 0
    var place: Int = index
    while tokens.indices.contains(place) {
      if text(place) == opening { depth += 1 }
      if text(place) == closing { depth -= 1 }
      if depth == 0 { return place }
      place += step
    }
    return nil
  }

  /// Whether the type of a result is one that only the caller knows.
  private func isOpen(_ result: String) -> Bool { ["Self", "T", "NSManagedObject"].contains(result) }
}
