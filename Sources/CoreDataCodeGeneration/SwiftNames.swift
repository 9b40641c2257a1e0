import CoreDataModel

/// Names of the model as identifiers.
enum SwiftNames {
  /// Words that are not names unless they stand in backticks.
  private static let keywords: Set<String> = [
    "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init",
    "inout",
    "internal", "let", "operator", "precedencegroup", "private", "protocol", "public", "rethrows", "static",
    "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
    "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "throw", "switch", "where",
    "while",
    "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type",
    "Protocol",
  ]

  /// Whether a property of this name can't be declared in a class of managed objects.
  static func isReserved(_ name: String) -> Bool { ObjectMemberNames.inSwift.contains(name) }

  /// Whether a text is one identifier. `_` alone is none.
  static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart, text != "_"
    else {
      return false
    }
    return text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }

  /// Whether a text is a type as written in Swift: `Outer.Inner`, `[String: Any]`, `Set<Tag>?`. Functions,
  /// tuples of several and compositions are none of an attribute's values.
  static func isTypeText(_ text: String) -> Bool {
    // Each bracket is a call.
    guard text.utf8.count(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "<") }) <= 100 else {
      return false
    }
    var rest: Substring = text[...]
    return readType(&rest) && rest.isEmpty
  }

  private static func readType(_ rest: inout Substring) -> Bool {
    func accept(_ character: Character, _ rest: inout Substring) -> Bool {
      rest = rest.drop { $0 == " " }
      guard rest.first == character else { return false }
      rest = rest.dropFirst().drop { $0 == " " }
      return true
    }
    if accept("[", &rest) {
      guard readType(&rest) else { return false }
      if accept(":", &rest), !readType(&rest) { return false }
      guard accept("]", &rest) else { return false }
    } else {
      repeat {
        let name: Substring = rest.prefix {
          $0 == "_" || $0.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
        }
        guard isIdentifier(String(name)) else { return false }
        rest = rest.dropFirst(name.count)
        if accept("<", &rest) {
          repeat {
            guard readType(&rest) else { return false }
          } while accept(",", &rest)
          guard accept(">", &rest) else { return false }
        }
      } while accept(".", &rest)
    }
    while accept("?", &rest) {}
    return true
  }

  /// Whether a name needs backticks.
  static func isKeyword(_ name: String) -> Bool { keywords.contains(name) }

  /// The name of a declaration.
  static func declared(_ name: String) -> String { isKeyword(name) ? "`\(name)`" : name }

  /// The name of a static member: `X.Type` and the like mean something else, in backticks too.
  static func declaredStatic(_ name: String) -> String {
    ["Type", "Protocol", "self", "init"].contains(name) ? name + "_" : declared(name)
  }

  /// `tags` → `Tags`, as in `addToTags`.
  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  /// A variable of a predicate as the name of a parameter: `$PARENT` → `parent`, `$NewName` → `newName`.
  static func parameter(_ variable: String) -> String {
    variable.uppercased() == variable
      ? variable.lowercased() : variable.prefix(1).lowercased() + variable.dropFirst()
  }
}
