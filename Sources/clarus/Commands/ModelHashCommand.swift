import ArgumentParser
import CoreDataModel

/// `clarus model hash`
struct ModelHashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash",
    abstract: "Prints the version hash of each entity.",
    discussion: """
      The hashes are those that Apple's Core Data records in stores and compares when it opens one. Entities with derived or \
      composite attributes are the exception; they are named on standard error.

      EXAMPLES
        clarus model hash Shop.xcdatamodeld
        diff <(clarus model hash Shop.momd) <(clarus model hash Shop.sqlite)

      JSON
        { entity: 64 hexadecimal digits }
      """)

  @OptionGroup var options: ModelOptions

  func run() throws {
    let version: ModelVersion = try options.load()
    let entities: [NSEntityDescription] = version.model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    let output = StandardOutput()
    if options.json {
      let entries: [(String, JSONText)] = entities.map {
        ($0.name ?? "", .string(EntityFacts.hex($0.versionHash)))
      }
      try output.writeLine(JSONText.object(entries).pretty)
    } else {
      for entity in entities {
        try output.writeLine(
          EntityFacts.hex(entity.versionHash) + "  " + DisplayWidth.escaped(entity.name ?? ""))
      }
    }
    try output.flush()
    let inexact: [String] = entities.filter { !$0.hashIsExact }.compactMap(\.name)
    if !inexact.isEmpty {
      writeToStandardError(
        "Apple's hash may differ for entities with derived or composite attributes: "
          + ErrorText.oneLine(inexact.joined(separator: ", ")))
    }
  }
}
