import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// The values of one object as a program's store gives them, by names of properties, and how they become
/// values of a row. Wrong types are errors that name the property and the value's type.
struct NodeValues {
  let runtime: EntityRuntime
  /// For errors.
  let answer: StoreAnswer
  let keepsExactDecimals: Bool
  /// The value of a property; nil if there is none.
  let value: (String) throws -> Any?

  /// The value of a stored attribute.
  func attribute(_ slot: Int) throws -> SlotValue {
    let described: PropertySlot = runtime.layout.slots[slot]
    let brief: CompactSlot = runtime.compactSlots[slot]
    guard let given = SlotValue.unwrapped(try given(described)) else { return .null }
    if brief.kind == .transformable { return .object(Box(try transformed(given, described))) }
    let made: SlotValue = .make(given, kind: brief.kind)
    guard made.isStorable(as: brief.kind) else {
      throw answer.wrong(
        "\(type(of: given)) for '\(described.name)'", expected: "\(Self.expected(brief.kind)), or no value")
    }
    if let range = NSManagedObject.refusedRange(of: made, brief.kind, given: given) {
      throw answer.wrong("\(given) for '\(described.name)'", expected: "\(range), or no value")
    }
    return brief.isRounded && !keepsExactDecimals ? made.rounded : made
  }

  /// The value of an attribute, or of an element of a composite one.
  private func given(_ slot: PropertySlot) throws -> Any? {
    guard slot.isElement else { return try value(slot.name) }
    let path: [String] = slot.name.split(separator: ".").map(String.init)
    var found: Any? = try value(path[0])
    for name in path.dropFirst() {
      guard let inner = SlotValue.unwrapped(found) else { return nil }
      guard let entries = inner as? [String: Any] else {
        throw answer.wrong(
          "\(type(of: inner)) for '\(path[0])'", expected: "a dictionary of its elements, or no value")
      }
      found = entries[name]
    }
    return found
  }

  /// The bytes of a transformable attribute. A store may give the object, or the data that its transformer
  /// made of it.
  private func transformed(_ given: Any, _ slot: PropertySlot) throws -> Data {
    do {
      return try Transformation.data(from: given, attribute: slot.attribute)
    } catch {
      guard let data = given as? Data else { throw error }
      return data
    }
  }

  private static func expected(_ kind: ColumnKind) -> String {
    switch kind {
    case .int16, .int32, .int64: "an integer"
    case .bool: "a Bool"
    case .double, .float: "a number that is not NaN"
    case .decimal: "an NSDecimalNumber or a Decimal"
    case .date: "a Date"
    case .string: "a String"
    case .uri: "a URL"
    case .uuid: "a UUID"
    case .data: "Data"
    case .transformable: "a value that its transformer accepts"
    case .toOne: "an NSManagedObjectID"
    }
  }
}

extension NSPersistentStore {
  /// The row of an object that a program's store names; checks that it belongs to this store and to one of
  /// the entities.
  final func rowID(
    of id: NSManagedObjectID, in family: ClosedRange<Int>, _ references: ReferenceMap,
    _ answer: @autoclosure () -> StoreAnswer
  ) throws -> RowID {
    let expected: String = "ids that newObjectID(for:referenceObject:) of this store has made"
    guard id.store === self, id.key > 0, let entry = references[id.key] else {
      throw answer().wrong(
        "the id \(id), which is not of this store", expected: expected)
    }
    let entity: EntityLayout = runtime.layout.entities[entry.entity]
    guard entry.key != nil else {
      throw answer().wrong(
        "an id whose reference object, a \(Swift.type(of: entry.reference)), is not hashable",
        expected: "ids of strings, numbers, UUIDs or other hashable values")
    }
    guard family.contains(entity.index), !entity.isAbstract else {
      throw answer().wrong(
        "an id of \(entity.isAbstract ? "the abstract entity " : "")\(entity.name)",
        expected: "ids of \(runtime.layout.entities[family.lowerBound].name)"
          + (family.count > 1 ? " and the entities below it" : ""))
    }
    return RowID(entity: entity.index, key: id.key)
  }

  /// The id of a row of this store.
  final func objectID(_ id: RowID) -> NSManagedObjectID {
    NSManagedObjectID(runtime: runtime.entities[Int(id.entity)], key: id.key, store: self)
  }

  /// An id for a reference object of a program's store. Stops for an entity that the model does not have.
  final func makeID(
    for entity: NSEntityDescription, reference: Any, _ references: ReferenceMap
  ) -> NSManagedObjectID {
    guard let known = runtime.ownRuntime(of: entity) ?? entity.name.flatMap(runtime.runtime(named:)) else {
      fatalError(
        """
        \(Swift.type(of: self)) made an id of the entity '\(entity.name ?? "")', which the coordinator's model does not have: \
        use entities of persistentStoreCoordinator.managedObjectModel.
        """)
    }
    return NSManagedObjectID(
      runtime: known, key: references.key(of: reference, entity: known.index), store: self)
  }

  /// The reference object of an id. Stops for an id of another store.
  final func reference(of id: NSManagedObjectID, _ references: ReferenceMap) -> Any {
    guard id.store === self, let entry = references[id.key] else {
      fatalError(
        "Cannot retrieve referenceObject from an objectID that was not created by this store: \(id) is not of \(self)."
      )
    }
    return entry.reference
  }
}
