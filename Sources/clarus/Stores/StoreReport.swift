import CoreDataModel
import CoreDataStorage
import Foundation

/// The report of `clarus info` about a store, as JSON and as text.
struct StoreReport {
  struct Entity {
    var name: String
    /// nil if there is no model.
    var entity: NSEntityDescription?
    var superName: String?
    /// The entity's own rows.
    var count: Int
  }

  let store: OpenStore
  let entities: [Entity]

  private var file: StoreInspection { store.file }

  // MARK: JSON

  var json: JSONText {
    .object([
      ("store", storeJSON), ("model", modelJSON), ("entities", .array(entities.map(Self.json))),
      ("metadata", PropertyListJSON.value(file.metadata)),
    ])
  }

  private var storeJSON: JSONText {
    .object([
      ("path", .string(store.path)), ("type", .string(file.type)), ("uuid", .string(file.uuid)),
      ("frameworkVersion", file.frameworkVersion.map { .integer(Int64($0)) } ?? .null),
      ("hasHistory", .bool(file.hasHistory)), ("sizeInBytes", .integer(Self.size(store.path))),
      ("journal", file.journal?.json ?? .null), ("shortage", .optional(file.shortage)),
    ])
  }

  private static func size(_ path: String) -> Int64 {
    let attributes: [FileAttributeKey: Any]? = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
  }

  private var modelJSON: JSONText {
    guard let chosen = store.model else {
      return .object([("source", .null), ("problem", .optional(file.modelProblem))])
    }
    var entries: [(String, JSONText)] = []
    switch chosen.origin {
    case .cached: entries.append(("source", .string("store")))
    case .file(let path, let version):
      entries += [("source", .string("file")), ("path", .string(path)), ("version", .optional(version))]
    }
    let identifiers: [String] = chosen.model.versionIdentifiers.map { "\($0.base)" }.sorted()
    entries.append(("versionIdentifiers", .strings(identifiers)))
    entries.append(("checksum", .string(chosen.model.versionChecksum)))
    return .object(entries)
  }

  private static func json(_ entity: Entity) -> JSONText {
    let start: [(String, JSONText)] = [
      ("name", .string(entity.name)), ("count", .integer(Int64(entity.count))),
    ]
    guard let description = entity.entity else {
      return .object(start + [("superentity", .optional(entity.superName))])
    }
    return .object(start + EntityFacts(entity: description).json)
  }

  var countsJSON: JSONText {
    .object([
      (
        "entities",
        .array(
          entities.map { .object([("name", .string($0.name)), ("count", .integer(Int64($0.count)))]) })
      )
    ])
  }

  // MARK: Text

  func writeCounts(to output: StandardOutput) throws {
    var table = TextTable([.init(title: "Entity"), .init(title: "Rows", alignment: .right)])
    for entity in entities { try table.add([entity.name, String(entity.count)], to: output) }
    try table.finish(output)
  }

  func write(to output: StandardOutput) throws {
    func fact(_ name: String, _ value: String) throws {
      let title: String = name.padding(toLength: 10, withPad: " ", startingAt: 0)
      try output.writeLine(title + DisplayWidth.escaped(value))
    }
    try fact("Store", store.path)
    try fact("Type", file.type + (file.journal.map { ", " + $0.sentence } ?? ""))
    try fact("UUID", file.uuid)
    if let version = file.frameworkVersion { try fact("Saved by", "Core Data framework version \(version)") }
    if file.hasHistory { try fact("History", "persistent history is kept") }
    if let shortage = file.shortage { try fact("Problem", shortage) }
    if let problem = file.metadataProblem { try fact("Problem", problem) }
    if let model = store.model {
      try fact("Model", model.originText)
    } else {
      try fact(
        "Model", "none. \(file.modelProblem ?? "The store carries none.") Name one with --model to see more.")
    }
    let total: Int = entities.reduce(0) { $0 + $1.count }
    try fact(
      "Content",
      "\(Counted.text(entities.count, "entity", "entities")), \(Counted.text(total, "row", "rows"))")
    for entity in entities {
      if let description = entity.entity {
        try output.writeLine()
        try EntityFacts(entity: description).write(count: entity.count, to: output)
      } else {
        let kind: String = entity.superName.map { ", a kind of \($0)" } ?? ""
        let count: String = Counted.text(entity.count, "row", "rows")
        try output.writeLine("  " + DisplayWidth.escaped("\(entity.name) (\(count)\(kind))"))
      }
    }
    try writeMetadata(to: output)
  }

  /// `clarus model hash` prints the version hashes; the rest is short.
  private func writeMetadata(to output: StandardOutput) throws {
    try output.writeLine()
    try output.writeLine("Metadata")
    var table = TextTable([.init(title: "Key"), .init(title: "Value")], indent: "  ")
    for (key, value) in file.metadata.sorted(by: { $0.key < $1.key }) where key != "NSStoreModelVersionHashes"
    {
      let text: String =
        if let text = value as? String { text } else { PropertyListJSON.value(value).compact }
      try table.add([key, text], to: output)
    }
    try table.finish(output)
  }
}

extension StoreJournal {
  fileprivate var json: JSONText {
    .object([
      ("mode", .string(isWriteAheadLog ? "wal" : "rollback")), ("pendingBytes", .integer(pendingBytes)),
    ])
  }

  fileprivate var sentence: String {
    if hasInterruptedSave { return "rollback journal; a save was cut short and is undone in what is read" }
    if !isWriteAheadLog { return "rollback journal" }
    return pendingBytes > 0
      ? "write-ahead log with \(pendingBytes) bytes beside the file" : "write-ahead log, empty"
  }
}
