import Foundation

/// Comma-separated values as RFC 4180 has them. A field is nil if it is empty, and an empty text if it is
/// `""`.
enum CSVText {
  static func write(_ rows: [[String?]]) -> String {
    rows.map { row in row.map(field).joined(separator: ",") + "\r\n" }.joined()
  }

  private static func field(_ value: String?) -> String {
    guard let value else { return "" }
    let isPlain: Bool =
      !value.isEmpty && !value.unicodeScalars.contains { $0 == "," || $0 == "\"" || $0 == "\r" || $0 == "\n" }
    return isPlain ? value : "\"\(value.replacingOccurrences(of: "\"", with: "\"\""))\""
  }

  /// Throws for a quotation mark that is never closed, with the number of its line.
  static func read(_ text: String) throws -> [[String?]] {
    var rows: [[String?]] = []
    var row: [String?] = []
    var field = String.UnicodeScalarView()
    var (isQuoted, wasQuoted, line, opened) = (false, false, 1, 1)
    // Scalars, because a line's end is one character of two scalars.
    var rest: Substring.UnicodeScalarView = text.unicodeScalars[...]
    func endField() {
      row.append(field.isEmpty && !wasQuoted ? nil : String(field))
      field = String.UnicodeScalarView()
      wasQuoted = false
    }
    while let scalar = rest.popFirst() {
      if scalar == "\n" { line += 1 }
      if isQuoted {
        if scalar != "\"" {
          field.append(scalar)
        } else if rest.first == "\"" {
          field.append(rest.removeFirst())
        } else {
          isQuoted = false
        }
        continue
      }
      switch scalar {
      case "\"": (isQuoted, wasQuoted, opened) = (true, true, line)
      case ",": endField()
      case "\r": continue
      case "\n":
        endField()
        rows.append(row)
        row = []
      default: field.append(scalar)
      }
    }
    if isQuoted { throw CSVError("line \(opened): a quotation mark is not closed") }
    if !field.isEmpty || wasQuoted || !row.isEmpty {
      endField()
      rows.append(row)
    }
    return rows.filter { $0.contains { $0 != nil } }
  }
}

/// What is wrong with a file.
public struct CSVError: LocalizedError {
  public let errorDescription: String?
  init(_ text: String) { errorDescription = text }
}
