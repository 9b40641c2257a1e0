import Foundation

/// Moments relative to now in a predicate's text: `due < now + 7d`, `due >= today() - 1mon`.
///
/// Such a term has no other meaning in the predicate language: a number with a unit is a syntax error there,
/// and so is `today()`; `now()` means the same there. `now` or `today` is replaced, in upper or lower case,
/// followed by `()`, by offsets, or by both. Text in quotes is not changed.
struct RelativeDates {
  let now: Date

  static let units: String = "s, min, h, d, w, mon, y"

  /// For messages.
  static let forms: String = "Relative to now: now(), now - 7d, today() - 1mon (units: \(units))."

  /// The text with each term replaced by its date. Throws for an offset with an unknown unit.
  func resolved(_ text: String) throws -> String {
    var result: String = ""
    var rest: Substring = text[...]
    var before: Character?
    while let character = rest.first {
      if character == "\"" || character == "'" {
        let quoted: Substring = Self.quoted(rest)
        result += quoted
        rest = rest.dropFirst(quoted.count)
        before = quoted.last
      } else if !Self.continuesName(before), let (date, end) = try term(rest) {
        result +=
          "CAST(\"\(DateText.full(secondsSince2001: date.timeIntervalSinceReferenceDate))\", \"NSDate\")"
        rest = end
        before = ")"
      } else {
        result.append(character)
        rest.removeFirst()
        before = character
      }
    }
    return result
  }

  /// The quoted text at the beginning, quotes included; all of it when it does not end.
  static func quoted(_ text: Substring) -> Substring {
    var place: Substring.Index = text.index(after: text.startIndex)
    while place < text.endIndex, text[place] != text.first {
      place = text.index(after: place)
      if text[text.index(before: place)] == "\\", place < text.endIndex { place = text.index(after: place) }
    }
    return text[..<(place < text.endIndex ? text.index(after: place) : place)]
  }

  private static func continuesName(_ character: Character?) -> Bool {
    character.map { $0.isLetter || $0.isNumber || "_.$@#%".contains($0) } ?? false
  }

  private func term(_ text: Substring) throws -> (Date, Substring)? {
    let word: Substring = text.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    var date: Date
    switch word.lowercased() {
    case "now": date = now
    case "today": date = UTC.calendar.startOfDay(for: now)
    default: return nil
    }
    var rest: Substring = text.dropFirst(word.count)
    var isTerm = false
    if let call = rest.prefixMatch(of: /\s*\(\s*\)/) {
      rest = rest[call.range.upperBound...]
      isTerm = true
    }
    while let match = rest.prefixMatch(of: /\s*([+-])\s*([0-9]{1,6})\s*(s|min|h|d|w|mon|y)(?![A-Za-z0-9_.])/)
    {
      guard let amount = Int(match.2),
        let moved = UTC.adding(match.1 == "-" ? -amount : amount, match.3, to: date)
      else { return nil }
      date = moved
      rest = rest[match.range.upperBound...]
      isTerm = true
    }
    // The language has no number followed by letters.
    if let wrong = rest.prefixMatch(of: /\s*[+-]\s*([0-9]+[A-Za-z_]+)/) {
      throw CommandFailure("\"\(wrong.1)\" is no span of time. \(Self.forms)")
    }
    return isTerm ? (date, rest) : nil
  }
}

/// Days and months as `clarus` prints them: in UTC.
enum UTC {
  static let calendar: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    return calendar
  }()

  static func adding(_ amount: Int, _ unit: some StringProtocol, to date: Date) -> Date? {
    let component: Calendar.Component =
      switch unit {
      case "s": .second
      case "min": .minute
      case "h": .hour
      case "d": .day
      case "w": .weekOfYear
      case "mon": .month
      default: .year
      }
    return calendar.date(byAdding: component, value: amount, to: date)
  }
}
