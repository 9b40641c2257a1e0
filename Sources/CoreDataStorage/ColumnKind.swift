import CoreDataModel
import CoreDataPredicates

/// How the value of a stored property is kept in its 8-byte word of a row (see `RowSlab`).
@frozen
public enum ColumnKind: UInt8, Sendable {
  /// Word: the integer.
  case int16, int32, int64
  /// Word: 0 or 1.
  case bool
  /// Word: the bits of a `Double` (a `float` was rounded to single precision before).
  case double, float
  /// Word: the bits of a `Double`, seconds since 2001-01-01 00:00:00 UTC.
  case date
  /// Tail: the number's decimal text, so that no digit is lost.
  case decimal
  /// Tail: UTF-8 text.
  case string
  /// Tail: the absolute string of the URL, UTF-8.
  case uri
  /// Tail: 16 bytes.
  case uuid
  /// Tail: the bytes.
  case data
  /// Tail: the bytes that the value transformer made of the object.
  case transformable
  /// Two words: the target's primary key, then its entity index.
  case toOne

  /// Whether the word holds an offset and a length into the slab's tail.
  @inlinable
  public var isInTail: Bool {
    switch self {
    case .decimal, .string, .uri, .uuid, .data, .transformable: true
    case .int16, .int32, .int64, .bool, .double, .float, .date, .toOne: false
    }
  }

  /// The number of words of a row that the value takes.
  @inlinable
  public var wordCount: Int { self == .toOne ? 2 : 1 }
}

extension ColumnKind {
  /// nil for types that have no column: composite, undefined, object id.
  package init?(_ type: NSAttributeType) {
    switch type {
    case .integer16AttributeType: self = .int16
    case .integer32AttributeType: self = .int32
    case .integer64AttributeType: self = .int64
    case .decimalAttributeType: self = .decimal
    case .doubleAttributeType: self = .double
    case .floatAttributeType: self = .float
    case .stringAttributeType: self = .string
    case .booleanAttributeType: self = .bool
    case .dateAttributeType: self = .date
    case .binaryDataAttributeType: self = .data
    case .UUIDAttributeType: self = .uuid
    case .URIAttributeType: self = .uri
    case .transformableAttributeType: self = .transformable
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType: return nil
    @unknown default: return nil
    }
  }

  /// The kind of the values in predicates; nil for relationships and transformed values.
  package var scalarKind: ScalarKind? {
    switch self {
    case .int16, .int32, .int64: .integer
    case .bool: .boolean
    case .double, .float: .real
    case .date: .date
    case .decimal: .decimal
    case .string: .string
    case .uri: .url
    case .uuid: .uuid
    case .data: .data
    case .transformable, .toOne: nil
    }
  }
}
