import Foundation

/// A property list from bytes nobody vouches for, as Foundation's values.
///
/// Foundation's own reader recurses as deep as its input says, so a few hundred kilobytes can overflow the stack. Binary
/// lists go through ``BinaryPlistReader``, which limits depth; XML lists, which only very old stores hold, are measured first.
package enum PropertyListValues {
  /// What is wrong with the bytes.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads a dictionary. Values are `Bool`, `Int`, `Double`, `Date`, `Data`, `String`, arrays and dictionaries of these.
  package static func dictionary(from data: Data) throws -> [String: Any] {
    let value: Any
    if data.starts(with: Array("bplist".utf8)) {
      do {
        value = plain(try BinaryPlistReader.read(data))
      } catch let error as PlistError {
        throw Failure(description: error.reason)
      }
    } else {
      guard isShallow(data) else { throw Failure(description: "it nests deeper than \(maximumDepth) levels") }
      guard let read = try? PropertyListSerialization.propertyList(from: data, format: nil) else {
        throw Failure(description: "its \(data.count) bytes are no property list")
      }
      value = read
    }
    guard let dictionary = value as? [String: Any] else {
      throw Failure(description: "it holds no dictionary")
    }
    return dictionary
  }

  private static func plain(_ node: PlistNode) -> Any {
    switch node {
    case .boolean(let value): value
    case .integer(let value): Int(value)
    case .real(let value): value
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let value): value
    case .string(let value): value
    case .uid(let index): ["CF$UID": index]
    case .array(let elements): elements.map(plain)
    case .dictionary(let content): content.mapValues(plain)
    }
  }

  private static let maximumDepth: Int = 128

  /// Counts opening brackets of either text form that are not closed yet; quoted ones count too, which only errs on the
  /// safe side.
  private static func isShallow(_ data: Data) -> Bool {
    var depth: Int = 0
    var previous: UInt8 = 0
    for byte in data {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "("): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: ")"): depth -= 1
      default:
        if previous == UInt8(ascii: "<") {
          if byte == UInt8(ascii: "/") {
            depth -= 1
          } else if byte != UInt8(ascii: "?"), byte != UInt8(ascii: "!") {
            depth += 1
          }
        } else if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ">") {
          depth -= 1
        }
      }
      if depth > maximumDepth { return false }
      previous = byte
    }
    return true
  }
}
