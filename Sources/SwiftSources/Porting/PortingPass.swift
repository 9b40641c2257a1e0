/// The rewriting of one file.
struct PortingPass {
  let file: ScannedFile
  let source: SourceText
  let types: ModuleTypes
  let style: Porter.Style
  private let modelNames: [String: String]
  let typeNames: Set<String>
  /// The types of the file by their places.
  let places: TypePlaces
  private let hasAliases: Bool
  let platform: Platform
  let tokens: [Token]
  /// The places of `func` in the tokens, by the names of the functions.
  let functions: [String: [Int]]
  /// The places of conditions on modules of the program that have the names of Apple's.
  let ownModules: [Range<Int>]
  private var edits: SourceEdits
  private var findings: [PortingFinding] = []
  /// Those that move into classes of the module, by the name of the class.
  private(set) var movedOverrides: [String: [ExtensionOverride]] = [:]
  /// Methods that check one property, by the name of the class of this module that calls them.
  private(set) var calledChecks: [String: [KeyCheck]] = [:]
  /// The offsets of those of this file.
  private(set) var calledPlaces: Set<Int> = []
  /// The names of methods that the module's classes call by `validateManagedValue(_:by:)` already.
  private(set) var namedChecks: Set<String> = []
  /// What the classes of the module list for the Objective-C runtime's sake, by the name of the class.
  private(set) var listed: [String: [ListedMember]] = [:]
  /// What is listed in extensions of classes that are not in the sources, by the name of the class.
  private(set) var listings: [String: [ListedMember]] = [:]
  /// Of both those of this file, by the offsets of their attributes.
  private(set) var listedPlaces: [Int: ListedMember] = [:]
  /// The offsets of the names of classes that have got an alias.
  var aliasedPlaces: Set<Int> = []
  /// The words by which key-value coding may read properties.
  private(set) var keys: Set<String> = []
  private(set) var knownAccessors: Set<String> = []
  /// The optional requirements of the module that get defaults.
  private(set) var defaulted: [DefaultedRequirement] = []
  private var defaultedNames: Set<String> = []
  /// Conditions of which no branch holds here, and that have no `#else`.
  let unreached: [Range<Int>]
  /// What the file imports, in branches that are not compiled here too.
  let importedModules: Set<String>

  init(
    _ file: ScannedFile, types: ModuleTypes, style: Porter.Style, platform: Platform,
    modelNames: [String: String], typeNames: Set<String>, hasAliases: Bool
  ) throws(SourceFailure) {
    self.file = file
    source = file.source
    places = TypePlaces(file.declarations)
    edits = SourceEdits(file.source)
    self.types = types
    self.style = style
    self.modelNames = modelNames
    self.typeNames = typeNames
    self.hasAliases = hasAliases
    self.platform = platform
    let all: [Token] = try Lexer.tokens(of: file.source)
    let conditioned = try ConditionedTokens(all, of: file.source, on: platform)
    (tokens, unreached) = (conditioned.tokens, conditioned.unreached)
    let keywords: [Int] = tokens.indices.dropLast().filter { [tokens] in
      tokens[$0].kind == .identifier && file.source[tokens[$0].range] == "func"
    }
    functions = Dictionary(grouping: keywords) { [tokens] in file.source[tokens[$0 + 1].range] }
    importedModules = Set(
      zip(all, all.dropFirst()).compactMap { word, name in
        file.source[word.range] == "import" && name.kind == .identifier ? file.source[name.range] : nil
      })
    ownModules = style == .kept ? Self.conditions(on: platform, all, file.source) : []
  }

  // MARK: Tokens

  func text(_ index: Int) -> String {
    index >= 0 && index < tokens.count ? source[tokens[index].range] : ""
  }

  func isWord(_ index: Int) -> Bool {
    index >= 0 && index < tokens.count && tokens[index].kind == .identifier
  }

  /// The index after a bracket that begins at an index.
  func end(of index: Int) -> Int {
    var depth: Int = 0
    var position: Int = index
    while position < tokens.count {
      switch text(position) {
      case "(", "[", "{": depth += 1
      case ")", "]", "}": depth -= 1
      default: break
      }
      position += 1
      if depth == 0 { break }
    }
    return position
  }

