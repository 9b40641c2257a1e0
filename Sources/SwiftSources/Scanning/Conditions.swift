/// The tokens of a source that the compiler sees, with conditions that only the compiler decides.
///
/// `#if canImport(UIKit)`, `#if os(iOS)` and their like are decided here; both branches of `#if DEBUG`
/// remain, each with its condition.
struct ConditionedTokens {
  var tokens: [Token] = []
  /// For each token an index into `conditions`.
  var conditionOfToken: [Int] = []
  /// Conditions as source text; the first is none.
  var conditions: [String?] = [nil]
  /// Chains of conditions on Apple's platforms of which none holds here, without `#else`: what is in them
  /// vanishes. The ranges are those of their first lines.
  var unreached: [Range<Int>] = []

  private struct Branching {
    /// Whether an earlier branch is certainly chosen.
    var isDecided: Bool
    /// The conditions of the earlier branches that may be chosen.
    var undecided: [String]
    /// The state around the whole.
    let outerIsActive: Bool
    let outerCondition: Int
    let start: Int
    /// The words of each condition.
    var terms: [[String]] = []
    /// Whether a branch may be chosen.
    var mayHold: Bool = false

    private static let others: Set<String> = ["Linux", "Windows", "Android", "FreeBSD", "WASI"]

    /// Whether every condition is one of Apple's systems.
    var namesSystems: Bool {
      terms.allSatisfy { words in Self.others.isDisjoint(with: words) && words.contains("os") }
    }

    /// Whether the conditions are those of Apple's platforms, meant to be all that there are: several
    /// branches, or one for macOS and for another system. Where another system is named, somebody has
    /// thought of it.
    var coversApplePlatforms: Bool {
      let areKnown: Bool = terms.allSatisfy { words in
        Self.others.isDisjoint(with: words) && words.contains { $0 == "os" || $0 == "canImport" }
      }
      let isBoth: Bool =
        terms.count == 1
        && !["macOS", "OSX"].allSatisfy { !terms[0].contains($0) }
        && !["iOS", "tvOS"].allSatisfy { !terms[0].contains($0) }
      return areKnown && (terms.count > 1 || isBoth)
    }
  }

  /// - Throws: ``SourceFailure`` where `#if` and `#endif` do not match, and where a bracket has no end.
  init(_ all: [Token], of source: SourceText, on platform: Platform) throws(SourceFailure) {
    var open: [Branching] = []
    var isActive: Bool = true
    var condition: Int = 0
    var index: Int = 0
    tokens.reserveCapacity(all.count)
    conditionOfToken.reserveCapacity(all.count)
    func failure(_ message: String, _ token: Token) -> SourceFailure {
      let (line, column) = source.position(of: token.range.lowerBound)
      return SourceFailure(path: source.path, line: line, column: column, message: message)
    }
    while index < all.count {
      let token: Token = all[index]
      let word: String = token.kind == .pound ? source[token.range] : ""
      guard ["#if", "#elseif", "#else", "#endif"].contains(word) else {
        if isActive {
          tokens.append(token)
          conditionOfToken.append(condition)
        }
        index += 1
        continue
      }
      var end: Int = index + 1
      while end < all.count, !all[end].startsLine { end += 1 }
      let terms: ArraySlice<Token> = all[(index + 1)..<end]
      let text: String =
        terms.isEmpty ? "" : source[terms.first!.range.lowerBound..<terms.last!.range.upperBound]
      if word == "#if" {
        open.append(
          Branching(
            isDecided: false, undecided: [], outerIsActive: isActive, outerCondition: condition,
            start: index))
      }
      guard var branching = open.popLast() else { throw failure("This \(word) has no #if.", token) }
      if word == "#endif" {
        if branching.outerIsActive, !branching.mayHold,
          branching.coversApplePlatforms
            || branching.start == 0 && end == all.count && branching.namesSystems,
          !Self.isImports(all[branching.start..<index], source)
        {
          let first: ArraySlice<Token> = all[branching.start..<index].prefix { token in
            token.range == all[branching.start].range || !token.startsLine
          }
          unreached.append(first.first!.range.lowerBound..<first.last!.range.upperBound)
        }
        (isActive, condition) = (branching.outerIsActive, branching.outerCondition)
      } else {
        var parser = ConditionParser(Array(terms), source, platform)
        let holds: Bool? = word == "#else" ? true : parser.value()
        branching.terms.append(terms.map { source[$0.range] })
        if holds != false { branching.mayHold = true }
        isActive = branching.outerIsActive && !branching.isDecided && holds != false
        condition = branching.outerCondition
        if isActive {
          var parts: [String] = conditions[condition].map { [$0] } ?? []
          parts += branching.undecided.map { "!(\($0))" }
          if holds == nil { parts.append(branching.undecided.isEmpty && parts.isEmpty ? text : "(\(text))") }
          if !parts.isEmpty {
            let joined: String = parts.joined(separator: " && ")
            condition =
              conditions.firstIndex(of: joined)
              ?? {
                conditions.append(joined)
                return conditions.count - 1
              }()
          }
        }
        if holds == true { branching.isDecided = true }
        if holds == nil { branching.undecided.append(text) }
        open.append(branching)
      }
      index = end
    }
    if let unclosed = open.last { throw failure("This #if has no #endif.", all[unclosed.start]) }
    // Nothing behind a bracket without an end, or with that of another one, would be understood.
    let partners: [UInt8: UInt8] = [
      Ascii.closeParenthesis: Ascii.openParenthesis, Ascii.closeBracket: Ascii.openBracket,
      Ascii.closeBrace: Ascii.openBrace,
    ]
    var brackets: [Token] = []
    for token in tokens where token.kind == .punctuation && token.range.count == 1 {
      let byte: UInt8 = source.bytes[token.range.lowerBound]
      if partners.values.contains(byte) {
        brackets.append(token)
      } else if let partner = partners[byte], let open = brackets.popLast(),
        source.bytes[open.range.lowerBound] != partner
      {
        throw failure("This \(source[open.range]) has no end.", open)
      }
    }
    if let unclosed = brackets.last {
      throw failure("This \(source[unclosed.range]) has no end.", unclosed)
    }
  }

