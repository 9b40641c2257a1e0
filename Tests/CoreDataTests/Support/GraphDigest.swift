import CoreData
import Foundation

/// The objects of a store as a multiset of hashes of values and relationships, without ids: equal for stores
/// that number the same objects differently.
///
/// An object's hash starts as entity and attribute values. Each round adds the hashes of related objects,
/// those of ordered relationships in their order; so objects with equal values differ by what surrounds them.
/// Transformable attributes are left out: the transformers are the programs' own. `clarus convert --verify`
/// compares their bytes.
struct GraphDigest: Equatable {
  /// The hashes (of this process) with the number of objects that have each.
  private var objects: [Int: Int] = [:]
  private(set) var count: Int = 0
  private(set) var links: Int = 0

  private static let rounds: Int = 4

  /// On the context's queue. Throws what fetches throw.
  init(_ context: NSManagedObjectContext, _ entities: [NSEntityDescription]) throws {
    var all: [NSManagedObject] = []
    for entity in entities where !entity.isAbstract {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      all += try context.fetch(request)
    }
    count = all.count
    var hashes: [NSManagedObjectID: Int] = [:]
    for object in all { hashes[object.objectID] = Self.attributes(object) }
    let related: [[(key: String, isOrdered: Bool, ids: [NSManagedObjectID])]] = all.map(Self.relationships)
    links = related.reduce(0) { $0 + $1.reduce(0) { $0 + $1.ids.count } }
    for _ in 0..<Self.rounds {
      var next: [NSManagedObjectID: Int] = [:]
      for (object, relationships) in zip(all, related) {
        var hasher = Hasher()
        hasher.combine(hashes[object.objectID])
        for (key, isOrdered, ids) in relationships {
          let members: [Int] = ids.map { hashes[$0] ?? 0 }
          hasher.combine(key)
          hasher.combine(isOrdered ? members : members.sorted())
        }
        next[object.objectID] = hasher.finalize()
      }
      hashes = next
    }
    for hash in hashes.values { objects[hash, default: 0] += 1 }
  }

  private static func attributes(_ object: NSManagedObject) -> Int {
    var hasher = Hasher()
    hasher.combine(object.entity.name)
    for (key, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key })
    where !attribute.isTransient && attribute.attributeType != .transformableAttributeType {
      hasher.combine(key)
      switch object.value(forKey: key) {
      case let data as Data: hasher.combine(data)
      case let date as Date: hasher.combine(date.timeIntervalSinceReferenceDate)
      case let value?: hasher.combine("\(value)")
      case nil: hasher.combine(0)
      }
    }
    return hasher.finalize()
  }

  private static func relationships(
    _ object: NSManagedObject
  ) -> [(key: String, isOrdered: Bool, ids: [NSManagedObjectID])] {
    object.entity.relationshipsByName.sorted { $0.key < $1.key }.filter { !$0.value.isTransient }.map {
      key, relationship in
      let members: [Any] =
        switch object.value(forKey: key) {
        case let set as NSSet: set.allObjects
        case let set as NSOrderedSet: set.array
        case let target?: [target]
        case nil: []
        }
      return (key, relationship.isOrdered, members.compactMap { ($0 as? NSManagedObject)?.objectID })
    }
  }
}
