/// An override in an extension, which Swift allows only where the methods are Objective-C's. It becomes a
/// method of another name, which an override in the class calls.
struct ExtensionOverride {
  let path: String
  /// The offset of `override`.
  let offset: Int
  /// The name of the class.
  let owner: String
  let newName: String
  /// `override func willSave() { … }`, for the class.
  let declaration: String
}

/// What classes need here beside their managed members.
extension PortingPass {
  // MARK: Overrides in extensions

  /// The classes that the file declares, by their names.
  var classes: [String] {
    func names(_ types: [TypeDeclaration], _ path: [String]) -> [String] {
      types.flatMap { type -> [String] in
        let path: [String] = path + type.name
        let own: [String] =
          type.kind == .class && type.body != nil && type.condition == nil
          ? [path.joined(separator: ".")] : []
        return own + names(type.types, path)
      }
    }
    return names(file.declarations, [])
  }

  /// Overrides of methods in extensions, as far as a call of them can be written.
  var extensionOverrides: [ExtensionOverride] {
    tokens.indices.compactMap { index in
      guard text(index) == "override", text(index - 1) != ".",
        let type = innermostType(at: tokens[index].range.lowerBound), type.kind == .extension,
        !type.isConstrained, type.condition == nil
      else { return nil }
      return extensionOverride(index, of: type)
    }
  }

  private static let modifiers: Set<String> = [
    "public", "open", "internal", "package", "final", "class", "static", "nonisolated",
  ]

  static var accessAndKind: Set<String> { modifiers }

  private func extensionOverride(_ index: Int, of type: TypeDeclaration) -> ExtensionOverride? {
    var first: Int = index
    while Self.modifiers.contains(text(first - 1)) { first -= 1 }
    var function: Int = index + 1
    while Self.modifiers.contains(text(function)) { function += 1 }
    guard text(function) == "func", isWord(function + 1), text(function + 2) == "(" else { return nil }
    let close: Int = end(of: function + 2) - 1
    guard let arguments = arguments(in: (function + 3)..<close) else { return nil }
    var brace: Int = close + 1
    while brace < tokens.count, text(brace) != "{", !tokens[brace].startsLine { brace += 1 }
    guard text(brace) == "{" else { return nil }
    let effects: [String] = ((close + 1)..<brace).map { text($0) }
    guard !effects.contains("async"), !effects.contains("rethrows") else { return nil }
    let name: String = text(function + 1)
    let newName: String = "\(name)InExtension"
    // An extension may be public for its members.
    var head: [String] = (first..<function).map { text($0) }.filter { $0 != "nonisolated" }
    let hasAccess: Bool = head.contains { ["public", "open", "internal", "package"].contains($0) }
    if !hasAccess, let access = type.access { head.insert(access.rawValue, at: 0) }
    let call: String = (effects.contains("throws") ? "try " : "") + "\(newName)(\(arguments))"
    return ExtensionOverride(
      path: source.path, offset: tokens[index].range.lowerBound, owner: type.name.joined(separator: "."),
      newName: newName,
      declaration: "\(head.joined(separator: " ")) \(source[range(function, brace)]) { \(call) }")
  }

  /// `_ value: Any?, forKey key: String` as `value, forKey: key`.
  private func arguments(in range: Range<Int>) -> String? {
    var parts: [String] = []
    var position: Int = range.lowerBound
    while position < range.upperBound {
      guard isWord(position) else { return nil }
      let label: String = text(position)
      let isPair: Bool = isWord(position + 1)
      let name: String = isPair ? text(position + 1) : label
      let colon: Int = position + (isPair ? 2 : 1)
      guard text(colon) == ":", text(colon + 1) != "inout" else { return nil }
      parts.append(label == "_" ? name : "\(label): \(name)")
      position = colon + 1
      while position < range.upperBound, text(position) != "," {
        guard text(position) != "<" else { return nil }
        position = ["(", "[", "{"].contains(text(position)) ? end(of: position) : position + 1
      }
      position += 1
    }
    return parts.joined(separator: ", ")
  }

  /// The methods in the classes of this file that call those of extensions.
  mutating func addOverrides(_ types: [TypeDeclaration], path: [String]) {
    for type in types {
      let path: [String] = path + type.name
      if type.kind == .class, let body = type.body {
        let name: String = path.joined(separator: ".")
        let alias: [String] = alias(of: type, name)
        if !alias.isEmpty { aliasedPlaces.insert(type.offset) }
        insert(
          alias + (movedOverrides[name] ?? []).map(\.declaration)
            + override(calling: calledChecks[name] ?? [], type) + lists(of: listed[name] ?? [], type, name),
          at: body.lowerBound)
      }
      addOverrides(type.types, path: path)
    }
  }

  /// Declarations at the start of a body: lines of their own in files that are kept.
  private mutating func insert(_ declarations: [String], at offset: Int) {
    guard !declarations.isEmpty else { return }
    let line: Int = source.position(of: offset).line
    let indent: String = String(source.line(at: line).prefix { $0 == " " || $0 == "\t" })
    let text: String =
      style == .built
      ? declarations.map { declaration in
        " \(declaration.split(separator: "\n").map { String($0).trimmed }.joined(separator: " "));"
      }.joined()
      : declarations.map { "\n\(indent)    \($0.replacing("\n", with: "\n\(indent)    "))" }.joined() + "\n"
    edit(offset..<offset, text)
  }

