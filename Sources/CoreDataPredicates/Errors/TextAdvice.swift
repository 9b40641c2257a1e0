import Foundation

/// What to write where a text stands for a value of another kind: a date, an id, a number.
package enum TextAdvice {
  /// The form that works, nil where texts are right.
  ///
  /// - Parameters:
  ///   - isList: whether the text is one of several.
  ///   - form: the comparison with `%@` in place of the text.
  package static func advice(
    _ text: String, for value: PredicateValue, isList: Bool = false, form: String? = nil
  ) -> String? {
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

  private static func cast(
    _ text: String, _ type: String, _ example: String, _ kind: String, _ argument: String
  ) -> String {
    // The text itself where it spells such a value, so that the advice can be copied.
    let isOne: Bool = text.utf8.count < 100 && (try? Cast.apply(.string(text), to: type)) != nil
    return "Write CAST(\(ValuePrinter.print(.string(isOne ? text : example))), \"\(type)\") for the text, "
      + "or pass \(kind)\(argument)."
  }
}