  /// Whether branches have nothing but imports: what needs the modules is elsewhere.
  private static func isImports(_ tokens: ArraySlice<Token>, _ source: SourceText) -> Bool {
    var isImport: Bool = true
    for place in tokens.indices where tokens[place].startsLine {
      var words: [String] = []
      var next: Int = place
      repeat {
        words.append(source[tokens[next].range])
        next += 1
      } while next < tokens.endIndex && !tokens[next].startsLine
      if !words[0].hasPrefix("#"), !words.contains("import") { isImport = false }
    }
    return isImport
  }
}

/// Decides a condition; nil where only the compiler can.
private struct ConditionParser {
  private let tokens: [Token]
  private let source: SourceText
  private let platform: Platform
  private var index: Int = 0

  init(_ tokens: [Token], _ source: SourceText, _ platform: Platform) {
    (self.tokens, self.source, self.platform) = (tokens, source, platform)
  }

  private var current: String? { index < tokens.count ? source[tokens[index].range] : nil }

  mutating func value() -> Bool? {
    var result: Bool? = conjunction()
    while current == "|" {
      index += 2
      let other: Bool? = conjunction()
      result = result == true || other == true ? true : result == nil || other == nil ? nil : false
    }
    return result
  }

  private mutating func conjunction() -> Bool? {
    var result: Bool? = term()
    while current == "&" {
      index += 2
      let other: Bool? = term()
      result = result == false || other == false ? false : result == nil || other == nil ? nil : true
    }
    return result
  }

  private mutating func term() -> Bool? {
    guard let word = current else { return nil }
    index += 1
    switch word {
    case "!": return term().map { !$0 }
    case "(":
      let inner: Bool? = value()
      index += 1
      return inner
    case "true": return true
    case "false": return false
    default:
      guard current == "(" else { return nil }
      var arguments: [String] = []
      var depth: Int = 0
      repeat {
        let token: String = current ?? ""
        if token == "(" { depth += 1 }
        if token == ")" { depth -= 1 }
        if depth > 0, !(token == "(" && depth == 1) { arguments.append(token) }
        index += 1
      } while depth > 0 && index < tokens.count
      return call(word, arguments)
    }
  }

  private func call(_ function: String, _ arguments: [String]) -> Bool? {
    let first: String = arguments.first ?? ""
    switch function {
    case "os":
      // What is compiled for a device is decided by the compiler where this runs elsewhere.
      return first == Platform.system ? true : ["Linux", "Windows", "Android"].contains(first) ? nil : false
    case "canImport":
      // Only C's modules have parts: `canImport(os.log)`.
      let isKnown: Bool? = platform.canImport(first)
      return isKnown != nil && arguments.dropFirst().first == "." ? false : isKnown
    case "targetEnvironment": return false
    case "_runtime": return first == "_Native"
    case "swift", "compiler":
      let numbers: [Int] = arguments.joined().split { !"0123456789".contains($0) }.compactMap { Int($0) }
      // The package needs a compiler of 6.1 or later; the language mode may be 5.
      let lowest: [Int] = function == "swift" ? [5, 10] : [6, 1]
      if lowest.lexicographicallyPrecedes(numbers) { return nil }
      return first == ">" ? true : first == "<" ? false : nil
    default: return nil
    }
  }
}
