import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import CoreDataPredicates
import Foundation

/// `clarus model add MODEL …`: versions, entities and properties.
///
/// The model stands before what is added, as in all commands; ``Arguments`` moves it behind the name of the
/// subcommand.
struct ModelAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds a version, an entity or a property to the source of a model.",
    usage: "clarus model add <model> version|entity|attribute|relationship …",
    discussion: """
      What Xcode's editor would write is added to the file, and no other byte of it changes. What the model could not be used with \
      (names that are taken or reserved, defaults of another type) is refused; what `clarus model lint` would warn of is told.

      EXAMPLES
        clarus model add Shop.xcdatamodeld entity Item
        clarus model add Shop.xcdatamodeld attribute Item.title String --required
        clarus model add Shop.xcdatamodeld attribute Item.price Decimal --min 0
        clarus model add Shop.xcdatamodeld relationship Item.category Category --inverse items --inverse-to-many
        clarus model add Shop.xcdatamodeld version

      `clarus model add MODEL attribute --help` and its like list the options.
      """,
    subcommands: [
      AddVersionCommand.self, AddEntityCommand.self, AddAttributeCommand.self, AddRelationshipCommand.self,
    ])

  static let kinds: [String] = ["version", "entity", "attribute", "relationship"]

  /// The arguments with the model behind the name of what is added: `model add attribute Shop.xcdatamodeld
  /// …`.
  static func reordered(_ arguments: [String]) -> [String] {
    guard arguments.count > 3, arguments[..<2] == ["model", "add"], kinds.contains(arguments[3]),
      !kinds.contains(arguments[2])
    else { return arguments }
    var result: [String] = arguments
    result.swapAt(2, 3)
    return result
  }
}

/// The source that is edited.
struct EditedModel: ParsableArguments {
  @Argument(
    help: "The model: .xcdatamodeld, .xcdatamodel, or its contents file.", completion: .file())
  var model: String

  @Option(
    name: .long, help: ArgumentHelp("A version by name, instead of the current one.", valueName: "name"))
  var modelVersion: String?

  /// Edits the `contents` file of the version, and says what was done: `added Item.title`.
  ///
  /// - Parameter command: the one that runs, for the error of a file that is not there.
  func edit(
    _ what: String, by command: String = "model add",
    _ body: (inout ModelEdit, _ others: () -> [FormerName.Version]) throws -> Void
  ) throws {
    try ModelArgument.requireFile(model, of: command)
    try SourcePackage.edit(at: URL(fileURLWithPath: model)) { try edit($0, what, body) }
  }

  private func edit(
    _ package: SourcePackage, _ what: String,
    _ body: (inout ModelEdit, _ others: () -> [FormerName.Version]) throws -> Void
  ) throws {
    let file: URL = try package.contents(of: modelVersion)
    let data: Data
    do {
      data = try Data(contentsOf: file)
    } catch {
      throw ModelFileError(
        file: file.relativePath, reason: "The file can't be read: \(ErrorMessage.reason(of: error))")
    }
    var edit = ModelEdit(try ModelDocument(data, file: file.relativePath))
    try body(&edit) { package.versions(besideContents: file) }
    let changed: Data = edit.document.data
    if changed != data { try FileReplacement.write(changed, to: file) }
    for warning in edit.warnings.map(\.description) + edit.remarks {
      writeToStandardError(ErrorText.oneLine(warning))
    }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped(
        "\(file.relativePath): \(changed == data ? "nothing changed: it is so already" : what)"))
    try standard.flush()
  }
}

/// `Item.title`: an entity and a property.
struct PropertyPath {
  let entity: String
  let property: String

  /// - Throws: `ValidationError` for anything else; `form` is how the command is written.
  init(_ text: String, form: String) throws {
    let parts: [Substring] = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
      throw ValidationError(
        "'\(text)' names no property: write the entity, a dot and the property, as in `clarus model \(form)`."
      )
    }
    (entity, property) = (String(parts[0]), String(parts[1]))
  }

  var text: String { "\(entity).\(property)" }
}

