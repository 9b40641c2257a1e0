/// How the classes of a model are written.
public struct CodeGenerationOptions: Sendable, Hashable {
  /// Who may use the classes and their members.
  public enum Access: String, Sendable, CaseIterable {
    case `public`
    case `package`
    case `internal`
    /// Classes are open; members, which are in extensions, are public.
    case open
  }

  /// How a property reads and writes its value.
  public enum Accessors: String, Sendable, CaseIterable {
    /// Computed properties over slots. Needs nothing but this framework.
    case slots
    /// `@NSManaged`, as Xcode writes it, with attributes for Objective-C where there is Objective-C. Off
    /// Apple's platforms the accessors have to be given to the linker (Documentation/classes.md).
    case managed
    /// Both, each where it works: `@NSManaged` with Objective-C, slots without.
    case portable
  }

  /// The type of a to-many relationship's property.
  public enum Collections: String, Sendable, CaseIterable {
    /// `NSSet?` and `NSOrderedSet?`, as Xcode writes them.
    case foundation
    /// `Set<Tag>` and, for ordered relationships, `[Tag]`; neither is optional. Not with `@NSManaged`, which
    /// has no arrays for relationships.
    case swift
  }

  /// The entities for which classes are written.
  public enum Entities: String, Sendable, CaseIterable {
    /// Those for which the model says so ("Codegen" in Xcode's inspector: Class Definition,
    /// Category/Extension).
    case asModelled
    /// All, as Xcode's menu command "Create NSManagedObject Subclass" does.
    case all
  }

  public var access: Access
  public var accessors: Accessors
  public var collections: Collections
  public var entities: Entities
  /// Whether fetched properties have accessors. Xcode writes none, and programs for both platforms declare
  /// them by hand.
  public var fetchedProperties: Bool
  /// The module that the files are compiled in, without which a class name such as `Shop.Item` is `Item` of
  /// that module.
  public var module: String?
  /// Other modules that class names of the model may begin with. What else stands before a dot is a type in
  /// which the class is nested.
  public var otherModules: Set<String>

  public init(
    access: Access = .public, accessors: Accessors = .slots, collections: Collections = .foundation,
    entities: Entities = .asModelled, fetchedProperties: Bool = true, module: String? = nil,
    otherModules: Set<String> = []
  ) {
    self.access = access
    self.accessors = accessors
    self.collections = collections
    self.entities = entities
    self.fetchedProperties = fetchedProperties
    self.module = module
    self.otherModules = otherModules
  }
}

/// What the generator found in a model that no code, or other code than expected, was written for.
public struct CodeGenerationMessage: Sendable, Hashable, CustomStringConvertible {
  public enum Severity: String, Sendable {
    case warning
    case error
  }

  public let severity: Severity
  /// The file of the model.
  public let file: String
  /// The line of the entity or property, where the model is a source.
  public let line: Int?
  public let text: String

  /// As compilers write it: `file:line: warning: text`.
  public var description: String {
    "\(file):\(line.map { "\($0):" } ?? "") \(severity.rawValue): \(text)"
  }
}

/// A generated source file.
public struct GeneratedFile: Sendable, Hashable {
  /// What each of them begins with.
  public static let firstLine: String =
    "// This file was automatically generated from a model and should not be edited."

  /// `Item+CoreDataProperties.swift`
  public let name: String
  public let contents: String
}

/// The result of generating the classes of a model.
public struct GeneratedClasses: Sendable {
  public let files: [GeneratedFile]
  public let messages: [CodeGenerationMessage]

  public var hasErrors: Bool { messages.contains { $0.severity == .error } }
}
