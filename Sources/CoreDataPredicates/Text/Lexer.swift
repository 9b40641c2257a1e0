/// Divides a format into tokens, one at a time and without failing: text that is no token becomes
/// ``TokenKind/invalid(found:hint:)``, so that the parser reports the first mistake in reading order.
struct Lexer {
  let text: [UInt8]
  private(set) var offset: Int = 0
  /// Whether a string literal contained something that looks like an argument specifier, for a hint if
  /// anything fails.
  private(set) var sawQuotedSpecifier: Bool = false

  init(_ format: String) {
    text = Array(format.utf8)
  }

  mutating func next() -> Token {
    while offset < text.count, Self.isSpace(text[offset]) { offset += 1 }
    let start: Int = offset
    guard start < text.count else { return Token(kind: .end, start: start, end: start) }
    let kind: TokenKind = scan()
    return Token(kind: kind, start: start, end: offset)
  }

  private mutating func scan() -> TokenKind {
    let byte: UInt8 = text[offset]
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return scanNumber()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return scanString()
    case UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: "#"): return scanPrefixed(byte)
    case UInt8(ascii: "%"): return scanSpecifier()
    default:
      if startsIdentifier(at: offset) {
        let name: String = scanIdentifier()
        if name.utf8.count == 3, let word = scanTypeIdentifierOperator(after: name) {
          return .identifier(word.rawValue, word: word)
        }
        return .identifier(name, word: Word(identifier: name))
      }
      return scanMark(byte)
    }
  }

  // MARK: Identifiers

  private mutating func scanPrefixed(_ prefix: UInt8) -> TokenKind {
    offset += 1
    guard startsIdentifier(at: offset) else {
      return .invalid(found: "a lone \"\(Character(Unicode.Scalar(prefix)))\"", hint: nil)
    }
    let name: String = scanIdentifier()
    switch prefix {
    case UInt8(ascii: "$"): return .variable(name)
    case UInt8(ascii: "@"): return .collectionOperator(name)
    default: return .identifier(name, word: nil)
    }
  }

  private mutating func scanIdentifier() -> String {
    let start: Int = offset
    while let length = identifierScalarLength(at: offset, first: false) { offset += length }
    return String(decoding: text[start..<offset], as: UTF8.self)
  }

  private func startsIdentifier(at offset: Int) -> Bool {
    identifierScalarLength(at: offset, first: true) != nil
  }

  /// The length of the scalar at an offset if it can be part of an identifier. Beyond ASCII every letter can:
  /// model properties may be named in any language.
  private func identifierScalarLength(at offset: Int, first: Bool) -> Int? {
    guard offset < text.count else { return nil }
    let byte: UInt8 = text[offset]
    if byte < 0x80 {
      if Self.isLetter(byte) || byte == UInt8(ascii: "_") { return 1 }
      return !first && Self.isDigit(byte) ? 1 : nil
    }
    let length: Int = Self.scalarLength(byte)
    guard offset + length <= text.count,
      let scalar = String(decoding: text[offset..<offset + length], as: UTF8.self).unicodeScalars.first
    else { return nil }
    return (first ? scalar.properties.isXIDStart : scalar.properties.isXIDContinue) ? length : nil
  }

  /// The two operators with hyphens; nothing else joins identifiers that way.
  private mutating func scanTypeIdentifierOperator(after name: String) -> Word? {
    guard name.uppercased() == "UTI" else { return nil }
    for word in [Word.utiConformsTo, .utiEquals] {
      let rest: Substring.UTF8View = word.rawValue.utf8.dropFirst(3)
      let end: Int = offset + rest.count
      guard end <= text.count, identifierScalarLength(at: end, first: false) == nil,
        zip(text[offset..<end], rest).allSatisfy({ Self.uppercased($0) == $1 })
      else { continue }
      offset = end
      return word
    }
    return nil
  }

  // MARK: Numbers

  private mutating func scanNumber() -> TokenKind {
    let start: Int = offset
    var kind: TokenKind?
    if text[offset] == UInt8(ascii: "0"), offset + 1 < text.count,
      let radix = Self.radix(text[offset + 1])
    {
      offset += 2
      let digits: Int = offset
      while offset < text.count, Self.isHexDigit(text[offset]) { offset += 1 }
      let number: UInt64? = UInt64(String(decoding: text[digits..<offset], as: UTF8.self), radix: radix)
      kind = number.map { .number(Self.integer($0), isSeconds: false) }
      if number == nil, offset > digits, radix == 16 {
        return .invalid(found: "a hexadecimal number of more than 64 bits", hint: nil)
      }
    } else {
      kind = scanDecimal(from: start)
    }
    if let kind, !startsIdentifier(at: offset) { return kind }
    while let length = identifierScalarLength(at: offset, first: false) { offset += length }
    return .invalid(
      found: "\"\(String(decoding: text[start..<offset].prefix(40), as: UTF8.self))\"",
      hint: "Numbers are written 42, 4.2, 4.2e-5, 0x2A, 0o52 or 0b101010, names begin with a letter.")
  }

  private mutating func scanDecimal(from start: Int) -> TokenKind? {
    skipDigits()
    var isInteger: Bool = true
    var fraction: Int = 0
    if offset + 1 < text.count, text[offset] == UInt8(ascii: "."), Self.isDigit(text[offset + 1]) {
      isInteger = false
      offset += 1
      let first: Int = offset
      skipDigits()
      fraction = offset - first
    }
    var hasExponent: Bool = false
    if offset < text.count, text[offset] | 0x20 == UInt8(ascii: "e") {
      var digits: Int = offset + 1
      if digits < text.count, text[digits] == UInt8(ascii: "+") || text[digits] == UInt8(ascii: "-") {
        digits += 1
      }
      if digits < text.count, Self.isDigit(text[digits]) {
        isInteger = false
        hasExponent = true
        offset = digits
        skipDigits()
      }
    }
    let digits: String = String(decoding: text[start..<offset], as: UTF8.self)
    if isInteger, let number = UInt64(digits) { return .number(Self.integer(number), isSeconds: false) }
    return Double(digits).map { .number(.double($0), isSeconds: fraction == 6 && !hasExponent) }
  }

  private mutating func skipDigits() {
    while offset < text.count, Self.isDigit(text[offset]) { offset += 1 }
  }

  private static func integer(_ number: UInt64) -> PredicateValue {
    Int64(exactly: number).map(PredicateValue.integer) ?? .unsigned(number)
  }

  // MARK: Strings

  private mutating func scanString() -> TokenKind {
    let quote: UInt8 = text[offset]
    offset += 1
    var bytes: [UInt8] = []
    var runStart: Int = offset
    while offset < text.count, text[offset] != quote {
      let byte: UInt8 = text[offset]
      if byte == UInt8(ascii: "\\") {
        bytes.append(contentsOf: text[runStart..<offset])
        if let problem = scanEscape(into: &bytes) { return problem }
        runStart = offset
        continue
      }
      if byte == UInt8(ascii: "%"), offset + 1 < text.count,
        text[offset + 1] == UInt8(ascii: "@") || text[offset + 1] == UInt8(ascii: "K")
      {
        sawQuotedSpecifier = true
      }
      offset += 1
    }
    guard offset < text.count else {
      return .invalid(
        found: "a string without its closing \(Character(Unicode.Scalar(quote)))",
        hint: "A quote inside a string is escaped with a backslash; pass text from elsewhere with %@.")
    }
    bytes.append(contentsOf: text[runStart..<offset])
    offset += 1
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// Appends the character of the escape at `offset`; returns a token if it is malformed.
  private mutating func scanEscape(into bytes: inout [UInt8]) -> TokenKind? {
    let start: Int = offset
    offset += 1
    guard offset < text.count else { return nil }
    let byte: UInt8 = text[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "a"): bytes.append(0x07)
    case UInt8(ascii: "v"): bytes.append(0x0B)
    case UInt8(ascii: "e"): bytes.append(0x1B)
    // LIKE needs the backslash to distinguish a wildcard from a character.
    case UInt8(ascii: "?"), UInt8(ascii: "*"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      offset -= 1
      return scanCode(radix: 8, digits: 1...3, from: start, into: &bytes)
    case UInt8(ascii: "x"): return scanCode(radix: 16, digits: 1...2, from: start, into: &bytes)
    case UInt8(ascii: "u"): return scanUnicode(from: start, into: &bytes)
    default: bytes.append(byte)
    }
    return nil
  }

  private mutating func scanCode(
    radix: Int, digits: ClosedRange<Int>, from start: Int, into bytes: inout [UInt8]
  ) -> TokenKind? {
    let first: Int = offset
    while offset < text.count, offset - first < digits.upperBound,
      Int(String(Unicode.Scalar(text[offset])), radix: radix) != nil
    {
      offset += 1
    }
    guard offset - first >= digits.lowerBound,
      let code = UInt32(String(decoding: text[first..<offset], as: UTF8.self), radix: radix),
      let scalar = Unicode.Scalar(code)
    else { return brokenEscape(from: start) }
    bytes.append(contentsOf: String(Character(scalar)).utf8)
    return nil
  }

  /// `\uHHHH`; two in a row may be a surrogate pair.
  private mutating func scanUnicode(from start: Int, into bytes: inout [UInt8]) -> TokenKind? {
    guard let first = scanFourHexDigits() else { return brokenEscape(from: start) }
    if let scalar = Unicode.Scalar(UInt32(first)) {
      bytes.append(contentsOf: String(Character(scalar)).utf8)
      return nil
    }
    guard UTF16.isLeadSurrogate(first), offset + 1 < text.count, text[offset] == UInt8(ascii: "\\"),
      text[offset + 1] == UInt8(ascii: "u")
    else { return brokenEscape(from: start) }
    offset += 2
    guard let second = scanFourHexDigits(), UTF16.isTrailSurrogate(second) else {
      return brokenEscape(from: start)
    }
    bytes.append(contentsOf: String(decoding: [first, second], as: UTF16.self).utf8)
    return nil
  }

  private mutating func scanFourHexDigits() -> UInt16? {
    guard offset + 4 <= text.count, text[offset..<offset + 4].allSatisfy(Self.isHexDigit) else { return nil }
    defer { offset += 4 }
    return UInt16(String(decoding: text[offset..<offset + 4], as: UTF8.self), radix: 16)
  }

  private func brokenEscape(from start: Int) -> TokenKind {
    .invalid(
      found:
        "a broken escape \"\(String(decoding: text[start..<min(start + 6, text.count)], as: UTF8.self))\"",
      hint: "Escapes by code are \\ooo (octal), \\xHH and \\uHHHH; a backslash itself is \\\\.")
  }

  // MARK: Specifiers

  private mutating func scanSpecifier() -> TokenKind {
    let start: Int = offset
    offset += 1
    let isLength: (UInt8) -> Bool = { "hlqzLjt".utf8.contains($0) }
    while offset < text.count, isLength(text[offset]), offset - start < 3 { offset += 1 }
    let hasLength: Bool = offset > start + 1
    guard offset < text.count else { return invalidSpecifier(from: start, hint: nil) }
    let byte: UInt8 = text[offset]
    offset += 1
    switch byte {
    case UInt8(ascii: "@") where !hasLength: return .specifier(.object)
    case UInt8(ascii: "K") where !hasLength: return .specifier(.keyPath)
    case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "X"),
      UInt8(ascii: "o"), UInt8(ascii: "D"), UInt8(ascii: "U"), UInt8(ascii: "O"):
      return .specifier(.integer)
    case UInt8(ascii: "f"), UInt8(ascii: "e"), UInt8(ascii: "g"), UInt8(ascii: "a"), UInt8(ascii: "F"),
      UInt8(ascii: "E"), UInt8(ascii: "G"), UInt8(ascii: "A"):
      return .specifier(.double)
    case UInt8(ascii: "c"), UInt8(ascii: "C"): return .specifier(.character)
    case UInt8(ascii: "s"), UInt8(ascii: "S"): return .specifier(.string)
    case UInt8(ascii: "k"): return invalidSpecifier(from: start, hint: "A key path specifier is spelled %K.")
    case UInt8(ascii: "%"):
      return invalidSpecifier(from: start, hint: "A percent sign stands only inside a string.")
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "#"):
      return invalidSpecifier(
        from: start,
        hint: "Positions, widths and precisions are not supported: arguments are taken in order, as they are."
      )
    case UInt8(ascii: "p"), UInt8(ascii: "n"):
      return invalidSpecifier(
        from: start, hint: "Pointers are no values of predicates: objects are passed with %@.")
    default:
      if byte >= 0x80 { offset = min(offset - 1 + Self.scalarLength(byte), text.count) }
      return invalidSpecifier(
        from: start, hint: "Arguments are %@ (a value), %K (a key path), %d, %f and their like.")
    }
  }

  private func invalidSpecifier(from start: Int, hint: String?) -> TokenKind {
    .invalid(found: "\"\(String(decoding: text[start..<offset], as: UTF8.self))\"", hint: hint)
  }

  // MARK: Marks

  private mutating func scanMark(_ byte: UInt8) -> TokenKind {
    let following: UInt8 = offset + 1 < text.count ? text[offset + 1] : 0
    if let mark = Self.longMark(byte, following) {
      offset += 2
      return .mark(mark)
    }
    let character: String
    if byte < 0x80 {
      offset += 1
      if byte == UInt8(ascii: "-"), following == byte {
        return .invalid(
          found: "\"--\"",
          hint: "Formats have no comments; put a space between two minus signs that are meant.")
      }
      if byte == UInt8(ascii: "/"), following == byte || following == UInt8(ascii: "*") {
        return .invalid(
          found: "\"/\(Character(Unicode.Scalar(following)))\"", hint: "Formats have no comments.")
      }
      character = String(Character(Unicode.Scalar(byte)))
      if character == "=" { return .mark(.equal) }
      if let mark = Mark(rawValue: character) { return .mark(mark) }
      if byte < 0x20 || byte == 0x7F {
        return .invalid(found: "the control character \(byte)", hint: nil)
      }
    } else {
      let end: Int = min(offset + Self.scalarLength(byte), text.count)
      character = String(decoding: text[offset..<end], as: UTF8.self)
      offset = end
    }
    return .invalid(found: "\"\(character)\"", hint: Self.hint(forStray: character))
  }

  private static func longMark(_ first: UInt8, _ second: UInt8) -> Mark? {
    switch (first, second) {
    case (UInt8(ascii: "="), UInt8(ascii: "=")): .equal
    case (UInt8(ascii: "="), UInt8(ascii: "<")), (UInt8(ascii: "<"), UInt8(ascii: "=")): .lessOrEqual
    case (UInt8(ascii: "="), UInt8(ascii: ">")), (UInt8(ascii: ">"), UInt8(ascii: "=")): .greaterOrEqual
    case (UInt8(ascii: "!"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")): .notEqual
    case (UInt8(ascii: "<"), UInt8(ascii: "<")): .leftShift
    case (UInt8(ascii: ">"), UInt8(ascii: ">")): .rightShift
    case (UInt8(ascii: "&"), UInt8(ascii: "&")): .and
    case (UInt8(ascii: "|"), UInt8(ascii: "|")): .or
    case (UInt8(ascii: "*"), UInt8(ascii: "*")): .power
    case (UInt8(ascii: ":"), UInt8(ascii: "=")): .assign
    default: nil
    }
  }

  private static func hint(forStray character: String) -> String? {
    switch character {
    case "“", "”", "‘", "’", "«", "»": "Strings stand between straight quotes, \" or '."
    case "?": "Wildcards and arguments belong into one string: build it first and pass it with %@."
    default: nil
    }
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f"))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
  }

  private static func uppercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 0x20 : byte
  }

  private static func scalarLength(_ lead: UInt8) -> Int {
    lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1
  }

  private static func radix(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "x"), UInt8(ascii: "X"): 16
    case UInt8(ascii: "o"), UInt8(ascii: "O"): 8
    case UInt8(ascii: "b"), UInt8(ascii: "B"): 2
    default: nil
    }
  }
}
