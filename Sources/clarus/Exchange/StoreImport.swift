import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// Brings the records of a file into a store: by one context and one save, so that inverses, orders,
/// validation and constraints are those of any program, and nothing is written unless all of it is.
///
/// Each record is an object of the file, which is found in the store by match keys or made. References are
/// ids of other records, or values of the match key of what they refer to.
final class StoreImport {
  struct Outcome {
    var inserted: [String: Int] = [:]
    var updated: [String: Int] = [:]
    var unchanged: [String: Int] = [:]
    var names: [String] { Set(inserted.keys).union(updated.keys).union(unchanged.keys).sorted() }
  }

  private struct Item {
    var record: ImportRecord
    var entity: EntityLayout
    var object: NSManagedObject
  }

  /// A to-one relationship of an object, in whichever of its two sides the file tells it.
  private struct Holder: Hashable {
    let object: ObjectIdentifier
    let relationship: ObjectIdentifier
  }

  private let context: NSManagedObjectContext
  private let store: NSPersistentStore
  private let layout: ModelLayout
  /// By name of entity.
  private let keys: [String: [String]]
  private let matchesIDs: Bool
  /// Whether each object is to be found by a uniqueness constraint, if by nothing else.
  private let requiresKeys: Bool
  private let predicate: MatchPredicate?
  private let progress: ProgressLine
  private var items: [Item] = []
  private var itemsByID: [String: Int] = [:]
  /// By root entity's name, then the values of a match key.
  private var itemsByKey: [String: [[PredicateValue]: Int]] = [:]
  /// What the file has told of to-one relationships, with the place.
  private var held: [Holder: (object: NSManagedObject?, position: TextPosition)] = [:]

  init(
    _ context: NSManagedObjectContext, store: NSPersistentStore, layout: ModelLayout,
    keys: [String: [String]],
    matchesIDs: Bool, requiresKeys: Bool, predicate: MatchPredicate?, progress: ProgressLine
  ) {
    self.context = context
    self.store = store
    self.layout = layout
    self.keys = keys
    self.matchesIDs = matchesIDs
    self.requiresKeys = requiresKeys
    self.predicate = predicate
    self.progress = progress
  }

  /// Finds or makes all objects, then sets their properties. Throws ``ImportError``; the context is then to
  /// be dropped.
  func run(_ records: [ImportRecord]) throws -> Outcome {
    progress.begin("Importing", total: records.count * 2)
    // Objects are numbered in this order, so that the objects of an export keep theirs where they can.
    for record in records.sorted(by: Self.isBefore) {
      try begin(record)
      try progress.advance(by: 1)
    }
    for item in items {
      try fill(item)
      try progress.advance(by: 1)
    }
    context.processPendingChanges()
    try validate()
    return outcome
  }

  private static func isBefore(_ one: ImportRecord, _ other: ImportRecord) -> Bool {
    func key(_ record: ImportRecord) -> Int64 {
      guard case .string(let text)? = record.field("$id")?.content else { return .max }
      return ObjectIDText(text)?.key ?? .max
    }
    let keys: (Int64, Int64) = (key(one), key(other))
    return keys.0 != keys.1 ? keys.0 < keys.1 : one.position < other.position
  }

  // MARK: Objects

  private func begin(_ record: ImportRecord) throws {
    try checkKeys(of: record)
    let name: String = record.entity ?? ""
    guard let entity = layout.byName[name] else {
      throw ImportError(
        record.position,
        "There is no entity \"\(name)\". \(NearestNames.advice(for: name, among: layout.byName.keys))")
    }
    let match: [PredicateValue]? = try matchValues(of: record, entity)
    if let match {
      let root: String = layout.entities[entity.rootIndex].name
      if let other = itemsByKey[root]?.updateValue(items.count, forKey: match) {
        throw ImportError(
          record.position,
          "The object has the same \((keys[name] ?? []).joined(separator: ", ")) as the one in "
            + "\(items[other].record.position.line(from: record.position)).")
      }
      if itemsByKey[root] == nil { itemsByKey[root] = [match: items.count] }
    }
    let found: NSManagedObject? = try find(record, entity, match)
    if found == nil, entity.isAbstract {
      throw ImportError(record.position, "\(name) is abstract: an object is one of a sub-entity.")
    }
    if let id = try self.id(of: record) {
      if itemsByID.updateValue(items.count, forKey: id) != nil {
        throw ImportError(record.position, "The id \(id) is there twice.")
      }
    }
    let object: NSManagedObject = try found ?? insert(entity, record)
    items.append(
      Item(record: record, entity: layout.byName[object.entity.name ?? ""] ?? entity, object: object))
  }

