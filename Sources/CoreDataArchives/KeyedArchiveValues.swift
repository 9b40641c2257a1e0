import Foundation

/// An archived instance of a class that this library does not have, such as the default value of a
/// transformable attribute. Its fields are kept so that writing the model again loses nothing.
package final class UndecodedValue: NSObject, @unchecked Sendable {
  // Sendable because nothing changes after init, and fields hold property-list values only.
  package let className: String
  package let classes: [String]
  package let fields: [String: Any]

  init(className: String, classes: [String], fields: [String: Any]) {
    self.className = className
    self.classes = classes
    self.fields = fields
  }

  package override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? UndecodedValue else { return false }
    return className == other.className && PlistValue.areEqual(fields, other.fields)
  }

  package override var hash: Int { className.hashValue }

  package override var description: String { "an archived \(className)" }
}

extension KeyedArchive {
  /// Decodes property-list values and Foundation's value classes, either as Foundation's values or as those
  /// of predicates. The budget limits the work for archives whose shared collections would multiply in a
  /// walk.
  package struct ValueDecoder {
    /// How instances of classes other than Foundation's value classes are decoded.
    package enum ForeignClasses {
      /// They are kept as ``UndecodedValue``s.
      case kept
      /// `NSKeyedUnarchiver` decodes instances of these classes, all others are refused.
      case allowed([AnyClass])
    }

    package static let depthLimit = 64

    package let archive: KeyedArchive
    private let foreign: ForeignClasses
    private let allowsUndefinedDates: Bool
    private var remaining = 1_000_000
    /// Names of classes that were kept undecoded.
    package var unknownClasses: [String] = []

    /// Without `allowsUndefinedDates` a date of NaN is an error: what shows or compares the value would ask
    /// for its description, which stops the program on Linux.
    package init(
      _ archive: KeyedArchive, foreign: ForeignClasses = .kept, allowsUndefinedDates: Bool = true
    ) {
      self.archive = archive
      self.foreign = foreign
      self.allowsUndefinedDates = allowsUndefinedDates
    }

    /// The content of a node: a value by itself, or an instance and its fields; nil for "$null".
    package enum Content {
      case value(Scalar)
      case list([PlistNode])
      case instance(Record)
    }

    package mutating func content(_ node: PlistNode?, depth: Int) throws -> Content? {
      guard depth < Self.depthLimit else {
        throw PlistError("values nest deeper than \(Self.depthLimit), or contain themselves")
      }
      remaining -= 1
      guard remaining > 0 else { throw PlistError("its values expand to more than a million") }
      guard let resolved = try archive.resolve(node) else { return nil }
      switch resolved {
      case .boolean(let value): return .value(.bool(value))
      case .integer(let value): return .value(.integer(value))
      case .unsigned(let value): return .value(.unsigned(value))
      case .real(let value): return .value(.double(value))
      case .date(let seconds): return .value(.date(try date(seconds)))
      case .data(let value): return .value(.data(value))
      case .string(let value): return .value(.string(value))
      case .array(let elements): return .list(elements)
      case .uid: throw PlistError("a reference leads to a reference")
      case .dictionary(let fields):
        // Plain dictionaries don't occur as objects of an archive: this is an instance.
        guard var record = try archive.record(of: fields) else {
          throw PlistError("an object without a class")
        }
        if case .uid(let index)? = node { record.index = index }
        return try scalar(record, depth: depth).map { .value($0) } ?? .instance(record)
      }
    }

    /// The value as a Foundation object.
    package mutating func value(_ node: PlistNode?, depth: Int = 0) throws -> Any? {
      switch try content(node, depth: depth) {
      case nil: return nil
      case .value(let value): return value.foundationValue
      case .list(let nodes): return try nodes.compactMap { try value($0, depth: depth + 1) }
      case .instance(let record):
        switch record.className {
        case "NSArray", "NSMutableArray":
          return try elements(record).compactMap { try value($0, depth: depth + 1) }
        case "NSSet", "NSMutableSet":
          return Set(try members(record, depth: depth))
        case "NSOrderedSet", "NSMutableOrderedSet":
          return NSOrderedSet(array: try members(record, depth: depth))
        case "NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1":
          var result: [AnyHashable: Any] = [:]
          for (key, node) in try archive.pairs(record) {
            guard let key = try value(key, depth: depth + 1).flatMap({ PlistValue.hashable($0) }) else {
              continue
            }
            result[key] = try value(node, depth: depth + 1)
          }
          return result
        default:
          return try foreignInstance(record, depth: depth)
        }
      }
    }

    package mutating func foreignInstance(_ record: Record, depth: Int) throws -> Any {
      if case .allowed(let classes) = foreign { return try archive.unarchive(record, as: classes) }
      unknownClasses.append(record.className)
      var fields: [String: Any] = [:]
      for (key, node) in record.fields where key != "$class" {
        fields[key] = try value(node, depth: depth + 1)
      }
      return UndecodedValue(className: record.className, classes: record.classes, fields: fields)
    }

    private func date(_ seconds: Double) throws -> Date {
      guard allowsUndefinedDates || !seconds.isNaN else { throw PlistError("a date that is no number") }
      return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// An instance of one of Foundation's classes for single values, nil for any other.
    private mutating func scalar(_ record: Record, depth: Int) throws -> Scalar? {
      let fields = record.fields
      switch record.className {
      case "NSString", "NSMutableString":
        switch try archive.resolve(fields["NS.string"] ?? fields["NS.bytes"]) {
        case .string(let text): return .string(text)
        case .data(let bytes): return .string(String(decoding: bytes, as: UTF8.self))
        default: throw PlistError("a string without text")
        }
      case "NSDate":
        guard let seconds = number(fields["NS.time"]) else { throw PlistError("a date without time") }
        return .date(try date(seconds))
      case "NSData", "NSMutableData":
        guard case .data(let bytes) = try archive.resolve(fields["NS.data"] ?? fields["NS.bytes"]) else {
          throw PlistError("data without bytes")
        }
        return .data(bytes)
      case "NSUUID":
        guard case .data(let bytes) = try archive.resolve(fields["NS.uuidbytes"]), bytes.count == 16 else {
          throw PlistError("a UUID without its 16 bytes")
        }
        return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
      case "NSURL":
        guard let text = try value(fields["NS.relative"], depth: depth + 1) as? String else {
          throw PlistError("a URL without text")
        }
        let base = try value(fields["NS.base"], depth: depth + 1) as? URL
        guard let url = URL(string: text, relativeTo: base) else { throw PlistError("'\(text)' is no URL") }
        return .url(url)
      case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return .decimal(try decimal(fields))
      case "NSNull": return .null
      default: return nil
      }
    }

    package func elements(_ record: Record) throws -> [PlistNode] {
      guard
        case .array(let list) = try archive.resolve(
          record.fields["NS.objects"] ?? record.fields["NSOrderedSet.objects"])
      else { throw PlistError("a collection without elements") }
      return list
    }

    private mutating func members(_ record: Record, depth: Int) throws -> [AnyHashable] {
      try elements(record).compactMap { try value($0, depth: depth + 1).flatMap { PlistValue.hashable($0) } }
    }

    private func number(_ node: PlistNode?) -> Double? {
      switch try? archive.resolve(node) {
      case .real(let value), .date(let value): value
      case .integer(let value): Double(value)
      default: nil
      }
    }

    /// `NS.mantissa` holds `NS.length` 16-bit digits, least significant first, each in the byte order that
    /// `NS.mantissa.bo` names (1 little-endian).
    private func decimal(_ fields: [String: PlistNode]) throws -> Decimal {
      guard case .data(let mantissa) = try archive.resolve(fields["NS.mantissa"]),
        case .integer(let length) = fields["NS.length"], case .integer(let exponent) = fields["NS.exponent"],
        (0...8).contains(length), mantissa.count >= Int(length) * 2, (-128...127).contains(exponent)
      else { throw PlistError("a decimal number without its digits") }
      let isNegative = fields["NS.negative"] == .boolean(true)
      if length == 0 { return isNegative ? Decimal.nan : 0 }
      let isLittleEndian = fields["NS.mantissa.bo"] != .integer(2)
      let bytes = Array(mantissa)
      var value = Decimal(0)
      for i in (0..<Int(length)).reversed() {
        let (first, second) = (UInt16(bytes[2 * i]), UInt16(bytes[2 * i + 1]))
        value = value * 65536 + Decimal(isLittleEndian ? second << 8 | first : first << 8 | second)
      }
      return Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: value)
    }
  }

