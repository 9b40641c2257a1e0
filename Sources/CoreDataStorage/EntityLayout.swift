import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

/// The role of a property in the object graph, and where a row holds it.
public enum SlotRole: Sendable, Equatable {
  /// A value in the row; `word` is its first word, counted from the end of the row's header.
  case stored(ColumnKind, word: Int)
  /// A relationship with many members; the row holds no part of it.
  case toMany
  /// A value that only the object holds: transient attributes and relationships.
  case transient
  /// A fetched property: computed by a fetch.
  case fetched
  /// A composite attribute: it has no value of its own; its elements have slots.
  case composite
}

/// One property of an entity, resolved.
public struct PropertySlot: @unchecked Sendable {
  // Sendable: the description is frozen before a layout is made of it.
  public let name: String
  public let role: SlotRole
  public let property: NSPropertyDescription
  /// The entity index of the entity that declares the property (a super-entity's for an inherited one).
  public let declaringEntity: Int
  /// For a relationship: the entity index of its destination.
  public let destination: Int?
  /// For a relationship with an inverse: the inverse's slot in the destination's layout.
  public internal(set) var inverseSlot: Int?
  /// For a composite attribute: the slots of its elements, stored values and further composites.
  public internal(set) var elements: [Int] = []
  /// For an element: the slot of the composite attribute it is part of. Its name is the path there,
  /// `address.city`.
  public internal(set) var container: Int?

  public var attribute: NSAttributeDescription? {
    isAttribute ? unsafeDowncast(property, to: NSAttributeDescription.self) : nil
  }
  public var relationship: NSRelationshipDescription? {
    isRelationship ? unsafeDowncast(property, to: NSRelationshipDescription.self) : nil
  }
  // Looked up once: casts of classes, for each object that is deleted or validated, cost more than what they
  // decide.
  private let isAttribute: Bool
  private let isRelationship: Bool
  /// Whether the value is kept up to date by the store (a derived attribute).
  public let isDerived: Bool
  /// Whether that value is the time of the last save (`now()`), which nothing but a save makes.
  package let isTimeOfSave: Bool

  /// Whether it is no property of the entity but an element of one.
  public var isElement: Bool { container != nil }

  public let isToOne: Bool
  public let isToMany: Bool

  init(
    name: String, role: SlotRole, property: NSPropertyDescription, declaringEntity: Int, destination: Int?
  ) {
    self.name = name
    self.role = role
    self.property = property
    self.declaringEntity = declaringEntity
    self.destination = destination
    isAttribute = property is NSAttributeDescription
    let derived: NSDerivedAttributeDescription? = property as? NSDerivedAttributeDescription
    isDerived = derived != nil
    // An element of a composite attribute has no entity; it is refused when a store is opened.
    let owner: NSEntityDescription? = derived?.entity
    isTimeOfSave =
      derived.flatMap { attribute in
        owner.flatMap { try? Derivation.of(attribute, in: $0) }
      } == .now
    let relationship: NSRelationshipDescription? = property as? NSRelationshipDescription
    isRelationship = relationship != nil
    isToMany = relationship?.isToMany ?? false
    if case .stored(.toOne, _) = role { isToOne = true } else { isToOne = relationship != nil && !isToMany }
  }
}

/// An entity resolved once into slots, so that no name is looked up for each value.
///
/// Slots of the super-entity come first, in its order, so a slot number (and a word) of an entity is valid
/// for every sub-entity. Own slots follow: stored attributes by name, to-one relationships by name, then
/// everything that is not in the row. The elements of a composite attribute have slots of their own after it.
///
/// The stored ones are words of a row (`RowLayout`). `headerSize` is the same in a whole hierarchy, so words
/// of a parent are valid for its children.
public final class EntityLayout: @unchecked Sendable {
  // Sendable: every field is immutable once `ModelLayout.init` has returned; descriptions are frozen.

  /// Position in `ModelLayout.entities`; Apple's number of the entity in a fresh store is `index + 1`.
  public let index: Int
  public let name: String
  public let entity: NSEntityDescription
  public let superIndex: Int?
  public let rootIndex: Int
  /// The entity's own index and those of all its descendants: numbering is depth-first, so it is a range.
  public let family: ClosedRange<Int>
  public let slots: [PropertySlot]
  public let slotByName: [String: Int]
  public let wordCount: Int
  public let headerSize: Int
  /// The bytes a row of this entity takes.
  public let rowSize: Int
  /// The bytes a row of the widest entity of the family takes.
  public let familyRowSize: Int
  /// The stored attributes whose values a history keeps of deleted rows; nil if there are none.
  package let tombstoneSlots: SlotSet?

