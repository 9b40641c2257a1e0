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
  }

  /// The arguments that a format consumes, in order. Nothing is read behind the first mistake in the format.
  static func values(of list: CVaListPointer, for format: String) -> [Any?] {
    let passings: [Passing] = passings(in: format)
    if passings.isEmpty { return [] }
    let conversions: String = passings.map(\.conversion).joined(separator: " ")
    // No conversion writes more than this, a long double's hexadecimal digits included.
    var buffer: [CChar] = Array(repeating: 0, count: passings.count * 48 + 1)
    let count: Int = Int(vsnprintf(&buffer, buffer.count, conversions, list))
    let text: String = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return zip(text.split(separator: " "), passings).map { value(String($0), $1) }
  }

  private static func passings(in format: String) -> [Passing] {
    var lexer: Lexer = Lexer(format)
    var passings: [Passing] = []
    while true {
      let token: Token = lexer.next()
      switch token.kind {
      case .end, .invalid: return passings
      case .specifier(let specifier):
        passings.append(passing(specifier, Array(lexer.text[token.start..<token.end].dropFirst())))
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
