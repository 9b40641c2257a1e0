/// Divides Swift source into tokens.
///
/// The lexer is right about what hides code: nested comments, string literals of every kind with their
/// interpolations, and regular expressions. It does not join operators: `==` is two tokens.
///
/// A source that ends within a comment or a literal is a failure at the place where that began: nothing after
/// it would be understood.
package struct Lexer {
  private let source: SourceText
  private let bytes: [UInt8]
  private var offset: Int = 0
  private var tokens: [Token] = []
  private var startsLine: Bool = true
  private var isSpaced: Bool = false

  /// What is to be closed, innermost last.
  private enum Nesting {
    case bracket
    /// The code of an interpolation; the literal goes on after the parenthesis.
    case interpolation(Literal)
  }

  private struct Literal {
    let start: Int
    let pounds: Int
    let isMultiline: Bool
  }

  private var nesting: [Nesting] = []

  /// - Throws: ``SourceFailure`` where a comment or a literal has no end.
  package static func tokens(of source: SourceText) throws(SourceFailure) -> [Token] {
    var lexer = Lexer(source)
    try lexer.run()
    return lexer.tokens
  }

  private init(_ source: SourceText) {
    self.source = source
    bytes = source.bytes
    tokens.reserveCapacity(bytes.count / 5)
  }

  private func byte(_ ahead: Int = 0) -> UInt8 {
    offset + ahead < bytes.count ? bytes[offset + ahead] : 0
  }

  private func failure(_ message: String, at offset: Int) -> SourceFailure {
    let (line, column) = source.position(of: offset)
    return SourceFailure(path: source.path, line: line, column: column, message: message)
  }

  private mutating func run() throws(SourceFailure) {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    if byte() == Ascii.pound, byte(1) == Ascii.exclamation { skipLine() }
    while offset < bytes.count {
      let current: UInt8 = bytes[offset]
      switch current {
      case Ascii.newline:
        (startsLine, isSpaced) = (true, true)
        offset += 1
      case Ascii.space, Ascii.tab, Ascii.carriageReturn, 0x0B, 0x0C, 0:
        isSpaced = true
        offset += 1
      case Ascii.slash where byte(1) == Ascii.slash: skipLine()
      case Ascii.slash where byte(1) == Ascii.star: try skipComment()
      case Ascii.quote: try literal(pounds: 0)
      case Ascii.pound: try pound()
      case Ascii.slash where startsRegex: regex()
      case Ascii.backtick: backticked()
      case let digit where Ascii.isDigit(digit): number()
      case let letter where Ascii.isIdentifierStart(letter): identifier()
      case Ascii.dollar: identifier()
      case Ascii.openParenthesis, Ascii.openBracket, Ascii.openBrace:
        nesting.append(.bracket)
        append(.punctuation, to: offset + 1)
      case Ascii.closeParenthesis, Ascii.closeBracket, Ascii.closeBrace:
        if case .interpolation(let literal)? = nesting.popLast() {
          try piece(of: literal, from: offset, skipping: 1)
        } else {
          append(.punctuation, to: offset + 1)
        }
      case Ascii.minus where byte(1) == Ascii.greater: append(.punctuation, to: offset + 2)
      default: append(.punctuation, to: offset + 1)
      }
    }
    for case .interpolation(let literal) in nesting {
      throw failure("This string literal has no end.", at: literal.start)
    }
  }

  private mutating func append(_ kind: Token.Kind, to end: Int) {
    tokens.append(Token(kind: kind, range: offset..<end, startsLine: startsLine, isSpaced: isSpaced))
    offset = end
    (startsLine, isSpaced) = (false, false)
  }

  // MARK: Comments

  private mutating func skipLine() {
    while offset < bytes.count, bytes[offset] != Ascii.newline { offset += 1 }
    isSpaced = true
  }

  private mutating func skipComment() throws(SourceFailure) {
    let start: Int = offset
    var depth: Int = 0
    repeat {
      if byte() == Ascii.slash, byte(1) == Ascii.star {
        depth += 1
        offset += 2
      } else if byte() == Ascii.star, byte(1) == Ascii.slash {
        depth -= 1
        offset += 2
      } else {
        if byte() == Ascii.newline { startsLine = true }
        offset += 1
      }
      if offset >= bytes.count, depth > 0 { throw failure("This comment has no end.", at: start) }
    } while depth > 0
    isSpaced = true
  }

  // MARK: Names and numbers

  private mutating func identifier() {
    var end: Int = offset + 1
    while end < bytes.count, Ascii.isIdentifier(bytes[end]) { end += 1 }
    append(.identifier, to: end)
  }

  private mutating func backticked() {
    var end: Int = offset + 1
    while end < bytes.count, bytes[end] != Ascii.backtick, bytes[end] != Ascii.newline { end += 1 }
    append(.identifier, to: min(end + 1, bytes.count))
  }

  private mutating func number() {
    var end: Int = offset + 1
    while end < bytes.count {
      if Ascii.isIdentifier(bytes[end]) {
        end += 1
      } else if bytes[end] == Ascii.period, end + 1 < bytes.count, Ascii.isDigit(bytes[end + 1]) {
        end += 2
      } else {
        break
      }
    }
    append(.number, to: end)
  }

  private mutating func pound() throws(SourceFailure) {
    var pounds: Int = 1
    while byte(pounds) == Ascii.pound { pounds += 1 }
    if byte(pounds) == Ascii.quote { return try literal(pounds: pounds) }
    if byte(pounds) == Ascii.slash { return try extendedRegex(pounds: pounds) }
    // Signs that begin nothing are counted once.
    for _ in 1..<pounds { append(.punctuation, to: offset + 1) }
    var end: Int = offset + 1
    while end < bytes.count, Ascii.isIdentifier(bytes[end]) { end += 1 }
    append(end > offset + 1 ? .pound : .punctuation, to: end)
  }

  // MARK: Strings

  private mutating func literal(pounds: Int) throws(SourceFailure) {
    let start: Int = offset
    let opening: Int = start + pounds
    let isMultiline: Bool = byte(pounds + 1) == Ascii.quote && byte(pounds + 2) == Ascii.quote
    if !isMultiline, byte(pounds + 1) == Ascii.quote, closes(at: opening + 1, pounds) {
      return append(.string, to: opening + 2 + pounds)
    }
    let literal = Literal(start: start, pounds: pounds, isMultiline: isMultiline)
    try piece(of: literal, from: start, skipping: pounds + (isMultiline ? 3 : 1))
  }

  /// Reads on after the opening quotation marks, or after the parenthesis of an interpolation.
  private mutating func piece(
    of literal: Literal, from start: Int, skipping opening: Int
  ) throws(SourceFailure) {
    var end: Int = start + opening
    while end < bytes.count {
      let current: UInt8 = bytes[end]
      if current == Ascii.backslash, isEscape(at: end, literal.pounds) {
        end += 1 + literal.pounds
        if end < bytes.count, bytes[end] == Ascii.openParenthesis {
          append(.string, to: end + 1)
          nesting.append(.interpolation(literal))
          return
        }
        end += 1
      } else if current == Ascii.quote {
        if literal.isMultiline {
          if end + 2 < bytes.count, bytes[end + 1] == Ascii.quote, bytes[end + 2] == Ascii.quote,
            closes(at: end + 2, literal.pounds)
          {
            return append(.string, to: end + 3 + literal.pounds)
          }
        } else if closes(at: end, literal.pounds) {
          return append(.string, to: end + 1 + literal.pounds)
        }
        end += 1
      } else if current == Ascii.newline, !literal.isMultiline {
        break
      } else {
        end += 1
      }
    }
    throw failure("This string literal has no end.", at: literal.start)
  }

  /// Whether the quotation mark at an offset is followed by as many number signs as the literal has.
  private func closes(at quote: Int, _ pounds: Int) -> Bool {
    quote + pounds < bytes.count && (0..<pounds).allSatisfy { bytes[quote + 1 + $0] == Ascii.pound }
  }

  private func isEscape(at backslash: Int, _ pounds: Int) -> Bool {
    backslash + pounds < bytes.count && (0..<pounds).allSatisfy { bytes[backslash + 1 + $0] == Ascii.pound }
  }

  // MARK: Regular expressions

  /// Whether a slash begins a regular expression: where an operand is expected, and where another slash ends
  /// it on the same line, as the compiler decides.
  private var startsRegex: Bool {
    let next: UInt8 = byte(1)
    if next == Ascii.space || next == Ascii.tab || next == Ascii.newline || next == 0 { return false }
    if let last = tokens.last {
      switch last.kind {
      case .number, .regex: return false
      // The piece before an interpolation ends in its parenthesis.
      case .string: if bytes[last.range.upperBound - 1] != Ascii.openParenthesis { return false }
      case .pound: return false
      case .identifier: if !Self.precedingOperand.contains(source[last.range]) { return false }
      case .punctuation:
        let end: UInt8 = bytes[last.range.upperBound - 1]
        if end == Ascii.closeParenthesis || end == Ascii.closeBracket || end == Ascii.closeBrace {
          return false
        }
        if end == Ascii.question || end == Ascii.exclamation, !isSpaced { return false }
      }
    }
    return regexEnd != nil
  }

  /// Keywords after which an operand follows.
  private static let precedingOperand: Set<String> = [
    "return", "case", "in", "if", "while", "guard", "try", "await", "throw", "is", "as", "where", "else",
    "do",
  ]

  private var regexEnd: Int? {
    var end: Int = offset + 1
    var isInClass: Bool = false
    while end < bytes.count, bytes[end] != Ascii.newline {
      switch bytes[end] {
      case Ascii.backslash: end += 1
      case Ascii.openBracket: isInClass = true
      case Ascii.closeBracket: isInClass = false
      case Ascii.slash where !isInClass:
        let last: UInt8 = bytes[end - 1]
        return last == Ascii.space || last == Ascii.tab ? nil : end + 1
      default: break
      }
      end += 1
    }
    return nil
  }

  private mutating func regex() {
    append(.regex, to: regexEnd ?? offset + 1)
  }

  private mutating func extendedRegex(pounds: Int) throws(SourceFailure) {
    var end: Int = offset + pounds + 1
    while end < bytes.count {
      if bytes[end] == Ascii.backslash {
        end += 2
      } else if bytes[end] == Ascii.slash, closes(at: end, pounds) {
        return append(.regex, to: end + 1 + pounds)
      } else {
        end += 1
      }
    }
    throw failure("This regular expression has no end.", at: offset)
  }
}

