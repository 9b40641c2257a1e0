import ArgumentParser
import CoreDataModel
import CoreDataStorage
import Foundation

/// `clarus show`: one object.
struct ShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints one object with its relationships and what its data holds.",
    discussion: """
      Property lists and keyed archives in binary data and transformable attributes are shown as trees; no class of theirs \
      is instantiated. Related objects are shown by id, with the value of the attribute that most looks like a name.

      EXAMPLES
        clarus show Shop.sqlite Item/p42
        clarus show Shop.sqlite x-coredata://6F9619FF-8B86-D011-B42D-00C04FC964FF/Item/p42 --members 5
        clarus show Shop.sqlite Item/p42 --json | jq '.relationships[] | {name, count}'

      JSON
        { "objectID", "entity", "label",
          "attributes":    [{"name", "type", "value"}],
          "relationships": [{"name", "destination", "toMany", "ordered", "count",
                             "objects": [{"objectID", "label"}]}] }
        Values are those of `fetch --json`. An attribute whose data can be decoded has "form" ("property list" or "keyed archive") \
      and "content" too: there an instance of a class is an object with its name under "$class", and what is left out is an \
      object with the reason under "$note".
      """)

  @OptionGroup var options: StoreOptions

  @Argument(help: "The object's id: Item/p42, or the URI.")
  var id: String

  @Option(
    name: .long,
    help: ArgumentHelp("Show at most so many members of each to-many relationship.", valueName: "n"))
  var members: Int = 100

  @OptionGroup var formatting: FormatOptions<ReportFormat>

  func validate() throws {
    guard let text = ObjectIDText(id), text.entity != nil else {
      throw ValidationError("\"\(id)\" is no id of an object; write Item/p42 or x-coredata://…/Item/p42.")
    }
    if members < 0 { throw ValidationError("--members must not be negative.") }
  }

  func run() throws {
    let store = try OpenStore(
      path: options.store, modelPath: options.model, modelVersion: options.modelVersion, needsModel: true)
    let engine: any StoreEngine = try store.open()
    defer { try? engine.close() }
    let ids = ObjectIDs(layout: engine.layout, storeUUID: engine.identifier)
    guard let text = ObjectIDText(id),
      let report = try ObjectReport(try ids.row(text, of: nil), engine: engine, mostMembers: members)
    else { throw CommandFailure("\(options.store): There is no object \(id).") }
    let output = StandardOutput()
    if formatting.isJSON {
      try output.writeLine(report.json.pretty)
    } else {
      try report.write(to: output)
    }
    try output.flush()
  }
}