  /// `@objc(CDBookmark) class Bookmark`: models name the class by the other name.
  private func alias(of type: TypeDeclaration, _ name: String) -> [String] {
    guard let alias = Self.aliasName(of: type), let own = type.name.last, types.isManaged(own),
      type.condition == nil, type.genericParameters.isEmpty
    else { return [] }
    let access: String = type.access == .open || type.access == .public ? "public " : ""
    return [
      "\(access)final class \(alias): ManagedClassAlias { \(access)override class var original: NSManagedObject.Type "
        + "{ \(name).self } }"
    ]
  }

  /// The name in `@objc(Name)`, if it is another one than that of the class.
  private static func aliasName(of type: TypeDeclaration) -> String? {
    // A module in it is one of Apple's platforms.
    guard let written = type.objectiveCName?.split(separator: ".").last.map(String.init),
      written != type.name.last, !written.isEmpty,
      written.utf8.allSatisfy(Ascii.isIdentifier), !Ascii.isDigit(written.utf8.first ?? 0)
    else { return nil }
    return written
  }

  /// At `@objc`, before a class that has got an alias.
  mutating func noteAlias(_ index: Int, after last: Int) {
    var place: Int = last
    while PortingPass.accessAndKind.contains(text(place)),
      text(place) != "class" || text(place + 1) == "class"
    {
      place += 1
    }
    guard text(place) == "class", isWord(place + 1),
      aliasedPlaces.contains(tokens[place + 1].range.lowerBound)
    else { return }
    note(.namedClass, at: range(index, last))
  }

  // MARK: Transformers

  private static let transformers: Set<String> = [
    "ValueTransformer", "NSSecureUnarchiveFromDataTransformer",
  ]

  /// A transformer with an initialiser of its own, and none without arguments.
  mutating func rewriteTransformers(_ types: [TypeDeclaration]) {
    for type in types {
      rewriteTransformers(type.types)
      guard let body = type.body, inherits(type, fromOneOf: Self.transformers) else { continue }
      let initializers: [Int] = ownInitializers(of: type, body).filter { text($0 + 1) == "(" }
      guard !initializers.isEmpty else { continue }
      if let plain = initializers.first(where: { text($0 + 2) == ")" }) {
        var first: Int = plain
        while Self.modifiers.contains(text(first - 1)) || text(first - 1) == "override" { first -= 1 }
        guard let override = (first..<plain).first(where: { text($0) == "override" }) else { continue }
        note(.transformerInitializer, at: range(override, plain + 1))
        edit(tokens[override].range, "required")
        continue
      }
      note(.transformerInitializer, at: range(initializers[0], initializers[0] + 1))
      let access: String =
        type.access == .public || type.access == .open ? "public " : ""
      insert(
        [
          "\(access)required init() { fatalError(\"This transformer is registered as an instance: it has no init().\") }"
        ], at: body.lowerBound)
    }
  }

  /// Whether it is a class whose first ancestor is one of these.
  func inherits(_ type: TypeDeclaration, fromOneOf parents: Set<String>) -> Bool {
    guard type.kind == .class, let parent = type.inherited.first?.text.split(separator: ".").last else {
      return false
    }
    return parents.contains(String(parent))
  }

  /// The places of `init` where a class declares one that is not marked as convenience right before it;
  /// nested types have their own.
  func ownInitializers(of type: TypeDeclaration, _ body: Range<Int>) -> [Int] {
    tokens.indices.filter { index in
      body.contains(tokens[index].range.lowerBound) && text(index) == "init"
        && ["(", "?", "!"].contains(text(index + 1)) && text(index - 1) != "."
        && text(index - 1) != "convenience"
        && !type.types.contains { $0.body?.contains(tokens[index].range.lowerBound) == true }
    }
  }

  // MARK: Initialisers of a type that is a value

  private static let frameworkClasses: Set<String> = [
    "NSPersistentStoreCoordinator", "NSManagedObjectModel", "NSPersistentContainer",
    "NSManagedObjectContext", "NSPersistentStoreDescription", "NSEntityDescription",
    "NSAttributeDescription", "NSRelationshipDescription", "NSFetchIndexDescription",
  ]

  /// `self.init(…)` in a type method of an extension of one of these classes.
  mutating func classInitializer(_ index: Int) {
    guard text(index + 1) == ".", text(index + 2) == "init", text(index + 3) == "(",
      let type = innermostType(at: tokens[index].range.lowerBound), type.kind == .extension,
      let name = type.name.last, Self.frameworkClasses.contains(name), isInTypeMethod(index)
    else { return }
    note(.classInitializer, at: range(index, index + 3))
    edit(range(index, index + 3), name)
  }

  /// Whether the nearest declaration with a body around a token is a type method or a type property.
  private func isInTypeMethod(_ index: Int) -> Bool {
    var position: Int = index - 1
    var depth: Int = 0
    while position >= 0 {
      switch text(position) {
      case "}", ")", "]": depth += 1
      case "(", "[": depth -= 1
      case "{" where depth > 0: depth -= 1
      case "{":
        if let isType = isTypeMember(before: position) { return isType }
      default: break
      }
      position -= 1
    }
    return false
  }

  /// What the declaration is whose body begins at a brace; nil if the brace is one of a statement or closure.
  private func isTypeMember(before brace: Int) -> Bool? {
    var position: Int = brace - 1
    while position >= 0, !["{", "}", ";"].contains(text(position)) {
      if ["func", "var", "init", "subscript"].contains(text(position)), text(position - 1) != "." {
        var modifier: Int = position - 1
        while isWord(modifier) || text(modifier) == ")" || text(modifier) == "@" {
          if text(modifier) == "static" || text(modifier) == "class" { return true }
          if tokens[modifier].startsLine { break }
          modifier -= 1
        }
        return false
      }
      position -= 1
    }
    return nil
  }
}
