import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A column of `clarus fetch`: where its value lies in a row, and how it prints.
///
/// The three forms say the same in different words:
///
///     value          table                     CSV                     JSON
///     nil            (empty)                   (empty)                 null
///     date           2026-11-21T09:30:00Z      with microseconds       with microseconds
///     data           <12 bytes>                base64                  base64
///     decimal        its digits                its digits              a number if a Double holds it, else a string
///     to-one         Category/p3               x-coredata://…/p3       x-coredata://…/p3
///     to-many        number of members         the same                the same
///     NaN, infinity  NaN, inf                  the same                "NaN", "Infinity"
struct RowColumn {
  enum Source {
    case objectID
    /// The slot in the layouts that have it: entity index → slot number.
    case slots([Int: Int])
  }

  let name: String
  let source: Source

  static let objectID = RowColumn(name: "objectID", source: .objectID)
  /// The name under which a row's own id is shown and may be asked for; no property can be called so.
  static let objectIDName: String = "objectID"

  /// A property of the entity or of one of its sub-entities.
  init(property name: String, of entity: EntityLayout, in layout: ModelLayout) throws {
    if name == Self.objectIDName {
      self = .objectID
      return
    }
    var slots: [Int: Int] = [:]
    var names: Set<String> = [Self.objectIDName]
    var unstored: PropertySlot?
    for index in entity.family {
      let member: EntityLayout = layout.entities[index]
      for (number, slot) in member.slots.enumerated() {
        if slot.isShown { names.insert(slot.name) }
        guard slot.name == name else { continue }
        if slot.isShown { slots[index] = number } else { unstored = slot }
      }
    }
    if slots.isEmpty {
      if let unstored {
        throw CommandFailure(
          "\(entity.name).\(name) is \(unstored.role == .fetched ? "a fetched property" : "not stored"), so there is "
            + "nothing to show.")
      }
      throw CommandFailure(
        "Entity \(entity.name) has no property \"\(name)\". " + NearestNames.advice(for: name, among: names))
    }
    self.init(name: name, source: .slots(slots))
  }

  private init(name: String, source: Source) {
    self.name = name
    self.source = source
  }

  /// The object id, then every stored value of the entity. To-many relationships show only when they are asked for, since
  /// each costs a statement.
  static func standard(of entity: EntityLayout) -> [RowColumn] {
    [.objectID]
      + entity.slots.enumerated().compactMap { number, slot in
        guard case .stored = slot.role else { return nil }
        return RowColumn(
          name: slot.name,
          source: .slots(Dictionary(uniqueKeysWithValues: entity.family.map { ($0, number) })))
      }
  }

  /// The property's slot for rows of an entity.
  func slot(in entity: EntityLayout) -> PropertySlot? {
    guard case .slots(let slots) = source else { return nil }
    return slots[entity.index].map { entity.slots[$0] }
  }

  func slotNumber(in entity: EntityLayout) -> Int? {
    guard case .slots(let slots) = source else { return nil }
    return slots[entity.index]
  }

  /// Numbers stand at the right edge of their column.
  func isNumeric(in layout: ModelLayout) -> Bool {
    guard case .slots(let slots) = source, let (entity, number) = slots.first else { return false }
    switch layout.entities[entity].slots[number].role {
    case .stored(.int16, _), .stored(.int32, _), .stored(.int64, _), .stored(.double, _), .stored(.float, _),
      .stored(.decimal, _), .toMany:
      return true
    default: return false
    }
  }
}

extension PropertySlot {
  /// Whether a store has something to show for it.
  fileprivate var isShown: Bool {
    switch role {
    case .stored, .toMany: true
    case .transient, .fetched, .composite: false
    }
  }
}

/// Prints the values of rows of one store.
struct RowPrinter {
  let layout: ModelLayout
  let storeUUID: String

  /// `Item/p12`
  func shortID(_ id: RowID) -> String {
    let entity = Int(id.entity)
    let name: String = layout.entities.indices.contains(entity) ? layout.entities[entity].name : "?"
    return "\(name)/p\(id.key)"
  }

  /// `x-coredata://<store>/Item/p12`
  func uri(_ id: RowID) -> String { "x-coredata://\(storeUUID)/\(shortID(id))" }

