import CoreDataArchives
import CoreDataPredicates
import Foundation

/// A property list from untrusted bytes, as Foundation's values.
///
/// Foundation's own reader recurses as deep as its input nests, so a few hundred kilobytes can overflow the
/// stack, and a set in a binary list ends the process. Binary lists go through ``BinaryPlistReader``, which
/// limits depth; XML lists, which only very old stores hold, are measured first.
package enum PropertyListValues {
  /// What is wrong with the bytes.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads a dictionary. Values are `Bool`, `Int`, `Double`, `Date`, `Data`, `String`, arrays and
  /// dictionaries of these.
  package static func dictionary(from data: Data) throws -> [String: Any] {
    let value: Any
    if data.starts(with: Array("bplist".utf8)) {
      do {
        value = plain(try BinaryPlistReader.read(data))
      } catch let error as PlistError {
        throw Failure(description: error.reason)
      }
    } else {
      do {
        try XMLPlistNesting.check(data)
      } catch let error as PlistError {
        throw Failure(description: error.reason)
      }
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
    case .unsigned(let value): value
    case .real(let value): value
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .data(let value): value
    case .string(let value): value
    case .uid(let index): ["CF$UID": index]
    case .array(let elements): elements.map(plain)
    case .dictionary(let content): content.mapValues(plain)
    }
  }
}
