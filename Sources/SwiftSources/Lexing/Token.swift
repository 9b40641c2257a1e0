/// A piece of Swift source. White space and comments are between tokens.
package struct Token: Hashable, Sendable {
  package enum Kind: Sendable {
    /// A name or a keyword; in backticks too.
    case identifier
    /// `#if`, `#keyPath`, …
    case pound
    case number
    /// A string literal up to its first interpolation, between two, or after the last one. The quotation
    /// marks, `\(` and `)` belong to the pieces, the code of an interpolation is tokens of its own.
    case string
    case regex
    /// One character, or `->`.
    case punctuation
  }

  package let kind: Kind
  /// Offsets in the bytes of the source.
  package let range: Range<Int>
  /// Whether the token is the first of its line.
  package let startsLine: Bool
  /// Whether white space or a comment precedes it.
  package let isSpaced: Bool
}
