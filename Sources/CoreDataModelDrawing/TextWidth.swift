/// How wide text is, in a font that whoever looks at the picture has.
///
/// The font is not known: the widths are those of Helvetica with an eighth added, so that text fits in the
/// system fonts of all platforms too.
enum TextWidth {
  private static let regular: [Int] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
  ]

  /// In pixels, rounded up.
  static func width(_ text: String, size: Int, isBold: Bool = false) -> Int {
    let units: Int = text.unicodeScalars.map(width).reduce(0, +)
    return (units * size * (isBold ? 120 : 112) + 99_999) / 100_000
  }

  /// In thousandths of the font's size.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 32...126: return regular[Int(scalar.value) - 32]
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0x1F000...0x3FFFD:
      return 1000
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark, .format: return 0
      default: return 760
      }
    }
  }
}

/// Text that can be drawn: one line, not too long, without control characters.
enum DrawnText {
  static let limit: Int = 48

  static func shown(_ text: String) -> String {
    var result = ""
    for (number, character) in text.enumerated() {
      if number == limit {
        result.append("…")
        break
      }
      let isDrawn: Bool = character.unicodeScalars.count <= 8 && character.unicodeScalars.allSatisfy(isDrawn)
      result.append(isDrawn ? character : "\u{FFFD}")
    }
    return result
  }

  /// What XML may have, and a line.
  private static func isDrawn(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate, .privateUse: false
    // They would turn round what follows in the line.
    case .format: scalar.value == 0x200D
    default: scalar.value != 0xFFFE && scalar.value != 0xFFFF
    }
  }
}
