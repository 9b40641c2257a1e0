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

  private struct Branching {
    /// Whether an earlier branch is certainly chosen.
    var isDecided: Bool
    /// The conditions of the earlier branches that may be chosen.
    var undecided: [String]
    /// The state around the whole.
    let outerIsActive: Bool
    let outerCondition: Int
    let start: Int
  }

  /// - Throws: ``SourceFailure`` where `#if` and `#endif` do not match.
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
        (isActive, condition) = (branching.outerIsActive, branching.outerCondition)
      } else {
        var parser = ConditionParser(Array(terms), source, platform)
        let holds: Bool? = word == "#else" ? true : parser.value()
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
