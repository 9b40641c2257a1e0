import Foundation

/// `value IN (…)` in few shapes: lists are padded to a power of two by repeating their last member, so that
/// lists of 5 and of 8 share a prepared statement. Long lists of keys or text are bound as one JSON array,
/// because a statement accepts at most 32,766 values.
enum ListMembership {
  static let longestBoundList: Int = 1024

  static func condition(_ value: SQLExpression, _ members: [SQLValue]) -> SQLExpression {
    switch members.count {
    case 0: return .truth(false)
    case 1: return .binary(.equal, value, .bound(members[0]))
    case ...longestBoundList: return .inList(value, padded(members).map(SQLExpression.bound))
    default: break
    }
    if let json = json(members) {
      var select = SelectStatement(
        columns: [.column(nil, "value")], source: .function("json_each", [.text(json)]))
      select.condition = .truth(true)
      return .inSelect(value, select)
    }
    let groups: [SQLExpression] = stride(from: 0, to: members.count, by: longestBoundList).map { start in
      let end: Int = min(start + longestBoundList, members.count)
      return .inList(value, padded(Array(members[start..<end])).map(SQLExpression.bound))
    }
    return .disjunction(groups)
  }

  static func padded<T>(_ members: [T]) -> [T] {
    guard let last = members.last else { return members }
    var size: Int = 1
    while size < members.count { size *= 2 }
    return members + Array(repeating: last, count: size - members.count)
  }

  /// The members as a JSON array if they are all integers, or all text without NUL; reals would lose digits
  /// in JSON.
  static func json(_ members: [SQLValue]) -> String? {
    var result: String = "["
    var kinds: (integers: Bool, texts: Bool) = (false, false)
    for (index, member) in members.enumerated() {
      if index > 0 { result += "," }
      switch member {
      case .integer(let value):
        kinds.integers = true
        result += "\(value)"
      case .text(let value):
        kinds.texts = true
        if value.utf8.contains(0) { return nil }
        result += quoted(value)
      case .null, .real, .blob, .boolean, .timestamp, .uuid, .decimal, .list: return nil
      }
    }
    return kinds.integers && kinds.texts ? nil : result + "]"
  }

  private static func quoted(_ text: String) -> String {
    var result: String = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{1}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
