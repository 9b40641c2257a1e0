import Foundation

/// A property-list value, with the archive references that Foundation hides off Apple's platforms.
indirect enum PlistNode: Hashable {
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001-01-01 00:00:00 UTC.
  case date(Double)
  case data(Data)
  case string(String)
  /// An index into an archive's object table.
  case uid(Int)
  case array([PlistNode])
  case dictionary([String: PlistNode])

  var kind: String {
    switch self {
    case .boolean: "a Boolean"
    case .integer: "an integer"
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

/// What is wrong with the bytes of a property list; whoever knows the file makes a ``ModelFileError`` of it.
struct PlistError: Error {
  var reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
