/// Text as a key of a dictionary or a member of a set that tells `é` in one code point from `e` with an
/// accent, and `K` from the Kelvin sign: a `String` is equal to whatever is canonically equal to it.
package struct LiteralText: Hashable, Sendable {
  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package static func == (left: LiteralText, right: LiteralText) -> Bool {
    StringMatching.literallyEqual(left.text, right.text)
  }

  package func hash(into hasher: inout Hasher) {
    var text: String = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