  func range(_ first: Int, _ end: Int) -> Range<Int> {
    tokens[first].range.lowerBound..<tokens[end - 1].range.upperBound
  }

  mutating func note(_ rule: PortingRule, at range: Range<Int>, _ detail: String? = nil) {
    let (line, column) = source.position(of: range.lowerBound)
    let whole: String = source[range]
    let first: Substring = whole.split(whereSeparator: \.isNewline).first ?? ""
    findings.append(
      PortingFinding(
        rule: rule, path: source.path, line: line, column: column,
        excerpt: first.count > 60 ? first.prefix(59) + "…" : String(first), detail: detail))
  }

  mutating func add(_ remark: SourceRemark) {
    findings.append(
      PortingFinding(
        rule: .hiddenMember, path: remark.path, line: remark.line, column: remark.column,
        excerpt: source.line(at: remark.line).trimmed, detail: remark.message))
  }

  // MARK: The walk

  mutating func run(_ module: PortedModule) {
    (movedOverrides, calledChecks, namedChecks) = (module.overrides, module.checks, module.namedChecks)
    (listed, keys, knownAccessors) = (module.listed, module.keys, module.knownAccessors)
    listings = module.listings
    calledPlaces = Set(calledChecks.values.joined().filter { $0.path == source.path }.map(\.offset))
    for members in [listed, listings] {
      for member in members.values.joined() where member.path == source.path {
        listedPlaces[member.offset] = member
      }
    }
    (defaulted, defaultedNames) = (module.defaulted, Set(module.defaulted.map(\.name)))
    rewriteMembers(file.declarations)
    rewriteTransformers(file.declarations)
    storeInitializers(file.declarations)
    for range in ownModules { note(.ownModule, at: range) }
    for range in unreached { note(.unreachedCode, at: range) }
    addOverrides(file.declarations, path: [])
    addDefaults()
    addListings()
    var index: Int = 0
    while index < tokens.count {
      let token: Token = tokens[index]
      switch token.kind {
      case .pound: index = pound(index)
      case .punctuation where text(index) == "@" && isWord(index + 1): index = attribute(index)
      case .identifier: index = word(index)
      default: index += 1
      }
    }
    importModules()
  }

  /// Attributes that have no meaning here.
  static let removed: Set<String> = [
    "objc", "nonobjc", "objcMembers", "IBAction", "IBOutlet", "IBInspectable", "IBDesignable",
    "NSCopying", "GKInspectable",
  ]

  private mutating func attribute(_ index: Int) -> Int {
    let name: String = text(index + 1)
    guard Self.removed.contains(name) else {
      if AppleClasses.module(of: name) != nil { appleClass(index + 1) }
      return index + 2
    }
    var last: Int = index + 2
    if name == "objc", text(last) == "(", !tokens[last].isSpaced { last = end(of: last) }
    note(.objectiveCAttribute, at: range(index, last))
    if name == "objc" {
      noteListed(index, after: last)
      noteAlias(index, after: last)
      keepClassBound(last)
    }
    remove(index, last)
    return last
  }

  private mutating func pound(_ index: Int) -> Int {
    switch text(index) {
    case "#keyPath":
      guard text(index + 1) == "(" else { return index + 1 }
      let last: Int = end(of: index + 1)
      if let path = path(in: (index + 2)..<(last - 1)) {
        note(.keyPath, at: range(index, last))
        edit(range(index, last), "\"\(path)\"")
      } else {
        note(.unreadableKeyPath, at: range(index, last))
      }
      return last
    case "#selector":
      guard text(index + 1) == "(" else { return index + 1 }
      let last: Int = end(of: index + 1)
      selector(index, last)
      return last
    default: return index + 1
    }
  }