/// `clarus model add MODEL version`
struct AddVersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "version",
    abstract: "Copies the current version of a model, and makes the copy the current one.",
    usage: "clarus model add <model> version [<name>] [--from <name>]",
    discussion: """
      Do this before a model changes that programs have stores of already: the stores are migrated from the old version to the new \
      one. Without a name the version is counted on from the one that is copied: Shop, Shop 2, Shop 3, …
      """)

  @Argument(help: "The model: .xcdatamodeld.", completion: .file())
  var model: String

  @Argument(help: "The name of the new version.")
  var name: String?

  @Option(
    name: .long, help: ArgumentHelp("The version to copy, instead of the current one.", valueName: "name"))
  var from: String?

  func run() throws {
    try ModelArgument.requireFile(model, of: "model add")
    let (name, source): (String, String) = try SourcePackage.edit(at: URL(fileURLWithPath: model)) {
      package in
      let source: String = try from ?? package.currentVersion()
      let name: String = self.name ?? package.nextVersion(after: source)
      try package.addVersion(name, copying: from) { url, make in
        try NewFile.folder(url.relativePath, make)
      }
      return (name, source)
    }
    let standard = StandardOutput()
    try standard.writeLine(
      DisplayWidth.escaped(
        "\(model): added version '\(name)', a copy of '\(source)'; it is the current one"))
    try standard.flush()
  }
}

/// `clarus model add MODEL entity`
struct AddEntityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "entity",
    abstract: "Adds an entity.",
    usage:
      "clarus model add <model> entity <name> [--parent <entity>] [--abstract] [--class <name>] [--codegen <word>]"
  )

  @OptionGroup var target: EditedModel

  @Argument(help: "The name of the entity.")
  var name: String

  @Option(name: .long, help: ArgumentHelp("The entity that it derives from.", valueName: "entity"))
  var parent: String?

  @Flag(name: .long, help: "It has no objects of its own.")
  var abstract: Bool = false

  @Option(name: .long, help: ArgumentHelp("Its class; the entity's name unless given.", valueName: "name"))
  var `class`: String?

  enum Codegen: String, ExpressibleByArgument, CaseIterable { case `class`, category, none }

  @Option(name: .long, help: "Whether the build generates its class, only its members, or none.")
  var codegen: Codegen = .class

  func validate() throws {
    if self.class?.isEmpty == true {
      throw ValidationError("--class is empty: write the name of a class, or leave the option out.")
    }
  }

  func run() throws {
    var entity = NewEntity(name: name)
    entity.parent = parent
    entity.isAbstract = abstract
    entity.className = self.class
    // The editor leaves the word out for classes by hand.
    entity.codeGeneration = codegen == .none ? nil : codegen.rawValue
    try target.edit("added \(name)") { edit, _ in try edit.add(entity) }
  }
}

/// `clarus model add MODEL attribute`
struct AddAttributeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attribute",
    abstract: "Adds an attribute.",
    usage: "clarus model add <model> attribute <entity.name> <type> [<options>]",
    discussion: """
      Attributes are optional unless --required says otherwise, and numbers have the default value 0, as in Xcode.

      TYPES
        String, Integer 16, Integer 32, Integer 64, Double, Float, Decimal, Boolean, Date, Binary, UUID, URI, Transformable;
        Swift's names Int16, Int32, Int64, Int, Bool, Data and URL mean the same

      RENAMING
        In a new version (`clarus model add MODEL version`) --renamed-from names what the attribute was called; a migration keeps its \
      values. --replace takes the old one out of the new version, and what it has (whether it is required, default value, limits, \
      user info, indexes, …) stays unless it is given anew; what the type can't have is refused:
        clarus model add Shop.xcdatamodeld attribute Item.label String --renamed-from title --replace

      `clarus model set` changes an attribute that is there.
      """)

  @OptionGroup var target: EditedModel

  @Argument(help: ArgumentHelp("The entity and the attribute, such as Item.title.", valueName: "entity.name"))
  var property: String

  @Argument(help: "The type.")
  var type: String

  @OptionGroup var options: AttributeOptions

  @Flag(
    name: .long,
    help:
      "Removes the attribute that --renamed-from names from this version; the new one has what that one has and is not given anew."
  )
  var replace: Bool = false

  /// Not `validate()`, which precedes the check for options that there are not.
  private func check() throws -> NewAttribute {
    try options.check()
    if replace && options.renamedFrom == nil {
      throw ValidationError("--replace removes the attribute that --renamed-from names; add --renamed-from.")
    }
    var attribute = NewAttribute(
      name: try knownPath.property, type: try AttributeOptions.type(named: type))
    attribute.settings = options.settings
    return attribute
  }

  private var knownPath: PropertyPath {
    get throws {
      if NewAttribute.type(named: property) != nil, type.contains(".") {
        throw ValidationError(
          "The type comes last: write `clarus model add MODEL attribute \(type) '\(property)'`.")
      }
      return try PropertyPath(property, form: "add MODEL attribute Item.title String")
    }
  }

  func run() throws {
    let attribute: NewAttribute = try usageErrors(of: "model add MODEL attribute") { try check() }
    let path: PropertyPath = try knownPath
    let former: String? = options.renamedFrom
    let what: String = replace ? "\(path.text) in place of \(path.entity).\(former ?? "")" : path.text
    try target.edit("added \(what)") { edit, others in
      try edit.add(attribute, to: path.entity, versions: former == nil ? [] : others(), replacing: replace)
    }
  }
}

