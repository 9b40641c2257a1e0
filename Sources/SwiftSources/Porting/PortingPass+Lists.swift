/// What the Objective-C runtime finds by a name, and a class has to list here: functions of policies that
/// expressions of mapping models call, and computed properties that key-value coding reads.
struct ListedMember {
  enum Kind {
    /// In `expressionFunctions`, with the entry.
    case function(entry: String)
    /// In `customAccessors`.
    case accessor
  }

  let kind: Kind
  /// The path of the class.
  let owner: String
  let name: String
  let path: String
  /// The offset of `@objc`.
  let offset: Int
}

extension PortingPass {
  // MARK: Finding

  /// The members of this file that a class of the module can list.
  ///
  /// - Parameter keys: the words in texts and `#keyPath`s of the module, by which key-value coding may read a
  ///   property.
  func listedMembers(keys: Set<String>) -> [ListedMember] {
    tokens.indices.compactMap { index in
      guard text(index) == "@", text(index + 1) == "objc" else { return nil }
      return listedFunction(index) ?? listedAccessor(index, keys)
    }
  }

  /// The words in texts and `#keyPath`s.
  var keyWords: Set<String> {
    var words: Set<String> = []
    func add(_ text: String) {
      for word in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
        words.insert(String(word))
      }
    }
    for index in tokens.indices {
      if tokens[index].kind == .string { add(text(index)) }
      if text(index) == "#keyPath", text(index + 1) == "(" {
        add(source[range(index + 1, end(of: index + 1))])
      }
    }
    return words
  }

  /// The classes that declare a member of a name already, in their bodies or in extensions.
  func classes(declaring name: String, as keyword: String) -> Set<String> {
    Set(
      tokens.indices.filter { text($0) == name && text($0 - 1) == keyword }
        .map { places.path(at: tokens[$0].range.lowerBound) })
  }

  /// The token after the attribute, its arguments, other attributes and modifiers.
  private func declaration(after index: Int) -> Int {
    var place: Int = index
    while place < tokens.count {
      if text(place) == "@" {
        place += 2
        if text(place) == "(", !tokens[place].isSpaced { place = end(of: place) }
      } else if PortingPass.accessAndKind.contains(text(place))
        || ["dynamic", "private", "fileprivate"].contains(text(place))
      {
        place += 1
      } else {
        return place
      }
    }
    return place
  }

  private func words(from index: Int, to end: Int) -> Set<String> { Set((index..<end).map { text($0) }) }

  private func listedFunction(_ index: Int) -> ListedMember? {
    guard let type = innermostType(at: tokens[index].range.lowerBound), isFunctionOwner(type),
      type.condition == nil, !type.isConstrained, type.genericParameters.isEmpty
    else { return nil }
    let function: Int = declaration(after: index)
    let modifiers: Set<String> = words(from: index, to: function)
    guard text(function) == "func", isWord(function + 1), text(function + 2) == "(",
      modifiers.isDisjoint(with: ["static", "class", "private", "fileprivate", "NSManaged"])
    else { return nil }
    let name: String = text(function + 1)
    let close: Int = end(of: function + 2) - 1
    guard !["async", "throws", "rethrows"].contains(text(close + 1)),
      let parameters = parameters(in: (function + 3)..<close), parameters.count <= 3
    else { return nil }
    let owner: String = places.path(at: tokens[index].range.lowerBound)
    let selector: String =
      text(index + 2) == "(" && !tokens[index + 2].isSpaced
      ? (index + 3..<end(of: index + 2) - 1).map { text($0) }.joined()
      : Self.selector(of: name, parameters.map(\.label))
    let typed: [String] = parameters.enumerated().map { ", value\($0): \($1.type)" }
    let arguments: String = parameters.enumerated()
      .map { place, parameter in "\(parameter.label.map { "\($0): " } ?? "")value\(place)" }
      .joined(separator: ", ")
    let entry: String =
      "PolicyFunction(\"\(selector)\") { (object: \(owner)\(typed.joined())) in object.\(name)(\(arguments)) }"
    return ListedMember(
      kind: .function(entry: entry), owner: owner, name: name, path: source.path,
      offset: tokens[index].range.lowerBound)
  }

  /// As the compiler names a method for Objective-C: `label(name:price:)` is `labelWithName:price:`.
  static func selector(of name: String, _ labels: [String?]) -> String {
    guard let first = labels.first else { return name }
    var text: String = name
    if let first {
      if !prepositions.contains(word(first, last: false)), !prepositions.contains(word(name, last: true)) {
        text += "With"
      }
      text += first.prefix(1).uppercased() + first.dropFirst()
    }
    return ([text] + labels.dropFirst().map { $0 ?? "" }).map { $0 + ":" }.joined()
  }

  /// The first or the last word of a name in camel case, in lower case.
  private static func word(_ name: String, last: Bool) -> String {
    var words: [String] = [""]
    for character in name {
      if character.isUppercase, !words[words.count - 1].isEmpty { words.append("") }
      words[words.count - 1].append(contentsOf: character.lowercased())
    }
    return (last ? words.last : words.first) ?? ""
  }

  private static let prepositions: Set<String> = [
    "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from",
    "given", "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since",
    "to", "until", "using", "via", "when", "with", "within",
  ]

  /// `_ value: Any?, forKey key: String`: labels and types; nil for forms that an expression can't pass.
  private func parameters(in range: Range<Int>) -> [(label: String?, type: String)]? {
    var parts: [(label: String?, type: String)] = []
    var position: Int = range.lowerBound
    while position < range.upperBound {
      guard isWord(position) else { return nil }
      let label: String = text(position)
      let colon: Int = position + (isWord(position + 1) ? 2 : 1)
      guard text(colon) == ":" else { return nil }
      var last: Int = colon + 1
      while last < range.upperBound, text(last) != "," {
        // Default values, closures, functions, generic arguments with commas.
        guard !["=", "inout", "@", "<", "->"].contains(text(last)) else { return nil }
        last = ["(", "[", "{"].contains(text(last)) ? end(of: last) : last + 1
      }
      guard last > colon + 1 else { return nil }
      parts.append((label == "_" ? nil : label, source[self.range(colon + 1, last)]))
      position = last + 1
    }
    return parts
  }

  private func listedAccessor(_ index: Int, _ keys: Set<String>) -> ListedMember? {
    guard let type = innermostType(at: tokens[index].range.lowerBound), type.condition == nil,
      !type.isConstrained, type.genericParameters.isEmpty, let last = type.name.last,
      // A class that is not in the sources may be one that the model's Codegen makes.
      types.isManaged(last) || type.kind == .extension && types.found(last).isEmpty
    else { return nil }
    let property: Int = declaration(after: index)
    let modifiers: Set<String> = words(from: index, to: property)
    guard text(property) == "var", isWord(property + 1), text(property + 2) == ":",
      keys.contains(text(property + 1)),
      modifiers.isDisjoint(with: ["static", "class", "private", "fileprivate", "NSManaged", "override"])
    else { return nil }
    var place: Int = property + 3
    while place < tokens.count, !["{", "=", "}", ";"].contains(text(place)) {
      if tokens[place].startsLine, text(place) != "{" { return nil }
      place = ["(", "["].contains(text(place)) ? end(of: place) : place + 1
    }
    // A stored one with observers is read by key-value coding as it is.
    guard text(place) == "{", !["didSet", "willSet"].contains(text(place + 1)) else { return nil }
    return ListedMember(
      kind: .accessor, owner: places.path(at: tokens[index].range.lowerBound), name: text(property + 1),
      path: source.path, offset: tokens[index].range.lowerBound)
  }

  // MARK: Writing

  /// The lists of a class: of functions, of accessors, or of both.
  func lists(of members: [ListedMember], _ type: TypeDeclaration, _ owner: String) -> [String] {
    let access: String = type.access == .open || type.access == .public ? "public " : ""
    var made: [String] = []
    let functions: [String] = members.compactMap {
      if case .function(let entry) = $0.kind { entry } else { nil }
    }
    if !functions.isEmpty {
      made.append(
        "\(access)override class var expressionFunctions: [PolicyFunction] {\n  super.expressionFunctions + [\n"
          + functions.map { "    \($0)," }.joined(separator: "\n") + "\n  ]\n}")
    }
    let accessors: [String] = members.compactMap { member in
      if case .accessor = member.kind { "\"\(member.name)\": \\\(owner).\(member.name)" } else { nil }
    }
    if !accessors.isEmpty {
      made.append(
        "\(access)override class var customAccessors: [String: AnyKeyPath] {\n  super.customAccessors.merging(["
          + accessors.joined(separator: ", ") + "]) { $1 }\n}")
    }
    return made
  }

  /// Extensions with the lists of classes that are not in the sources, at the end of the file that has the
  /// first member of each.
  mutating func addListings() {
    var made: String = ""
    for (owner, members) in listings.sorted(by: { $0.key < $1.key }) where members.first?.path == source.path
    {
      let entries: [String] = members.map { "\"\($0.name)\": \\\(owner).\($0.name)" }
      made +=
        "\nextension \(owner): AccessorListing {\n  public static var listedAccessors: [String: AnyKeyPath] {\n"
        + "    [\(entries.joined(separator: ", "))]\n  }\n}\n"
    }
    if made.isEmpty { return }
    let end: Int = source.bytes.count
    edit(end..<end, (source.bytes.last == Ascii.newline ? "" : "\n") + made)
  }

  /// The classes for which the file has a list in an extension already.
  var listingExtensions: Set<String> {
    var names: Set<String> = []
    for type in file.declarations where type.kind == .extension {
      if type.inherited.contains(where: { $0.names.contains("AccessorListing") }) {
        names.insert(type.name.joined(separator: "."))
      }
    }
    return names
  }

  /// At `@objc`: notes what is listed, or would have to be.
  mutating func noteListed(_ index: Int, after last: Int) {
    let member: ListedMember? = listedPlaces[tokens[index].range.lowerBound]
    switch member?.kind {
    case .function?: note(.listedFunction, at: range(index, last))
    case .accessor?: note(.listedAccessor, at: range(index, last))
    case nil: policyFunction(index, after: last)
    }
    guard member == nil, let found = listedAccessor(index, keys),
      !knownAccessors.contains(found.name)
    else { return }
    note(.unlistedAccessor, at: range(index, last))
  }

  /// The names in the lists of accessors that classes of this file have already.
  var accessorsInLists: Set<String> {
    var names: Set<String> = []
    for index in tokens.indices where text(index) == "customAccessors" && text(index - 1) == "var" {
      var place: Int = index
      while place < tokens.count, text(place) != "{" { place += 1 }
      guard place < tokens.count else { continue }
      for inner in place..<end(of: place) where tokens[inner].kind == .string {
        names.insert(String(text(inner).dropFirst().dropLast()))
      }
    }
    return names
  }
}
