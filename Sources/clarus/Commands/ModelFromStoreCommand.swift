import ArgumentParser
import CoreDataModel

/// `clarus model from-store`: the source of the model that a store carries.
struct ModelFromStoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "from-store",
    abstract: "Writes the source of the model that a store carries.",
    discussion: """
      For a store whose program is lost, or to look at a store in Xcode's editor. The same as `clarus model decompile`, for stores \
      only: the result has the version hashes of the store, so that a program with it opens the store.

      EXAMPLES
        clarus model from-store Shop.sqlite                             makes Shop.xcdatamodeld
        clarus model from-store Shop.sqlite --output Old.xcdatamodeld
      """)

  @Argument(help: "The store.", completion: .file())
  var store: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The new .xcdatamodeld or .xcdatamodel, by default one with the name of the store, in the folder you are in.",
      valueName: "path"),
    completion: .file())
  var output: String?

  func validate() throws {
    if let output { try SourceOutput.check(output) }
  }

  func run() throws {
    let version: ModelVersion = try ModelArgument.loadFromStore(store)
    try SourceOutput.write(
      [version], current: version, of: store, to: output ?? "\(version.name).xcdatamodeld")
  }
}
