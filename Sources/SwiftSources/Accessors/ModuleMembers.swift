/// A member with `@NSManaged`, with the type that declares it and what it does.
struct PlacedMember {
  let member: ManagedMember
  /// The index of the file in its module.
  let file: Int
  /// `["Shop", "Item"]` for a member of `Shop.Item`.
  let owner: [String]
  /// The access of the generated functions: that of the member, as the linkage must be the same. Private
  /// members are called from their own file only, and their symbols have the linkage of internal ones.
  let access: String
  let role: MemberRole
}

/// A remark on a place in a source file.
package struct SourceRemark: Hashable, Sendable, CustomStringConvertible {
  package let path: String
  package let line: Int
  package let column: Int
  package let message: String

  package init(_ source: SourceText, at offset: Int, _ message: String) {
    path = source.path
    (line, column) = source.position(of: offset)
    self.message = message
  }

  /// As compilers write it.
  package var description: String { "\(path):\(line):\(column): warning: \(message)" }
}

/// The members of a module that need accessors, and those that can't have generated ones.
struct ModuleMembers {
  private(set) var placed: [PlacedMember] = []
  private(set) var remarks: [SourceRemark] = []
  private let files: [ScannedFile]
  private let types: ModuleTypes

  init(_ files: [ScannedFile], _ types: ModuleTypes) {
    self.files = files
    self.types = types
    var properties: [String: Set<String>] = [:]
    for file in files { Self.collect(file.declarations, into: &properties) }
    for (index, file) in files.enumerated() {
      for declaration in file.declarations {
        place(declaration, index, [], isHidden: false, isConstrained: false, properties)
      }
      remarks += file.unreadMembers.map { Self.remark(onUnread: $0, file) }
    }
  }

  /// The managed properties by the last name of the class.
  private static func collect(_ types: [TypeDeclaration], into properties: inout [String: Set<String>]) {
    for type in types {
      for member in type.members {
        if case .property = member.form { properties[type.name.last ?? "", default: []].insert(member.name) }
      }
      collect(type.types, into: &properties)
    }
  }

  private mutating func place(
    _ type: TypeDeclaration, _ file: Int, _ path: [String], isHidden: Bool, isConstrained: Bool,
    _ properties: [String: Set<String>]
  ) {
    let path: [String] = path + type.name
    let isConstrained: Bool = isConstrained || type.isConstrained || !type.genericParameters.isEmpty
    // A private extension hides its members, not the class.
    let isOwnerHidden: Bool =
      isHidden || (type.kind == .extension ? isOnlyHidden(type.name.last ?? "") : type.isHidden)
    for member in type.members {
      let reason: String?
      if isOwnerHidden {
        reason = "the class is private to its file. Make it internal"
      } else if isConstrained {
        reason = "the class is generic, or its extension is constrained"
      } else if let name = member.names.sorted().first(where: isOnlyHidden) {
        reason = "the type \(name) is private to its file. Make it internal"
      } else {
        switch MemberRole.role(of: member, properties: properties[path.last ?? ""] ?? []) {
        case .failure(let unplaced): reason = unplaced.reason
        case .success(let role):
          reason = nil
          placed.append(
            PlacedMember(
              member: member, file: file, owner: path, access: Self.access(of: member, in: type), role: role))
        }
      }
      if let reason { remarks.append(remark(on: member, file, reason)) }
    }
    for inner in type.types {
      place(
        inner, file, path, isHidden: isHidden || (type.kind != .extension && type.isHidden),
        isConstrained: isConstrained, properties)
    }
  }

  /// A member that no accessors are made for, as it is in a class inside of a function.
  static func remark(onUnread offset: Int, _ file: ScannedFile) -> SourceRemark {
    SourceRemark(
      file.source, at: offset,
      """
      no accessors can be generated for a member here, so that the program won't link: it is in a function, or \
      its type can't be read. Move the class to the top level of the file, or write the member by hand, with \
      managedValue(_:) and setManagedValue(_:_:)
      """)
  }

  func remark(on member: ManagedMember, _ file: Int, _ reason: String) -> SourceRemark {
    let advice: String
    switch member.form {
    case .property(let type):
      advice = """
        write them: var \(member.name): \(type.text) { get { managedValue("\(member.name)") } \
        set { setManagedValue(newValue, "\(member.name)") } }
        """
    case .method:
      advice = """
        write it without @NSManaged, with addManagedMembers(_:_:), removeManagedMembers(_:_:), \
        insertManagedMember(_:at:_:) or mutableSetValue(forKey:)
        """
    }
    return SourceRemark(
      files[file].source, at: member.offset,
      "no accessors can be generated for '\(member.name)', so that the program won't link: \(reason), or \(advice)"
    )
  }

  /// Whether every type of a name is private to its file. Unknown names are those of other modules.
  private func isOnlyHidden(_ name: String) -> Bool {
    let found: [ModuleTypes.Found] = types.found(name)
    return !found.isEmpty && found.allSatisfy { $0.isHidden && $0.module == 0 }
  }

  private static func access(of member: ManagedMember, in type: TypeDeclaration) -> String {
    let written: Access? = member.access ?? (type.kind == .extension ? type.access : nil)
    switch written {
    case .open?, .public?: return "public "
    case .package?: return "package "
    default: return ""
    }
  }
}