  private func insert(_ entity: EntityLayout, _ record: ImportRecord) throws -> NSManagedObject {
    guard let description = store.persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity.name]
    else { throw ImportError(record.position, "The store does not hold \(entity.name).") }
    return NSManagedObject(entity: description, insertInto: context)
  }

  private func id(of record: ImportRecord) throws -> String? {
    guard let value = record.field("$id") else { return nil }
    switch value.content {
    case .null: return nil
    case .string(let text):
      try checkStore(of: text, value.position)
      return text
    default:
      throw ImportError(
        value.position, "\"$id\" takes text such as Item/p1, and there is \(value.kindName).")
    }
  }

  /// An id of another store names none of the objects here.
  private func checkStore(of id: String, _ position: TextPosition) throws {
    guard let uuid = ObjectIDText(id)?.storeUUID, uuid.uppercased() != store.identifier?.uppercased() else {
      return
    }
    throw ImportError(
      position,
      "\(id) is the id of an object in another store; this one is \(store.identifier ?? ""). Write ids such as Item/p1, "
        + "or match objects by their values (--match).")
  }

  private func checkKeys(of record: ImportRecord) throws {
    for field in record.fields where field.name.hasPrefix("$") && !["$id", "$entity"].contains(field.name) {
      throw ImportError(
        field.position, "The key \"\(field.name)\" has no meaning here; those with $ are $id and $entity.")
    }
  }

  private func find(_ record: ImportRecord, _ entity: EntityLayout, _ match: [PredicateValue]?) throws
    -> NSManagedObject?
  {
    if matchesIDs, let id = try id(of: record) { return try object(withID: id, of: entity) }
    if let predicate {
      let values: [String: Any] = try predicate.values(of: record, entity)
      return try fetch(
        entity, predicate.predicate.withSubstitutionVariables(values), "that the predicate chooses",
        at: record.position)
    }
    guard let match, let names = keys[entity.name] else {
      if requiresKeys {
        throw ImportError(
          record.position,
          "\(entity.name) has no uniqueness constraint of attributes, so that --match unique finds no object of it, and "
            + "each record would be a new one. Name attributes, --match \(entity.name)=attribute, or import these records "
            + "without --match.")
      }
      return nil
    }
    return try fetch(entity, names, match, at: record.position)
  }

  /// The object of the store with an id; nil if there is none.
  private func object(withID text: String, of entity: EntityLayout) throws -> NSManagedObject? {
    guard let id = ObjectIDText(text), let name = id.entity ?? Optional(entity.name),
      layout.byName[name]?.rootIndex == entity.rootIndex,
      let url = URL(string: "x-coredata://\(store.identifier ?? "")/\(name)/p\(id.key)"),
      let objectID = store.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
    else { return nil }
    return try? context.existingObject(with: objectID)
  }

  /// The one object with these values; nil if there is none.
  private func fetch(
    _ entity: EntityLayout, _ names: [String], _ values: [PredicateValue], at position: TextPosition
  ) throws -> NSManagedObject? {
    let conditions: [NSPredicate] = zip(names, values).map { name, value in
      CoreDataPredicates.NSComparisonPredicate(
        leftExpression: CoreDataPredicates.NSExpression(forKeyPath: name),
        rightExpression: CoreDataPredicates.NSExpression(forConstantValue: value.anyValue), modifier: .direct,
        type: .equalTo)
    }
    return try fetch(
      entity, CoreDataPredicates.NSCompoundPredicate(type: .and, subpredicates: conditions),
      "with this \(names.joined(separator: ", "))", at: position)
  }

  private func fetch(
    _ entity: EntityLayout, _ predicate: NSPredicate, _ which: String, at position: TextPosition
  ) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
    request.predicate = predicate
    request.fetchLimit = 2
    request.includesPendingChanges = false
    let found: [NSManagedObject] = try context.fetch(request)
    if found.count > 1 {
      throw ImportError(
        position,
        "There are several objects of \(entity.name) \(which) in the store; nothing says which one is meant.")
    }
    return found.first
  }

  // MARK: Match keys

  /// The values of the match key of a record; nil if its entity has none.
  private func matchValues(of record: ImportRecord, _ entity: EntityLayout) throws -> [PredicateValue]? {
    guard let names = keys[entity.name] else { return nil }
    return try names.map { name in
      guard let value = record.field(name) else {
        throw ImportError(
          record.position, "The object has no \"\(name)\", by which objects of \(entity.name) are matched.")
      }
      return try matchValue(value, name, entity)
    }
  }

  private func matchValue(_ value: ImportValue, _ name: String, _ entity: EntityLayout) throws
    -> PredicateValue
  {
    guard let attribute = entity.slot(named: name)?.attribute else { return .null }
    let converted: Any? = try ImportValues.value(value, for: attribute, named: "\(entity.name).\(name)")
    return PredicateValue(normalizing: converted)
  }

  // MARK: Properties

  private func fill(_ item: Item) throws {
    for field in item.record.fields where !field.name.hasPrefix("$") {
      let path: [Substring] = field.name.split(separator: ".", maxSplits: 1)
      if let slot = item.entity.slot(named: field.name), slot.relationship == nil {
        try set(field, slot, item)
      } else if let slot = path.first.flatMap({ item.entity.slot(named: String($0)) }),
        slot.relationship != nil
      {
        try setRelationship(field, slot, by: path.count > 1 ? String(path[1]) : nil, item)
      } else {
        let names: [String] = item.entity.slots.map(\.name)
        throw ImportError(
          field.position,
          "\(item.entity.name) has no property \"\(field.name)\". \(NearestNames.advice(for: field.name, among: names))"
        )
      }
    }
  }

  private func set(_ field: ImportField, _ slot: PropertySlot, _ item: Item) throws {
    // The store computes derived values itself.
    if slot.isDerived { return }
    if case .composite = slot.role {
      let names: [String] = slot.elements.map { item.entity.slots[$0].name }
      throw ImportError(
        field.position,
        "\(item.entity.name).\(slot.name) is a composite attribute: name its elements in its place, "
          + "\(names.joined(separator: ", ")).")
    }
    guard let attribute = slot.attribute, case .stored = slot.role else {
      throw ImportError(
        field.position, "\(item.entity.name).\(slot.name) is not stored, so it can't be imported.")
    }
    let value: Any? = try ImportValues.value(
      field.value, for: attribute, named: "\(item.entity.name).\(slot.name)")
    let old: Any? = item.object.value(forKeyPath: slot.name)
    // A value that stays is no change; a text of the same characters that is composed otherwise doesn't stay.
    if let old = old as? String, let new = value as? String {
      if !old.utf8.elementsEqual(new.utf8) { item.object.setValue(new, forKeyPath: slot.name) }
      return
    }
    switch (old as? NSObject, value as? NSObject ?? (value as AnyObject?) as? NSObject) {
    case (nil, nil): return
    case (let old?, let new?) where old.isEqual(new): return
    default: item.object.setValue(value, forKeyPath: slot.name)
    }
  }

  private func setRelationship(_ field: ImportField, _ slot: PropertySlot, by key: String?, _ item: Item)
    throws
  {
    guard let destination = slot.destination.map({ layout.entities[$0] }), slot.role != .transient else {
      throw ImportError(
        field.position, "\(item.entity.name).\(slot.name) is not stored, so it can't be imported.")
    }
    let name: String = "\(item.entity.name).\(slot.name)"
    let inverse: NSRelationshipDescription? = slot.relationship?.inverseRelationship.flatMap {
      $0.isToMany ? nil : $0
    }
    guard slot.isToMany else {
      let target: NSManagedObject? =
        if case .null = field.value.content { nil } else { try target(field.value, destination, key, name) }
      try hold(target, slot.relationship, of: item.object, field.position)
      if let target { try hold(item.object, inverse, of: target, field.position) }
      if item.object.value(forKey: slot.name) as? NSManagedObject !== target {
        item.object.setValue(target, forKey: slot.name)
      }
      return
    }
    let members: [NSManagedObject] = try self.members(field.value).map {
      let member: NSManagedObject = try target($0, destination, key, name)
      try hold(item.object, inverse, of: member, $0.position)
      return member
    }
    if slot.relationship?.isOrdered == true {
      let new = NSOrderedSet(array: members)
      if (item.object.value(forKey: slot.name) as? NSOrderedSet) != new {
        item.object.setValue(new, forKey: slot.name)
      }
    } else {
      let new = NSSet(array: members)
      if (item.object.value(forKey: slot.name) as? NSSet) != new {
        item.object.setValue(new, forKey: slot.name)
      }
    }
  }

  /// Notes what an object's to-one relationship holds. Throws if the file told another object before: the
  /// later one would replace it without a word.
  private func hold(
    _ target: NSManagedObject?, _ relationship: NSRelationshipDescription?, of object: NSManagedObject,
    _ position: TextPosition
  ) throws {
    guard let relationship else { return }
    let holder = Holder(object: ObjectIdentifier(object), relationship: ObjectIdentifier(relationship))
    guard let known = held[holder] else {
      held[holder] = (target, position)
      return
    }
    guard known.object !== target else { return }
    throw ImportError(
      position,
      "\(object.entity.name ?? "").\(relationship.name) of one object is told twice: here, and otherwise at "
        + "\(known.position.line(from: position)), column \(known.position.column). It holds one object: remove one of the two."
    )
  }

  /// A list, or in CSV a text with spaces.
  private func members(_ value: ImportValue) throws -> [ImportValue] {
    switch value.content {
    case .null: return []
    case .list(let members): return members
    case .string(let text):
      return text.split(separator: " ").map {
        ImportValue(content: .string(String($0)), position: value.position)
      }
    case .number, .bool, .object: return [value]
    }
  }

  /// The object that a value refers to: the id of a record, or the values of a match key.
  private func target(_ value: ImportValue, _ destination: EntityLayout, _ key: String?, _ name: String)
    throws
    -> NSManagedObject
  {
    if key == nil, case .string(let text) = value.content {
      if let place = itemsByID[text] {
        let item: Item = items[place]
        guard destination.family.contains(item.entity.index) else {
          throw ImportError(
            value.position,
            "\(name) takes objects of \(destination.name), and \(text) is a \(item.entity.name).")
        }
        return item.object
      }
      try checkStore(of: text, value.position)
      if matchesIDs, let object = try object(withID: text, of: destination) { return object }
    }
    if case .list = value.content {
      throw ImportError(value.position, "\(name) takes one \(destination.name) here, and there is a list.")
    }
    guard let names = key.map({ [$0] }) ?? keys[destination.name] else {
      var isID: Bool = false
      if case .string(let text) = value.content { isID = ObjectIDText(text) != nil }
      throw ImportError(
        value.position,
        "\(name): \(value.kindName) is the id of no record. "
          + (isID && !matchesIDs
            ? "To name objects of the store by their ids pass --match id, or by" : "To name objects by")
          + " their values give their key: --match \(destination.name)=attribute.")
    }
    let values: [PredicateValue] = try targetValues(value, names, destination, name)
    if key == nil || keys[destination.name] == names {
      let root: String = layout.entities[destination.rootIndex].name
      if let place = itemsByKey[root]?[values] { return items[place].object }
    }
    guard let object = try fetch(destination, names, values, at: value.position) else {
      throw ImportError(
        value.position,
        "\(name): There is no \(destination.name) whose \(names.joined(separator: ", ")) is \(value.kindName), neither in the "
          + "file nor in the store.")
    }
    return object
  }

  private func targetValues(
    _ value: ImportValue, _ names: [String], _ destination: EntityLayout, _ name: String
  ) throws -> [PredicateValue] {
    if case .object(let fields) = value.content {
      return try names.map { key in
        guard let field = fields.first(where: { $0.name == key }) else {
          throw ImportError(
            value.position,
            "\(name): The object has no \"\(key)\", by which objects of \(destination.name) are matched.")
        }
        return try matchValue(field.value, key, destination)
      }
    }
    guard names.count == 1 else {
      throw ImportError(
        value.position,
        "\(name): Objects of \(destination.name) are matched by \(names.joined(separator: ", ")): write an object with these."
      )
    }
    guard MatchKeys.isAttribute(names[0], of: destination) else {
      throw ImportError(
        value.position, "\(name): \(destination.name) has no stored attribute \"\(names[0])\".")
    }
    return [try matchValue(value, names[0], destination)]
  }

  // MARK: Results

  private func validate() throws {
    for item in items {
      do {
        if item.object.isInserted {
          try item.object.validateForInsert()
        } else if item.object.isUpdated {
          try item.object.validateForUpdate()
        }
      } catch {
        throw ImportError(item.record.position, ErrorText.line(for: error))
      }
    }
  }

  /// Saves what `run` has made. What breaks a uniqueness constraint is named with its place in the file.
  func saveIfChanged() throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      let conflicts: Any? = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey]
      guard let conflict = (conflicts as? [Any])?.compactMap({ $0 as? NSConstraintConflict }).first
      else { throw error }
      let objects: Set<NSManagedObject> = Set(conflict.conflictingObjects)
      let places: [Item] = items.filter { objects.contains($0.object) }
        .sorted { $0.record.position < $1.record.position }
      guard let last = places.last else { throw error }
      let names: String = conflict.constraint.joined(separator: ", ")
      let other: String =
        places.count > 1
        ? "The object in \(places[places.count - 2].record.position.line(from: last.record.position))"
        : "An object of the store"
      throw ImportError(
        last.record.position,
        "\(other) has the same \(names), which is to be unique among the objects of \(last.entity.name). "
          + "To change that object instead, pass --match unique.")
    }
  }

  private var outcome: Outcome {
    var outcome = Outcome()
    for item in items {
      if item.object.isInserted {
        outcome.inserted[item.entity.name, default: 0] += 1
      } else if item.object.hasPersistentChangedValues {
        outcome.updated[item.entity.name, default: 0] += 1
      } else {
        outcome.unchanged[item.entity.name, default: 0] += 1
      }
    }
    return outcome
  }
}
