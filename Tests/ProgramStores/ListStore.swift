import CoreData
import Foundation

/// An atomic store in a property list, as its author would write it.
public final class ListStore: NSAtomicStore, @unchecked Sendable {
  // Sendable: what it holds guards itself.

  public static let storeType = "List"
  /// The calls of the store, in order.
  public let journal = Locked<[String]>([])
  /// Called at the start of each call that may throw.
  public let hook = Locked<((String) throws -> Void)?>(nil)

  public override var type: String { Self.storeType }

  private func note(_ call: String) throws {
    journal.withLock { $0.append(call) }
    try hook.withLock { $0 }?(call)
  }

  public func calls(_ body: () throws -> Void) rethrows -> [String] {
    journal.withLock { $0 = [] }
    try body()
    return journal.withLock { $0 }
  }

  public override func load() throws {
    try note("load")
    guard let url, let data = try? Data(contentsOf: url) else { return }
    guard
      let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
      let objects = list["objects"] as? [[String: Any]],
      let model = persistentStoreCoordinator?.managedObjectModel
    else { throw CocoaError(.fileReadCorruptFile) }
    metadata = list["metadata"] as? [String: Any]
    var nodes: Set<NSAtomicStoreCacheNode> = []
    for object in objects {
      guard let entity = model.entitiesByName[object["entity"] as? String ?? ""],
        let name = object["name"] as? String, let values = object["values"] as? [String: Any],
        let related = object["related"] as? [String: [[String]]]
      else { throw CocoaError(.fileReadCorruptFile) }
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: name))
      for (key, attribute) in entity.attributesByName {
        node.setValue(decoded(values[key], attribute), forKey: key)
      }
      for (key, relationship) in entity.relationshipsByName {
        let ids: [NSManagedObjectID] = (related[key] ?? []).compactMap { pair in
          model.entitiesByName[pair[0]].map { objectID(for: $0, withReferenceObject: pair[1]) }
        }
        node.setValue(relationship.isToMany ? ids as Any : ids.first as Any, forKey: key)
      }
      nodes.insert(node)
    }
    addCacheNodes(nodes)
  }

  public override func save() throws {
    try note("save")
    let objects: [[String: Any]] = cacheNodes().map { node in
      let entity: NSEntityDescription = node.objectID.entity
      var values: [String: Any] = [:]
      for (key, attribute) in entity.attributesByName {
        values[key] = encoded(node.value(forKey: key), attribute)
      }
      var related: [String: [[String]]] = [:]
      for key in entity.relationshipsByName.keys {
        let value: Any? = node.value(forKey: key)
        let ids: [NSManagedObjectID] =
          (value as? [NSManagedObjectID]) ?? (value as? Set<NSManagedObjectID>).map(Array.init)
          ?? (value as? NSManagedObjectID).map { [$0] } ?? []
        related[key] = ids.map { [$0.entity.name ?? "", "\(referenceObject(for: $0))"] }
      }
      return [
        "entity": entity.name ?? "", "name": referenceObject(for: node.objectID), "values": values,
        "related": related,
      ]
    }
    let list: [String: Any] = ["metadata": metadata ?? [:], "objects": objects]
    guard let url else { return }
    try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0).write(
      to: url, options: .atomic)
  }

  /// Property lists have neither UUIDs nor URLs nor decimals.
  private func encoded(_ value: Any?, _ attribute: NSAttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .UUIDAttributeType: (value as? UUID)?.uuidString
    case .URIAttributeType: (value as? URL)?.absoluteString
    case .decimalAttributeType: (value as? NSDecimalNumber)?.description
    default: value
    }
  }

  private func decoded(_ value: Any?, _ attribute: NSAttributeDescription) -> Any? {
    switch attribute.attributeType {
    case .UUIDAttributeType: (value as? String).flatMap { UUID(uuidString: $0) }
    case .URIAttributeType: (value as? String).flatMap { URL(string: $0) }
    case .decimalAttributeType: (value as? String).map { NSDecimalNumber(string: $0) }
    default: value
    }
  }

  public override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
    try? note("newReferenceObject \(managedObject.entity.name ?? "")")
    return super.newReferenceObject(for: managedObject)
  }

  public override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    try? note("newCacheNode \(managedObject.entity.name ?? "")")
    return super.newCacheNode(for: managedObject)
  }

  public override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    try? note("updateCacheNode \(managedObject.entity.name ?? "")")
    super.updateCacheNode(node, from: managedObject)
  }

  public override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
    try? note("willRemoveCacheNodes \(cacheNodes.count)")
  }
}
