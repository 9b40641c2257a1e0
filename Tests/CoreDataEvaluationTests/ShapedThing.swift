import Foundation
import Synchronization

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// An object of the tests with properties by name, as a dictionary of JSON has them, read by
/// key-value coding only.
///
/// Dictionaries inside become things too; a key that is missing is nil.
class PlainThing: NSObject, KeyValueReadable {
  let values: [String: Any]

  required init(_ values: [String: Any]) {
    self.values = values.mapValues { Self.thing($0) }
    super.init()
  }

  func readValue(forKey key: String) throws -> Any? { (values[key] as? BrokenText)?.text ?? values[key] }

  /// A value with things in place of dictionaries.
  class func thing(_ value: Any) -> Any {
    switch value {
    case let dictionary as [String: Any]: return Self.init(dictionary)
    case let set as NSSet where type(of: value) is AnyClass: return NSSet(array: set.map { thing($0) })
    case let array as [Any]: return array.map { thing($0) }
    default: return value
    }
  }
}

/// The same with a shape: scalars, text and things are read in place, everything else by key-value coding.
///
/// Every object has a shape of its own, so that a test meets as many shapes as objects.
final class ShapedThing: PlainThing, ObjectWithReaders {
  static let readersFinder = ReadersFinder(
    number: { address in ShapedThing.at(address) { $0.number } },
    shape: { address in ShapedThing.at(address) { ThingShape($0) } })

  private static let lastNumber = Atomic<UInt64>(0)

  let number: UInt64 = lastNumber.add(1, ordering: .relaxed).newValue
  /// How often a value was read in place.
  let reads = Atomic<Int>(0)
  private var texts: [UnsafeMutableBufferPointer<UInt8>] = []

  deinit {
    for text in texts { text.deallocate() }
  }

  static func at<Result>(_ address: UnsafeRawPointer, _ body: (ShapedThing) -> Result) -> Result {
    body(Unmanaged<ShapedThing>.fromOpaque(address).takeUnretainedValue())
  }

  /// Bytes that live as long as the thing.
  func inPlace(_ bytes: some Collection<UInt8>) -> UnsafeBufferPointer<UInt8> {
    let copy: UnsafeMutableBufferPointer<UInt8> = .allocate(capacity: max(1, bytes.count))
    _ = copy.initialize(from: bytes)
    texts.append(copy)
    return UnsafeBufferPointer(rebasing: copy[..<bytes.count])
  }

  fileprivate func plain(_ key: String) -> PlainValue {
    reads.add(1, ordering: .relaxed)
    guard let value = values[key] else { return .null }
    // Text that is repaired when it is made a string.
    if let broken = value as? BrokenText { return .text(inPlace(broken.bytes)) }
    switch PredicateValue(normalizing: value) {
    case .null, .nullObject: return .null
    case .bool(let value): return .bool(value)
    case .integer(let value): return .integer(value)
    case .double(let value): return .double(value)
    case .date(let value): return .date(value.timeIntervalSinceReferenceDate)
    case .uuid(let value): return .uuid(value)
    case .string(let text): return text.utf8.count % 2 == 0 ? .text(inPlace(text.utf8)) : .string(text)
    case .object: return value is PlainThing ? .object(value as AnyObject) : .elsewhere
    default: return .elsewhere
    }
  }
}

/// Bytes that are no UTF-8, and the text that reading them gives.
final class BrokenText: NSObject {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  var text: String { String(decoding: bytes, as: UTF8.self) }
}

private struct ThingShape: ObjectReaders {
  private let kinds: [String: Kind]

  private enum Kind: Sendable {
    case value
    case toOne(ThingShape)
    case toMany(ThingShape)
  }

  init(_ thing: ShapedThing) {
    kinds = thing.values.compactMapValues { value in
      switch value {
      case let thing as ShapedThing: return .toOne(ThingShape(thing))
      case let members as [ShapedThing]: return .toMany(ThingShape(members))
      case let set as NSSet where type(of: value) is AnyClass:
        guard let members = set.allObjects as? [ShapedThing] else { return nil }
        return .toMany(ThingShape(members))
      default: return .value
      }
    }
  }

  /// What several things have in common: keys that are read alike.
  private init(_ members: [ShapedThing]) {
    var common: [String: Kind] = [:]
    for member in members {
      for (key, value) in member.values where !(value is ShapedThing) { common[key] = .value }
    }
    kinds = common
  }

  var whole: @Sendable (Subject) -> Any { { subject in ShapedThing.at(subject.object) { $0 } } }

  func property(_ key: String) -> PropertyReader? {
    let read: PlainReader = { subject in ShapedThing.at(subject.object) { $0.plain(key) } }
    switch kinds[key] {
    // A key that is missing is nil for every object of the shape.
    case nil, .value: return .value(read)
    case .toOne(let shape):
      return .toOne(
        value: read,
        target: { subject in
          ShapedThing.at(subject.object) { thing in
            (thing.values[key] as? ShapedThing).map { .subject(Subject($0)) } ?? .elsewhere
          }
        }, shape)
    case .toMany(let shape):
      return .toMany(
        members: { subject, body in
          let members: [ShapedThing] = ShapedThing.at(subject.object) { $0.members(key) }
          for member in members where try !body(Subject(member)) { break }
          return true
        },
        count: { subject in ShapedThing.at(subject.object) { .integer(Int64($0.members(key).count)) } }, shape
      )
    }
  }
}

extension ShapedThing {
  fileprivate func members(_ key: String) -> [ShapedThing] {
    switch values[key] {
    case let set as NSSet: set.allObjects as? [ShapedThing] ?? []
    case let array as [ShapedThing]: array
    default: []
    }
  }
}
