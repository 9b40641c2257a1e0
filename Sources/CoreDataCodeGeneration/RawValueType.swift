import CoreDataModel

/// The type with raw values that the user info of an attribute asks for.
///
///     clarus.type     Priority                        a type that the program declares
///     clarus.cases    low, normal, high               declares it: raw values from 0 on, or the names
///                     low = 1, high = 10
///                     draft = Draft, sent = On the way
///
/// Without `clarus.type` the declared one is named after class and attribute: `ItemPriority`.
struct RawValueType {
  var name: String
  var raw: String
  /// The case that stands for a missing or unknown value, where the attribute is required and has a default.
  var fallback: String?
  var enumeration: EnumerationPlan?

  struct Flaw: Error {
    var reason: String
  }

  /// - Parameter classes: the classes of the model.
  init?(
    of attribute: NSAttributeDescription, in owner: ClassName, _ types: PropertyTypes, classes: Set<String>
  ) throws(Flaw) {
    let named: String? = attribute.userInfo?["clarus.type"] as? String
    let list: String? = attribute.userInfo?["clarus.cases"] as? String
    guard named != nil || list != nil else { return nil }
    guard let raw = types.raw(attribute) else {
      throw Flaw(
        reason:
          "clarus.type and clarus.cases are for integers and texts; this is a \(attribute.attributeType.editorName)."
      )
    }
    self.raw = raw
    name = named ?? owner.path.joined() + SwiftNames.capitalized(attribute.name)
    guard
      name.split(separator: ".", omittingEmptySubsequences: false).map(String.init).allSatisfy({ part in
        SwiftNames.isIdentifier(part) && !SwiftNames.isKeyword(part)
      })
    else { throw Flaw(reason: "clarus.type is '\(name)', which is no name of a type in Swift.") }
    let origin: String = named == nil ? "clarus.cases declares" : "clarus.type is"
    if classes.contains(name) {
      throw Flaw(
        reason: "\(origin) '\(name)', which is a class of the model; name another type in clarus.type.")
    }
    if PropertyTypes.used.contains(name) {
      throw Flaw(
        reason:
          "\(origin) '\(name)', which is a type of Swift or Foundation; name another type in clarus.type.")
    }
    guard let list else { return }
    guard SwiftNames.isIdentifier(name) else {
      throw Flaw(
        reason:
          "clarus.cases declares '\(name)', but a declared type can't be nested; give it a name without dots."
      )
    }
    let isText: Bool = attribute.attributeType == .stringAttributeType
    let cases: [EnumerationPlan.Case] = try Self.cases(list, isText: isText, attribute.attributeType)
    enumeration = EnumerationPlan(name: name, raw: raw, cases: cases)
    if !attribute.isOptional, let value = attribute.defaultValue {
      let text: String = isText ? Self.quoted("\(value)") : "\(value)"
      fallback = cases.first { $0.value == text }?.name
    }
  }

  private static func cases(_ list: String, isText: Bool, _ type: NSAttributeType) throws(Flaw)
    -> [EnumerationPlan.Case]
  {
    var cases: [EnumerationPlan.Case] = []
    var next: Int64 = 0
    for part in list.split(separator: ",") {
      let sides: [String] = part.split(separator: "=", maxSplits: 1).map { trimmed($0) }
      guard let name = sides.first, SwiftNames.isIdentifier(name) else {
        throw Flaw(reason: "clarus.cases has '\(trimmed(part))', which is no name of a case in Swift.")
      }
      let value: String
      if isText {
        value = quoted(sides.count > 1 ? sides[1] : name)
      } else {
        let text: String? = sides.count > 1 ? sides[1] : nil
        guard let number = text.map({ Int64($0) }) ?? next, range(of: type).contains(number) else {
          throw Flaw(
            reason:
              "clarus.cases gives '\(name)' the value '\(text ?? "\(next)")', which is no \(type.editorName)."
          )
        }
        value = "\(number)"
        next = number == .max ? number : number + 1
      }
      if let twin = cases.first(where: { $0.name == name || $0.value == value }) {
        throw Flaw(reason: "clarus.cases has '\(twin.name)' and '\(name)' with one name or one value.")
      }
      cases.append(EnumerationPlan.Case(name: name, value: value))
    }
    guard !cases.isEmpty else { throw Flaw(reason: "clarus.cases lists no case.") }
    return cases
  }

  private static func range(of type: NSAttributeType) -> ClosedRange<Int64> {
    switch type {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    default: .min ... .max
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }

  /// The literal of a text.
  static func quoted(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\\(scalar)"
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      default:
        if scalar.value < 0x20 {
          literal += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
          literal.unicodeScalars.append(scalar)
        }
      }
    }
    return literal + "\""
  }
}
