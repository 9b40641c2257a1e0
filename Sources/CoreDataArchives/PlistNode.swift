import Foundation

/// A property-list value, with the archive references that Foundation hides off Apple's platforms.
package indirect enum PlistNode: Hashable, Sendable {
  case boolean(Bool)
  case integer(Int64)
  /// Only for integers above `Int64.max`.
  case unsigned(UInt64)
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data(Data)
  case string(String)
  /// An index into an archive's object table.
  case uid(Int)
  case array([PlistNode])
  case dictionary([String: PlistNode])

  package var kind: String {
    switch self {
    case .boolean: "a Boolean"
    case .integer, .unsigned: "an integer"
    case .real: "a real number"
    case .date: "a date"
    case .data: "data"
    case .string: "a string"
    case .uid: "a reference"
    case .array: "an array"
    case .dictionary: "a dictionary"
    }
  }
}

extension PlistNode {
  /// The node with every reference renumbered; "$null" stays where it is.
  func mapReferences(_ renumber: (Int) throws -> Int) rethrows -> PlistNode {
    switch self {
    case .uid(let index): .uid(index == 0 ? 0 : try renumber(index))
    case .array(let elements): .array(try elements.map { try $0.mapReferences(renumber) })
    case .dictionary(let content): .dictionary(try content.mapValues { try $0.mapReferences(renumber) })
    default: self
    }
  }
}

/// The problem of a property list's bytes, or of a value that is to be written to one; the caller, which has
/// the file's name, makes the error for the user from it.
package struct PlistError: Error {
  package var reason: String

  package init(_ reason: String) {
    self.reason = reason
  }
}
