import ArgumentParser
import CoreDataModel
import CoreDataModelEditing

/// `clarus model set`: changes an entity, an attribute or a relationship that is there.
struct ModelSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes an entity, an attribute or a relationship in the source of a model.",
    usage: "clarus model set <model> <entity[.name]> [<type>] [<options>]",
    discussion: """
      What is not named stays as it is, and so does every other byte of the file. A new type keeps the default value, the limits and \
      whatever else it can have; what it can't have is refused until it is given anew or taken away (--no-default, --no-min, …). \
      No default value appears that is not given.

      Of a derived attribute the store makes the values: a default value, limits and --required are refused.
      Of relationships there are --required, --optional, --transient, --to-many, --to-one, --min, --max, --ordered, --rule, --inverse; \
      of entities --abstract, --concrete, --parent, --class, --module, --codegen. All have --rename, --renamed-from and --hash-modifier.

      --rename changes the name and all that names it in the model: inverses, indexes, constraints, derivations, predicates; \
      destinations, parents, fetch requests, configurations. What is renamed keeps its values in a migration: its renaming identifier is \
      the old name. A predicate that may name it in a way that is not understood is refused, and named.

      Stores have to be migrated after most changes: if there are any, add a version first (`clarus model add MODEL version`).

      EXAMPLES
        clarus model set Shop.xcdatamodeld Item.title --required --default untitled
        clarus model set Shop.xcdatamodeld Item.price Double --no-min
        clarus model set Shop.xcdatamodeld Item.category --optional --rule deny --model-version 'Shop 2'
        clarus model set Shop.xcdatamodeld Item.title --rename label
        clarus model set Shop.xcdatamodeld Item --rename Product --class ShopProduct --parent Thing
      """)

  private static let name: String = "model set"

  @OptionGroup var target: EditedModel

  @Argument(
    help: ArgumentHelp("The entity, or the entity and the property: Item.title.", valueName: "entity[.name]"))
  var part: String

  @Argument(help: "Another type; `clarus model add MODEL attribute --help` lists them.")
  var type: String?

  @OptionGroup var options: AttributeOptions
  @OptionGroup var others: PartOptions

  func run() throws {
    // Not in validate(), which precedes the check for options that there are not.
    try usageErrors(of: Self.name) {
      try options.check()
      try others.check()
    }
    // Before what is said of the other arguments.
    try ModelArgument.requireFile(target.model, of: Self.name)
    if part.contains(".") { try setProperty() } else { try setEntity() }
  }

  private static let nothing =
    "Nothing is named to be changed: give a type or an option, such as --required."

  private func setProperty() throws {
    let (path, settings): (PropertyPath, PropertySettings) = try usageErrors(of: Self.name) {
      let path = try PropertyPath(part, form: "set MODEL Item.title --required")
      if let option = others.ofEntities.first {
        throw ValidationError("\(option) belongs to entities: name one without a property, \(path.entity).")
      }
      var settings: PropertySettings = options.settings
      settings.type = try type.map { try AttributeOptions.type(named: $0) }
      others.complete(&settings)
      if settings.isEmpty { throw ValidationError(Self.nothing) }
      return (path, settings)
    }
    let what: String =
      others.rename.flatMap { $0 == path.property ? nil : "renamed \(path.text) to \(path.entity).\($0)" }
      ?? "changed \(path.text)"
    try target.edit(what, by: Self.name) { edit, others in
      try edit.set(
        settings, of: path.property, in: path.entity, versions: needsVersions ? others() : [])
    }
  }

  /// Former names are looked for in them.
  private var needsVersions: Bool { options.renamedFrom != nil || others.rename != nil }

  private func setEntity() throws {
    let settings: EntitySettings = try usageErrors(of: Self.name) {
      var given: PropertySettings = options.settings
      let (renaming, modifier) = (given.renamingIdentifier, given.hashModifier)
      (given.renamingIdentifier, given.hashModifier) = (.asItIs, .asItIs)
      if type != nil || !given.isEmpty || !others.ofProperties.isEmpty {
        throw ValidationError(
          "'\(part)' is an entity; of those --abstract, --concrete, --parent, --class, --module, --codegen, --hash-modifier, --rename "
            + "and --renamed-from can be set. A property is written with its entity and a dot, as in `clarus model set MODEL "
            + "\(part).title --required`.")
      }
      var settings: EntitySettings = others.entitySettings
      (settings.renamingIdentifier, settings.hashModifier) = (renaming, modifier)
      if settings.isEmpty {
        throw ValidationError(
          "Nothing is named to be changed: give an option, such as --abstract or --rename, or a property with its "
            + "entity, as in `clarus model set MODEL Item.title --required`.")
      }
      return settings
    }
    let what: String =
      others.rename.flatMap { $0 == part ? nil : "renamed \(part) to \($0)" } ?? "changed \(part)"
    try target.edit(what, by: Self.name) { edit, others in
      try edit.set(settings, of: part, versions: needsVersions ? others() : [])
    }
  }
}

