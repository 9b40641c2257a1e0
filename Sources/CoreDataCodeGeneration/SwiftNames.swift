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

  /// Members of `NSObject` and `NSManagedObject`, here and on Apple's platforms, that a property of the same
  /// name would override or hide. Xcode's model compiler refuses most of them.
  private static let reserved: Set<String> = [
    // NSObject
    "autoContentAccessingProxy", "classForCoder", "copy", "debugDescription", "description", "hash",
    "hashValue", "isEqual", "isProxy", "mutableCopy", "observationInfo", "self", "superclass", "zone",
    "classForKeyedArchiver",
    // NSManagedObject
    "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent", "customAccessors",
    "didSave", "didTurnIntoFault", "entity", "faultingState", "fetchRequest", "hasChanges",
    "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted", "isUpdated", "keyPathNames",
    "managedObjectContext", "objectID", "prepareForDeletion", "tracksObservation", "validateForDelete",
    "validateForInsert", "validateForUpdate", "willSave", "willTurnIntoFault",
  ]

  /// Whether a property of this name can't be declared in a class of managed objects.
  static func isReserved(_ name: String) -> Bool { reserved.contains(name) }

  /// Whether a text is one identifier.
  static func isIdentifier(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, first == "_" || first.properties.isXIDStart else {
      return false
    }
    return text.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue }
  }

  /// Whether a text is a type as written in Swift, as far as its characters tell.
  static func isTypeText(_ text: String) -> Bool {
    guard text.unicodeScalars.contains(where: { $0.properties.isXIDStart || $0 == "_" }) else { return false }
    return text.unicodeScalars.allSatisfy {
      $0.properties.isXIDContinue || "_.<>[]:,? ".unicodeScalars.contains($0)
    }
  }

  /// The name of a declaration.
  static func declared(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

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
