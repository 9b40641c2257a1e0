import Foundation

/// How the lines of a file end: git may give the sides of a merge different ends.
package enum LineEnds {
  /// Whether the first line ends in two characters, as on Windows.
  private static func areDouble(_ data: Data) -> Bool? {
    guard let end = data.firstIndex(of: newline) else { return nil }
    return end > data.startIndex && data[data.index(before: end)] == carriageReturn
  }

  private static let newline = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// The data with the line ends of another file; as it is where both have the same, or one has one line.
  package static func of(_ other: Data, in data: Data) -> Data {
    guard let wanted = areDouble(other), let own = areDouble(data), wanted != own else { return data }
    var result = Data(capacity: data.count)
    for byte in data {
      if byte == newline {
        if result.last == carriageReturn { result.removeLast() }
        if wanted { result.append(carriageReturn) }
      }
      result.append(byte)
    }
    return result
  }
}