/// What `clarus model set` says of relationships and entities, and the new name of any part.
struct PartOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp("A new name; what names it in the model is changed too.", valueName: "name"))
  var rename: String?

  enum Count: String, EnumerableFlag {
    case toMany, toOne

    static func name(for value: Count) -> NameSpecification {
      value == .toMany ? .customLong("to-many") : .customLong("to-one")
    }

    static func help(for value: Count) -> ArgumentHelp? {
      switch value {
      case .toMany: "A relationship leads to any number of objects."
      case .toOne: "A relationship leads to one object at most."
      }
    }
  }

  @Flag(exclusivity: .exclusive) var count: Count?

  @Flag(name: .long, inversion: .prefixedNo, help: "The objects of a relationship have an order.")
  var ordered: Bool?

  @Option(
    name: .long,
    help: "What the deletion of the owner of a relationship does to the objects that it leads to.")
  var rule: AddRelationshipCommand.Rule?

  @Option(
    name: .long,
    help: ArgumentHelp("The relationship of the destination that leads back.", valueName: "name"))
  var inverse: String?

  @Flag(name: .long, help: "A relationship has no inverse.") var noInverse = false

  enum Kind: String, EnumerableFlag {
    case abstract, concrete

    static func help(for value: Kind) -> ArgumentHelp? {
      switch value {
      case .abstract: "An entity has no objects of its own."
      case .concrete: "An entity has objects."
      }
    }
  }

  @Flag(exclusivity: .exclusive) var kind: Kind?

  @Option(
    name: .long, help: ArgumentHelp("The entity that an entity derives from, or none.", valueName: "entity"))
  var parent: String?

  @Option(name: .long, help: ArgumentHelp("The class of an entity.", valueName: "name"))
  var `class`: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The module of an entity's class; `current` for the one it is compiled in, or none.", valueName: "name")
  )
  var module: String?

  @Option(name: .long, help: "How an entity's class is generated (Codegen): class, category or none.")
  var codegen: AddEntityCommand.Codegen?

  /// - Throws: `ValidationError` for options that contradict each other, and for empty names.
  func check() throws {
    if inverse != nil && noInverse {
      throw ValidationError("--inverse and --no-inverse contradict each other; leave one out.")
    }
    for (name, value) in [
      ("rename", rename), ("inverse", inverse), ("parent", parent), ("class", self.class), ("module", module),
    ] where value?.isEmpty == true {
      throw ValidationError("--\(name) is empty: write a name, or leave the option out.")
    }
  }

  /// The options that are given and entities alone have.
  var ofEntities: [String] {
    [
      kind.map { "--\($0.rawValue)" }, parent.map { _ in "--parent" }, self.class.map { _ in "--class" },
      module.map { _ in "--module" }, codegen.map { _ in "--codegen" },
    ].compactMap(\.self)
  }

  /// The options that are given and relationships alone have.
  var ofProperties: [String] {
    [
      count.map { $0 == .toMany ? "--to-many" : "--to-one" },
      ordered.map { $0 ? "--ordered" : "--no-ordered" },
      rule.map { _ in "--rule" }, inverse.map { _ in "--inverse" }, noInverse ? "--no-inverse" : nil,
    ].compactMap(\.self)
  }

  func complete(_ settings: inout PropertySettings) {
    settings.name = rename
    settings.isToMany = count.map { $0 == .toMany }
    settings.isOrdered = ordered
    settings.deleteRule = rule?.rule
    settings.inverse = PropertySettings.Change(inverse, isRemoved: noInverse)
  }

  var entitySettings: EntitySettings {
    var settings = EntitySettings()
    settings.name = rename
    settings.isAbstract = kind.map { $0 == .abstract }
    settings.parent = PropertySettings.Change(parent, isRemoved: parent == "none")
    settings.className = self.class
    settings.module = PropertySettings.Change(module, isRemoved: module == "none")
    settings.codeGeneration = PropertySettings.Change(
      codegen?.rawValue, isRemoved: codegen == AddEntityCommand.Codegen.none)
    return settings
  }
}
