import CoreData
import Foundation

/// A store in a folder: a CSV file for each entity, which a spreadsheet or a text editor can change while the
/// program does not run.
///
/// Reference objects are the numbers in the column `id`. Attributes and relationships are columns of their
/// names; related objects are written as `Author:3`, several with spaces between.
public final class CSVStore: NSAtomicStore, @unchecked Sendable {
  // Sendable: `lastNumber` is used in methods that the framework calls, one at a time.

  public static let storeType = "CSV"
  private var lastNumber = 0

  /// Registers the class for its type.
  public static func register() {
    NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: storeType)
  }

  public override var type: String { Self.storeType }

  private var folder: URL { url ?? URL(fileURLWithPath: "/dev/null") }
  private var previous: URL { URL(fileURLWithPath: folder.path + ".old") }
  private var next: URL { URL(fileURLWithPath: folder.path + ".new") }
  private var model: NSManagedObjectModel? { persistentStoreCoordinator?.managedObjectModel }
  private var entities: [NSEntityDescription] {
    (model?.entities ?? []).filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
  }

  // MARK: Loading

  public override func load() throws {
    let files = FileManager.default
    // A save was interrupted between its two renamings.
    if !files.fileExists(atPath: folder.path), files.fileExists(atPath: previous.path) {
      try files.moveItem(at: previous, to: folder)
    }
    guard files.fileExists(atPath: folder.path) else { return }
    if let data = try? Data(contentsOf: folder.appending(path: "store.json")) {
      metadata = try JSONSerialization.jsonObject(with: data) as? [String: Any]
      lastNumber = metadata?["lastNumber"] as? Int ?? 0
    }
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for entity in entities { nodes.formUnion(try read(entity)) }
    addCacheNodes(nodes)
  }

  private func read(_ entity: NSEntityDescription) throws -> [NSAtomicStoreCacheNode] {
    let name: String = entity.name ?? ""
    let file: URL = folder.appending(path: "\(name).csv")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    var rows: ArraySlice<[String?]>
    do {
      rows = try CSVText.read(String(contentsOf: file, encoding: .utf8))[...]
    } catch let error as CSVError {
      throw CSVError("\(name).csv, \(error.localizedDescription)")
    }
    guard let header = rows.popFirst() else { return [] }
    return try rows.enumerated().map { line, row in
      func problem(_ text: String) -> CSVError { CSVError("\(name).csv, row \(line + 2): \(text)") }
      guard let place = header.firstIndex(of: "id"), row.indices.contains(place), let text = row[place],
        let number = Int(text)
      else { throw problem("there is no number in the column 'id'") }
      lastNumber = max(lastNumber, number)
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: number))
      for (column, text) in zip(header, row) {
        guard let column, let text, let property = entity.propertiesByName[column] else { continue }
        if let attribute = property as? NSAttributeDescription {
          guard let value = CSVValue.value(text, attribute) else {
            throw problem("'\(text)' is no value of '\(column)'")
          }
          node.setValue(value, forKey: column)
        } else if let relationship = property as? NSRelationshipDescription {
          let ids: [NSManagedObjectID] = try text.split(separator: " ").map { name in
            try id(name, of: relationship) ?? { throw problem("'\(name)' in '\(column)' is no object") }()
          }
          node.setValue(relationship.isToMany ? ids as Any : ids.first as Any, forKey: column)
        }
      }
      return node
    }
  }

  /// The object that `Author:3` names, or `3` where there is only one entity.
  private func id(_ text: Substring, of relationship: NSRelationshipDescription) throws -> NSManagedObjectID?
  {
    let parts: [Substring] = text.split(separator: ":")
    let entity: NSEntityDescription? =
      parts.count == 2 ? model?.entitiesByName[String(parts[0])] : relationship.destinationEntity
    guard let entity, let number = parts.last.flatMap({ Int($0) }) else { return nil }
    return objectID(for: entity, withReferenceObject: number)
  }

  // MARK: Saving

  public override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    lastNumber += 1
    return lastNumber
  }

  public override func save() throws {
    let files = FileManager.default
    try? files.removeItem(at: next)
    try files.createDirectory(at: next, withIntermediateDirectories: true)
    var nodes: [NSEntityDescription: [NSAtomicStoreCacheNode]] = [:]
    for node in cacheNodes() { nodes[node.objectID.entity, default: []].append(node) }
    for entity in entities {
      let text: String = CSVText.write(rows(of: nodes[entity] ?? [], entity))
      try Data(text.utf8).write(to: next.appending(path: "\(entity.name ?? "").csv"))
    }
    try write(metadata ?? [:])
    try? files.removeItem(at: previous)
    if files.fileExists(atPath: folder.path) { try files.moveItem(at: folder, to: previous) }
    try files.moveItem(at: next, to: folder)
    try? files.removeItem(at: previous)
  }

  private func write(_ metadata: [String: Any]) throws {
    // JSON has no data: the hashes of the model's entities are left out, so that any model may open the
    // files.
    var kept: [String: Any] = metadata.filter { JSONSerialization.isValidJSONObject([$0.value]) }
    kept["lastNumber"] = lastNumber
    try JSONSerialization.data(withJSONObject: kept, options: [.prettyPrinted, .sortedKeys]).write(
      to: next.appending(path: "store.json"))
  }

  private func rows(of nodes: [NSAtomicStoreCacheNode], _ entity: NSEntityDescription) -> [[String?]] {
    let attributes: [String] = entity.attributesByName.keys.sorted()
    let relationships: [String] = entity.relationshipsByName.keys.sorted()
    let sorted: [NSAtomicStoreCacheNode] = nodes.sorted { number($0.objectID) < number($1.objectID) }
    return [["id"] + attributes + relationships]
      + sorted.map { node in
        ["\(number(node.objectID))"]
          + attributes.map { key in
            entity.attributesByName[key].flatMap { CSVValue.text(node.value(forKey: key), $0) }
          }
          + relationships.map { names(node.value(forKey: $0)) }
      }
  }

  private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? 0 }

  private func names(_ value: Any?) -> String? {
    let ids: [NSManagedObjectID] =
      switch value {
      case let id as NSManagedObjectID: [id]
      case let ids as [NSManagedObjectID]: ids
      case let ids as Set<NSManagedObjectID>: ids.sorted { number($0) < number($1) }
      default: []
      }
    return ids.isEmpty ? nil : ids.map { "\($0.entity.name ?? ""):\(number($0))" }.joined(separator: " ")
  }
}
