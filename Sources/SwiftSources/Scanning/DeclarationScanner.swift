/// Finds declarations in a file, without parsing expressions: bodies of functions are skipped as balanced
/// brackets.
package struct DeclarationScanner {
  private let source: SourceText
  private let tokens: [Token]
  private let conditionOfToken: [Int]
  private let conditions: [String?]
  private var index: Int = 0
  private var imports: [ScannedFile.Import] = []
  /// How many types are around the place.
  private var depth: Int = 0

  /// The compiler's own limit.
  private static let deepest: Int = 256

  /// - Throws: ``SourceFailure`` where a comment, a literal or an `#if` has no end.
  package static func scan(
    _ source: SourceText, on platform: Platform = Platform()
  ) throws(SourceFailure) -> ScannedFile {
    let conditioned = try ConditionedTokens(try Lexer.tokens(of: source), of: source, on: platform)
    var scanner = DeclarationScanner(source, conditioned)
    var ignored: [ManagedMember] = []
    var types: [TypeDeclaration] = []
    while scanner.index < scanner.tokens.count {
      try scanner.members(types: &types, members: &ignored)
      scanner.index += 1
    }
    var file = ScannedFile(source: source, imports: scanner.imports, declarations: types)
    file.unreadMembers = scanner.managedAttributes(outside: types)
    return file
  }

  /// The offsets of `@NSManaged` that belong to no member of the types.
  private func managedAttributes(outside types: [TypeDeclaration]) -> [Int] {
    var found: [Int] = tokens.indices.filter { text(at: $0) == "NSManaged" && isPunctuation("@", at: $0 - 1) }
      .map { tokens[$0 - 1].range.lowerBound }
    func remove(_ types: [TypeDeclaration]) {
      for type in types where !found.isEmpty {
        for member in type.members { found.removeAll { member.range.contains($0) } }
        remove(type.types)
      }
    }
    remove(types)
    return found
  }

  private init(_ source: SourceText, _ conditioned: ConditionedTokens) {
    self.source = source
    tokens = conditioned.tokens
    conditionOfToken = conditioned.conditionOfToken
    conditions = conditioned.conditions
  }

  // MARK: Tokens

  private var current: String? { text(at: index) }

  private func text(at index: Int) -> String? {
    index < tokens.count ? source[tokens[index].range] : nil
  }

  private func isPunctuation(_ character: String, at index: Int) -> Bool {
    tokens.indices.contains(index) && tokens[index].kind == .punctuation && text(at: index) == character
  }

  private func isIdentifier(at index: Int) -> Bool {
    index < tokens.count && tokens[index].kind == .identifier
  }

  private func condition(at index: Int) -> String? {
    index < tokens.count ? conditions[conditionOfToken[index]] : nil
  }

  private static func isOpening(_ text: String?) -> Bool { text == "(" || text == "[" || text == "{" }

  /// Skips a bracket with what is in it, or one token.
  private mutating func skip() {
    var depth: Int = 0
    repeat {
      if tokens[index].kind == .punctuation {
        switch current {
        case "(", "[", "{": depth += 1
        case ")", "]", "}": depth -= 1
        default: break
        }
      }
      index += 1
    } while depth > 0 && index < tokens.count
  }

  /// Skips `<…>`.
  private mutating func skipAngles() {
    var depth: Int = 0
    repeat {
      switch current {
      case "<": depth += 1
      case ">": depth -= 1
      case "(", "[":
        skip()
        continue
      case "{": return
      default: break
      }
      index += 1
    } while depth > 0 && index < tokens.count
  }

  // MARK: Members

  private struct Modifiers {
    var start: Int
    var isManaged: Bool = false
    var isPreconcurrency: Bool = false
    var objectiveCName: String?
    var access: Access?
    var importAccess: String?
    var isOverride: Bool = false

    init(start: Int) { self.start = start }
  }

  private static let modifiers: Set<String> = [
    "final", "override", "static", "dynamic", "lazy", "weak", "unowned", "required", "convenience",
    "mutating", "nonmutating", "indirect", "optional", "nonisolated", "distributed", "prefix", "postfix",
    "infix", "consuming", "borrowing", "isolated",
  ]

  /// Reads up to the closing brace of the type, or to the end.
  private mutating func members(
    types: inout [TypeDeclaration], members: inout [ManagedMember]
  ) throws(SourceFailure) {
    while index < tokens.count, !isPunctuation("}", at: index) {
      let modifiers: Modifiers = readModifiers()
      guard let word = current, isIdentifier(at: index) else {
        if index < tokens.count, !isPunctuation("}", at: index) { skip() }
        continue
      }
      switch word {
      case "import" where isIdentifier(at: index + 1): readImport(modifiers)
      case "class", "struct", "enum", "protocol", "actor", "extension":
        // `actor` may be a name.
        guard isIdentifier(at: index + 1), let kind = TypeDeclaration.Kind(rawValue: word) else {
          index += 1
          continue
        }
        if let type = try readType(kind, modifiers) { types.append(type) }
      case "typealias" where isIdentifier(at: index + 1):
        if let alias = readAlias(modifiers) { types.append(alias) }
      case "var", "let": readProperties(modifiers, &members)
      case "func": readFunction(modifiers, &members)
      case "init", "subscript", "deinit":
        index += 1
        while isPunctuation("?", at: index) || isPunctuation("!", at: index) { index += 1 }
        if isPunctuation("<", at: index) { skipAngles() }
        if isPunctuation("(", at: index) { skip() }
      default:
        index += 1
        // What follows a period is no keyword.
        if isPunctuation(".", at: index) { index += 2 }
      }
    }
  }

  private mutating func readModifiers() -> Modifiers {
    var found = Modifiers(start: index)
    while index < tokens.count {
      if isPunctuation("@", at: index), isIdentifier(at: index + 1) {
        let name: String = text(at: index + 1) ?? ""
        index += 2
        while isPunctuation(".", at: index), isIdentifier(at: index + 1) { index += 2 }
        let arguments: Int = index
        if isPunctuation("(", at: index), !tokens[index].isSpaced || name == "available" { skip() }
        switch name {
        case "NSManaged": found.isManaged = true
        case "preconcurrency": found.isPreconcurrency = true
        case "objc" where index > arguments:
          found.objectiveCName =
            source[tokens[arguments].range.upperBound..<tokens[index - 1].range.lowerBound]
            .split { $0.isWhitespace }.joined()
        default: break
        }
        continue
      }
      guard isIdentifier(at: index), let word = current else { break }
      if let access = Access(rawValue: word), isModifier(at: index) {
        index += 1
        if isPunctuation("(", at: index) {
          // `private(set)`: the getter's access stays.
          skip()
        } else {
          found.access = access
          found.importAccess = word
        }
      } else if word == "override", isModifier(at: index) {
        found.isOverride = true
        index += 1
      } else if Self.modifiers.contains(word), isModifier(at: index) {
        index += 1
        if isPunctuation("(", at: index), !tokens[index].isSpaced { skip() }
      } else if word == "class", ["func", "var", "let", "override", "final"].contains(text(at: index + 1)) {
        index += 1
      } else {
        break
      }
    }
    return found
  }

  /// Whether the word at an index is a modifier: a name, an attribute or an argument of it follows.
  private func isModifier(at index: Int) -> Bool {
    if isIdentifier(at: index + 1) || isPunctuation("@", at: index + 1) { return true }
    return isPunctuation("(", at: index + 1) && isPunctuation(")", at: index + 3)
      && (isIdentifier(at: index + 4) || isPunctuation("@", at: index + 4))
  }

  private mutating func readImport(_ modifiers: Modifiers) {
    let start: Int = index
    let place: Int = index
    index += 1
    if ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"].contains(current),
      isIdentifier(at: index + 1)
    {
      index += 1
    }
    let module: String = current ?? ""
    index += 1
    while isPunctuation(".", at: index), index + 1 < tokens.count { index += 2 }
    imports.append(
      ScannedFile.Import(
        text: source[tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound], module: module,
        access: modifiers.importAccess, isPreconcurrency: modifiers.isPreconcurrency,
        condition: condition(at: place)))
  }

  // MARK: Types

  private mutating func readType(
    _ kind: TypeDeclaration.Kind, _ modifiers: Modifiers
  ) throws(SourceFailure) -> TypeDeclaration? {
    let place: Int = index
    index += 1
    var name: [String] = [current ?? ""]
    let offset: Int = tokens[index].range.lowerBound
    index += 1
    var isConstrained: Bool = false
    while kind == .extension, isPunctuation(".", at: index), isIdentifier(at: index + 1) {
      name.append(text(at: index + 1) ?? "")
      index += 2
    }
    var parameters: [String] = []
    if isPunctuation("<", at: index) {
      let start: Int = index
      skipAngles()
      parameters = genericParameters(in: start..<index)
      isConstrained = kind == .extension
    }
    var inherited: [TypeText] = []
    if isPunctuation(":", at: index) {
      repeat {
        index += 1
        guard let type = readTypeText() else { break }
        inherited.append(type)
      } while isPunctuation(",", at: index)
    }
    if current == "where" {
      isConstrained = true
      while index < tokens.count, !isPunctuation("{", at: index) { index += 1 }
    }
    guard isPunctuation("{", at: index) else { return nil }
    index += 1
    var type = TypeDeclaration(
      kind: kind, name: name.map(Self.unquoted), access: modifiers.access, offset: offset,
      condition: condition(at: place))
    type.genericParameters = parameters
    type.objectiveCName = modifiers.objectiveCName
    type.inherited = inherited
    type.isConstrained = isConstrained
    let start: Int = tokens[index - 1].range.upperBound
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.deepest else {
      let (line, column) = source.position(of: offset)
      throw SourceFailure(
        path: source.path, line: line, column: column,
        message: "This type is in \(Self.deepest) other types, more than the compiler takes.")
    }
    try members(types: &type.types, members: &type.members)
    type.body = start..<(index < tokens.count ? tokens[index].range.lowerBound : source.bytes.count)
    index += 1
    return type
  }

  private mutating func readAlias(_ modifiers: Modifiers) -> TypeDeclaration? {
    let place: Int = index
    let name: String = text(at: index + 1) ?? ""
    index += 2
    var parameters: [String] = []
    if isPunctuation("<", at: index) {
      let start: Int = index
      skipAngles()
      parameters = genericParameters(in: start..<index)
    }
    guard isPunctuation("=", at: index) else { return nil }
    index += 1
    guard let type = readTypeText() else { return nil }
    var alias = TypeDeclaration(
      kind: .typealias, name: [Self.unquoted(name)], access: modifiers.access,
      offset: tokens[place + 1].range.lowerBound, condition: condition(at: place))
    alias.genericParameters = parameters
    alias.inherited = [type]
    return alias
  }

  private static func unquoted(_ name: String) -> String {
    name.hasPrefix("`") ? String(name.dropFirst().dropLast()) : name
  }

  /// The names in `<T: Hashable, each U>`.
  private func genericParameters(in range: Range<Int>) -> [String] {
    var names: [String] = []
    var words: [String] = []
    var depth: Int = 0
    var isName: Bool = true
    for position in range {
      let word: String = text(at: position) ?? ""
      switch word {
      case "<", "(", "[": depth += 1
      case ">", ")", "]": depth -= 1
      default: break
      }
      if depth == 1, word == "," || word == ":" || word == ">" {
        if isName { names.append(words.joined(separator: " ")) }
        words = []
        isName = word == ","
      } else if depth == 1, word != "<" {
        words.append(word)
      }
      if depth == 0, isName, !words.isEmpty {
        names.append(words.joined(separator: " "))
        words = []
      }
    }
    return names.filter { !$0.isEmpty }
  }

  // MARK: Types in declarations

  /// A type; nil, and nothing read, where there is none.
  private mutating func readTypeText() -> TypeText? {
    let start: Int = index
    guard skipType(), index > start else {
      index = start
      return nil
    }
    var names: Set<String> = []
    for position in start..<index where tokens[position].kind == .identifier {
      names.insert(Self.unquoted(text(at: position) ?? ""))
    }
    return TypeText(
      source[tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound], names: names)
  }

  private static let specifiers: Set<String> = [
    "any", "some", "inout", "borrowing", "consuming", "sending", "isolated", "__owned", "__shared",
  ]

  private mutating func skipType() -> Bool {
    var end: TypeEnd = .operand
    while case .operand = end { end = skipOperand() }
    return end == .complete
  }

  private enum TypeEnd {
    case complete
    /// Behind `&` or `->`, which another type follows.
    case operand
    case absent
  }

  private mutating func skipOperand() -> TypeEnd {
    while index < tokens.count {
      if isPunctuation("@", at: index), isIdentifier(at: index + 1) {
        index += 2
        if isPunctuation("(", at: index), !tokens[index].isSpaced { skip() }
      } else if let word = current, Self.specifiers.contains(word),
        isIdentifier(at: index + 1) || isPunctuation("(", at: index + 1) || isPunctuation("[", at: index + 1)
          || isPunctuation("@", at: index + 1)
      {
        index += 1
      } else {
        break
      }
    }
    guard index < tokens.count else { return .absent }
    if isPunctuation("(", at: index) || isPunctuation("[", at: index) {
      skip()
    } else if isPunctuation("~", at: index), isIdentifier(at: index + 1) {
      index += 2
    } else if isIdentifier(at: index) {
      index += 1
    } else {
      return .absent
    }
    while index < tokens.count {
      if isPunctuation("<", at: index) {
        skipAngles()
      } else if isPunctuation(".", at: index), isIdentifier(at: index + 1) {
        index += 2
      } else if isPunctuation("?", at: index) || isPunctuation("!", at: index), !tokens[index].isSpaced {
        index += 1
      } else if isPunctuation("&", at: index) || isPunctuation("->", at: index) {
        index += 1
        return .operand
      } else if ["async", "throws", "rethrows"].contains(current), isPunctuation("->", at: index + 1) {
        index += 1
      } else if current == "throws" || current == "async",
        isPunctuation("(", at: index + 1)
          || text(at: index + 1) == "throws"
      {
        index += 1
        if isPunctuation("(", at: index) { skip() }
      } else {
        break
      }
    }
    return .complete
  }

  // MARK: Properties and methods

  private mutating func readProperties(_ modifiers: Modifiers, _ members: inout [ManagedMember]) {
    let start: Int = modifiers.start
    let isVariable: Bool = current == "var"
    let place: Int = index
    index += 1
    var names: [(name: String, offset: Int)] = []
    var found: [(name: String, offset: Int, type: TypeText)] = []
    while isIdentifier(at: index) {
      names.append((current ?? "", tokens[index].range.lowerBound))
      index += 1
      if isPunctuation(":", at: index) {
        index += 1
        guard let type = readTypeText() else { break }
        found += names.map { ($0.name, $0.offset, type) }
        names = []
      }
      guard modifiers.isManaged, isPunctuation(",", at: index) else { break }
      index += 1
    }
    guard modifiers.isManaged, isVariable, !found.isEmpty else { return }
    let range: Range<Int> = tokens[start].range.lowerBound..<tokens[index - 1].range.upperBound
    members += found.map {
      ManagedMember(
        name: Self.unquoted($0.name), form: .property($0.type), access: modifiers.access,
        isOverride: modifiers.isOverride, objectiveCName: modifiers.objectiveCName, offset: $0.offset,
        range: range, condition: condition(at: place))
    }
  }

  private mutating func readFunction(_ modifiers: Modifiers, _ members: inout [ManagedMember]) {
    let place: Int = index
    index += 1
    guard index < tokens.count else { return }
    let name: String = current ?? ""
    let offset: Int = tokens[index].range.lowerBound
    // The name of an operator is several tokens.
    while index < tokens.count, !isPunctuation("(", at: index), !isPunctuation("{", at: index),
      !(isPunctuation("<", at: index) && isIdentifier(at: index - 1))
    {
      index += 1
    }
    if isPunctuation("<", at: index) { skipAngles() }
    guard isPunctuation("(", at: index) else { return }
    guard modifiers.isManaged else { return skip() }
    var parameters: [ManagedMember.Parameter] = []
    index += 1
    while index < tokens.count, !isPunctuation(")", at: index) {
      let label: String = current ?? ""
      while isIdentifier(at: index) { index += 1 }
      guard isPunctuation(":", at: index) else { break }
      index += 1
      guard let type = readTypeText() else { break }
      parameters.append(ManagedMember.Parameter(label: label == "_" ? nil : label, type: type))
      if isPunctuation(",", at: index) { index += 1 }
    }
    guard isPunctuation(")", at: index) else { return }
    index += 1
    var result: TypeText?
    if isPunctuation("->", at: index) {
      index += 1
      result = readTypeText()
    }
    members.append(
      ManagedMember(
        name: Self.unquoted(name), form: .method(parameters, result: result), access: modifiers.access,
        isOverride: modifiers.isOverride, objectiveCName: modifiers.objectiveCName, offset: offset,
        range: tokens[modifiers.start].range.lowerBound..<tokens[index - 1].range.upperBound,
        condition: condition(at: place)))
  }
}
