import ArgumentParser
import CoreDataModel
import Foundation

/// `clarus model show`
struct ModelShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows a model's entities and properties.",
    discussion: """
      EXAMPLES
        clarus model show Shop.xcdatamodeld
        clarus model show Shop.momd --model-version 'Shop 2' --json
        clarus model show Shop.sqlite                 the model that a store carries

      JSON
        { "name", "versionIdentifiers", "checksum",
          "entities": [{"name", "abstract", "superentity",
                        "attributes": [{"name", "type", "optional", …, and where they are set "min", "max", "minLength",
                                        "maxLength", "pattern", "rules": [other predicates]}],
                        "relationships": […], …}],
          "configurations": {name: [entity]},
          "fetchRequests": [{"name", "entity", "predicate"}] }
      """)

  @OptionGroup var options: ModelOptions

  func run() throws {
    let version: ModelVersion = try options.load()
    let output = StandardOutput()
    if options.json {
      try output.writeLine(Self.json(version).pretty)
    } else {
      try Self.write(version, to: output)
    }
    try output.flush()
  }

  private static func json(_ version: ModelVersion) -> JSONText {
    let model: NSManagedObjectModel = version.model
    let entities: [JSONText] = model.entitiesInStoreOrder.map { entity in
      .object([("name", .string(entity.name ?? ""))] + EntityFacts(entity: entity).json)
    }
    let configurations: [(String, JSONText)] = model.namedConfigurations.sorted { $0.key < $1.key }
      .map { ($0.key, .strings($0.value.sorted())) }
    let templates: [JSONText] = model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.map {
      name, request in
      .object([
        ("name", .string(name)), ("entity", .optional(request.entityName)),
        ("predicate", .optional(request.predicate?.formatText)),
      ])
    }
    return .object([
      ("name", .string(version.name)),
      ("versionIdentifiers", .strings(model.versionIdentifiers.map { "\($0.base)" }.sorted())),
      ("checksum", .string(model.versionChecksum)),
      ("entities", .array(entities)),
      ("configurations", .object(configurations)),
      ("fetchRequests", .array(templates)),
    ])
  }

  private static func write(_ version: ModelVersion, to output: StandardOutput) throws {
    let model: NSManagedObjectModel = version.model
    let entities: [NSEntityDescription] = model.entitiesInStoreOrder
    try output.writeLine("Model       " + DisplayWidth.escaped(version.name))
    let identifiers: [String] = model.versionIdentifiers.map { "\($0.base)" }.filter { !$0.isEmpty }.sorted()
    if !identifiers.isEmpty {
      try output.writeLine("Identifiers " + DisplayWidth.escaped(identifiers.joined(separator: ", ")))
    }
    try output.writeLine("Checksum    " + model.versionChecksum)
    try output.writeLine("Content     " + Counted.text(entities.count, "entity", "entities"))
    for entity in entities {
      try output.writeLine()
      try EntityFacts(entity: entity).write(count: nil, to: output)
    }
    for (name, members) in model.namedConfigurations.sorted(by: { $0.key < $1.key }) {
      try output.writeLine()
      try output.writeLine(
        DisplayWidth.escaped("Configuration \(name): " + members.sorted().joined(separator: ", ")))
    }
    for (name, request) in model.fetchRequestTemplatesByName.sorted(by: { $0.key < $1.key }) {
      try output.writeLine()
      let predicate: String = request.predicate.map { " where \($0.formatText)" } ?? ""
      try output.writeLine(
        DisplayWidth.escaped("Fetch request \(name): \(request.entityName ?? "?")\(predicate)"))
    }
  }
}
