/// Comma-separated values by RFC 4180: lines end in CR LF, a field with a comma, quote or line break is
/// quoted, quotes are doubled. Text stays as it is: no escapes, no padding.
enum CSVText {
  static func line(_ fields: [String]) -> String {
    fields.map(field).joined(separator: ",") + "\r\n"
  }

  static func field(_ text: String) -> String {
    let needsQuotes: Bool = text.unicodeScalars.contains { scalar in
      switch scalar {
      case ",", "\"", "\r", "\n": true
      default: false
      }
    }
    guard needsQuotes || text.first == " " || text.last == " " else { return text }
    var quoted: String = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" { quoted += "\"" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
