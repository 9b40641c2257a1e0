import CoreDataModel
import CoreDataStorage
import Foundation
import TestSupport

@testable import CoreDataSQLite

/// The collection of real files, which is not part of the repository.
enum RealFiles {
  static func store(_ path: String) -> URL {
    SharedFiles.fixtures!.appendingPathComponent("stores-sqlite").appendingPathComponent(path)
  }

  /// A copy with all companions, for tests that write.
  static func copy(_ path: String, to folder: TemporaryFolder) throws -> URL {
    let source: URL = store(path)
    let target: URL = folder.file(source.lastPathComponent)
    for suffix in ["", "-wal", "-shm", "-journal"] {
      guard let data = FileManager.default.contents(atPath: source.path + suffix) else { continue }
      try data.write(to: URL(fileURLWithPath: target.path + suffix))
    }
    return target
  }
}

// MARK: Models made in code

func attribute(_ name: String, _ type: NSAttributeType, external: Bool = false) -> NSAttributeDescription {
  let result = NSAttributeDescription()
  result.name = name
  result.attributeType = type
  result.allowsExternalBinaryDataStorage = external
  return result
}

func relationship(
  _ name: String, to destination: NSEntityDescription, many: Bool, ordered: Bool = false
) -> NSRelationshipDescription {
  let result = NSRelationshipDescription()
  result.name = name
  result.destinationEntity = destination
  result.maxCount = many ? 0 : 1
  result.isOrdered = ordered
  return result
}

func invert(_ left: NSRelationshipDescription, _ right: NSRelationshipDescription) {
  left.inverseRelationship = right
  right.inverseRelationship = left
}

func entity(_ name: String, abstract: Bool = false) -> NSEntityDescription {
  let result = NSEntityDescription()
  result.name = name
  result.isAbstract = abstract
  return result
}

/// One model with every kind of attribute and relationship.
///
///     Kinds                      an attribute of each kind
///     Animal ◂─ Cat, Dog         a hierarchy
///     Owner ⇄ pets ordered       one-to-many, ordered; destination with sub-entities
///     Animal ⇄ friends           Animal.friends ↔ Animal.friendOf, many-to-many
///     Owner.gifts → Kinds        to-many without inverse
enum Zoo {
  static func model() -> NSManagedObjectModel {
    let kinds: NSEntityDescription = entity("Kinds")
    kinds.properties = [
      attribute("i16", .integer16AttributeType), attribute("i32", .integer32AttributeType),
      attribute("i64", .integer64AttributeType), attribute("flag", .booleanAttributeType),
      attribute("double", .doubleAttributeType), attribute("float", .floatAttributeType),
      attribute("date", .dateAttributeType), attribute("decimal", .decimalAttributeType),
      attribute("text", .stringAttributeType), attribute("uri", .URIAttributeType),
      attribute("uuid", .UUIDAttributeType), attribute("bytes", .binaryDataAttributeType),
      attribute("big", .binaryDataAttributeType, external: true),
      attribute("thing", .transformableAttributeType),
    ]
    let animal: NSEntityDescription = entity("Animal", abstract: true)
    let cat: NSEntityDescription = entity("Cat")
    let dog: NSEntityDescription = entity("Dog")
    let owner: NSEntityDescription = entity("Owner")
    let best: NSRelationshipDescription = relationship("best", to: animal, many: false)
    let pets: NSRelationshipDescription = relationship("pets", to: animal, many: true, ordered: true)
    let keeper: NSRelationshipDescription = relationship("keeper", to: owner, many: false)
    let friends: NSRelationshipDescription = relationship("friends", to: animal, many: true, ordered: true)
    let friendOf: NSRelationshipDescription = relationship("friendOf", to: animal, many: true)
    invert(pets, keeper)
    invert(friends, friendOf)
    animal.properties = [attribute("name", .stringAttributeType), keeper, friends, friendOf]
    cat.properties = [attribute("lives", .integer16AttributeType)]
    dog.properties = [attribute("weight", .doubleAttributeType)]
    owner.properties = [
      attribute("name", .stringAttributeType), attribute("email", .stringAttributeType), best, pets,
      relationship("gifts", to: kinds, many: true),
    ]
    owner.uniquenessConstraints = [["email"]]
    animal.subentities = [cat, dog]
    let model = NSManagedObjectModel()
    model.entities = [kinds, animal, owner]
    return model
  }
}

