import Foundation

extension KeyedArchive {
  /// A single value, as archives distinguish them.
  package enum Scalar {
    /// An instance of `NSNull`.
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    case url(URL)

    /// The value in the form for programs: numbers and Booleans as `NSNumber`, which casts to every numeric
    /// type that can hold it, as on Apple's systems.
    var foundationValue: Any {
      switch self {
      case .null: NSNull()
      case .bool(let value): NSNumber(value: value)
      case .integer(let value): NSNumber(value: value)
      case .unsigned(let value): NSNumber(value: value)
      case .double(let value): NSNumber(value: value)
      case .decimal(let value): NSDecimalNumber(decimal: value)
      case .string(let value): value
      case .date(let value): value
      case .data(let value): value
      case .uuid(let value): value
      case .url(let value): value
      }
    }
  }
}
