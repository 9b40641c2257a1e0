import Foundation

/// Makes texts that a regular expression matches: literals, classes, groups, alternatives, quantifiers,
/// anchors. Others (references, conditions) give a text that may not match: the caller checks it.
struct PatternText {
  private indirect enum Part {
    case literal(Character)
    case oneOf([Character])
    case sequence([Part])
    case choice([Part])
    case repeated(Part, ClosedRange<Int>)
  }

  private let root: Part

  init(_ pattern: String) {
    var reader = Reader(pattern)
    root = reader.alternatives()
  }

  func make(_ random: inout SeededNumbers) -> String { Self.make(root, &random) }

  private static func make(_ part: Part, _ random: inout SeededNumbers) -> String {
    switch part {
    case .literal(let character): String(character)
    case .oneOf(let characters): characters.randomElement(using: &random).map { String($0) } ?? ""
    case .sequence(let parts): parts.reduce(into: "") { $0 += make($1, &random) }
    case .choice(let parts): parts.randomElement(using: &random).map { make($0, &random) } ?? ""
    case .repeated(let part, let range):
      (0..<Int.random(in: range, using: &random)).reduce(into: "") { text, _ in text += make(part, &random) }
    }
  }

  private static let letters: [Character] = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
  private static let digits: [Character] = Array("0123456789")
  private static let signs: [Character] = Array("-+.,:;!?@#%&()[]{}<>=*/'\"$^~|\\")
  private static let word: [Character] = letters + digits + ["_"]
  private static let all: [Character] = word + signs + [" "]

  private struct Reader {
    private let characters: [Character]
    private var place: Int = 0
    private var depth: Int = 0

    init(_ pattern: String) { characters = Array(pattern) }

    private var next: Character? { place < characters.count ? characters[place] : nil }

    private mutating func take() -> Character? {
      guard let found = next else { return nil }
      place += 1
      return found
    }

    private mutating func take(_ character: Character) -> Bool {
      if next != character { return false }
      place += 1
      return true
    }

    mutating func alternatives() -> Part {
      depth += 1
      defer { depth -= 1 }
      var choices: [Part] = []
      repeat {
        var parts: [Part] = []
        while let character = next, character != "|", character != ")" || depth == 1 {
          if let part = atom() { parts.append(quantified(part)) }
        }
        choices.append(.sequence(parts))
      } while take("|")
      return choices.count == 1 ? choices[0] : .choice(choices)
    }

    /// nil for what matches no character.
    private mutating func atom() -> Part? {
      guard let character = take() else { return nil }
      switch character {
      case "^", "$": return nil
      case ".": return .oneOf(PatternText.word)
      case "[": return .oneOf(set())
      case "\\": return escape()
      case "(":
        if depth > 50 { return nil }
        if take("?") {
          // (?:…), (?i), (?<name>…); what a look-ahead excludes is not known.
          let kind: Character? = take()
          if kind == "=" || kind == "!" {
            _ = alternatives()
            _ = take(")")
            return nil
          }
          if kind != ":" {
            while let other = take(), other != ">", other != ")" { continue }
            if characters[place - 1] == ")" { return nil }
          }
        }
        let part: Part = alternatives()
        _ = take(")")
        return part
      default: return .literal(character)
      }
    }

    private mutating func escape() -> Part? {
      guard let character = take() else { return nil }
      if let members = Self.named(character) { return .oneOf(members) }
      switch character {
      case "A", "z", "Z", "b", "B", "G": return nil
      case "n": return .literal("\n")
      case "t": return .literal("\t")
      default: return .literal(character)
      }
    }

    private static func named(_ character: Character) -> [Character]? {
      switch character {
      case "d": PatternText.digits
      case "D": PatternText.letters
      case "w": PatternText.word
      case "W": PatternText.signs
      case "s": [" "]
      case "S": PatternText.word
      default: nil
      }
    }

    private mutating func set() -> [Character] {
      let isInverted: Bool = take("^")
      var members: [Character] = []
      var isFirst: Bool = true
      while let character = take() {
        if character == "]", !isFirst { break }
        isFirst = false
        if character == "[", next == ":" {
          while let other = take(), other != "]" { continue }
          members += PatternText.letters
        } else if character == "\\", let other = take() {
          members += Self.named(other) ?? [other]
        } else if next == "-", place + 1 < characters.count, characters[place + 1] != "]",
          let low = character.unicodeScalars.first?.value,
          let high = characters[place + 1].unicodeScalars.first?.value, low <= high, high - low < 1000
        {
          place += 2
          members += (low...high).compactMap { Unicode.Scalar($0).map { Character($0) } }
        } else {
          members.append(character)
        }
      }
      if !isInverted { return members }
      let excluded = Set(members)
      return PatternText.word.filter { !excluded.contains($0) }
    }

    private mutating func quantified(_ part: Part) -> Part {
      var range: ClosedRange<Int>?
      switch next {
      case "*": range = 0...4
      case "+": range = 1...4
      case "?": range = 0...1
      case "{": return counted(part)
      default: break
      }
      guard let range else { return part }
      place += 1
      if next == "?" || next == "+" { place += 1 }
      return .repeated(part, range)
    }

    private mutating func counted(_ part: Part) -> Part {
      let start: Int = place
      place += 1
      var text: String = ""
      while let character = take(), character != "}" { text.append(character) }
      let numbers: [Substring] = text.split(separator: ",", omittingEmptySubsequences: false)
      guard let low = numbers.first.flatMap({ Int($0) }), (0...1000).contains(low) else {
        place = start + 1
        return .sequence([part, .literal("{")])
      }
      let high: Int = numbers.count == 1 ? low : Int(numbers[1]) ?? low + 4
      if next == "?" || next == "+" { place += 1 }
      return .repeated(part, low...max(low, min(high, low + 20)))
    }
  }
}
