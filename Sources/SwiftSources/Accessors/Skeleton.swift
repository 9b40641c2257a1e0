/// The declarations of a module that decide how the compiler names the accessors of its managed members, and
/// nothing else: a file for each file that has any, of the same name, since the names of private members
/// depend on it.
///
/// Types of the module that members mention are there as empty types of their kind; other modules are empty
/// modules of their names. So the skeleton compiles in a fraction of a second, before anything else of the
/// program does, and its text does not change when bodies or comments do.
struct Skeleton {
  struct File: Hashable {
    let module: String
    let name: String
    var text: String
  }

  /// Modules in the order in which they are to be compiled, the skeleton of the module itself last.
  private(set) var modules: [String] = []
  private(set) var files: [File] = []
  /// The member that is declared at a line (from 1) of a file of the module.
  private(set) var memberAtLine: [String: [Int: Int]] = [:]
  /// Aliases whose types may be unknown, by place.
  private(set) var aliasAtLine: [String: [Int: String]] = [:]

  private let types: ModuleTypes
  private let needed: Set<String>
  private let members: [PlacedMember]
  private let omitted: Set<Int>
  private let omittedAliases: Set<String>
  private var printed: Set<String> = []
  private var lines: [String] = []

  /// - Parameters:
  ///   - members: those of the first module of `types`.
  ///   - omitted: indexes of members that do not compile.
  init(
    _ members: [PlacedMember], _ types: ModuleTypes, without omitted: Set<Int> = [],
    aliases omittedAliases: Set<String> = []
  ) {
    self.types = types
    self.members = members
    self.omitted = omitted
    self.omittedAliases = omittedAliases
    let kept: [PlacedMember] = members.enumerated().filter { !omitted.contains($0.offset) }.map(\.element)
    needed = types.closure(
      of: kept.reduce(into: []) { $0.formUnion($1.member.names.union($1.owner)) })
    addCoreData()
    for (index, module) in types.modules.enumerated().dropFirst().reversed() {
      printed = []
      addStandIn(for: module, index)
    }
    printed = []
    modules.append(types.modules[0].name)
    var first: [String: Int] = [:]
    for (index, member) in members.enumerated() where !omitted.contains(index) {
      first["\(member.file) \(member.member.offset)"] = index
    }
    for (index, file) in types.modules[0].files.enumerated() {
      lines = []
      appendImports(file)
      let count: Int = lines.count
      for declaration in file.declarations {
        append(declaration, index, file.source.fileName, "", [], first, isPublic: false)
      }
      if lines.count > count {
        files.append(
          File(module: types.modules[0].name, name: file.source.fileName, text: text(lines)))
      }
    }
  }

  /// What decides whether a compilation can be reused.
  var fingerprint: String {
    files.map { "\($0.module)/\($0.name)\n\($0.text)" }.joined(separator: "\n")
  }

  private func text(_ lines: [String]) -> String { lines.joined(separator: "\n") + "\n" }

  // MARK: Modules

  private mutating func addCoreData() {
    var umbrella: [String] = ["@_exported import Foundation"]
    for (module, classes) in CoreDataTypes.classes.sorted(by: { $0.key < $1.key }) {
      let used: [String] = classes.filter { needed.contains($0) || $0 == "NSManagedObject" }
      if used.isEmpty { continue }
      var lines: [String] = ["import Foundation"]
      for name in used {
        lines.append("open class \(name): Hashable {")
        lines.append("  public init() {}")
        lines += Self.equality(of: name, isPublic: true)
        lines.append("}")
        if CoreDataTypes.aliases[name] == module {
          umbrella.append("public typealias \(name) = \(module).\(name)")
        }
      }
      modules.append(module)
      files.append(File(module: module, name: "\(module).swift", text: text(lines)))
      umbrella.insert("@_exported import \(module)", at: 0)
    }
    modules.append("CoreData")
    files.append(File(module: "CoreData", name: "CoreData.swift", text: text(umbrella)))
  }

  private mutating func addStandIn(for module: ModuleTypes.Module, _ index: Int) {
    lines = ["import CoreData", "import CoreDataGraph"]
    for other in modules where other != "CoreData" && CoreDataTypes.classes[other] == nil {
      lines.append("import \(other)")
    }
    for (fileIndex, file) in module.files.enumerated() {
      for declaration in file.declarations {
        append(declaration, fileIndex, "\(module.name).swift", "", [], [:], isPublic: true)
      }
    }
    modules.append(module.name)
    files.append(File(module: module.name, name: "\(module.name).swift", text: text(lines)))
  }

  private mutating func appendImports(_ file: ScannedFile) {
    lines += ["import CoreData", "import CoreDataGraph"]
    var seen: Set<String> = ["CoreData", "CoreDataGraph"]
    for written in file.imports where seen.insert(written.module).inserted {
      if Platform.toolchainModules.contains(written.module) || modules.contains(written.module) {
        lines.append("import \(written.module)")
      }
    }
  }

  // MARK: Declarations

  /// Whether anything in a declaration is to be printed.
  private func isUsed(_ type: TypeDeclaration, _ file: Int, _ members: [String: Int]) -> Bool {
    if type.kind != .extension, needed.contains(type.name.last ?? "") { return true }
    if type.members.contains(where: { members["\(file) \($0.offset)"] != nil }) { return true }
    return type.types.contains { isUsed($0, file, members) }
  }

