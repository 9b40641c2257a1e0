import Foundation

/// Text as a key of a dictionary or a member of a set that distinguishes `é` in one code point from `e` with
/// an accent, and `K` from the Kelvin sign: a `String` is equal to whatever is canonically equal to it.
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

/// The comparison of texts as predicates do it. `CoreDataEvaluation` adds order, search and patterns.
package enum StringMatching {
  /// Equality by code points; `==` of Swift would equate composed and decomposed forms.
  package static func literallyEqual(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    var (left, right): (String, String) = (left, right)
    return left.withUTF8 { a in
      right.withUTF8 { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return true }
        return memcmp(first, second, a.count) == 0
      }
    }
  }
}
