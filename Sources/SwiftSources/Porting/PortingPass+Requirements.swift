/// A requirement that types need not have, `@objc optional func f(_ x: Int)`: without the Objective-C runtime
/// it has a default that does nothing.
struct DefaultedRequirement {
  let name: String
  /// The name of the protocol.
  let owner: String
  let path: String
  /// The offset of `optional`.
  let offset: Int
  /// `func f(_ x: Int) {}`
  let declaration: String
}

extension PortingPass {
  /// The optional requirements of this file that a default stands for: methods without a result, of protocols
  /// at the top of the file. What they give back where nobody has them would be the program's to say.
  var defaultedRequirements: [DefaultedRequirement] {
    tokens.indices.compactMap { index in
      guard text(index) == "optional", text(index + 1) == "func", isWord(index + 2), text(index + 3) == "(",
        let type = innermostType(at: tokens[index].range.lowerBound), type.kind == .protocol,
        type.condition == nil, type.name.count == 1,
        file.declarations.contains(where: { $0.body == type.body })
      else { return nil }
      let end: Int = end(of: index + 3)
      guard !["->", "throws", "async", "rethrows", "where"].contains(text(end)) else { return nil }
      let access: String = type.access == .public ? "public " : ""
      return DefaultedRequirement(
        name: text(index + 2), owner: type.name[0], path: source.path,
        offset: tokens[index].range.lowerBound,
        declaration: "\(access)\(source[range(index + 1, end)]) {}")
    }
  }

  /// At `optional`.
  mutating func requirement(_ index: Int) {
    guard ["func", "var", "static", "mutating"].contains(text(index + 1)), text(index - 1) != "." else {
      return
    }
    let place: Int = tokens[index].range.lowerBound
    guard defaulted.contains(where: { $0.path == source.path && $0.offset == place }) else {
      return note(.optionalRequirement, at: range(index, index + 2))
    }
    note(.defaultedRequirement, at: range(index, index + 3))
    remove(index, index + 1)
  }

  /// `delegate?.f?(1)` as `delegate?.f(1)`, at the name.
  mutating func requirementCall(_ index: Int) {
    guard text(index - 1) == ".", text(index + 1) == "?", text(index + 2) == "(" else { return }
    note(.defaultedRequirement, at: range(index, index + 2))
    edit(tokens[index + 1].range, "")
  }

  /// The extensions with the defaults of this file's protocols.
  mutating func addDefaults() {
    for type in file.declarations where type.kind == .protocol {
      let own: [DefaultedRequirement] = defaulted.filter {
        $0.path == source.path && type.body?.contains($0.offset) == true
      }
      guard let body = type.body, let first = own.first else { continue }
      let place: Int = body.upperBound + 1
      let text: String =
        style == .built
        ? " extension \(first.owner) { \(own.map { Self.oneLine($0.declaration) }.joined(separator: "; ")) }"
        : "\n\nextension \(first.owner) {\n" + own.map { "  \($0.declaration)\n" }.joined() + "}"
      edit(place..<place, text)
    }
  }

  private static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { String($0).trimmed }.joined(separator: " ")
  }
}
