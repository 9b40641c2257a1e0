/// The number of terminal columns of a text, and how to make any text safe for a terminal.
enum DisplayWidth {
  static func of(_ text: String) -> Int {
    var width: Int = 0
    for character in text { width += of(character) }
    return width
  }

  static func of(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.value < 0x300 { return 1 }
    // An emoji sequence is drawn as one picture two columns wide.
    let scalars = character.unicodeScalars
    if scalars.contains("\u{FE0F}") || first.properties.isEmojiPresentation { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(first.value) ? 2 : 1
    }
  }

  /// The East Asian wide and full-width blocks (Unicode annex 11), whole blocks where they contain a few rare
  /// narrow characters.
  private static func isWide(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// The text on one line, with everything escaped that would move the cursor, colour the screen or turn the
  /// direction of the following text.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var safe: String = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": safe += "\\n"
      case "\r": safe += "\\r"
      case "\t": safe += "\\t"
      case _ where isUnsafe(scalar): safe += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }

  /// Controls (C0, DEL, C1), line separators, and marks that change the direction of text.
  static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x206F: true
    default: false
    }
  }

  /// The text truncated to so many columns, an ellipsis as its last one if something is missing.
  static func truncated(_ text: String, to columns: Int) -> String {
    var width: Int = 0
    var kept: String = ""
    for character in text {
      let own: Int = of(character)
      if width + own > columns {
        // Make room for the ellipsis.
        while width > columns - 1, let last = kept.popLast() { width -= of(last) }
        return kept + "…"
      }
      kept.append(character)
      width += own
    }
    return text
  }
}
