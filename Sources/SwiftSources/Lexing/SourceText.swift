import Foundation

/// The text of one file of Swift source, as UTF-8, with its lines.
package struct SourceText: Sendable {
  /// The path, as messages name it.
  package let path: String
  package let bytes: [UInt8]
  /// The offset of the first byte of each line.
  package let lineStarts: [Int]

  package init(path: String, _ text: String) {
    self.path = path
    bytes = Array(text.utf8)
    var starts: [Int] = [0]
    for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") { starts.append(offset + 1) }
    lineStarts = starts
  }

  package init(contentsOf url: URL, path: String? = nil) throws {
    let data: Data = try Data(contentsOf: url)
    guard let text = String(validating: data, as: UTF8.self) else {
      throw SourceFailure(
        path: path ?? url.path, line: 1, column: 1, message: "The file isn't UTF-8 text. Save it as UTF-8.")
    }
    self.init(path: path ?? url.path, text)
  }

  /// Whether its first line ends in two characters, as on Windows.
  package var hasCarriageReturns: Bool {
    lineStarts.count > 1 && lineStarts[1] > 1 && bytes[lineStarts[1] - 2] == UInt8(ascii: "\r")
  }

  /// The last component of the path.
  package var fileName: String { String(path.split(separator: "/").last ?? "") }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package subscript(range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// The line and the column of a byte, both counted from 1; the column in bytes, as compilers do.
  package func position(of offset: Int) -> (line: Int, column: Int) {
    var low: Int = 0
    var high: Int = lineStarts.count
    while high - low > 1 {
      let middle: Int = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return (low + 1, offset - lineStarts[low] + 1)
  }

  /// The bytes of a line, without its end.
  package func line(at number: Int) -> String {
    let start: Int = lineStarts[number - 1]
    var end: Int = number < lineStarts.count ? lineStarts[number] - 1 : bytes.count
    if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return self[start..<end]
  }
}

/// Something that stops the work on a source file, at its place.
package struct SourceFailure: Error, Hashable, CustomStringConvertible {
  package let path: String
  package let line: Int
  package let column: Int
  package let message: String

  package init(path: String, line: Int, column: Int, message: String) {
    (self.path, self.line, self.column, self.message) = (path, line, column, message)
  }

  /// As compilers write it, so that editors and build systems lead to the place.
  package var description: String { "\(path):\(line):\(column): error: \(message)" }
}
