extension AnyKeyPath {
  /// What lies between the root and the last value: types by their names, without optionals, and stored
  /// properties by theirs. `["Category"]` for `\Item.category?.name`, `["Array<String>", "String"]` for
  /// `\Item.tags[0].isEmpty`.
  ///
  /// The standard library gives the parts of a key path in its description alone:
  ///
  ///     \Item.<computed 0x000055975d8f7420 (Optional<Category>)>?.<computed 0x000055975d8f74c0 (Optional<String>)>
  package var passedValues: [String] {
    let text: String = debugDescription
    let start: String = "\\\(type(of: self).rootType)."
    guard text.hasPrefix(start) else { return [] }
    var rest: Substring = text.dropFirst(start.count)
    var steps: [String] = []
    while !rest.isEmpty {
      steps.append(Self.takeStep(&rest))
      rest = rest.drop { "?!.".contains($0) }
    }
    return steps.dropLast()
  }

  private static func takeStep(_ rest: inout Substring) -> String {
    guard rest.hasPrefix("<computed "), let open = rest.firstIndex(of: "("),
      let close = rest.indices.first(where: { isEnd(rest[$0...]) })
    else {
      let name: Substring = rest.prefix { !"?!.".contains($0) }
      rest = rest.dropFirst(max(name.count, 1))
      return String(name)
    }
    var type: Substring = rest[rest.index(after: open)..<close]
    rest = rest[close...].dropFirst(2)
    while type.hasPrefix("Optional<") { type = type.dropFirst("Optional<".count).dropLast() }
    return String(type)
  }

  /// Whether the text begins with the end of a computed part. A type that contains tuples or functions has
  /// `)>` inside too.
  private static func isEnd(_ text: Substring) -> Bool {
    text.hasPrefix(")>") && text.dropFirst(2).first.map { "?!.".contains($0) } ?? true
  }
}