  init(
    index: Int, entity: NSEntityDescription, superIndex: Int?, rootIndex: Int, family: ClosedRange<Int>,
    slots: [PropertySlot], wordCount: Int, headerSize: Int, familyWordCount: Int
  ) {
    self.index = index
    self.name = entity.name ?? ""
    self.entity = entity
    self.superIndex = superIndex
    self.rootIndex = rootIndex
    self.family = family
    self.slots = slots
    var byName: [String: Int] = [:]
    for (number, slot) in slots.enumerated() { byName[slot.name] = number }
    self.slotByName = byName
    let kept: [Int] = slots.indices.filter { number in
      guard case .stored = slots[number].role else { return false }
      return slots[number].attribute?.preservesValueInHistoryOnDeletion == true
    }
    tombstoneSlots = kept.isEmpty ? nil : SlotSet(kept)
    self.wordCount = wordCount
    self.headerSize = headerSize
    self.rowSize = RowLayout.rowSize(headerSize: headerSize, words: wordCount)
    self.familyRowSize = RowLayout.rowSize(headerSize: headerSize, words: familyWordCount)
  }

  public var isAbstract: Bool { entity.isAbstract }
  public var hasSubentities: Bool { family.count > 1 }

  public func slot(named name: String) -> PropertySlot? { slotByName[name].map { slots[$0] } }
}

/// A whole model resolved: the entities in the order of Apple's entity numbers.
public final class ModelLayout: @unchecked Sendable {
  // Sendable: immutable after init; the model is frozen by it.

  public let model: NSManagedObjectModel
  /// Depth-first, siblings by name without regard to case, as Apple numbers entities in `Z_PRIMARYKEY`.
  public let entities: [EntityLayout]
  public let byName: [String: EntityLayout]

