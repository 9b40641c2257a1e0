/// The Swift file with the functions that the linker misses.
struct AccessorText {
  /// The condition that the compiler decides, and the functions under it, in the order of the sources.
  private var lines: [String] = []
  private var keys: [String: String] = [:]
  private let types: ModuleTypes

  /// - Parameters:
  ///   - symbols: the mangled name of each member, nil for those that are left out.
  static func text(
    _ members: [PlacedMember], symbols: [String?], files: [ScannedFile], types: ModuleTypes
  ) -> String {
    var text = AccessorText(types: types)
    var owner: [String] = []
    var condition: String?
    func close(_ lines: inout [String]) {
      if !owner.isEmpty { lines.append("}") }
      if condition != nil { lines.append("#endif") }
      owner = []
      condition = nil
    }
    for (index, placed) in members.enumerated() {
      guard let symbol = symbols[index] else { continue }
      if placed.owner != owner || placed.member.condition != condition {
        close(&text.lines)
        owner = placed.owner
        condition = placed.member.condition
        if let condition { text.lines.append("#if \(condition)") }
        text.lines.append("extension \(owner.map { "`\($0)`" }.joined(separator: ".")) {")
      }
      text.append(placed, index, symbol)
    }
    close(&text.lines)
    let used: Set<Int> = Set(members.indices.filter { symbols[$0] != nil }.map { members[$0].file })
    return text.head(used.sorted().map { files[$0] }) + text.lines.joined(separator: "\n") + "\n"
  }

  private init(types: ModuleTypes) { self.types = types }

  // MARK: Head

  private func head(_ files: [ScannedFile]) -> String {
    var head: String = """
      // The accessors of members with @NSManaged, under the names by which the compiler calls them. Made from the
      // sources of this module at each build; do not edit.

      """
    head += imports(files).joined(separator: "\n") + "\n\n"
    if !keys.isEmpty {
      head += "private enum ManagedAccessorKeys {\n"
      for (key, name) in keys.sorted(by: { $0.key < $1.key }) {
        head += "  nonisolated static let \(name) = ManagedKey(\"\(key)\")\n"
      }
      head += "}\n\n"
    }
    return head
  }

  /// The imports of the files, each once, with the widest access that one of them gives it.
  private func imports(_ files: [ScannedFile]) -> [String] {
    var found: [String: ScannedFile.Import] = [:]
    var order: [String] = []
    for written in files.flatMap(\.imports) where written.text != "import CoreData" {
      let key: String = "\(written.condition ?? "") \(written.text)"
      if let known = found[key] {
        if known.access != nil, written.access == nil || Self.rank(written) > Self.rank(known) {
          found[key] = written
        }
      } else {
        found[key] = written
        order.append(key)
      }
    }
    return ["import CoreData"]
      + order.sorted().compactMap { found[$0] }.map { written in
        // What only one file may import privately is internal here.
        let access: String =
          switch written.access {
          case nil: ""
          case "private"?, "fileprivate"?: "internal "
          case let access?: "\(access) "
          }
        let line: String = (written.isPreconcurrency ? "@preconcurrency " : "") + access + written.text
        return written.condition.map { "#if \($0)\n\(line)\n#endif" } ?? line
      }
  }

  private static func rank(_ written: ScannedFile.Import) -> Int {
    ["private", "fileprivate", "internal", "package", "public"].firstIndex(of: written.access ?? "") ?? 5
  }

  // MARK: Functions

  private mutating func key(_ name: String) -> String {
    if let known = keys[name] { return "ManagedAccessorKeys.\(known)" }
    let made: String = "key\(keys.count)"
    keys[name] = made
    return "ManagedAccessorKeys.\(made)"
  }

  private mutating func append(_ placed: PlacedMember, _ index: Int, _ symbol: String) {
    switch placed.member.form {
    case .property(let type):
      // A result can't be declared with `!`.
      let written: String = types.text(of: type, in: placed.owner)
      let text: String = written.hasSuffix("!") ? written.dropLast() + "?" : written
      let body: ManagedBody = ManagedBody(placed.role, type: TypeText(text, names: type.names), types) {
        self.key($0)
      }
      let base: Substring = symbol.dropLast()
      lines.append(
        "  @_silgen_name(\"\(base)g\") \(placed.access)nonisolated func _managed\(index)() -> \(text) { \(body.get) }"
      )
      lines.append(
        "  @_silgen_name(\"\(base)s\") \(placed.access)nonisolated func _setManaged\(index)(_ newValue: __owned \(text)) { \(body.set) }"
      )
    case .method(let parameters, _):
      let names: [String] = parameters.indices.map { "value\($0)" }
      let body: String = ManagedBody.method(placed.role, names) { self.key($0) }
      let list: String = zip(names, parameters).map {
        "_ \($0): \(types.text(of: $1.type, in: placed.owner))"
      }.joined(separator: ", ")
      lines.append(
        "  @_silgen_name(\"\(symbol)\") \(placed.access)nonisolated func _managed\(index)(\(list)) { \(body) }"
      )
    }
  }
}

