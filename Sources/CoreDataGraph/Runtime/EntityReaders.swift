import CoreDataEvaluation
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// An entity as predicates use it: the places of its objects' values.
///
/// A reader does what the typed accessors of `ManagedKey` do. It makes the evaluator use key-value coding in
/// the same cases as they would: for values that are not scalars, for values of a wrong type, for objects
/// without a row, and for keys with an accessor of the class.
struct EntityReaders: ObjectReaders {
  private let runtime: EntityRuntime

  init(_ runtime: EntityRuntime) { self.runtime = runtime }

  let whole: @Sendable (Subject) -> Any = { NSManagedObject.of($0) { $0 } }

  func property(_ key: String) -> PropertyReader? {
    guard let number = runtime.layout.slotByName[key], !runtime.isCustom(key) else { return nil }
    let slot: PropertySlot = runtime.layout.slots[number]
    switch slot.role {
    case .stored(.toOne, _):
      return destination(of: slot).map { .toOne(value: object(number), target: target(number, $0), $0) }
    case .stored(let kind, let word): return attribute(number, kind, word).map { .value($0) }
    case .toMany:
      return destination(of: slot).map {
        .toMany(members: members(number, $0), count: count(number), $0)
      }
    case .transient, .fetched, .composite: return nil
    }
  }

  // MARK: Attributes

  private func attribute(_ slot: Int, _ kind: ColumnKind, _ word: Int) -> PlainReader? {
    let headerSize: Int = runtime.headerSize
    switch kind {
    case .int16, .int32, .int64, .bool:
      return { subject in
        NSManagedObject.of(subject) { object in
          switch object.find(slot, word, headerSize) {
          case .word(let bits): Self.plain(Int64(bitPattern: bits), kind)
          case .held(.integer(let value)): Self.plain(value, kind)
          case .held(.null), .nothing: .null
          case .held, .unknown: .elsewhere
          }
        }
      }
    case .double, .float, .date:
      return { subject in
        NSManagedObject.of(subject) { object in
          switch object.find(slot, word, headerSize) {
          case .word(let bits): Self.plain(Double(bitPattern: bits), kind)
          case .held(.double(let value)): Self.plain(value, kind)
          case .held(.null), .nothing: .null
          case .held, .unknown: .elsewhere
          }
        }
      }
    case .string:
      return { subject in
        NSManagedObject.of(subject) { object in
          switch object.find(slot, word, headerSize) {
          case .word(let place):
            object.tailBytes(place).map { .text($0.assumingMemoryBound(to: UInt8.self)) } ?? .elsewhere
          case .held(.string(let value)): .string(value)
          case .held(.null), .nothing: .null
          case .held, .unknown: .elsewhere
          }
        }
      }
    case .uuid:
      return { subject in
        NSManagedObject.of(subject) { object in
          switch object.find(slot, word, headerSize) {
          case .word(let place):
            // As a UUID of any other length reads: nil.
            object.tailBytes(place).map {
              $0.count == 16 ? .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) : .null
            } ?? .elsewhere
          case .held(.null), .nothing: .null
          case .held, .unknown: .elsewhere
          }
        }
      }
    case .decimal, .uri, .data, .transformable, .toOne: return nil
    }
  }

  /// An integer in the width of its attribute.
  @inline(__always)
  private static func plain(_ value: Int64, _ kind: ColumnKind) -> PlainValue {
    switch kind {
    case .int16: .integer(Int64(Int16(truncatingIfNeeded: value)))
    case .int32: .integer(Int64(Int32(truncatingIfNeeded: value)))
    case .bool: .bool(value != 0)
    default: .integer(value)
    }
  }

  @inline(__always)
  private static func plain(_ value: Double, _ kind: ColumnKind) -> PlainValue {
    switch kind {
    case .float: .double(Double(Float(value)))
    case .date: .date(value)
    default: .double(value)
    }
  }

  // MARK: Relationships

  private func destination(of slot: PropertySlot) -> EntityReaders? {
    slot.destination.map { EntityReaders(runtime.model.entities[$0]) }
  }

  private func object(_ slot: Int) -> PlainReader {
    { subject in
      NSManagedObject.of(subject) { object in
        object.fireFault(slot, .read)
        return object.toOneTarget(slot).map { .object($0) } ?? .null
      }
    }
  }

  /// Once read, an object's target is kept in its slots.
  private func target(_ slot: Int, _ shape: EntityReaders) -> TargetReader {
    let fits: Fit = shape.fit
    return { subject in
      NSManagedObject.of(subject) { object in
        object.fireFault(slot, .read)
        guard let target = object.toOneTarget(slot) else { return .none }
        return fits.holds(target) ? .subject(Subject(target)) : .elsewhere
      }
    }
  }

  private func members(_ slot: Int, _ shape: EntityReaders) -> MemberReader {
    let fits: Fit = shape.fit
    return { subject, body in
      try NSManagedObject.of(subject) { object in
        object.fireFault(slot, .read)
        for member in object.members(slot) {
          guard fits.holds(member) else { return false }
          guard try body(Subject(member)) else { break }
        }
        return true
      }
    }
  }

  private func count(_ slot: Int) -> PlainReader {
    { subject in
      NSManagedObject.of(subject) { object in
        object.fireFault(slot, .read)
        return .integer(Int64(object.members(slot).count))
      }
    }
  }

  /// Whether an object has the slots of a shape: it is of the entity or of a sub-entity, in the same model.
  private struct Fit {
    let serial: UInt64
    let family: ClosedRange<Int>

    @inline(__always)
    func holds(_ object: NSManagedObject) -> Bool {
      object.runtime.modelSerial == serial && family.contains(object.runtime.index)
    }
  }

  private var fit: Fit { Fit(serial: runtime.modelSerial, family: runtime.layout.family) }
}

extension NSManagedObject: ObjectWithReaders {
  package static var readersFinder: ReadersFinder { finder }

  private static let finder = ReadersFinder(
    number: { address in
      NSManagedObject.of(address) { $0.runtime.modelSerial << 32 | UInt64($0.runtime.index) }
    },
    shape: { address in NSManagedObject.of(address) { EntityReaders($0.runtime) } })
}

extension NSManagedObject {
  /// Calls the body with a subject's object, which the creator of the subject keeps alive.
  @inline(__always)
  fileprivate static func of<Result>(
    _ subject: Subject, _ body: (NSManagedObject) throws -> Result
  ) rethrows -> Result {
    try of(subject.object, body)
  }

  @inline(__always)
  fileprivate static func of<Result>(
    _ address: UnsafeRawPointer, _ body: (NSManagedObject) throws -> Result
  ) rethrows -> Result {
    try Unmanaged<NSManagedObject>.fromOpaque(address)._withUnsafeGuaranteedRef(body)
  }
}