  /// The keys and values of an archived dictionary of either form. In the known-keys form, used in cached
  /// models, a value equal to the empty token means that the key is absent.
  package func pairs(_ record: Record) throws -> [(key: PlistNode, value: PlistNode)] {
    func list(_ record: Record?, _ key: String) throws -> [PlistNode] {
      guard let record, case .array(let elements) = try resolve(record.fields[key]) else {
        throw PlistError("a dictionary without \(key)")
      }
      return elements
    }
    func child(_ key: String, of record: Record) throws -> Record? {
      try index(record.fields[key]).flatMap { try self.record(at: $0) }
    }
    let keys: [PlistNode]
    let values: [PlistNode]
    if record.className == "NSKnownKeysDictionary1" {
      guard let mapping = try child("searchMapping", of: record) else {
        throw PlistError("a known-keys dictionary without its keys")
      }
      keys = try list(try child("keys", of: mapping), "NS.objects")
      values = try list(try child("values", of: record), "NS.objects")
    } else {
      keys = try list(record, "NS.keys")
      values = try list(record, "NS.objects")
    }
    guard keys.count == values.count else {
      throw PlistError("a dictionary of \(keys.count) keys and \(values.count) values")
    }
    // Comparing containers could take time that grows exponentially with the archive.
    guard case .string(let empty)? = try resolve(record.fields["emptyToken"]) else {
      return zip(keys, values).map { ($0, $1) }
    }
    return try zip(keys, values).compactMap { key, value in
      if case .string(empty)? = try resolve(value) { return nil }
      return (key, value)
    }
  }
}
