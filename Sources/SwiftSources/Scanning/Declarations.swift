/// What a scan finds in one file: imports, types, and the members that Core Data implements.
package struct ScannedFile: Sendable {
  package let source: SourceText
  package var imports: [Import] = []
  package var declarations: [TypeDeclaration] = []
  /// The offsets of `@NSManaged` in places that are not read: classes in functions.
  package var unreadMembers: [Int] = []

  package struct Import: Hashable, Sendable {
    /// As written, without attributes: `import struct Foundation.Date`.
    package let text: String
    package let module: String
    /// `internal`, `private`, …, if written.
    package let access: String?
    package let isPreconcurrency: Bool
    package let condition: String?
  }
}

/// A nominal type, an extension or a type alias, with the types in it.
package struct TypeDeclaration: Sendable {
  package enum Kind: String, Sendable {
    case `class`, `struct`, `enum`, `protocol`, `actor`, `extension`, `typealias`
  }

  package let kind: Kind
  /// The path that an extension names; one component for others.
  package let name: [String]
  /// `T, each U`: the names alone.
  package var genericParameters: [String] = []
  /// What follows the colon, as written. The type of a type alias.
  package var inherited: [TypeText] = []
  package let access: Access?
  /// `@objc(Name)`, as written.
  package var objectiveCName: String?
  package let offset: Int
  package var types: [TypeDeclaration] = []
  package var members: [ManagedMember] = []
  /// The condition that only the compiler can decide.
  package let condition: String?
  /// An extension with a `where` clause, or of a type with generic arguments.
  package var isConstrained: Bool = false
  /// The offsets between its braces.
  package var body: Range<Int>?

  func withoutMembers() -> TypeDeclaration {
    var copy: TypeDeclaration = self
    copy.members = []
    copy.types = types.map { $0.withoutMembers() }
    return copy
  }

  /// Whether other files of the module can't name it.
  package var isHidden: Bool { access == .private || access == .fileprivate }
}

/// An access level, as written.
package enum Access: String, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, `open`
}

/// A type as written, with the names in it.
package struct TypeText: Hashable, Sendable {
  package let text: String
  /// Every name in it, of modules and outer types too.
  package let names: Set<String>

  package init(_ text: String, names: Set<String>) { (self.text, self.names) = (text, names) }

  /// Without `?` or `!` at its end, and whether there was one.
  package var unwrapped: (text: String, isOptional: Bool) {
    if text.hasSuffix("?") || text.hasSuffix("!") { return (String(text.dropLast()), true) }
    return (text, false)
  }
}

/// A property or a method with `@NSManaged`.
package struct ManagedMember: Sendable {
  package enum Form: Sendable {
    case property(TypeText)
    case method([Parameter], result: TypeText?)
  }

  package struct Parameter: Sendable {
    /// nil for `_`.
    package let label: String?
    package let type: TypeText
  }

  package let name: String
  package let form: Form
  package let access: Access?
  package let isOverride: Bool
  /// `@objc(name)`, the name or the selector that Core Data would see on Apple's platforms.
  package let objectiveCName: String?
  /// The offset of the name.
  package let offset: Int
  /// The whole declaration with its attributes.
  package let range: Range<Int>
  package let condition: String?

  package var names: Set<String> {
    switch form {
    case .property(let type): type.names
    case .method(let parameters, let result):
      parameters.reduce(into: result?.names ?? []) { $0.formUnion($1.type.names) }
    }
  }
}
