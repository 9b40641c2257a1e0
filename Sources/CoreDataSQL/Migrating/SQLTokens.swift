import CoreDataStorage

/// The text of a definition as words, so that two definitions can be compared, and names in one be replaced:
/// SQLite quotes names when it renames them.
///
///     CREATE INDEX Z_Car_maker ON "ZVEHICLE" (ZBRAND COLLATE BINARY ASC)
struct SQLTokens: Hashable {
  enum Token: Hashable {
    /// A name or a keyword, folded as SQLite folds names.
    case word(String)
    /// A text, a number or a sign.
    case other(String)
  }

  var tokens: [Token] = []

  init(_ sql: String) {
    var rest: Substring.UnicodeScalarView = sql[...].unicodeScalars
    while let first = rest.first {
      switch first {
      case " ", "\n", "\t", "\r": rest.removeFirst()
      case "\"", "`", "[": tokens.append(.word(DatabaseNames.fold(Self.quoted(&rest, first))))
      case "'": tokens.append(.other("'" + Self.quoted(&rest, first)))
      case _ where Self.isPartOfWord(first):
        let word: Substring.UnicodeScalarView = rest.prefix(while: Self.isPartOfWord)
        rest.removeFirst(word.count)
        tokens.append(.word(DatabaseNames.fold(String(word))))
      default: tokens.append(.other(String(rest.removeFirst())))
      }
    }
  }

  private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "$" || scalar.value >= 128 || ("0"..."9").contains(scalar)
      || ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  /// What is between quotes, doubled ones made single.
  private static func quoted(_ rest: inout Substring.UnicodeScalarView, _ mark: Unicode.Scalar) -> String {
    let end: Unicode.Scalar = mark == "[" ? "]" : mark
    rest.removeFirst()
    var result = String.UnicodeScalarView()
    while let next = rest.popFirst() {
      if next == end {
        guard rest.first == end, mark != "[" else { break }
        rest.removeFirst()
      }
      result.append(next)
    }
    return String(result)
  }

  /// An index's definition without its name: `UNIQUE`, the table, the columns, the condition.
  ///
  /// Earlier versions of Apple's framework leave out what SQLite takes by itself, since no column of a store
  /// has a collation of its own: `(ZTITLE)` is `(ZTITLE COLLATE BINARY ASC)`.
  init(index sql: String) {
    self.init(sql)
    guard let on = tokens.firstIndex(of: .word("ON")) else { return }
    let isUnique: Bool = tokens.prefix(upTo: on).contains(.word("UNIQUE"))
    tokens = (isUnique ? [.word("UNIQUE")] : []) + tokens[on...]
    removeDefaults()
  }

  /// Of an index's definition: the same with unique values.
  var unique: SQLTokens {
    var result: SQLTokens = self
    if tokens.first != .word("UNIQUE") { result.tokens.insert(.word("UNIQUE"), at: 0) }
    return result
  }

  private mutating func removeDefaults() {
    var kept: [Token] = []
    var place: Int = 0
    while place < tokens.count {
      let next: Token? = place + 1 < tokens.count ? tokens[place + 1] : nil
      if tokens[place] == .word("COLLATE"), next == .word("BINARY") {
        place += 2
      } else if tokens[place] == .word("ASC"), next == .other(",") || next == .other(")") {
        place += 1
      } else {
        kept.append(tokens[place])
        place += 1
      }
    }
    tokens = kept
  }

  func mentions(_ name: String) -> Bool { tokens.contains(.word(DatabaseNames.fold(name))) }

  /// Names replaced, by their folded spelling.
  func renaming(_ names: [String: String]) -> SQLTokens {
    var result: SQLTokens = self
    result.tokens = tokens.map { token in
      guard case .word(let word) = token, let new = names[word] else { return token }
      return .word(DatabaseNames.fold(new))
    }
    return result
  }
}
