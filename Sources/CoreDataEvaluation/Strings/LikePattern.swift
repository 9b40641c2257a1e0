import CoreDataPredicates
import Foundation

/// A `LIKE` pattern, prepared once: `*` any run, `?` exactly one character, a backslash before `*`, `?` or
/// itself makes it ordinary. Characters are Unicode scalars, of the folded text with `c` or `d`.
///
/// Matching walks the UTF-8 bytes, with whole scalars for `?` and after `*`. It keeps only the last `*`, so
/// its cost is at worst text × pattern; no pattern is exponential.
package struct LikePattern: Sendable {
  private enum Element: Sendable, Equatable {
    case run
    case one
    case byte(UInt8)
  }

  private let elements: [Element]
  private let options: ComparisonOptions
  private let lowercasesASCII: Bool

  package init(_ pattern: String, _ options: ComparisonOptions = []) {
    var elements: [Element] = []
    var run: String = ""
    // Folding may change a character's length, so only ordinary text is folded, never the wildcards.
    func endRun() {
      elements += StringMatching.fold(run, options: options).utf8.map { .byte($0) }
      run = ""
    }
    var scalars: String.UnicodeScalarView.Iterator = pattern.unicodeScalars.makeIterator()
    var pending: Unicode.Scalar? = scalars.next()
    while let scalar = pending {
      pending = scalars.next()
      switch scalar {
      case "*":
        endRun()
        if elements.last != .run { elements.append(.run) }
      case "?":
        endRun()
        elements.append(.one)
      case "\\":
        if let next = pending, next == "*" || next == "?" || next == "\\" {
          run.unicodeScalars.append(next)
          pending = scalars.next()
        } else {
          run.unicodeScalars.append(scalar)
        }
      default: run.unicodeScalars.append(scalar)
      }
    }
    endRun()
    self.elements = elements
    self.options = options
    lowercasesASCII = options.contains(.caseInsensitive) && !options.contains(.normalized)
  }

  package func matches(_ text: String) -> Bool {
    var folded: String = StringMatching.fold(text, options: options)
    return folded.withUTF8 { matches($0, lowercasing: false) }
  }

  /// - Parameter bytes: UTF-8; broken bytes count as replacement characters.
  package func matches(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard bytes.isASCII else { return matches(String(decoding: bytes, as: UTF8.self)) }
    return matches(bytes, lowercasing: lowercasesASCII)
  }

  /// - Parameter lowercasing: whether ASCII letters must still be folded.
  private func matches(_ text: UnsafeBufferPointer<UInt8>, lowercasing: Bool) -> Bool {
    var (place, element): (Int, Int) = (0, 0)
    var resume: (place: Int, element: Int)?
    while place < text.count {
      if element < elements.count, elements[element] == .run {
        resume = (place, element + 1)
        element += 1
      } else if element < elements.count, elements[element] == .one {
        place += Self.scalarLength(text[place])
        element += 1
      } else if element < elements.count,
        elements[element] == .byte(lowercasing ? StringMatching.lowercased(text[place]) : text[place])
      {
        place += 1
        element += 1
      } else if let last = resume {
        place = last.place + Self.scalarLength(text[last.place])
        element = last.element
        resume = (place, element)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .run }
  }

  private static func scalarLength(_ lead: UInt8) -> Int {
    lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
  }
}
