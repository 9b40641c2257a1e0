import Foundation

/// A `LIKE` pattern, prepared once: `*` any run, `?` exactly one character, a backslash before `*`, `?` or itself makes it
/// ordinary. Characters are Unicode scalars, of the folded text with `c` or `d`.
///
/// Matching remembers only the last `*`, so its cost is at worst text × pattern; no pattern is exponential.
package struct LikePattern: Sendable {
  private enum Element: Sendable, Equatable {
    case run
    case one
    case scalar(Unicode.Scalar)
  }

  private let elements: [Element]
  private let options: ComparisonOptions
  /// The text itself when the pattern has no wildcard.
  private let literal: String?

  package init(_ pattern: String, _ options: ComparisonOptions = []) {
    var elements: [Element] = []
    var run: String = ""
    // Folding may change a character's length, so only ordinary text is folded, never the marks.
    func endRun() {
      elements += StringMatching.fold(run, options: options).unicodeScalars.map { .scalar($0) }
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
    var literal: String? = ""
    for element in elements {
      if case .scalar(let scalar) = element { literal?.unicodeScalars.append(scalar) } else { literal = nil }
    }
    self.literal = literal
  }

  package func matches(_ text: String) -> Bool {
    let folded: String = StringMatching.fold(text, options: options)
    if let literal { return StringMatching.literallyEqual(folded, literal) }
    let scalars: [Unicode.Scalar] = Array(folded.unicodeScalars)
    var (place, element): (Int, Int) = (0, 0)
    var resume: (place: Int, element: Int)?
    while place < scalars.count {
      if element < elements.count, elements[element] == .run {
        resume = (place, element + 1)
        element += 1
      } else if element < elements.count,
        elements[element] == .one || elements[element] == .scalar(scalars[place])
      {
        place += 1
        element += 1
      } else if let last = resume {
        resume = (last.place + 1, last.element)
        place = last.place + 1
        element = last.element
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { $0 == .run }
  }
}
