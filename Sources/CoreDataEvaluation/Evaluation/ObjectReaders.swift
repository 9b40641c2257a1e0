import CoreDataPredicates
import Foundation

// The interface between the evaluator and objects whose values have known places. Key-value coding reads any
// object by name and returns its value in an `Any`; for an object with a shape a predicate determines once
// where the values of a key are, and then reads them in place. The values are those of key-value coding, or
// `elsewhere`, for which the evaluator uses key-value coding.

/// What a value is read from: an object, or a row within an object that holds many.
///
/// Two plain words, so that passing it from test to test counts no reference: the code that makes a subject
/// keeps its object alive.
package struct Subject {
  package let object: UnsafeRawPointer
  /// A place within the object; nil if the object itself is the subject.
  package let place: UnsafeRawPointer?

  @inline(__always)
  package init(_ object: AnyObject, place: UnsafeRawPointer? = nil) {
    self.object = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    self.place = place
  }

  @inline(__always)
  init(address: UnsafeRawPointer) {
    object = address
    place = nil
  }
}

/// A value as a reader finds it: scalars unchanged, text in place.
package enum PlainValue {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  /// Seconds since 2001.
  case date(Double)
  case uuid(UUID)
  /// UTF-8 in the subject's own memory, valid until the subject changes. Broken bytes count as replacement
  /// characters.
  case text(UnsafeBufferPointer<UInt8>)
  case string(String)
  case object(AnyObject)
  /// Key-value coding has to read the value: it is of another kind, or of one that it should not be.
  case elsewhere
}

extension PlainValue {
  /// The value in its normal form; nil for ``elsewhere``.
  var predicateValue: PredicateValue? {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .date(let value): .date(Date(timeIntervalSinceReferenceDate: value))
    case .uuid(let value): .uuid(value)
    case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .string(let value): .string(value)
    case .object(let object): .object(ObjectBox(object))
    case .elsewhere: nil
    }
  }
}

/// Reads one property of a subject.
package typealias PlainReader = @Sendable (Subject) -> PlainValue

/// Follows a to-one relationship. The subject keeps its target alive.
package typealias TargetReader = @Sendable (Subject) -> ShapeTarget

/// Passes the members of a to-many relationship to the body, in order, until it returns false. Returns false
/// when key-value coding has to read them.
package typealias MemberReader = @Sendable (Subject, (Subject) throws -> Bool) throws -> Bool

package enum ShapeTarget {
  case none
  case subject(Subject)
  case elsewhere
}

/// How a key's values are read.
package enum PropertyReader {
  case value(PlainReader)
  /// A relationship to one object of the shape named last.
  case toOne(value: PlainReader, target: TargetReader, any ObjectReaders)
  /// A relationship to objects of the shape named last.
  case toMany(members: MemberReader, count: PlainReader, any ObjectReaders)
}

/// The layout of all objects of one kind. Used while a predicate is compiled for them, and not kept.
package protocol ObjectReaders: Sendable {
  /// How to read a key; nil if only key-value coding can. The readers fit all subjects of the shape.
  func property(_ key: String) -> PropertyReader?

  /// The subject as key-value coding reads it.
  var whole: @Sendable (Subject) -> Any { get }
}

/// An object whose class has a shape.
package protocol ObjectWithReaders: AnyObject, KeyValueReadable {
  static var readersFinder: ReadersFinder { get }
}

/// Finds the shape of objects of one class.
package struct ReadersFinder: Sendable {
  /// Distinguishes shapes; a number is never reused in the process.
  let number: @Sendable (UnsafeRawPointer) -> UInt64
  let shape: @Sendable (UnsafeRawPointer) -> any ObjectReaders

  package init(
    number: @escaping @Sendable (UnsafeRawPointer) -> UInt64,
    shape: @escaping @Sendable (UnsafeRawPointer) -> any ObjectReaders
  ) {
    self.number = number
    self.shape = shape
  }
}