  /// Freezes the model and resolves it. Cost: once per coordinator, linear in the number of properties.
  public init(model: NSManagedObjectModel) {
    model.freeze()
    self.model = model
    let drafts: [EntityDraft] = EntityDraft.number(model.entities)
    var indexByName: [String: Int] = [:]
    for draft in drafts { indexByName[draft.entity.name ?? ""] = draft.index }

    var slotsByEntity: [[PropertySlot]] = []
    var wordsByEntity: [Int] = []
    for draft in drafts {
      var slots: [PropertySlot] = draft.superIndex.map { slotsByEntity[$0] } ?? []
      var words: Int = draft.superIndex.map { wordsByEntity[$0] } ?? 0
      let inherited: Set<String> = Set(slots.map(\.name))
      for property in draft.ownProperties where !inherited.contains(property.name) {
        let relationship = property as? NSRelationshipDescription
        let role: SlotRole = .make(property, nextWord: &words)
        slots.append(
          PropertySlot(
            name: property.name, role: role, property: property, declaringEntity: draft.index,
            destination: relationship?.destinationEntity?.name.flatMap { indexByName[$0] }))
        if role == .composite {
          PropertySlot.appendElements(of: slots.count - 1, to: &slots, nextWord: &words)
        }
      }
      slotsByEntity.append(slots)
      wordsByEntity.append(words)
    }
    for entity in slotsByEntity.indices {
      for number in slotsByEntity[entity].indices {
        let slot: PropertySlot = slotsByEntity[entity][number]
        guard let destination = slot.destination, let inverse = slot.relationship?.inverseRelationship else {
          continue
        }
        slotsByEntity[entity][number].inverseSlot = slotsByEntity[destination]
          .firstIndex { $0.name == inverse.name }
      }
    }

    var layouts: [EntityLayout] = []
    for draft in drafts {
      let root: EntityDraft = drafts[draft.rootIndex]
      let widest: Int = wordsByEntity[root.index...root.lastDescendant].max() ?? 0
      layouts.append(
        EntityLayout(
          index: draft.index, entity: draft.entity, superIndex: draft.superIndex,
          rootIndex: draft.rootIndex, family: draft.index...draft.lastDescendant,
          slots: slotsByEntity[draft.index], wordCount: wordsByEntity[draft.index],
          headerSize: RowLayout.headerSize(words: widest),
          familyWordCount: wordsByEntity[draft.index...draft.lastDescendant].max() ?? 0))
    }
    entities = layouts
    byName = Dictionary(layouts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension PropertySlot {
  /// Adds slots for the elements of a composite attribute, sorted by name as properties are, and for their
  /// elements in turn.
  fileprivate static func appendElements(
    of composite: Int, to slots: inout [PropertySlot], nextWord words: inout Int
  ) {
    guard let attribute = slots[composite].property as? NSCompositeAttributeDescription else { return }
    for element in attribute.elements.sorted(by: { $0.name < $1.name }) {
      let number: Int = slots.count
      let role: SlotRole = .make(element, nextWord: &words)
      var slot = PropertySlot(
        name: "\(slots[composite].name).\(element.name)", role: role, property: element,
        declaringEntity: slots[composite].declaringEntity, destination: nil)
      slot.container = composite
      slots.append(slot)
      slots[composite].elements.append(number)
      if role == .composite { appendElements(of: number, to: &slots, nextWord: &words) }
    }
  }
}

extension EntityLayout {
  /// The stored slots of a slot: those of the elements for a composite attribute, otherwise the slot itself.
  package func storedSlots(of slot: Int) -> [Int] {
    slots[slot].role == .composite ? slots[slot].elements.flatMap(storedSlots) : [slot]
  }

  /// The slot of the property that contains a slot.
  package func property(of slot: Int) -> Int {
    var slot: Int = slot
    while let container = slots[slot].container { slot = container }
    return slot
  }

  /// Joins the longest prefix of a path that leads into a composite attribute into one name:
  /// `address.city.length` gives `address.city` and `length`.
  package func joinElements(_ path: [String]) -> [String] {
    guard let first = path.first, slot(named: first)?.role == .composite else { return path }
    var name: String = first
    var rest: ArraySlice<String> = path.dropFirst()
    while let next = rest.first, slotByName["\(name).\(next)"] != nil {
      name += ".\(next)"
      rest.removeFirst()
    }
    return [name] + rest
  }
}

extension ModelLayout {
  /// Throws `StoreError.unsupportedModel` for names that differ as text but are equal in Swift, such as `é`
  /// composed and decomposed: no dictionary by name can hold both.
  package func checkNames() throws {
    var entities: [String: String] = [:]
    for entity in self.entities {
      try Self.checkName(entity.name, among: &entities, "entity", of: entity.name, nil)
      var properties: [String: String] = [:]
      for property in entity.entity.superentity?.properties ?? [] {
        properties[property.name] = property.name
      }
      for property in entity.entity.ownProperties {
        try Self.checkName(property.name, among: &properties, "property", of: entity.name, property.name)
      }
    }
  }

  private static func checkName(
    _ name: String, among known: inout [String: String], _ what: String, of entity: String,
    _ property: String?
  ) throws {
    guard let other = known.updateValue(name, forKey: name), !StringMatching.literallyEqual(name, other)
    else { return }
    func codePoints(_ name: String) -> String {
      name.unicodeScalars.map { "U+" + String($0.value, radix: 16, uppercase: true) }.joined(separator: " ")
    }
    throw StoreError.unsupportedModel(
      entity: entity, property: property,
      reason: "another \(what) has the same name in other code points (\(codePoints(name)), "
        + "\(codePoints(other))), and Swift can't tell them apart; rename one")
  }

  /// Throws `StoreError.unsupportedModel` for a composite attribute that a store can't hold.
  package func checkComposites(entityNames: Set<String>? = nil) throws {
    for entity in entities where entityNames?.contains(entity.name) ?? true {
      for slot in entity.slots where slot.role == .composite || slot.isElement {
        func refusal(_ reason: String) -> StoreError {
          StoreError.unsupportedModel(entity: entity.name, property: slot.name, reason: reason)
        }
        if slot.role == .composite, slot.elements.isEmpty {
          throw refusal("the composite attribute has no elements; give it some, or remove it")
        }
        if slot.isDerived { throw refusal("an element of a composite attribute can't be derived") }
        if slot.isElement, slot.role == .transient {
          throw refusal(
            "an element of a composite attribute needs a type that is stored, and can't be transient")
        }
      }
    }
  }
}

extension SlotRole {
  /// Determines a property's role and allocates its words.
  fileprivate static func make(_ property: NSPropertyDescription, nextWord: inout Int) -> SlotRole {
    func allocate(_ kind: ColumnKind) -> SlotRole {
      defer { nextWord += kind.wordCount }
      return .stored(kind, word: nextWord)
    }
    if property is NSFetchedPropertyDescription { return .fetched }
    if property.isTransient { return .transient }
    if let relationship = property as? NSRelationshipDescription {
      return relationship.isToMany ? .toMany : allocate(.toOne)
    }
    if property is NSCompositeAttributeDescription { return .composite }
    guard let attribute = property as? NSAttributeDescription else { return .transient }
    if attribute.attributeType == .compositeAttributeType { return .composite }
    return ColumnKind(attribute.attributeType).map(allocate) ?? .transient
  }
}

/// An entity with its number, before its slots are assigned.
private struct EntityDraft {
  let index: Int
  let entity: NSEntityDescription
  let superIndex: Int?
  let rootIndex: Int
  var lastDescendant: Int

  /// Stored attributes by name, to-one relationships by name, then the rest by name.
  var ownProperties: [NSPropertyDescription] {
    func rank(_ property: NSPropertyDescription) -> Int {
      if property.isTransient || property is NSFetchedPropertyDescription { return 3 }
      if let relationship = property as? NSRelationshipDescription { return relationship.isToMany ? 2 : 1 }
      return 0
    }
    return entity.properties.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
  }

  static func number(_ entities: [NSEntityDescription]) -> [EntityDraft] {
    var drafts: [EntityDraft] = []
    func walk(_ entity: NSEntityDescription, superIndex: Int?, rootIndex: Int?) {
      let index: Int = drafts.count
      drafts.append(
        EntityDraft(
          index: index, entity: entity, superIndex: superIndex, rootIndex: rootIndex ?? index,
          lastDescendant: index))
      for child in NSEntityDescription.inStoreOrder(entity.subentities) {
        walk(child, superIndex: index, rootIndex: rootIndex ?? index)
      }
      drafts[index].lastDescendant = drafts.count - 1
    }
    for root in NSEntityDescription.inStoreOrder(entities.filter { $0.superentity == nil }) {
      walk(root, superIndex: nil, rootIndex: nil)
    }
    return drafts
  }
}
