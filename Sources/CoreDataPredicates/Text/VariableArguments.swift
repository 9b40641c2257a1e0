import CoreDataRuntime
import Foundation

/// The values in a C argument list, as the specifiers of a format define them.
enum VariableArguments {
  /// How a specifier's argument is passed.
  private enum Passing {
    case object
    case integer(isSigned: Bool, isLong: Bool)
    case double(isLong: Bool)
    case character
    case text
    case wideText

    /// The conversion for which `printf` reads exactly such an argument; hexadecimal doubles are exact.
    var conversion: String {
      switch self {
      case .object, .text, .wideText: "%zx"
      case .integer(let isSigned, let isLong): "%\(isLong ? "ll" : "")\(isSigned ? "d" : "u")"
      case .double(let isLong): isLong ? "%La" : "%a"
      case .character: "%d"
      }
    }

    /// Whether a word can be such an argument. Addresses of objects are multiples of a pointer's size, and
    /// nothing is in the first page.
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

  /// The arguments that a format consumes, in order. Nothing is read after the first mistake in the format.
  ///
  /// - Throws: an error that names the position of a missing object or text, as far as its word shows that.
  static func values(of list: CVaListPointer?, for format: String) throws(PredicateError) -> [Any?] {
    let passings: [(passing: Passing, specifier: String)] = passings(in: format)
    guard let list, !passings.isEmpty else { return [] }
    guard let words = ArgumentList.words(of: list, passings.map(\.passing.conversion)) else {
      throw .unsupported(
        "Lists of arguments can't be read on this platform, so the format \"\(format)\" has none: use argumentArray:."
      )
    }
    var values: [Any?] = []
    for (number, (word, (passing, specifier))) in zip(words, passings).enumerated() {
      if let word = UInt(word, radix: 16), !passing.takes(word) {
        throw .unsupported(
          "The format \"\(format)\" needs \(passing.noun) as argument \(number + 1), for \(specifier), and the list of arguments has "
            + (word == 0 ? "none" : "the number \(word)")
            + " there. Such a list carries neither number nor types of its arguments: use argumentArray:, or "
            + "withVaList(_:_:) and getVaList(_:) directly around the call.")
      }
      values.append(value(word, passing))
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
      // Specifiers in upper case are for longs.
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
