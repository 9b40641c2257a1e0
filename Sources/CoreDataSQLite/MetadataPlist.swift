import CoreDataModel
import CoreDataStorage
import Foundation

/// The property list of `Z_METADATA` as bytes.
enum MetadataPlist {
  static func read(_ data: Data) throws -> [String: Any] { try PropertyListValues.dictionary(from: data) }

  /// Throws `StoreError.unsupported` for a value that property lists can't hold, naming its key.
  static func write(_ values: [String: Any], url: URL) throws -> Data {
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      guard PropertyListSerialization.propertyList(value, isValidFor: .binary) else {
        throw StoreError.unsupported(
          part: "metadata key '\(key)'", reason: "its value, a \(type(of: value)), is no property-list value",
          advice: "use strings, numbers, dates, data, arrays and dictionaries with string keys")
      }
    }
    return try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
  }
}
