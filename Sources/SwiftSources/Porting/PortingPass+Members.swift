// Members with `@NSManaged`: their bodies, where sources are built.
extension PortingPass {
  mutating func rewriteMembers(_ types: [TypeDeclaration]) {
    for type in types {
      var properties: Set<String> = []
      for member in type.members { if case .property = member.form { properties.insert(member.name) } }
      for list in Dictionary(grouping: type.members, by: { $0.range.lowerBound }).values.sorted(by: {
        $0[0].range.lowerBound < $1[0].range.lowerBound
      }) {
        rewrite(list, in: type, properties)
      }
      rewriteMembers(type.types)
    }
  }

  /// - Parameter members: those of one declaration: `@NSManaged var a: Int16, b: Int16`.
  private mutating func rewrite(
    _ members: [ManagedMember], in type: TypeDeclaration, _ properties: Set<String>
  ) {
    let first: ManagedMember = members[0]
    if style == .kept {
      guard first.objectiveCName != nil, members.count == 1 else { return }
      // Without the attribute, the role is that of the Swift name.
      let plain: ManagedMember = first.named(nil)
      guard case .success(let role) = MemberRole.role(of: first, properties: properties) else { return }
      if case .success(role) = MemberRole.role(of: plain, properties: properties) { return }
      note(.renamedProperty, at: first.range)
    }
    var roles: [(ManagedMember, MemberRole)] = []
    for member in members {
      switch MemberRole.role(of: member, properties: properties) {
      case .success(let role): roles.append((member, role))
      case .failure(let unplaced):
        note(
          .hiddenMember, at: member.range,
          "This member can't be given a body: \(unplaced.reason). Write it by hand.")
        return
      }
    }
    if style == .built { note(.managedMember, at: first.range) }
    let isGeneric: Bool = !type.genericParameters.isEmpty || type.isConstrained
    let prefix: String = self.prefix(of: first)
    var keys: [String: String] = [:]
    func key(_ name: String) -> String {
      if isGeneric || style == .kept { return "\"\(name)\"" }
      if let known = keys[name] { return "Self.\(known)" }
      let made: String = "_managedKey\(first.offset)_\(keys.count)"
      keys[name] = made
      return "Self.\(made)"
    }
    var parts: [String] = []
    for (index, (member, role)) in roles.enumerated() {
      let start: String =
        index == 0 ? prefix : prefix.split(whereSeparator: \.isNewline).joined(separator: " ")
      switch member.form {
      case .property(let type):
        let body = ManagedBody(role, type: type, types, key: key)
        // `T!` would fit the accessors of T and of T?.
        let get: String =
          type.text.hasSuffix("!") && body.get.hasPrefix("managedValue")
          ? "\(body.get) as \(type.text.dropLast())?" : body.get
        parts.append(
          "\(start)var \(quoted(member.name)): \(type.text) { get { \(get) } set { \(body.set) } }")
      case .method(let parameters, _):
        let names: [String] = parameters.indices.map { "value\($0)" }
        let list: String = zip(names, parameters).map { "\($1.label ?? "_") \($0): \($1.type.text)" }
          .joined(separator: ", ")
        parts.append(
          "\(start)func \(quoted(member.name))(\(list)) { \(ManagedBody.method(role, names, key: key)) }")
      }
    }
    for (name, made) in keys.sorted(by: { $0.value < $1.value }) {
      parts.append("nonisolated private static let \(made) = ManagedKey(\"\(name)\")")
    }
    var text: String = parts.joined(separator: "; ")
    // Later lines stay where they are.
    let lines: Int = source[first.range].count { $0.isNewline } - text.count { $0.isNewline }
    for _ in 0..<max(lines, 0) { text += "\n" }
    edit(first.range, text)
  }

  private func quoted(_ name: String) -> String {
    [
      "class", "default", "in", "is", "as", "for", "self", "init", "operator", "protocol", "repeat",
      "extension",
      "import", "return", "case", "switch", "where", "static", "public", "private", "internal", "func", "var",
      "let",
      "true", "false", "nil", "if", "else", "do", "try", "throw", "throws", "while", "break", "continue",
      "enum",
      "struct", "super", "subscript", "typealias", "any", "guard", "defer", "catch", "Any", "Type",
    ].contains(name) ? "`\(name)`" : name
  }

  /// What precedes `var` or `func`, without `@NSManaged` and what there is no use for.
  private func prefix(of member: ManagedMember) -> String {
    var text: String = ""
    var index: Int = tokens.firstIndex { $0.range.lowerBound == member.range.lowerBound } ?? 0
    var previous: Int = member.range.lowerBound
    while index < tokens.count, self.text(index) != "var", self.text(index) != "func" {
      var last: Int = index + 1
      if self.text(index) == "@" {
        last = index + 2
        if self.text(last) == "(", !tokens[last].isSpaced { last = end(of: last) }
      } else if self.text(index + 1) == "(" {
        last = end(of: index + 1)
      }
      let name: String = self.text(index) == "@" ? self.text(index + 1) : self.text(index)
      text += gap(previous, tokens[index].range.lowerBound)
      if name != "NSManaged", name != "dynamic", !Self.removed.contains(name) {
        text += source[range(index, last)]
      } else if style == .built {
        text += String(source[range(index, last)].map { $0.isNewline ? $0 : " " })
      }
      previous = tokens[last - 1].range.upperBound
      index = last
    }
    text += gap(previous, tokens[index].range.lowerBound)
    return style == .kept ? text.trimmed + (text.trimmed.isEmpty ? "" : " ") : text
  }

  /// White space between two tokens; comments are left out.
  private func gap(_ start: Int, _ end: Int) -> String {
    guard start < end else { return "" }
    let text: String = source[start..<end]
    return text.allSatisfy(\.isWhitespace) ? text : String(text.filter(\.isNewline)) + " "
  }
}