/// The bodies of a getter and a setter, or of a method.
struct ManagedBody {
  let get: String
  let set: String

  /// - Parameter key: the expression of the `ManagedKey` of a name.
  init(_ role: MemberRole, type: TypeText, _ types: ModuleTypes?, key: (String) -> String) {
    switch role {
    case .primitive(let name, let accessor):
      let keys: String = "\(key(name)), \(key(accessor))"
      get = "managedPrimitiveValue(\(keys))"
      set = "setManagedPrimitiveValue(newValue, \(keys))"
    case .mutableSet(let name):
      get = "mutableSetValue(forKey: \"\(name)\")"
      set = "setManagedMembers(newValue as NSSet?, \(key(name)))"
    case .mutableOrderedSet(let name):
      get = "mutableOrderedSetValue(forKey: \"\(name)\")"
      set = "setManagedMembers(newValue as NSOrderedSet?, \(key(name)))"
    case .value(let name):
      let (text, isOptional) = type.unwrapped
      func isManaged(_ text: Substring) -> Bool {
        let path: [Substring] = text.split(separator: ".")
        // `Foundation.Data` is not a class `Data` of the program.
        if path.count > 1, let module = path.first, Platform.toolchainModules.contains(String(module)) {
          return false
        }
        return types?.isManaged(String(path.last ?? "")) == true
      }
      // Related objects have accessors of their own; those of any type find out what they read.
      if isManaged(text[...]) {
        get = "managedObject(\(key(name)))"
        set = "setManagedObject(newValue, \(key(name)))"
        return
      }
      if text.hasPrefix("Set<"), text.hasSuffix(">"), isManaged(text.dropFirst(4).dropLast()) {
        get = isOptional ? "managedSet(\(key(name))) as \(text)" : "managedSet(\(key(name)))"
        set = "setManagedMembers(newValue, \(key(name)))"
        return
      }
      guard Self.acceptsManyTypes(text, types) else {
        get = "managedValue(\(key(name)))"
        set = "setManagedValue(newValue, \(key(name)))"
        return
      }
      // Accessors of other types would fit as well as the one that is meant.
      let bare: String =
        text.hasPrefix("(") && text.hasSuffix(")") ? String(text.dropFirst().dropLast()) : text
      get =
        isOptional
        ? "managedObjectValue(\(key(name)), as: (\(bare)).self)"
        : "managedValue(\(key(name)), as: (\(bare)).self)"
      set = "setManagedObjectValue(newValue, \(key(name)))"
    default:
      get = ""
      set = ""
    }
  }

  private static let broad: Set<String> = [
    "Any", "AnyObject", "AnyHashable", "NSObject", "NSObjectProtocol", "NSCoding", "NSCopying",
    "NSSecureCoding", "Sendable", "CVarArg", "Codable", "Encodable", "Decodable",
  ]

  /// Whether values of unrelated types are of this one.
  private static func acceptsManyTypes(_ text: String, _ types: ModuleTypes?) -> Bool {
    let bare: String = text.hasPrefix("(") && text.hasSuffix(")") ? String(text.dropFirst().dropLast()) : text
    let last: String = String(bare.split(separator: ".").last ?? "")
    return broad.contains(last) || bare.hasPrefix("any ") || bare.contains("&")
      || types?.found(last).contains { $0.declaration.kind == .protocol } == true
  }

  static func method(_ role: MemberRole, _ names: [String], key: (String) -> String) -> String {
    let first: String = names.first ?? ""
    let second: String = names.last ?? ""
    func many(_ isCollection: Bool) -> String { isCollection ? "s" : "" }
    return switch role {
    case .add(let name, let isCollection):
      "addManagedMember\(many(isCollection))(\(first), \(key(name)))"
    case .remove(let name, let isCollection):
      "removeManagedMember\(many(isCollection))(\(first), \(key(name)))"
    case .intersect(let name): "intersectManagedMembers(\(first), \(key(name)))"
    case .insert(let name, let isCollection):
      "insertManagedMember\(many(isCollection))(\(first), at: \(second), \(key(name)))"
    case .removeAt(let name, let isCollection):
      "removeManagedMember\(many(isCollection))(at: \(first), \(key(name)))"
    case .replace(let name, let isCollection):
      "replaceManagedMember\(many(isCollection))(at: \(first), with: \(second), \(key(name)))"
    default: ""
    }
  }
}
