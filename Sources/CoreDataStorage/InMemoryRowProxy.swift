import CoreDataEvaluation
import CoreDataPredicates
import Foundation

/// A row as predicates read it: properties by name, relationships as other proxies.
///
/// Two proxies are equal if they represent the same row id, so `SELF == object` and `category IN {…}` compare
/// ids.
final class InMemoryRowProxy: NSObject, KeyValueReadable, ModelledObject, StoredRow {
  /// One state for all proxies of a query, so that a proxy costs one reference to it.
  final class Source: Sendable {
    let state: InMemoryState
    /// Whether a transformable attribute reads as the bytes that its transformer made, which compare with
    /// nothing.
    let givesTransformed: Bool

    init(_ state: InMemoryState, givesTransformed: Bool = false) {
      self.state = state
      self.givesTransformed = givesTransformed
    }
  }

  let id: RowID
  private let row: RowRef?
  private let source: Source

  init(row: RowRef, source: Source) {
    id = row.id
    self.row = row
    self.source = source
  }

  /// For an id in a row or a predicate; it need not have a row. nil equals no row.
  init(id: RowID?, source: Source) {
    let row: RowRef? = id.flatMap(source.state.row)
    self.id = row?.id ?? id ?? RowID(entity: -1, key: .min)
    self.row = row
    self.source = source
  }

  override func isEqual(_ object: Any?) -> Bool {
    // A key is unique in its hierarchy; an id from a to-one word may name a super-entity.
    guard let other = object as? InMemoryRowProxy else { return false }
    return id == other.id && id.entity >= 0
  }

  override var hash: Int { id.hashValue }

  override var description: String {
    guard id.entity >= 0 else { return "<unsaved object>" }
    return "<\(source.state.schema.layout.entities[Int(id.entity)].name) p\(id.key)>"
  }

  /// The predicate with each `ObjectReference` replaced by the proxy of its row.
  static func bind(_ predicate: PredicateNode, to source: Source) -> PredicateNode {
    predicate.mapConstants { bind($0, to: source) }
  }

  /// A constant with its `ObjectReference`s replaced by proxies.
  static func bind(_ value: PredicateValue, to source: Source) -> PredicateValue {
    switch value {
    case .object(let box):
      guard let reference = box.value as? ObjectReference else { return value }
      return .object(ObjectBox(InMemoryRowProxy(id: reference.id, source: source)))
    case .array(let members): return .array(members.map { bind($0, to: source) })
    case .set(let members): return .set(Set(members.map { bind($0, to: source) }))
    default: return value
    }
  }

  // MARK: Reading

  func hasProperty(named name: String) -> Bool { layout?.slotByName[name] != nil }

  private var layout: EntityLayout? { row.map { source.state.schema.layout.entities[$0.entity] } }

  func readValue(forKey key: String) throws -> Any? {
    guard let row, let entity = layout else { return nil }
    guard let number = entity.slotByName[key] else {
      if key == "objectID" { return self }
      if key == "entity" { return entity.entity }
      throw StoreError.unknownKeyPath(
        key, entity: entity.name, advice: NearestNames.advice(for: key, among: entity.slotByName.keys))
    }
    return try value(ofSlot: number, entity: entity, row: row)
  }

  private func value(ofSlot number: Int, entity: EntityLayout, row: RowRef) throws -> Any? {
    let slot: PropertySlot = entity.slots[number]
    switch slot.role {
    case .stored(let kind, let word):
      guard row.hasValue(word) else { return nil }
      if kind == .toOne { return InMemoryRowProxy(id: row.target(word), source: source) }
      if kind == .transformable, !source.givesTransformed {
        throw StoreError.unsupported(
          part: "\(entity.name).\(slot.name)",
          reason: "the store holds what a value transformer made of the attribute",
          advice: "Fetch through a context, which evaluates the condition over objects.")
      }
      return kind.predicateValue(row, word)
    case .toMany:
      let members: [InMemoryRowProxy] = source.state.members(of: row.id, slot: number)
        .map { InMemoryRowProxy(id: $0, source: source) }
      // Managed objects return the same classes, so paths continue in the same way.
      return slot.relationship?.isOrdered == true ? NSOrderedSet(array: members) : NSSet(array: members)
    case .composite:
      var entries: [PredicateValue: PredicateValue] = [:]
      for element in slot.elements {
        guard let value = try value(ofSlot: element, entity: entity, row: row) as? PredicateValue else {
          continue
        }
        entries[.string(entity.slots[element].property.name)] = value
      }
      return entries.isEmpty ? nil : PredicateValue.dictionary(entries)
    case .transient, .fetched:
      throw StoreError.unsupported(
        part: "\(entity.name).\(slot.name)", reason: "a store does not hold transient properties",
        advice: "Fetch through a context, which evaluates the condition over objects.")
    }
  }
}

extension ColumnKind {
  /// Decodes a value that is present. Not for to-one words.
  package func predicateValue(_ row: RowRef, _ word: Int) -> PredicateValue {
    switch self {
    case .int16, .int32, .int64, .toOne: return .integer(row.integer(word))
    case .bool: return .bool(row.word(word) != 0)
    case .double, .float: return .double(row.double(word))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: row.double(word)))
    case .decimal:
      let text: String = row.string(word)
      return .decimal(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) ?? .nan)
    case .string: return .string(row.string(word))
    case .uri:
      let text: String = row.string(word)
      return URL(string: text).map(PredicateValue.url) ?? .string(text)
    case .uuid:
      let bytes: UnsafeRawBufferPointer = row.bytes(word)
      guard bytes.count == 16 else { return .data(Data(bytes)) }
      return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
    case .data, .transformable: return .data(row.data(word))
    }
  }
}