  private mutating func append(
    _ type: TypeDeclaration, _ file: Int, _ fileName: String, _ indent: String, _ path: [String],
    _ known: [String: Int], isPublic: Bool
  ) {
    guard isUsed(type, file, known), !type.isConstrained, !(isPublic && type.isHidden) else { return }
    let path: [String] = path + type.name
    // A type that is declared in several branches of `#if` is needed once.
    if type.kind != .extension, !printed.insert(path.joined(separator: ".")).inserted { return }
    let hidden: String = type.isHidden ? "\(type.access?.rawValue ?? "") " : isPublic ? "public " : ""
    let access: String = indent + (type.kind == .extension && isPublic ? "" : hidden)
    let parameters: String =
      type.genericParameters.isEmpty ? "" : "<\(type.genericParameters.joined(separator: ", "))>"
    let name: String = type.name.map { "`\($0)`" }.joined(separator: ".") + parameters
    switch type.kind {
    case .typealias:
      guard let aliased = type.inherited.first, !omittedAliases.contains(path.joined(separator: ".")) else {
        return
      }
      lines.append("\(access)typealias \(name) = \(aliased.text)")
      aliasAtLine[fileName, default: [:]][lines.count] = path.joined(separator: ".")
      return
    case .protocol:
      lines.append("\(access)protocol \(name) {}")
      return
    case .actor: lines.append("\(access)actor \(name) {")
    case .extension: lines.append("\(access)extension \(name) {")
    case .struct, .enum:
      lines.append("\(access)\(type.kind.rawValue) \(name): Hashable {")
      lines += Self.equality(of: "Self", isPublic: isPublic).map { indent + $0 }
    case .class:
      let access: String = isPublic ? indent + "open " : access
      lines.append("\(access)class \(name): \(superclass(of: type)) {")
    }
    for inner in type.types {
      append(inner, file, fileName, indent + "  ", path, known, isPublic: isPublic)
    }
    var names: Set<String> = []
    for member in type.members {
      guard let index = known["\(file) \(member.offset)"], names.insert(Self.signature(member)).inserted
      else { continue }
      lines.append(indent + "  " + declaration(of: members[index].member, in: type))
      memberAtLine[fileName, default: [:]][lines.count] = index
    }
    lines.append(indent + "}")
  }

  private static func equality(of type: String, isPublic: Bool) -> [String] {
    let access: String = isPublic ? "public " : ""
    return [
      "  \(access)static func == (one: \(type), other: \(type)) -> Bool { true }",
      "  \(access)func hash(into hasher: inout Hasher) {}",
    ]
  }

  /// The class above, if a module of the program declares it, for the types that are nested in it.
  private func superclass(of type: TypeDeclaration) -> String {
    if let first = type.inherited.first,
      let last = first.text.split(separator: ".").last.map(String.init),
      let found = types.found(last).first(where: { $0.declaration.kind == .class }),
      found.declaration.genericParameters.isEmpty, last != type.name.last
    {
      return first.text
    }
    return "CoreDataGraph.NSManagedObject"
  }

  /// What two members of a class can't have in common.
  private static func signature(_ member: ManagedMember) -> String {
    switch member.form {
    case .property: member.name
    case .method(let parameters, _):
      "\(member.name)(\(parameters.map { "\($0.label ?? "_"):\($0.type.text)" }.joined(separator: ",")))"
    }
  }

  private func declaration(of member: ManagedMember, in type: TypeDeclaration) -> String {
    var text: String = ""
    if member.access == .private || member.access == .fileprivate {
      text += "\(member.access?.rawValue ?? "") "
    }
    if member.isOverride, isInherited(member, by: type) { text += "override " }
    switch member.form {
    case .property(let declared):
      return text + "var `\(member.name)`: \(declared.text) { get { fatalError() } set { fatalError() } }"
    case .method(let parameters, let result):
      let list: [String] = parameters.enumerated().map {
        "\($0.element.label.map { "\($0) " } ?? "_ ")value\($0.offset): \($0.element.type.text)"
      }
      let arrow: String = result.map { " -> \($0.text)" } ?? ""
      return text + "func `\(member.name)`(\(list.joined(separator: ", ")))\(arrow) { fatalError() }"
    }
  }

  /// Whether a class above has the member in the skeleton too.
  private func isInherited(_ member: ManagedMember, by type: TypeDeclaration) -> Bool {
    var name: String? = type.name.last
    var seen: Set<String> = []
    let wanted: String = Self.signature(member)
    while let current = name, seen.insert(current).inserted {
      name = types.found(current).first { $0.declaration.kind == .class }?.declaration.inherited.first
        .flatMap { $0.text.split(separator: ".").last.map(String.init) }
      if let name, owns(name, wanted) { return true }
    }
    return false
  }

  private func owns(_ type: String, _ signature: String) -> Bool {
    members.enumerated().contains {
      !omitted.contains($0.offset) && $0.element.owner.last == type
        && Self.signature($0.element.member) == signature
    }
  }
}
