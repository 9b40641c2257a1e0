import CoreDataModel
import Foundation

/// A value of a row that a kind of store can't keep: rows of a SQLite file may hold bytes that are no text,
/// no number, or a number that is too large.
package struct UnwritableValue: Equatable {
  /// Of the row's entity.
  package var slot: Int
  /// Why, as a part of a sentence.
  package var reason: String

  package init(slot: Int, reason: String) { (self.slot, self.reason) = (slot, reason) }

  /// The error for a value of an object. `object` is its URI.
  func error(in entity: EntityLayout, object: String, type: String) -> StoreError {
    .unwritableValue(
      property: "\(entity.name).\(entity.slots[slot].name)", object: object, type: type, reason: reason)
  }
}

extension UnwritableValue {
  package static let noText: String = "it has bytes that are not UTF-8 text"

  /// Whether bytes are UTF-8.
  package static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
  }
}

/// Finds the values that stores of one file can't keep. They would be written, and the file could not be read
/// any more.
struct WritableValues {
  private let places: [[(slot: Int, kind: ColumnKind, word: Int)]]
  private static let posix = Locale(identifier: "en_US_POSIX")

  init(_ layout: ModelLayout) {
    places = layout.entities.map { entity in
      entity.slots.enumerated().compactMap { number, slot in
        guard case .stored(let kind, let word) = slot.role else { return nil }
        switch kind {
        case .string, .uri, .uuid, .decimal: return (number, kind, word)
        default: return nil
        }
      }
    }
  }

  func problems(of row: RowRef) -> [UnwritableValue] {
    places[row.entity].compactMap { slot, kind, word in
      guard row.hasValue(word), let reason = Self.objection(row.bytes(word), kind) else { return nil }
      return UnwritableValue(slot: slot, reason: reason)
    }
  }

  private static func objection(_ bytes: UnsafeRawBufferPointer, _ kind: ColumnKind) -> String? {
    switch kind {
    case .string, .uri:
      return UnwritableValue.isText(bytes) ? nil : UnwritableValue.noText
    case .uuid: return bytes.count == 16 ? nil : "it has \(bytes.count) bytes, and a UUID has 16"
    case .decimal:
      let text = String(decoding: bytes, as: UTF8.self)
      if text == "NaN" || (DecimalText.isNumber(text) && Decimal(string: text, locale: posix) != nil) {
        return nil
      }
      return "'\(text.prefix(40))' is no decimal number"
    default: return nil
    }
  }
}
