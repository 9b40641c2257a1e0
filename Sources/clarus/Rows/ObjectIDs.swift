import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// An object's id as users write it: `42`, `p42`, `Item/p42`, `x-coredata://<store>/Item/p42`.
struct ObjectIDText {
  let text: String
  let storeUUID: String?
  let entity: String?
  let key: Int64

  static let forms: String = "write 42, p42, Item/p42 or x-coredata://…/Item/p42"

  /// nil for anything else. `p042`, `p+42` and the ids of objects that were never saved (`t…`) give nil.
  init?(_ text: String) {
    self.text = text
    let scheme: String = "x-coredata://"
    var parts: [Substring] = text.split(separator: "/", omittingEmptySubsequences: false)
    if text.hasPrefix(scheme) {
      parts = text.dropFirst(scheme.count).split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      storeUUID = String(parts.removeFirst())
    } else {
      storeUUID = nil
    }
    guard var digits = parts.popLast(), parts.count <= 1, parts.first?.isEmpty != true else { return nil }
    entity = parts.first.map(String.init)
    if digits.first == "p" { digits.removeFirst() } else if entity != nil { return nil }
    guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      digits.first != "0", let key = Int64(digits)
    else { return nil }
    self.key = key
  }
}

/// Ids of one store, from text and to text.
struct ObjectIDs {
  let layout: ModelLayout
  let storeUUID: String

  /// `Item/p12`
  func short(_ id: RowID) -> String {
    let entity = Int(id.entity)
    let name: String = layout.entities.indices.contains(entity) ? layout.entities[entity].name : "?"
    return "\(name)/p\(id.key)"
  }

  /// `x-coredata://<store>/Item/p12`
  func uri(_ id: RowID) -> String { "x-coredata://\(storeUUID)/\(short(id))" }

  /// The row that a text identifies where an object of an entity is expected; without an entity the text has
  /// to name one.
  func row(_ text: ObjectIDText, of expected: EntityLayout?) throws -> RowID {
    if let uuid = text.storeUUID, uuid.uppercased() != storeUUID.uppercased() {
      throw CommandFailure(
        "\"\(text.text)\" is the id of an object in another store; this one is \(storeUUID).")
    }
    guard let name = text.entity else {
      guard let expected else {
        throw CommandFailure("\"\(text.text)\" names no entity; write Item/p\(text.key), or the URI.")
      }
      return RowID(entity: expected.index, key: text.key)
    }
    guard let entity = layout.byName[name] else {
      throw CommandFailure(
        "\"\(text.text)\": There is no entity \"\(name)\". "
          + NearestNames.advice(for: name, among: layout.byName.keys))
    }
    if let expected, entity.rootIndex != expected.rootIndex {
      throw CommandFailure(
        "\"\(text.text)\" is the id of an object of \(name); an id of \(expected.name) is needed here.")
    }
    return RowID(entity: entity.index, key: text.key)
  }

  /// The reference to a row in a plan.
  static func reference(_ id: RowID) -> PredicateValue { .object(ObjectBox(ObjectReference(id: id))) }
}
