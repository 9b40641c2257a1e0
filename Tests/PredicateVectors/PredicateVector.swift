import Foundation

/// One entry of a vector file: a format, how it prints, and what it gives for objects.
package struct PredicateVector: Sendable {
  package let id: String
  package let topic: String
  package let format: String
  /// Whether the format is accepted.
  package let parses: Bool
  /// The text that the predicate prints, where the file says.
  package let printed: String?
  package let evaluations: [Evaluation]
  // Values read from JSON are never changed.
  nonisolated(unsafe) package let arguments: [Any?]

  /// One object, and what the predicate says of it.
  package struct Evaluation: Sendable {
    // Values read from JSON are never changed.
    /// The object as predicates meet it: dictionaries, arrays, sets, dates; nulls stay as `NSNull` inside
    /// collections.
    nonisolated(unsafe) package let object: Any?
    /// Values of the format's variables.
    nonisolated(unsafe) package let bindings: [String: Any]?
    /// nil where the evaluation fails.
    package let result: Bool?
    /// Object and variables for messages.
    package let text: String
  }

  /// The vectors of a file.
  package static func read(_ data: Data) throws -> [PredicateVector] {
    guard let entries = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return try entries.map { try PredicateVector($0) }
  }

  init(_ json: [String: Any]) throws {
    guard let id = json["id"] as? String, let format = json["format"] as? String,
      let expect = json["expect"] as? [String: Any]
    else { throw CocoaError(.fileReadCorruptFile) }
    self.id = id
    self.format = format
    topic = json["topic"] as? String ?? "other"
    arguments = (json["args"] as? [[String: Any]] ?? []).map(Self.argument)
    parses = (expect["parses"] as? NSNumber)?.boolValue ?? true
    printed = expect["predicateFormat"] as? String
    evaluations = (expect["evaluations"] as? [[String: Any]] ?? []).map { row in
      let raises: Bool = (row["raises"] as? NSNumber)?.boolValue ?? false
      return Evaluation(
        object: Self.plain(row["object"]),
        bindings: (row["substitution"] as? [String: Any])?.mapValues { Self.plain($0) ?? NSNull() },
        result: raises ? nil : (row["result"] as? NSNumber)?.boolValue ?? false,
        text: "\(row["object"] ?? "nil") \(row["substitution"] ?? "")")
    }
  }

  private static func argument(_ json: [String: Any]) -> Any? {
    guard let (kind, value) = json.first else { return nil }
    switch kind {
    case "i": return (value as? NSNumber)?.intValue
    case "f": return (value as? NSNumber)?.doubleValue
    case "b": return (value as? NSNumber)?.boolValue
    case "date": return date(value)
    case "null": return NSNull()
    case "uuid": return (value as? String).flatMap(UUID.init(uuidString:))
    case "array": return (value as? [[String: Any]])?.map { argument($0) ?? NSNull() }
    case "set": return Set((value as? [[String: Any]] ?? []).compactMap { argument($0) as? AnyHashable })
    case "dict": return (value as? [String: [String: Any]])?.mapValues { argument($0) ?? NSNull() }
    default: return value
    }
  }

  private static func date(_ value: Any) -> Date? {
    (value as? String).flatMap { try? Date($0, strategy: .iso8601) }
  }

  private static func plain(_ value: Any?) -> Any? {
    switch value {
    case let object as [String: Any]:
      if let text = object["$date"] { return date(text) }
      if let members = object["$set"] as? [Any] {
        let members: [Any] = members.map { plain($0) ?? NSNull() }
        return NSSet(array: members)
      }
      return object.mapValues { plain($0) ?? NSNull() }
    case let array as [Any]: return array.map { plain($0) ?? NSNull() }
    case is NSNull, nil: return nil
    default: return value
    }
  }
}
