import Foundation

/// Reads CSV by RFC 4180, with the place of every field. The first line has the names. A field without
/// quotation marks and without text is nil; `""` is the empty text.
struct CSVReading {
  private let scalars: [Unicode.Scalar]
  private let file: String?
  private var place: Int = 0
  private var line: Int = 1
  private var lineStart: Int = 0

  private init(_ text: String, _ file: String?) {
    scalars = Array(text.unicodeScalars)
    self.file = file
  }

  /// `file`: the path for errors, where there are several files. Throws ``ImportError``.
  static func read(_ bytes: [UInt8], file: String? = nil) throws -> [ImportRecord] {
    let start = TextPosition(line: 1, column: 1, file: file)
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw ImportError(start, "The file is not UTF-8.")
    }
    if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
    var reading = CSVReading(text, file)
    guard let titles = try reading.row() else {
      throw ImportError(start, "The file is empty; its first line has the names.")
    }
    var names: [String] = []
    for title in titles {
      guard case .string(let name) = title.content else {
        throw ImportError(title.position, "The column has no name.")
      }
      if names.contains(name) { throw ImportError(title.position, "The name \"\(name)\" is there twice.") }
      names.append(name)
    }
    var records: [ImportRecord] = []
    while let row = try reading.row() {
      if row.count == 1, case .null = row[0].content { continue }
      guard row.count == names.count else {
        throw ImportError(
          row[0].position,
          "The line has \(Counted.text(row.count, "field", "fields")), and the first one \(names.count).")
      }
      let fields: [ImportField] = zip(names, row).map {
        ImportField(name: $0, position: $1.position, value: $1)
      }
      records.append(ImportRecord(entity: nil, fields: fields, position: row[0].position))
    }
    return records
  }

  private var position: TextPosition {
    TextPosition(line: line, column: place - lineStart + 1, file: file)
  }

  /// nil at the end.
  private mutating func row() throws -> [ImportValue]? {
    if place >= scalars.count { return nil }
    var row: [ImportValue] = []
    while true {
      row.append(try field())
      guard place < scalars.count else { return row }
      let separator: Unicode.Scalar = scalars[place]
      place += 1
      if separator == "," { continue }
      if separator == "\r", place < scalars.count, scalars[place] == "\n" { place += 1 }
      line += 1
      lineStart = place
      return row
    }
  }

  private mutating func field() throws -> ImportValue {
    let start: TextPosition = position
    var text = String.UnicodeScalarView()
    guard place < scalars.count, scalars[place] == "\"" else {
      while place < scalars.count, ![",", "\n", "\r"].contains(scalars[place]) {
        text.append(scalars[place])
        place += 1
      }
      return ImportValue(content: text.isEmpty ? .null : .string(String(text)), position: start)
    }
    place += 1
    while place < scalars.count {
      let scalar: Unicode.Scalar = scalars[place]
      place += 1
      if scalar == "\"" {
        guard place < scalars.count, scalars[place] == "\"" else {
          if place < scalars.count, ![",", "\n", "\r"].contains(scalars[place]) {
            throw ImportError(
              position, "Behind the closing quotation mark a comma or a new line is expected.")
          }
          return ImportValue(content: .string(String(text)), position: start)
        }
        place += 1
      } else if scalar == "\n" {
        line += 1
        lineStart = place
      }
      text.append(scalar)
    }
    throw ImportError(start, "The quotation mark is never closed.")
  }
}