/// `clarus model add MODEL relationship`
struct AddRelationshipCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relationship",
    abstract: "Adds a relationship and its inverse.",
    usage: "clarus model add <model> relationship <entity.name> <destination> [<options>]",
    discussion: """
      The inverse is added to the destination, unless it has one of that name that leads back and has no inverse yet: the two \
      then become each other's. Relationships are to-one, optional, and nullified by deletions, unless options say otherwise.

      RULES
        What the deletion of an object does to those that its relationship leads to: nullify (they lose their reference to it), \
      cascade (they are deleted too), deny (there may be none, or it can't be deleted), no-action (nothing, so that their references \
      lead nowhere)
      """)

  @OptionGroup var target: EditedModel

  @Argument(
    help: ArgumentHelp("The entity and the relationship, such as Item.category.", valueName: "entity.name"))
  var property: String

  @Argument(help: "The entity that it leads to.")
  var destination: String

  enum Rule: String, ExpressibleByArgument, CaseIterable {
    case nullify, cascade, deny
    case noAction = "no-action"

    /// In any case, and as Xcode's editor writes it: `No Action`.
    init?(argument: String) {
      func letters(_ text: String) -> String { text.lowercased().filter(\.isLetter) }
      guard let known = Self.allCases.first(where: { letters($0.rawValue) == letters(argument) }) else {
        return nil
      }
      self = known
    }

    var rule: NSDeleteRule {
      switch self {
      case .nullify: .nullifyDeleteRule
      case .cascade: .cascadeDeleteRule
      case .deny: .denyDeleteRule
      case .noAction: .noActionDeleteRule
      }
    }
  }

  @Flag(name: .long, help: "It leads to any number of objects.")
  var toMany: Bool = false

  @Flag(name: .long, help: "The objects have an order.")
  var ordered: Bool = false

  @Flag(name: .long, help: "Objects can't be saved without it.")
  var required: Bool = false

  @Option(name: .long, help: ArgumentHelp("The least number of objects.", valueName: "count"))
  var min: Int?

  @Option(name: .long, help: ArgumentHelp("The greatest number of objects.", valueName: "count"))
  var max: Int?

  @Option(name: .long, help: "What the deletion of its owner does to the objects that it leads to.")
  var rule: Rule = .nullify

  @Option(name: .long, help: ArgumentHelp("The relationship that leads back.", valueName: "name"))
  var inverse: String?

  @Flag(name: .long, help: "The new inverse leads to any number of objects.")
  var inverseToMany: Bool = false

  @Flag(name: .long, help: "The objects of the new inverse have an order.")
  var inverseOrdered: Bool = false

  @Flag(name: .long, help: "Objects of the destination can't be saved without the new inverse.")
  var inverseRequired: Bool = false

  @Option(name: .long, help: "What the deletion of the destination does to the objects that refer to it.")
  var inverseRule: Rule = .nullify

  private var knownPath: PropertyPath {
    get throws { try PropertyPath(property, form: "add MODEL relationship Item.category Category") }
  }

  func validate() throws {
    _ = try knownPath
    if ordered && !toMany {
      throw ValidationError("--ordered: Only a to-many relationship has an order; add --to-many.")
    }
    if (min != nil || max != nil) && !toMany {
      throw ValidationError("--min and --max count the objects of a to-many relationship; add --to-many.")
    }
    if inverseOrdered && !inverseToMany {
      throw ValidationError(
        "--inverse-ordered: Only a to-many relationship has an order; add --inverse-to-many.")
    }
    if inverse == nil && (inverseToMany || inverseOrdered || inverseRequired || inverseRule != .nullify) {
      throw ValidationError("Name the inverse with --inverse.")
    }
  }

  func run() throws {
    let path: PropertyPath = try knownPath
    var side = NewRelationship.Side(name: path.property)
    (side.isToMany, side.isOrdered, side.isOptional) = (toMany, ordered, !required)
    (side.minimum, side.maximum, side.rule) = (min, max, rule.rule)
    var relationship = NewRelationship(side, to: destination)
    if let inverse {
      var other = NewRelationship.Side(name: inverse)
      (other.isToMany, other.isOrdered, other.isOptional) = (inverseToMany, inverseOrdered, !inverseRequired)
      other.rule = inverseRule.rule
      relationship.inverse = other
    }
    let what: String = inverse.map { "\(path.text) and \(destination).\($0)" } ?? path.text
    try target.edit("added \(what)") { edit, _ in try edit.add(relationship, to: path.entity) }
  }
}