  /// `Recipe.author.name` as `author.name`: without types, modules and `self`.
  func path(in range: Range<Int>) -> String? {
    var parts: [String] = []
    for position in range {
      let isDot: Bool = (position - range.lowerBound) % 2 == 1
      if isDot ? text(position) != "." : !isWord(position) { return nil }
      if !isDot { parts.append(text(position)) }
    }
    while parts.count > 1 || parts.first.map(isType) == true {
      guard let first = parts.first, isType(first) || first == "self" else { break }
      parts.removeFirst()
    }
    guard !parts.isEmpty, !parts.contains("self") else { return nil }
    return parts.map { part in
      let name: String = part.hasPrefix("`") ? String(part.dropFirst().dropLast()) : part
      return modelNames[name] ?? name
    }.joined(separator: ".")
  }

  func isType(_ name: String) -> Bool {
    typeNames.contains(name) || name == "Self" || name.first?.isUppercase == true
      || name.hasPrefix("_") && name.dropFirst().first?.isUppercase == true
  }

  private static let modifiersAndKeywords: Set<String> = [
    "var", "let", "func", "class", "init", "subscript", "public", "private", "fileprivate", "internal",
    "open",
    "package", "final", "override", "static", "lazy", "weak", "unowned", "required", "convenience",
  ]

  /// Programs have methods of these names, too; what they are of, only the compiler knows.
  private var observing: PortingRule { style == .kept ? .keyValueObserving : .doubtfulObserving }

  private mutating func word(_ index: Int) -> Int {
    let name: String = text(index)
    switch name {
    case "dynamic":
      let follows: Bool = Self.modifiersAndKeywords.contains(text(index + 1)) || text(index + 1) == "@"
      if follows, isWord(index + 1) || text(index + 1) == "@", text(index - 1) != "." {
        note(.dynamicModifier, at: tokens[index].range)
        remove(index, index + 1)
      }
    case "Foundation":
      if text(index + 1) == ".", ["ValueTransformer", "UndoManager"].contains(text(index + 2)) {
        note(.valueTransformer, at: range(index, index + 3))
        edit(tokens[index].range, "CoreData")
        return index + 3
      }
    case "import": return importedModule(index)
    case "optional": requirement(index)
    case "override": overriding(index)
    case "AutoreleasingUnsafeMutablePointer": keyValidation(index)
    case "observeValue":
      if text(index - 1) == "func" { note(observing, at: range(index - 1, index + 1)) }
    case "addObserver", "removeObserver":
      if text(index + 1) == "(" {
        let last: Int = end(of: index + 1)
        if (index + 2..<last).contains(where: { text($0) == "forKeyPath" && text($0 + 1) == ":" }) {
          note(observing, at: tokens[index].range)
        }
      }
    case "publisher":
      if text(index - 1) == ".", text(index + 1) == "(", text(index + 2) == "for", text(index + 3) == ":",
        text(index + 4) == "\\"
      {
        note(observing, at: range(index, index + 4))
      }
    case "automaticallyNotifiesObservers": note(observing, at: tokens[index].range)
    case let name where name.hasPrefix("keyPathsForValuesAffecting"):
      // One for a single key compiles, and nobody calls it.
      note(
        name == "keyPathsForValuesAffectingValue" ? observing : .dependentKeys,
        at: tokens[index].range)
    case "CVarArg":
      if text(index - 1) == "@retroactive" || text(index - 1) == "retroactive" || text(index - 1) == ":" {
        retroactive(index)
      }
    case "as": genericRequest(index)
    case "resultType": untypedRequest(index)
    case "perform": performedSelector(index)
    case "NSURL": fileURL(index)
    case "forUbiquityContainerIdentifier": note(.absentType, at: tokens[index].range)
    case "NSManagedObject", "NSConstraintConflict", "NSPredicate", "NSPersistentStoreCoordinator":
      bareInitializer(index)
    case "Bundle": bundle(index)
    case "observe": progressObserver(index)
    case "classForCoder": return codedClass(index)
    case "NSClassFromString":
      if text(index + 1) == "(" { note(.classByName, at: tokens[index].range) }
    case let name where Self.timeConstants[name] != nil: timeConstant(index)
    case let name where Porter.absentTypes.contains(name):
      if !typeNames.contains(name) { note(.absentType, at: tokens[index].range) }
    case let name where AppleClasses.module(of: name) != nil: appleClass(index)
    case "self": classInitializer(index)
    case let name where Porter.ambiguousNames.contains(name): ambiguous(index)
    case let name where defaultedNames.contains(name): requirementCall(index)
    default: break
    }
    return index + 1
  }

