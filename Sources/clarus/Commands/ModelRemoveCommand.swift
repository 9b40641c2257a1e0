import ArgumentParser
import CoreDataModelEditing

/// `clarus model remove`: takes an entity or a property out of a model.
struct ModelRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes an entity or a property from the source of a model.",
    usage: "clarus model remove <model> <entity[.name]>",
    discussion: """
      A property goes with the indexes and constraints that name it, and its inverse has none then; an entity with its place in \
      configurations and in the diagram. No other byte of the file changes. What is still needed stays, and the error names what needs \
      it: relationships that lead to an entity, entities that derive from it, predicates and derivations.

      A migration leaves out the objects and values of what is removed: if there are stores, add a version first (`clarus model add \
      MODEL version`). `clarus model set --rename` keeps them under another name.

      EXAMPLES
        clarus model remove Shop.xcdatamodeld Item.notes
        clarus model remove Shop.xcdatamodeld Gift --model-version 'Shop 2'
      """)

  @OptionGroup var target: EditedModel

  @Argument(
    help: ArgumentHelp("The entity, or the entity and the property: Item.title.", valueName: "entity[.name]"))
  var part: String

  func run() throws {
    let path: PropertyPath? =
      part.contains(".")
      ? try usageErrors(of: "model remove") { try PropertyPath(part, form: "remove MODEL Item.title") } : nil
    try target.edit("removed \(part)", by: "model remove") { edit, _ in
      if let path {
        try edit.remove(path.property, from: path.entity)
      } else {
        try edit.remove(entity: part)
      }
    }
  }
}