  /// The value as a table cell.
  func cell(_ row: RowRef, _ column: RowColumn, memberCount: Int?) -> String {
    switch value(row, column, memberCount: memberCount) {
    case .none: ""
    case .id(let id): shortID(id)
    case .count(let count): String(count)
    case .stored(let kind, let word):
      switch kind {
      case .date: DateText.short(secondsSince2001: row.double(word))
      case .data, .transformable: "<\(row.bytes(word).count) bytes>"
      case .bool: row.word(word) == 0 ? "no" : "yes"
      default: plain(row, kind, word)
      }
    }
  }

  /// The value as a CSV field, before quoting.
  func field(_ row: RowRef, _ column: RowColumn, memberCount: Int?) -> String {
    switch value(row, column, memberCount: memberCount) {
    case .none: ""
    case .id(let id): uri(id)
    case .count(let count): String(count)
    case .stored(let kind, let word): plain(row, kind, word)
    }
  }

  func json(_ row: RowRef, _ column: RowColumn, memberCount: Int?) -> JSONText {
    switch value(row, column, memberCount: memberCount) {
    case .none: return .null
    case .id(let id): return .string(uri(id))
    case .count(let count): return .integer(Int64(count))
    case .stored(let kind, let word):
      switch kind {
      case .int16, .int32, .int64: return .integer(row.integer(word))
      case .bool: return .bool(row.word(word) != 0)
      case .double: return .double(row.double(word))
      case .float: return number(Float(row.double(word)))
      case .decimal: return Self.json(decimal: row.string(word))
      default: return .string(plain(row, kind, word))
      }
    }
  }

  private func number(_ value: Float) -> JSONText {
    // The shortest digits of the Float, not those of the Double it was widened to.
    value.isFinite ? .number(value.description) : .double(Double(value))
  }

  /// Digits that a reader's `Double` keeps are a number; longer ones, and NaN, are text so that nothing is lost.
  static func json(decimal text: String) -> JSONText {
    let digits: Int = text.count { $0.isASCII && $0.isNumber }
    let isPlain: Bool = text.allSatisfy { "0123456789.-".contains($0) }
    guard isPlain, digits > 0, digits <= 15 else { return .string(text) }
    // JSON wants a digit on both sides of the point.
    let body: Substring = text.hasPrefix("-") ? text.dropFirst() : text[...]
    let parts: [Substring] = body.split(separator: ".", omittingEmptySubsequences: false)
    let isNumber: Bool =
      parts.count <= 2 && parts.allSatisfy { !$0.isEmpty } && (parts[0] == "0" || parts[0].first != "0")
      && !body.contains("-")
    return isNumber ? .number(text) : .string(text)
  }

  private enum Value {
    case none
    case id(RowID)
    case count(Int)
    case stored(ColumnKind, Int)
  }

  private func value(_ row: RowRef, _ column: RowColumn, memberCount: Int?) -> Value {
    if case .objectID = column.source { return .id(row.id) }
    guard layout.entities.indices.contains(row.entity),
      let slot = column.slot(in: layout.entities[row.entity])
    else { return .none }
    switch slot.role {
    case .toMany: return memberCount.map(Value.count) ?? .none
    case .stored(let kind, let word):
      guard row.hasValue(word) else { return .none }
      return kind == .toOne ? .id(row.target(word)) : .stored(kind, word)
    case .transient, .fetched, .composite: return .none
    }
  }

  /// The value in full, as text.
  private func plain(_ row: RowRef, _ kind: ColumnKind, _ word: Int) -> String {
    switch kind {
    case .int16, .int32, .int64: return String(row.integer(word))
    case .bool: return row.word(word) == 0 ? "false" : "true"
    case .double: return Self.text(row.double(word))
    case .float: return Self.text(Float(row.double(word)))
    case .date: return DateText.full(secondsSince2001: row.double(word))
    case .decimal, .string, .uri: return row.string(word)
    case .uuid:
      let bytes: UnsafeRawBufferPointer = row.bytes(word)
      guard bytes.count == 16 else { return row.data(word).base64EncodedString() }
      return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString
    case .data, .transformable: return row.data(word).base64EncodedString()
    case .toOne: return uri(row.target(word))
    }
  }

  /// Whole numbers without `.0`.
  private static func text<Number: BinaryFloatingPoint & CustomStringConvertible>(_ value: Number) -> String {
    if value.isNaN { return "NaN" }
    let text: String = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
