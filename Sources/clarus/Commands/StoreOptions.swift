import ArgumentParser

/// The options that the commands on stores share.
struct StoreOptions: ParsableArguments {
  @Argument(help: "The store file.", completion: .file())
  var store: String

  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      The model, for a store that carries none: .momd, .mom, .xcdatamodeld, .xcdatamodel, or a store of the same model. Of \
      several versions the one that the store was written with is taken.
      """, valueName: "path"),
    completion: .file())
  var model: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The version of --model, where the store does not tell it.", valueName: "name"))
  var modelVersion: String?

  func validate() throws {
    if modelVersion != nil, model == nil { throw ValidationError("--model-version needs --model.") }
  }
}
