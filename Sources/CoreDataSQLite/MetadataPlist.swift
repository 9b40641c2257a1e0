import CoreDataModel
import CoreDataStorage
import Foundation

/// The property list of `Z_METADATA` as bytes.
enum MetadataPlist {
  static func read(_ data: Data) throws -> [String: Any] { try PropertyListValues.dictionary(from: data) }

  /// Throws `StoreError.unsupported` for a value that property lists can't hold, naming its key.
  static func write(_ values: [String: Any], url: URL) throws -> Data {
    try StoreMetadata.check(values)
    return try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
  }
}