  private mutating func overriding(_ index: Int) {
    guard isExtension(at: tokens[index].range.lowerBound), text(index - 1) != "." else { return }
    let next: Int =
      (index + 1..<min(index + 6, tokens.count)).first { ["func", "var", "init"].contains(text($0)) } ?? index
    guard next > index else { return }
    if let owner = extensionName(at: tokens[index].range.lowerBound),
      let moved = movedOverrides[owner]?.first(where: {
        $0.offset == tokens[index].range.lowerBound && $0.path == source.path
      })
    {
      note(.movedOverride, at: range(index, next + 2))
      remove(index, index + 1)
      edit(tokens[next + 1].range, moved.newName)
      return
    }
    note(.overrideInExtension, at: range(index, min(next + 2, tokens.count)))
  }

  /// The innermost type around an offset.
  func innermostType(at offset: Int) -> TypeDeclaration? { places.type(at: offset) }

  /// Whether the innermost type around an offset is an extension.
  private func isExtension(at offset: Int) -> Bool { innermostType(at: offset)?.kind == .extension }

  private func extensionName(at offset: Int) -> String? {
    guard let type = innermostType(at: offset), type.kind == .extension else { return nil }
    return type.name.joined(separator: ".")
  }

  private mutating func retroactive(_ index: Int) {
    var start: Int = index
    while start > 0, index - start < 12, text(start) != "extension" { start -= 1 }
    let known: Set<String> = [
      "UUID", "Date", "Data", "URL", "Decimal", "Array", "Set", "Dictionary", "NSObject",
    ]
    guard text(start) == "extension", (start..<index).contains(where: { known.contains(text($0)) }) else {
      return
    }
    note(.retroactiveArgument, at: range(start, index + 1))
  }

  private mutating func ambiguous(_ index: Int) {
    guard !hasAliases, text(index - 1) != ".",
      file.imports.contains(where: { Self.exportingFoundation.contains($0.module) })
    else { return }
    note(.ambiguousName, at: tokens[index].range)
    // Files that are kept are for both platforms; their module has one file of aliases.
    if style == .built {
      let module: String = typeNames.contains("CoreData") ? "CoreDataPredicates" : "CoreData"
      edit(tokens[index].range, "\(module).\(text(index))")
    }
  }

  // MARK: Edits

  mutating func edit(_ range: Range<Int>, _ text: String) { edits.replace(range, by: text) }

  /// Removes tokens with the white space after them, or with the line if nothing else is on it. In a build
  /// the rest stays where it is.
  mutating func remove(_ first: Int, _ last: Int) {
    let range: Range<Int> = range(first, last)
    if style == .built { edits.blank(range) } else { edits.remove(range) }
  }

  func result() -> Porter.Result {
    let sorted: [PortingFinding] = findings.sorted {
      ($0.line, $0.column, $0.rule.rawValue) < ($1.line, $1.column, $1.rule.rawValue)
    }
    let written: SourceEdits.Written = edits.written()
    return Porter.Result(
      source: source, text: written.source.text, findings: sorted,
      findingsWhenWritten: sorted.map { finding in
        let (line, column) = written.position(
          ofOffset: source.lineStarts[finding.line - 1] + finding.column - 1)
        return finding.at(line: line, column: column)
      }, changedLineCount: written.changedLineCount)
  }
}

extension ManagedMember {
  func named(_ objectiveCName: String?) -> ManagedMember {
    ManagedMember(
      name: name, form: form, access: access, isOverride: isOverride, objectiveCName: objectiveCName,
      offset: offset, range: range, condition: condition)
  }
}

extension String {
  var trimmed: String {
    var text: Substring = self[...]
    while text.last?.isWhitespace == true { text.removeLast() }
    while text.first?.isWhitespace == true { text.removeFirst() }
    return String(text)
  }
}
