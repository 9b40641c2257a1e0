/// The types that the sources of several modules declare.
struct ModuleTypes {
  struct Module {
    let name: String
    let files: [ScannedFile]
  }

  /// The module of the members first, then those it imports.
  let modules: [Module]
  /// By last component of the name: what declares it, and whether other files of its module can name it.
  private var byName: [String: [Found]] = [:]

  struct Found {
    let module: Int
    let file: Int
    let declaration: TypeDeclaration
    /// The names of what is around it, outermost first.
    let path: [String]
    /// Whether it, or a type around it, is private to its file.
    let isHidden: Bool
  }

  init(_ modules: [Module]) {
    self.modules = modules
    for (index, module) in modules.enumerated() {
      for (file, scanned) in module.files.enumerated() {
        add(scanned.declarations, index, file, [], isHidden: false)
      }
    }
  }

  private mutating func add(
    _ types: [TypeDeclaration], _ module: Int, _ file: Int, _ path: [String], isHidden: Bool
  ) {
    for type in types {
      let isHidden: Bool = isHidden || (type.isHidden && type.kind != .extension)
      if type.kind != .extension, let name = type.name.last {
        byName[name, default: []].append(
          Found(module: module, file: file, declaration: type, path: path, isHidden: isHidden))
      }
      // Types in a private extension are private to the file.
      add(type.types, module, file, path + type.name, isHidden: isHidden || type.isHidden)
    }
  }

  func found(_ name: String) -> [Found] { byName[name] ?? [] }

  /// A type as an extension of `owner` has to write it. A class in another type sees the types beside it by
  /// their names alone; an extension of that class does not.
  func text(of type: TypeText, in owner: [String]) -> String {
    var outer: [String: String] = [:]
    for name in type.names {
      for count in stride(from: owner.count, to: 0, by: -1) {
        let path: [String] = Array(owner.prefix(count))
        guard found(name).contains(where: { $0.module == 0 && $0.path == path }) else { continue }
        // Its own types an extension sees.
        if count < owner.count { outer[name] = path.joined(separator: ".") + "." }
        break
      }
    }
    if outer.isEmpty { return type.text }
    var result: String = ""
    var rest: Substring = type.text[...]
    while let first = rest.first {
      let word: Substring = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      guard !word.isEmpty else {
        result.append(first)
        rest = rest.dropFirst()
        continue
      }
      if let prefix = outer[String(word)], result.last != "." { result += prefix }
      result += word
      rest = rest[word.endIndex...]
    }
    return result
  }

  /// Whether a class of these modules is one of managed objects, as far as its superclasses are known.
  func isManaged(_ name: String) -> Bool {
    var current: String = name
    var seen: Set<String> = []
    while seen.insert(current).inserted {
      if current == "NSManagedObject" { return true }
      guard let found = found(current).first(where: { $0.declaration.kind == .class })?.declaration else {
        return false
      }
      if !found.members.isEmpty { return true }
      current = String(found.inherited.first?.text.split(separator: ".").last ?? "")
    }
    return false
  }

  /// The names of types that these names lead to, by type aliases and superclasses.
  func closure(of names: Set<String>) -> Set<String> {
    var reached: Set<String> = []
    var waiting: [String] = Array(names)
    while let name = waiting.popLast() {
      guard reached.insert(name).inserted else { continue }
      for found in found(name) {
        waiting += found.path
        switch found.declaration.kind {
        case .typealias, .class: waiting += found.declaration.inherited.flatMap { $0.names }
        default: break
        }
      }
    }
    return reached
  }
}
