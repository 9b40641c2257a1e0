import CoreDataPredicates
import Foundation

/// Advice for a text used in place of a value of another kind: a date, an id, a number.
package enum TextAdvice {
  /// The form that works; nil if a text is right.
  ///
  /// - Parameters:
  ///   - isList: whether the text is one of several.
  ///   - form: the comparison with `%@` in place of the text.
  ///   - takesArguments: false for predicates typed by a user, in which `%@` can't be used.
  package static func advice(
    _ text: String, for value: PredicateValue, isList: Bool = false, form: String? = nil,
    takesArguments: Bool = true
  ) -> String? {
    if !takesArguments { return adviceWithoutArguments(text, for: value) }
    let argument: String = form.map { ": \($0)" } ?? " as an argument, %@"
    switch value {
    case .date: return cast(text, "NSDate", "2024-01-31T08:30:00Z", isList ? "Dates" : "a Date", argument)
    case .uuid:
      return cast(
        text, "NSUUID", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", isList ? "UUIDs" : "a UUID", argument)
    case .url: return cast(text, "NSURL", "https://example.org", isList ? "URLs" : "a URL", argument)
    case .data: return "Pass the bytes as Data\(argument)."
    case .bool: return "Write YES or NO without quotation marks, or pass a Bool\(argument)."
    case .integer, .unsigned, .double, .decimal:
      let isNumber: Bool = Double(text) != nil && text.utf8.count < 30
      return isNumber
        ? "Write \(text) without quotation marks, or pass a number\(argument)."
        : "Pass a number\(argument); an enumeration's rawValue is one."
    case .object:
      guard text.lowercased().hasPrefix("x-coredata:") else {
        return "Pass the object or its objectID\(argument); or compare one of its properties."
      }
      return
        "Make an id of the text (the coordinator's managedObjectID(forURIRepresentation:)), and pass it\(argument)."
    case .null, .nullObject, .string, .array, .set, .dictionary: return nil
    }
  }

  /// The forms that `CAST` accepts, for a text that it does not.
  package static func advice(for text: String, castTo type: String, takesArguments: Bool = true) -> String {
    func argument(_ type: String) -> String { takesArguments ? ", or pass \(type) as an argument, %@." : "." }
    func form(_ text: String) -> String { "CAST(\(ValuePrinter.print(.string(text))), \"\(type)\")" }
    switch type {
    case "NSDate", "Date":
      let seconds: String = Double(text) != nil && text.utf8.count < 30 ? text : "86400"
      return
        "Write a day or a moment, \(form("2024-01-31")) or \(form("2024-01-31T08:30:00Z")); seconds since "
        + "2001-01-01 UTC without quotation marks, CAST(\(seconds), \"\(type)\")" + argument("a Date")
    case "NSNumber": return "Write digits, \(form("12.5")), or the number without CAST."
    case "NSDecimalNumber", "Decimal":
      return "Write digits, \(form("12.5"))" + argument("a Decimal")
    case "NSUUID", "UUID":
      return "Write \(form("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))" + argument("a UUID")
    case "NSURL", "URL":
      return "Write \(form("https://example.org"))" + argument("a URL")
    default: return "Cast it to another type: \(Cast.types.joined(separator: ", "))."
    }
  }

  private static func adviceWithoutArguments(_ text: String, for value: PredicateValue) -> String? {
    switch value {
    case .date: return "Write \(cast(text, "NSDate", "2024-01-31T08:30:00Z"))."
    case .uuid: return "Write \(cast(text, "NSUUID", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))."
    case .url: return "Write \(cast(text, "NSURL", "https://example.org"))."
    case .data: return "Nothing that can be written equals bytes; compare with nil."
    case .bool: return "Write YES or NO without quotation marks."
    case .integer, .unsigned, .double, .decimal:
      let isNumber: Bool = Double(text) != nil && text.utf8.count < 30
      return "Write \(isNumber ? text : "the number") without quotation marks."
    case .object: return "Compare one of its properties."
    case .null, .nullObject, .string, .array, .set, .dictionary: return nil
    }
  }

  private static func cast(
    _ text: String, _ type: String, _ example: String, _ kind: String, _ argument: String
  ) -> String {
    "Write \(cast(text, type, example)) for the text, or pass \(kind)\(argument)."
  }

  /// With the text itself if it spells such a value, so that the advice can be copied.
  private static func cast(_ text: String, _ type: String, _ example: String) -> String {
    let isOne: Bool = text.utf8.count < 100 && (try? Cast.apply(.string(text), to: type)) != nil
    return "CAST(\(ValuePrinter.print(.string(isOne ? text : example))), \"\(type)\")"
  }
}
