/// The rewriting of one file.
struct PortingPass {
  let file: ScannedFile
  let source: SourceText
  let types: ModuleTypes
  let style: Porter.Style
  private let modelNames: [String: String]
  let typeNames: Set<String>
  private let hasAliases: Bool
  let platform: Platform
  let tokens: [Token]
  /// The places of conditions on modules of the program that have the names of Apple's.
  let ownModules: [Range<Int>]
  private(set) var edits: [Edit] = []
  private var findings: [PortingFinding] = []
  /// Those that move into classes of the module, by the name of the class.
  private(set) var movedOverrides: [String: [ExtensionOverride]] = [:]
  /// Methods that check one property, by the name of the class of this module that calls them.
  private(set) var calledChecks: [String: [KeyCheck]] = [:]
  /// The names of methods that the module's classes call by `validateManagedValue(_:by:)` already.
  private(set) var namedChecks: Set<String> = []
  /// What the classes of the module list for the Objective-C runtime's sake, by the name of the class.
  private(set) var listed: [String: [ListedMember]] = [:]
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

  struct Edit {
    let range: Range<Int>
    let text: String
  }

  init(
    _ file: ScannedFile, types: ModuleTypes, style: Porter.Style, platform: Platform,
    modelNames: [String: String], typeNames: Set<String>, hasAliases: Bool
  ) throws(SourceFailure) {
    self.file = file
    source = file.source
    self.types = types
    self.style = style
    self.modelNames = modelNames
    self.typeNames = typeNames
    self.hasAliases = hasAliases
    self.platform = platform
    let all: [Token] = try Lexer.tokens(of: file.source)
    let conditioned = try ConditionedTokens(all, of: file.source, on: platform)
    (tokens, unreached) = (conditioned.tokens, conditioned.unreached)
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
    (defaulted, defaultedNames) = (module.defaulted, Set(module.defaulted.map(\.name)))
    rewriteMembers(file.declarations)
    rewriteTransformers(file.declarations)
    storeInitializers(file.declarations)
    for range in ownModules { note(.ownModule, at: range) }
    for range in unreached { note(.unreachedCode, at: range) }
    addOverrides(file.declarations, path: [])
    addDefaults()
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

  private static let removed: Set<String> = [
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
        edits.append(Edit(range: range(index, last), text: "\"\(path)\""))
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
  private func path(in range: Range<Int>) -> String? {
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

  private func isType(_ name: String) -> Bool {
    typeNames.contains(name) || name == "Self" || name.first?.isUppercase == true
      || name.hasPrefix("_") && name.dropFirst().first?.isUppercase == true
  }

  private static let comparisons: Set<String> = [
    "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
    "localizedStandardCompare",
  ]

  private mutating func selector(_ index: Int, _ last: Int) {
    let inner: Range<Int> = (index + 2)..<(last - 1)
    if text(inner.lowerBound) == "getter", text(inner.lowerBound + 1) == ":",
      text(index - 2) == "NSStringFromSelector", text(index - 1) == "(", text(last) == ")",
      let path = path(in: (inner.lowerBound + 2)..<inner.upperBound), !path.contains(".")
    {
      note(.propertySelector, at: range(index - 2, last + 1))
      edits.append(Edit(range: range(index - 2, last + 1), text: "\"\(path)\""))
      return
    }
    // #selector(NSString.localizedStandardCompare(_:))
    if ["NSString", "NSNumber", "NSDate", "String"].contains(text(inner.lowerBound)),
      text(inner.lowerBound + 1) == ".", Self.comparisons.contains(text(inner.lowerBound + 2))
    {
      let rest: String = (inner.lowerBound + 3..<inner.upperBound).map(text).joined()
      if rest.isEmpty || rest == "(_:)" {
        note(.comparisonSelector, at: range(index, last))
        edits.append(
          Edit(range: range(index, last), text: "Selector(\"\(text(inner.lowerBound + 2)):\")"))
        return
      }
    }
    if namedSelector(index, last, inner) { return }
    // The call around it: addObserver(self, selector: #selector(…), name: …)
    guard text(index - 2) == "selector", text(index - 1) == ":", text(last) == ",", text(last + 1) == "name"
    else { return note(.selector, at: range(index, last)) }
    guard let call = methodCall(inner) else { return note(.unreadableObserver, at: range(index, last)) }
    note(.observer, at: range(index, last))
    edits.append(Edit(range: tokens[index - 2].range, text: "method"))
    edits.append(Edit(range: range(index, last), text: call))
  }

  /// `let didSave = #selector(…)`, which calls of `addObserver(self, selector: didSave, name: …)` name and
  /// nothing else: they get the closure, and the constant goes.
  private mutating func namedSelector(_ index: Int, _ last: Int, _ inner: Range<Int>) -> Bool {
    guard text(index - 1) == "=", isWord(index - 2), text(index - 3) == "let", tokens[index - 3].startsLine,
      last < tokens.count, tokens[last].startsLine, let call = methodCall(inner)
    else { return false }
    var uses: [Int] = []
    var depth: Int = 0
    var place: Int = last
    while place < tokens.count, depth >= 0 {
      if ["(", "[", "{"].contains(text(place)) { depth += 1 }
      if [")", "]", "}"].contains(text(place)) { depth -= 1 }
      if text(place) == text(index - 2), text(place - 1) != "." { uses.append(place) }
      place += 1
    }
    let areObservers: Bool = uses.allSatisfy {
      text($0 - 2) == "selector" && text($0 - 1) == ":" && text($0 + 1) == "," && text($0 + 2) == "name"
    }
    guard !uses.isEmpty, areObservers else { return false }
    remove(index - 3, last)
    for use in uses {
      note(.observer, at: range(use - 2, use + 1))
      edits.append(Edit(range: tokens[use - 2].range, text: "method"))
      edits.append(Edit(range: tokens[use].range, text: call))
    }
    return true
  }

  /// `self.didSave(notification:)` as a closure with the observer and the notification.
  private func methodCall(_ inner: Range<Int>) -> String? {
    var start: Int = inner.lowerBound
    while start + 1 < inner.upperBound, text(start + 1) == ".", text(start) == "self" || isType(text(start)) {
      start += 2
    }
    guard isWord(start) else { return nil }
    let name: String = text(start)
    let rest: [String] = ((start + 1)..<inner.upperBound).map { text($0) }
    let label: String?
    switch rest.count {
    case 0:
      // The declaration says what it takes.
      guard let method = tokens.indices.first(where: { text($0) == "func" && text($0 + 1) == name }),
        text(method + 2) == "("
      else { return nil }
      let first: String = text(method + 3)
      label = first == ")" ? nil : first
    case 4 where rest[0] == "(" && rest[2] == ":" && rest[3] == ")": label = rest[1]
    default: return nil
    }
    // Nothing catches what a method throws that is called by its selector.
    let attempt: String = isThrowing(name) ? "try? " : ""
    guard let label else { return "{ observer, _ in \(attempt)observer.\(name)() }" }
    return "{ \(attempt)$0.\(name)(\(label == "_" ? "" : "\(label): ")$1) }"
  }

  private func isThrowing(_ method: String) -> Bool {
    tokens.indices.contains { index in
      text(index) == "func" && text(index + 1) == method && text(index + 2) == "("
        && text(end(of: index + 2)) == "throws"
    }
  }

  private static let modifiersAndKeywords: Set<String> = [
    "var", "let", "func", "class", "init", "subscript", "public", "private", "fileprivate", "internal",
    "open",
    "package", "final", "override", "static", "lazy", "weak", "unowned", "required", "convenience",
  ]

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
        edits.append(Edit(range: tokens[index].range, text: "CoreData"))
        return index + 3
      }
    case "import": return importedModule(index)
    case "optional": requirement(index)
    case "override": overriding(index)
    case "AutoreleasingUnsafeMutablePointer": keyValidation(index)
    case "observeValue":
      if text(index - 1) == "func" { note(.keyValueObserving, at: range(index - 1, index + 1)) }
    case "addObserver", "removeObserver":
      if text(index + 1) == "(" {
        let last: Int = end(of: index + 1)
        if (index + 2..<last).contains(where: { text($0) == "forKeyPath" && text($0 + 1) == ":" }) {
          note(.keyValueObserving, at: tokens[index].range)
        }
      }
    case "publisher":
      if text(index - 1) == ".", text(index + 1) == "(", text(index + 2) == "for", text(index + 3) == ":",
        text(index + 4) == "\\"
      {
        note(.keyValueObserving, at: range(index, index + 4))
      }
    case "automaticallyNotifiesObservers": note(.keyValueObserving, at: tokens[index].range)
    case let name where name.hasPrefix("keyPathsForValuesAffecting"):
      // One for a single key compiles, and nobody calls it.
      note(
        name == "keyPathsForValuesAffectingValue" ? .keyValueObserving : .dependentKeys,
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
    case "NSManagedObject", "NSConstraintConflict": bareInitializer(index)
    case "Bundle": bundle(index)
    case "Set": setInitializer(index)
    case "observe": progressObserver(index)
    case "classForCoder": return codedClass(index)
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
      edits.append(Edit(range: tokens[next + 1].range, text: moved.newName))
      return
    }
    note(.overrideInExtension, at: range(index, min(next + 2, tokens.count)))
  }

  /// The innermost type around an offset.
  func innermostType(at offset: Int) -> TypeDeclaration? {
    func innermost(_ types: [TypeDeclaration]) -> TypeDeclaration? {
      for type in types where type.body?.contains(offset) == true {
        return innermost(type.types) ?? type
      }
      return nil
    }
    return innermost(file.declarations)
  }

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

  /// `NSFetchRequest<A>(entityName: "B") as! NSFetchRequest<B>`: the request is made with its final type.
  private mutating func madeRequest(_ index: Int) -> Bool {
    guard text(index + 1) == "!", text(index + 2) == "NSFetchRequest", text(index + 3) == "<",
      text(index - 1) == ")", let end = partner(of: index + 3, ">", 1),
      let open = partner(of: index - 1, "(", -1), text(open - 1) == ">",
      let angle = partner(of: open - 1, "<", -1), text(angle - 1) == "NSFetchRequest"
    else { return false }
    note(.requestCast, at: range(angle - 1, end + 1))
    edits.append(Edit(range: range(angle + 1, open - 1), text: source[range(index + 4, end)]))
    edits.append(
      Edit(range: tokens[index - 1].range.upperBound..<tokens[end].range.upperBound, text: ""))
    return true
  }

  /// The bracket that belongs to the one at a place, ahead or behind.
  private func partner(of index: Int, _ closing: String, _ step: Int) -> Int? {
    let opening: String = text(index)
    var depth: Int = 0
    var place: Int = index
    while tokens.indices.contains(place) {
      if text(place) == opening { depth += 1 }
      if text(place) == closing { depth -= 1 }
      if depth == 0 { return place }
      place += step
    }
    return nil
  }

  private mutating func genericRequest(_ index: Int) {
    if madeRequest(index) { return }
    var next: Int = index + 1
    guard text(next) == "!" || text(next) == "?" else { return }
    next += 1
    guard text(next) == "NSFetchRequest", text(next + 1) == "<", let close = partner(of: next + 1, ">", 1)
    else { return }
    let result: String = source[range(next + 2, close)]
    // `Item.fetchRequest() as! NSFetchRequest<Item>` is no cast here.
    let isCall: Bool =
      text(index - 1) == ")" && text(index - 2) == "(" && text(index - 3) == "fetchRequest"
      && text(index - 4) == "." && isWord(index - 5)
    if isCall, text(index - 5) == text(close - 1) { return }
    // A name before the cast is copied, and so is the request of a class; longer expressions are left to be
    // looked at.
    let last: Int = isCall ? index - 5 : index - 1
    var start: Int = isWord(last) ? last : index
    while start < index, text(start - 1) == ".", isWord(start - 2) { start -= 2 }
    let before: String = text(start - 1)
    guard text(index + 1) == "!", start < index, text(start) != ".",
      ["return", "in", "=", "(", ",", ":", "{"].contains(before), !isCall || !isOpen(result)
    else { return note(.genericRequest, at: range(index, close + 1)) }
    note(.requestCast, at: range(start, close + 1))
    edits.append(
      Edit(
        range: range(start, close + 1),
        text: "NSFetchRequest<\(result)>(\(source[range(start, index)]))"))
  }

  /// Whether the type of a result is one that only the caller knows.
  private func isOpen(_ result: String) -> Bool { ["Self", "T", "NSManagedObject"].contains(result) }

  private mutating func ambiguous(_ index: Int) {
    guard !hasAliases, text(index - 1) != ".",
      file.imports.contains(where: { Self.exportingFoundation.contains($0.module) })
    else { return }
    note(.ambiguousName, at: tokens[index].range)
    // Files that are kept are for both platforms; their module has one file of aliases.
    if style == .built {
      let module: String = typeNames.contains("CoreData") ? "CoreDataPredicates" : "CoreData"
      edits.append(Edit(range: tokens[index].range, text: "\(module).\(text(index))"))
    }
  }

  // MARK: Imports

  private static let fromFoundation: Set<String> = [
    "ValueTransformer", "NSValueTransformerName", "UndoManager", "NSSecureUnarchiveFromDataTransformer",
    "NSUnarchiveFromDataTransformerName",
  ]

  private mutating func importedModule(_ index: Int) -> Int {
    guard isWord(index + 1), tokens[index].startsLine || text(index - 2) == "@" || isWord(index - 1) else {
      return index + 1
    }
    let isScoped: Bool =
      ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"].contains(text(index + 1))
    let module: String = text(isScoped ? index + 2 : index + 1)
    var last: Int = index + (isScoped ? 3 : 2)
    while text(last) == ".", isWord(last + 1) { last += 2 }
    // A module of the program can have the name of Apple's.
    guard platform.canImport(module) == false, module != "CoreFoundation" else {
      submodule(index, last)
      return last
    }
    let isPlain: Bool =
      !isScoped && tokens[index].startsLine && (tokens.count == last || tokens[last].startsLine)
    guard isPlain else {
      note(.appleModuleMember, at: range(index, last))
      return last
    }
    note(.appleModule, at: range(index, last))
    // These modules import Foundation.
    if style == .built {
      edits.append(Edit(range: range(index, last), text: "import Foundation"))
    } else {
      let line: Int = source.position(of: tokens[index].range.lowerBound).line
      let indent: Substring = source.line(at: line).prefix { $0.isWhitespace }
      // The whole module, also for a part such as `os.log`: a module that is written in Swift has none.
      edits.append(
        Edit(
          range: range(index, last),
          text: [
            "#if canImport(\(module))", "  import \(module)", "#else", "  import Foundation", "#endif",
          ].joined(separator: "\n\(indent)")))
    }
    return last
  }

  /// `import CoreData.CoreDataDefines`, `import os.log` over a module `os` of the program: parts are those of
  /// C's modules, and a module written in Swift has none.
  private mutating func submodule(_ index: Int, _ last: Int) {
    let module: String = text(index + 1)
    guard last > index + 2, module == "CoreData" || Platform.appleModules.contains(module) else { return }
    note(.appleSubmodule, at: range(index, last))
    edits.append(Edit(range: range(index + 2, last), text: ""))
  }

  /// Adds the import of CoreData where Foundation has on Apple's platforms what is in CoreData here, and that
  /// of Foundation where another module brings it along there.
  private mutating func importModules() {
    let imported: Set<String> = Set(file.imports.map(\.module))
    for (module, names) in Self.partsOfFoundation where !imported.contains(module) {
      guard let first = importedFirst(),
        let use = tokens.indices.first(where: {
          names.contains(text($0)) && text($0 - 1) != "." && !typeNames.contains(text($0))
        })
      else { continue }
      add(module, after: first, for: use, isConditional: true)
    }
    guard !imported.contains("CoreData"), let first = importedFirst() else { return }
    if let use = tokens.indices.first(where: { needsCoreData($0) }) {
      add("CoreData", after: first, for: use)
    } else if imported.isDisjoint(with: Self.exportingFoundation),
      !tokens.indices.contains(where: { text($0) == "import" && platform.canImport(text($0 + 1)) == false }
      ),
      let use = tokens.indices.first(where: { Self.foundation.contains(text($0)) && text($0 - 1) != "." }),
      !typeNames.contains(text(use))
    {
      add("Foundation", after: first, for: use)
    }
  }

  private static let exportingFoundation: Set<String> = [
    "Foundation", "XCTest", "FoundationXML", "FoundationNetworking",
  ]

  /// What the names of CoreData's classes begin with, which other imports bring along on Apple's platforms.
  private static let classes: [String] = [
    "NSManagedObject", "NSPersistentStore", "NSPersistentContainer", "NSFetchRequest", "NSFetchedResults",
    "NSEntityDescription", "NSAttributeDescription", "NSRelationshipDescription", "NSPropertyDescription",
    "NSMergePolicy", "NSMigrationManager", "NSMappingModel", "NSEntityMigrationPolicy", "NSAsynchronousFetch",
  ]

  /// Names that are not likely to be those of a program.
  private static let foundation: Set<String> = [
    "Bundle", "Date", "Data", "URL", "UUID", "Decimal", "Notification", "NotificationCenter", "NSNumber",
    "NSObject", "NSPredicate", "NSSet", "NSOrderedSet", "NSSortDescriptor", "NSString", "FileManager",
    "IndexSet",
    "NSDecimalNumber", "NSError", "TimeInterval", "DateFormatter",
  ]

  /// What Foundation has on Apple's platforms and modules of their own have here.
  private static let partsOfFoundation: [(module: String, names: Set<String>)] = [
    (
      "FoundationNetworking",
      [
        "URLSession", "URLRequest", "HTTPURLResponse", "URLResponse", "URLSessionConfiguration",
        "URLSessionTask", "URLSessionDataTask", "URLSessionDownloadTask", "URLSessionDelegate", "URLProtocol",
        "URLCache", "URLCredential", "HTTPCookie", "HTTPCookieStorage", "NSMutableURLRequest",
      ]
    ), ("FoundationXML", ["XMLParser", "XMLParserDelegate", "XMLDocument", "XMLElement", "XMLNode"]),
  ]

  /// The first import that is a line of its own.
  private func importedFirst() -> Int? {
    tokens.indices.first {
      text($0) == "import" && tokens[$0].startsLine && isWord($0 + 1)
        && ($0 + 2 == tokens.count || tokens[$0 + 2].startsLine)
    }
  }

  /// `isConditional`: for a module that Apple's platforms lack.
  private mutating func add(
    _ module: String, after index: Int, for use: Int, isConditional: Bool = false
  ) {
    note(.missingImport, at: tokens[use].range)
    let place: Int = tokens[index + 1].range.upperBound
    let kept: String =
      isConditional
      ? "\n#if canImport(\(module))\n  import \(module)\n#endif" : "\nimport \(module)"
    edits.append(Edit(range: place..<place, text: style == .built ? "; import \(module)" : kept))
  }

  private func needsCoreData(_ index: Int) -> Bool {
    guard isWord(index), text(index - 1) != "." || text(index - 2) == "Foundation" else { return false }
    let name: String = text(index)
    if Self.fromFoundation.contains(name) { return !typeNames.contains(name) }
    if name.hasPrefix("NS"), Self.classes.contains(where: { name.hasPrefix($0) }),
      AppleClasses.module(of: name) == nil
    {
      return !typeNames.contains(name)
    }
    // Foundation's are empty.
    if Porter.emptyNames.contains(name) { return true }
    let arguments: [String: Set<String>] = [
      "NSPredicate": ["format"], "NSSortDescriptor": ["key"],
      "NSExpression": ["format", "forKeyPath", "forFunction"],
    ]
    return text(index + 1) == "(" && arguments[name]?.contains(text(index + 2)) == true
  }

  // MARK: Managed members

  private mutating func rewriteMembers(_ types: [TypeDeclaration]) {
    for type in types {
      var properties: Set<String> = []
      for member in type.members { if case .property = member.form { properties.insert(member.name) } }
      for list in Dictionary(grouping: type.members, by: { $0.range.lowerBound }).values.sorted(by: {
        $0[0].range.lowerBound < $1[0].range.lowerBound
      }) {
        rewrite(list, in: type, properties)
      }
      rewriteMembers(type.types)
    }
  }

  /// - Parameter members: those of one declaration: `@NSManaged var a: Int16, b: Int16`.
  private mutating func rewrite(
    _ members: [ManagedMember], in type: TypeDeclaration, _ properties: Set<String>
  ) {
    let first: ManagedMember = members[0]
    if style == .kept {
      guard first.objectiveCName != nil, members.count == 1 else { return }
      // Without the attribute, the role is that of the Swift name.
      let plain: ManagedMember = first.named(nil)
      guard case .success(let role) = MemberRole.role(of: first, properties: properties) else { return }
      if case .success(role) = MemberRole.role(of: plain, properties: properties) { return }
      note(.renamedProperty, at: first.range)
    }
    var roles: [(ManagedMember, MemberRole)] = []
    for member in members {
      switch MemberRole.role(of: member, properties: properties) {
      case .success(let role): roles.append((member, role))
      case .failure(let unplaced):
        note(
          .hiddenMember, at: member.range,
          "This member can't be given a body: \(unplaced.reason). Write it by hand.")
        return
      }
    }
    if style == .built { note(.managedMember, at: first.range) }
    let isGeneric: Bool = !type.genericParameters.isEmpty || type.isConstrained
    let prefix: String = self.prefix(of: first)
    var keys: [String: String] = [:]
    func key(_ name: String) -> String {
      if isGeneric || style == .kept { return "\"\(name)\"" }
      if let known = keys[name] { return "Self.\(known)" }
      let made: String = "_managedKey\(first.offset)_\(keys.count)"
      keys[name] = made
      return "Self.\(made)"
    }
    var parts: [String] = []
    for (index, (member, role)) in roles.enumerated() {
      let start: String =
        index == 0 ? prefix : prefix.split(whereSeparator: \.isNewline).joined(separator: " ")
      switch member.form {
      case .property(let type):
        let body = ManagedBody(role, type: type, types, key: key)
        // `T!` would fit the accessors of T and of T?.
        let get: String =
          type.text.hasSuffix("!") && body.get.hasPrefix("managedValue")
          ? "\(body.get) as \(type.text.dropLast())?" : body.get
        parts.append(
          "\(start)var \(quoted(member.name)): \(type.text) { get { \(get) } set { \(body.set) } }")
      case .method(let parameters, _):
        let names: [String] = parameters.indices.map { "value\($0)" }
        let list: String = zip(names, parameters).map { "\($1.label ?? "_") \($0): \($1.type.text)" }
          .joined(separator: ", ")
        parts.append(
          "\(start)func \(quoted(member.name))(\(list)) { \(ManagedBody.method(role, names, key: key)) }")
      }
    }
    for (name, made) in keys.sorted(by: { $0.value < $1.value }) {
      parts.append("nonisolated private static let \(made) = ManagedKey(\"\(name)\")")
    }
    var text: String = parts.joined(separator: "; ")
    // Later lines stay where they are.
    let lines: Int = source[first.range].count { $0.isNewline } - text.count { $0.isNewline }
    for _ in 0..<max(lines, 0) { text += "\n" }
    edits.append(Edit(range: first.range, text: text))
  }

  private func quoted(_ name: String) -> String {
    [
      "class", "default", "in", "is", "as", "for", "self", "init", "operator", "protocol", "repeat",
      "extension",
      "import", "return", "case", "switch", "where", "static", "public", "private", "internal", "func", "var",
      "let",
      "true", "false", "nil", "if", "else", "do", "try", "throw", "throws", "while", "break", "continue",
      "enum",
      "struct", "super", "subscript", "typealias", "any", "guard", "defer", "catch", "Any", "Type",
    ].contains(name) ? "`\(name)`" : name
  }

  /// What precedes `var` or `func`, without `@NSManaged` and what there is no use for.
  private func prefix(of member: ManagedMember) -> String {
    var text: String = ""
    var index: Int = tokens.firstIndex { $0.range.lowerBound == member.range.lowerBound } ?? 0
    var previous: Int = member.range.lowerBound
    while index < tokens.count, self.text(index) != "var", self.text(index) != "func" {
      var last: Int = index + 1
      if self.text(index) == "@" {
        last = index + 2
        if self.text(last) == "(", !tokens[last].isSpaced { last = end(of: last) }
      } else if self.text(index + 1) == "(" {
        last = end(of: index + 1)
      }
      let name: String = self.text(index) == "@" ? self.text(index + 1) : self.text(index)
      text += gap(previous, tokens[index].range.lowerBound)
      if name != "NSManaged", name != "dynamic", !Self.removed.contains(name) {
        text += source[range(index, last)]
      } else if style == .built {
        text += String(source[range(index, last)].map { $0.isNewline ? $0 : " " })
      }
      previous = tokens[last - 1].range.upperBound
      index = last
    }
    text += gap(previous, tokens[index].range.lowerBound)
    return style == .kept ? text.trimmed + (text.trimmed.isEmpty ? "" : " ") : text
  }

  /// White space between two tokens; comments are left out.
  private func gap(_ start: Int, _ end: Int) -> String {
    guard start < end else { return "" }
    let text: String = source[start..<end]
    return text.allSatisfy(\.isWhitespace) ? text : String(text.filter(\.isNewline)) + " "
  }

  // MARK: Edits

  mutating func edit(_ range: Range<Int>, _ text: String) { edits.append(Edit(range: range, text: text)) }

  /// Removes tokens with the white space after them, or with the line if nothing else is on it.
  mutating func remove(_ first: Int, _ last: Int) {
    let range: Range<Int> = range(first, last)
    if style == .built {
      let blank = String(source[range].map { $0.isNewline ? $0 : " " })
      edits.append(Edit(range: range, text: blank))
      return
    }
    let bytes: [UInt8] = source.bytes
    var end: Int = range.upperBound
    while end < bytes.count, bytes[end] == Ascii.space || bytes[end] == Ascii.tab { end += 1 }
    var start: Int = range.lowerBound
    while start > 0, bytes[start - 1] == Ascii.space || bytes[start - 1] == Ascii.tab { start -= 1 }
    let endsLine: Bool =
      end == bytes.count || bytes[end] == Ascii.newline || bytes[end] == Ascii.carriageReturn
    if endsLine, start == 0 || bytes[start - 1] == Ascii.newline {
      if end < bytes.count, bytes[end] == Ascii.carriageReturn { end += 1 }
      if end < bytes.count { end += 1 }
      edits.append(Edit(range: start..<end, text: ""))
    } else if endsLine {
      edits.append(Edit(range: start..<range.upperBound, text: ""))
    } else {
      edits.append(Edit(range: range.lowerBound..<end, text: ""))
    }
  }

  /// With the line ends of the file.
  private func lineEnds(of text: [UInt8]) -> [UInt8] {
    guard source.hasCarriageReturns else { return text }
    var result: [UInt8] = []
    for byte in text {
      if byte == Ascii.newline, result.last != Ascii.carriageReturn { result.append(Ascii.carriageReturn) }
      result.append(byte)
    }
    return result
  }

  /// A finding where its place is after the edits, each with its end in the new text; in what was replaced,
  /// at the end of that.
  private func moved(
    _ finding: PortingFinding, _ places: [(old: Range<Int>, new: Int)], to text: SourceText
  ) -> PortingFinding {
    let offset: Int = source.lineStarts[finding.line - 1] + finding.column - 1
    guard let edit = places.last(where: { $0.old.lowerBound <= offset }) else { return finding }
    let new: Int = edit.new + max(0, offset - edit.old.upperBound)
    let (line, column) = text.position(of: min(new, text.bytes.count))
    return finding.at(line: line, column: column)
  }

  func result() -> Porter.Result {
    // A managed declaration is replaced as a whole, with the attributes in it.
    let ordered: [Edit] = edits.sorted {
      ($0.range.lowerBound, -$0.range.upperBound) < ($1.range.lowerBound, -$1.range.upperBound)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.bytes.count)
    var position: Int = 0
    var changed: Set<Int> = []
    var places: [(old: Range<Int>, new: Int)] = []
    for edit in ordered {
      guard edit.range.lowerBound >= position else { continue }
      bytes += source.bytes[position..<edit.range.lowerBound]
      let text: [UInt8] = lineEnds(of: Array(edit.text.utf8))
      places.append((edit.range, bytes.count + text.count))
      bytes += text
      position = edit.range.upperBound
      let (first, _) = source.position(of: edit.range.lowerBound)
      let (last, _) = source.position(of: max(edit.range.lowerBound, edit.range.upperBound - 1))
      changed.formUnion(first...last)
    }
    bytes += source.bytes[position...]
    let sorted: [PortingFinding] = findings.sorted {
      ($0.line, $0.column, $0.rule.rawValue) < ($1.line, $1.column, $1.rule.rawValue)
    }
    let written = SourceText(path: source.path, String(decoding: bytes, as: UTF8.self))
    return Porter.Result(
      source: source, text: written.text, findings: sorted,
      findingsWhenWritten: sorted.map { moved($0, places, to: written) }, changedLineCount: changed.count)
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