enum Ascii {
  static let newline: UInt8 = 0x0A
  static let carriageReturn: UInt8 = 0x0D
  static let tab: UInt8 = 0x09
  static let space: UInt8 = 0x20
  static let exclamation: UInt8 = UInt8(ascii: "!")
  static let quote: UInt8 = UInt8(ascii: "\"")
  static let pound: UInt8 = UInt8(ascii: "#")
  static let dollar: UInt8 = UInt8(ascii: "$")
  static let openParenthesis: UInt8 = UInt8(ascii: "(")
  static let closeParenthesis: UInt8 = UInt8(ascii: ")")
  static let star: UInt8 = UInt8(ascii: "*")
  static let minus: UInt8 = UInt8(ascii: "-")
  static let period: UInt8 = UInt8(ascii: ".")
  static let slash: UInt8 = UInt8(ascii: "/")
  static let greater: UInt8 = UInt8(ascii: ">")
  static let question: UInt8 = UInt8(ascii: "?")
  static let openBracket: UInt8 = UInt8(ascii: "[")
  static let backslash: UInt8 = UInt8(ascii: "\\")
  static let closeBracket: UInt8 = UInt8(ascii: "]")
  static let backtick: UInt8 = UInt8(ascii: "`")
  static let openBrace: UInt8 = UInt8(ascii: "{")
  static let closeBrace: UInt8 = UInt8(ascii: "}")

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  static func isIdentifierStart(_ byte: UInt8) -> Bool {
    byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte == 0x5F || byte >= 0x80
  }

  static func isIdentifier(_ byte: UInt8) -> Bool { isIdentifierStart(byte) || isDigit(byte) }
}
