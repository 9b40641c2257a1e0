import Foundation

/// Takes arguments out of a C argument list. Swift has no `va_arg`, but C's own formatting reads any list: the values are
/// printed between separators and read back.
enum VariableArguments {
  /// How a specifier's argument is passed.
  private enum Passing {
    case object
    case integer(isSigned: Bool, isLong: Bool)
    case double(isLong: Bool)
    case character
    case text
    case wideText

    /// What makes `printf` take exactly such an argument; hexadecimal doubles are exact.
    var conversion: String {
      switch self {
      case .object, .text, .wideText: "%zx"
      case .integer(let isSigned, let isLong): "%\(isLong ? "ll" : "")\(isSigned ? "d" : "u")"
      case .double(let isLong): isLong ? "%La" : "%a"
      case .character: "%d"
      }
    }

    /// Whether a word can be such an argument's. Objects lie at addresses that a pointer divides, and nothing lies in the first page.
    func takes(_ word: UInt) -> Bool {
      switch self {
      case .object: word >= 4096 && word.isMultiple(of: UInt(MemoryLayout<UInt>.alignment))
      case .text, .wideText: word >= 4096
      case .integer, .double, .character: true
      }
    }

    var noun: String {
      switch self {
      case .object: "an object"
      case .text, .wideText: "a text"
      case .integer, .double, .character: "a number"
      }
    }
  }

  /// The arguments that a format consumes, in order. Nothing is read behind the first mistake in the format.
  ///
  /// - Throws: an error that names the place where an object or a text must be and is not, as far as its word tells.
  static func values(of list: CVaListPointer?, for format: String) throws(PredicateError) -> [Any?] {
    let passings: [(passing: Passing, specifier: String)] = passings(in: format)
    guard let list, !passings.isEmpty else { return [] }
    let conversions: String = passings.map(\.passing.conversion).joined(separator: " ")
    // No conversion writes more than this, a long double's hexadecimal digits included.
    var buffer: [CChar] = Array(repeating: 0, count: passings.count * 48 + 1)
    let count: Int = Int(vsnprintf(&buffer, buffer.count, conversions, list))
    let text: String = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var values: [Any?] = []
    for (number, (word, (passing, specifier))) in zip(text.split(separator: " "), passings).enumerated() {
      if let word = UInt(word, radix: 16), !passing.takes(word) {
        throw .unsupported(
          "The format \"\(format)\" needs \(passing.noun) as argument \(number + 1), for \(specifier), and the list of arguments has "
            + (word == 0 ? "none" : "the number \(word)")
            + " there. Such a list carries neither number nor types of its arguments: use argumentArray:, or "
            + "withVaList(_:_:) and getVaList(_:) directly around the call.")
      }
      values.append(value(String(word), passing))
    }
    return values
  }

  private static func passings(in format: String) -> [(passing: Passing, specifier: String)] {
    var lexer: Lexer = Lexer(format)
    var passings: [(passing: Passing, specifier: String)] = []
    while true {
      let token: Token = lexer.next()
      switch token.kind {
      case .end, .invalid: return passings
      case .specifier(let specifier):
        let letters: [UInt8] = Array(lexer.text[token.start..<token.end])
        passings.append(
          (passing(specifier, Array(letters.dropFirst())), String(decoding: letters, as: UTF8.self)))
      default: break
      }
    }
  }

  private static func passing(_ specifier: Specifier, _ letters: [UInt8]) -> Passing {
    let isLong: Bool = letters.dropLast().contains { "lqzjt".utf8.contains($0) }
    switch specifier {
    case .object, .keyPath: return .object
    case .integer:
      let last: UInt8 = letters.last ?? 0
      // Upper-case spellings are those of longs.
      return .integer(isSigned: "diD".utf8.contains(last), isLong: isLong || "DUO".utf8.contains(last))
    case .double: return .double(isLong: letters.contains(UInt8(ascii: "L")))
    case .character: return .character
    case .string: return letters.last == UInt8(ascii: "S") ? .wideText : .text
    }
  }

  private static func value(_ text: String, _ passing: Passing) -> Any? {
    switch passing {
    case .object:
      return pointer(text).map {
        let object: AnyObject = Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        return (object as? ArgumentObject)?.value ?? object
      }
    case .integer(let isSigned, _): return isSigned ? Int64(text) as Any? : UInt64(text) as Any?
    case .double: return Double(text)
    case .character: return Int64(text)
    case .text: return pointer(text).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    case .wideText:
      return pointer(text).map {
        String(decodingCString: $0.assumingMemoryBound(to: UInt16.self), as: UTF16.self)
      }
    }
  }

  private static func pointer(_ text: String) -> UnsafeRawPointer? {
    UInt(text, radix: 16).flatMap { UnsafeRawPointer(bitPattern: $0) }
  }
}
