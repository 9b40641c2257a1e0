import ArgumentParser
import CoreDataModel
import CoreDataModelEditing

/// `clarus model set`: changes an attribute that is there.
struct ModelSetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Changes an attribute in the source of a model.",
    usage: "clarus model set <model> <entity.name> [<type>] [<options>]",
    discussion: """
      What is not named stays as it is, and so does every other byte of the file. A new type keeps the default value, the limits and \
      whatever else it can have; what it can't have is refused until it is given anew or taken away (--no-default, --no-min, …). Where \
      there was no default value, a number gets the editor's, 0, and a required Boolean NO. \
      Whether a relationship is optional or transient, and what it was called, can be set too.

      Stores have to be migrated after most changes: if there are any, add a version first (`clarus model add MODEL version`).

      EXAMPLES
        clarus model set Shop.xcdatamodeld Item.title --required --default untitled
        clarus model set Shop.xcdatamodeld Item.price Double --no-min
        clarus model set Shop.xcdatamodeld Item.category --optional --model-version 'Shop 2'
      """)

  @OptionGroup var target: EditedModel

  @Argument(help: ArgumentHelp("The entity and the attribute, such as Item.title.", valueName: "entity.name"))
  var property: String

  @Argument(help: "Another type; `clarus model add MODEL attribute --help` lists them.")
  var type: String?

  @OptionGroup var options: AttributeOptions

  private var knownPath: PropertyPath {
    get throws { try PropertyPath(property, form: "set MODEL Item.title --required") }
  }

  func validate() throws {
    try options.check()
    _ = try knownPath
    if try settings == nil {
      throw ValidationError("Nothing is named to be changed: give a type or an option, such as --required.")
    }
  }

  /// Nil if nothing is to change.
  private var settings: AttributeSettings? {
    get throws {
      var settings: AttributeSettings = options.settings
      settings.type = try type.map { try AttributeOptions.type(named: $0) }
      return settings.isEmpty ? nil : settings
    }
  }

  func run() throws {
    let path: PropertyPath = try knownPath
    guard let settings = try settings else { return }
    try target.edit("changed \(path.text)") { edit, others in
      try edit.set(
        settings, of: path.property, in: path.entity, versions: options.renamedFrom == nil ? [] : others())
    }
  }
}