/// Values of one row by property name, for writing and for comparing.
enum Value: Equatable, CustomStringConvertible {
  case integer(Int64)
  case real(Double)
  case bytes([UInt8])
  case target(RowID)

  static func text(_ text: String) -> Value { .bytes(Array(text.utf8)) }

  var description: String {
    switch self {
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .bytes(let bytes): "'\(String(decoding: bytes, as: UTF8.self))' (\(bytes.count) bytes)"
    case .target(let id): "<\(id.entity)/p\(id.key)>"
    }
  }
}

extension RowSlab {
  /// Appends a row with these values.
  @discardableResult
  func add(_ layout: EntityLayout, key: Int64, version: Int32 = 1, _ values: [String: Value]) -> RowRef {
    let row: UnsafeMutableRawPointer = appendRow(key: key, entity: layout.index, version: version)
    for (name, value) in values {
      guard case .stored(_, let word)? = layout.slot(named: name)?.role else {
        preconditionFailure("no stored property \(name)")
      }
      switch value {
      case .integer(let value): set(row, word: word, toInteger: value)
      case .real(let value): set(row, word: word, toDouble: value)
      case .bytes(let bytes):
        set(row, word: word, to: bytes.withUnsafeBytes { appendTail($0.baseAddress, count: $0.count) })
      case .target(let id): set(row, word: word, toTarget: id)
      }
    }
    return self.row(count - 1)
  }
}

extension RowRef {
  func values(_ layout: EntityLayout) -> [String: Value] {
    var result: [String: Value] = [:]
    for slot in layout.slots {
      guard case .stored(let kind, let word) = slot.role, hasValue(word) else { continue }
      switch kind {
      case .double, .float, .date: result[slot.name] = .real(double(word))
      case .toOne: result[slot.name] = .target(target(word))
      case _ where kind.isInTail: result[slot.name] = .bytes(Array(bytes(word)))
      default: result[slot.name] = .integer(integer(word))
      }
    }
    return result
  }
}

extension RowBatch {
  var rows: [RowRef] {
    var result: [RowRef] = []
    forEach { result.append($0) }
    return result
  }
}

extension SQLiteEngine {
  func entity(_ name: String) -> EntityLayout { layout.byName[name]! }

  /// Saves new rows; returns their ids.
  @discardableResult
  func insert(_ name: String, _ rows: [[String: Value]]) throws -> [RowID] {
    let layout: EntityLayout = entity(name)
    var plan = SavePlan()
    let slab = RowSlab(layout: layout, family: false, rowCapacity: rows.count)
    for values in rows { slab.add(layout, key: plan.provisionalKey(in: layout), values) }
    plan.inserts = [(layout: layout, rows: RowBatch(slabs: [slab]))]
    _ = try save(plan)
    return rows.indices.map { slab.row($0).id }
  }

  /// An update of some properties; all others keep what the store has.
  func update(
    _ id: RowID, _ values: [String: Value?], expectedVersion: Int32? = nil
  ) throws -> RowUpdate {
    let layout: EntityLayout = self.layout.entities[Int(id.entity)]
    guard let old = try rows(of: layout, keys: [id.key]).first else { throw StoreError.closed }
    var all: [String: Value] = old.values(layout)
    for (name, value) in values { all[name] = value }
    let version: Int32 = expectedVersion ?? old.version
    let slab = RowSlab(layout: layout, family: false, rowCapacity: 1)
    let row: RowRef = slab.add(layout, key: id.key, version: version + 1, all)
    return RowUpdate(
      row: row, changed: SlotSet(values.keys.map { layout.slotByName[$0]! }), expectedVersion: version)
  }

  func save(_ change: (inout SavePlan) throws -> Void) throws {
    var plan = SavePlan()
    try change(&plan)
    _ = try save(plan)
  }

  func row(_ id: RowID) throws -> RowRef? {
    try rows(of: layout.entities[Int(id.entity)], keys: [id.key]).first
  }

  func values(_ id: RowID) throws -> [String: Value]? {
    try row(id)?.values(layout.entities[Int(id.entity)])
  }

  func members(_ owner: RowID, _ name: String) throws -> [RowID] {
    let layout: EntityLayout = self.layout.entities[Int(owner.entity)]
    return try members(of: layout, slot: layout.slotByName[name]!, owners: [owner])[0]
  }
}
