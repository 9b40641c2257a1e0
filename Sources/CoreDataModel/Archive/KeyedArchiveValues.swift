import Foundation

/// An archived instance of a class this library does not know, such as the default value of a transformable attribute.
/// Kept with its fields so that writing the model again loses nothing.
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
  /// Decodes property-list values and Foundation's value classes. The budget bounds the work on archives whose shared
  /// collections would multiply when walked through.
  struct ValueDecoder {
    let archive: KeyedArchive
    var remaining = 1_000_000
    /// Names of classes that were kept undecoded.
    var unknownClasses: [String] = []

    init(_ archive: KeyedArchive) {
      self.archive = archive
    }

    mutating func value(_ node: PlistNode?, depth: Int = 0) throws -> Any? {
      guard depth < 64 else { throw PlistError("values nest deeper than 64, or contain themselves") }
      remaining -= 1
      guard remaining > 0 else { throw PlistError("its values expand to more than a million") }
      guard let node = try archive.resolve(node) else { return nil }
      switch node {
      case .boolean(let value): return NSNumber(value: value)
      case .integer(let value): return NSNumber(value: value)
      case .real(let value): return NSNumber(value: value)
      case .date(let seconds): return Date(timeIntervalSinceReferenceDate: seconds)
      case .data(let value): return value
      case .string(let value): return value
      case .array(let elements): return try elements.compactMap { try value($0, depth: depth + 1) }
      case .uid: throw PlistError("a reference leads to a reference")
      case .dictionary:
        // Plain dictionaries don't occur as objects of an archive: what is here is an instance.
        break
      }
      guard case .dictionary(let fields) = node else { return nil }
      guard let record = try record(fields) else { throw PlistError("an object without a class") }
      return try instance(record, depth: depth)
    }

    private func record(_ fields: [String: PlistNode]) throws -> Record? {
      guard case .uid(let classIndex) = fields["$class"], archive.objects.indices.contains(classIndex),
        case .dictionary(let description) = archive.objects[classIndex],
        case .string(let name) = description["$classname"]
      else { return nil }
      var classes: [String] = []
      if case .array(let list) = description["$classes"] {
        classes = list.compactMap { if case .string(let name) = $0 { name } else { nil } }
      }
      return Record(index: -1, className: name, classes: classes, fields: fields)
    }

    private mutating func instance(_ record: Record, depth: Int) throws -> Any? {
      let fields = record.fields
      switch record.className {
      case "NSString", "NSMutableString":
        switch try archive.resolve(fields["NS.string"] ?? fields["NS.bytes"]) {
        case .string(let text): return text
        case .data(let bytes): return String(decoding: bytes, as: UTF8.self)
        default: throw PlistError("a string without text")
        }
      case "NSDate":
        guard let seconds = number(fields["NS.time"]) else { throw PlistError("a date without time") }
        return Date(timeIntervalSinceReferenceDate: seconds)
      case "NSData", "NSMutableData":
        guard case .data(let bytes) = try archive.resolve(fields["NS.data"] ?? fields["NS.bytes"]) else {
          throw PlistError("data without bytes")
        }
        return bytes
      case "NSUUID":
        guard case .data(let bytes) = try archive.resolve(fields["NS.uuidbytes"]), bytes.count == 16 else {
          throw PlistError("a UUID without its 16 bytes")
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
      case "NSURL":
        guard let text = try value(fields["NS.relative"], depth: depth + 1) as? String else {
          throw PlistError("a URL without text")
        }
        let base = try value(fields["NS.base"], depth: depth + 1) as? URL
        guard let url = URL(string: text, relativeTo: base) else { throw PlistError("'\(text)' is no URL") }
        return url
      case "NSDecimalNumber", "NSDecimalNumberPlaceholder":
        return NSDecimalNumber(decimal: try decimal(fields))
      case "NSNull":
        return NSNull()
      case "NSArray", "NSMutableArray":
        return try elements(fields["NS.objects"], depth: depth)
      case "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet":
        let content = try elements(fields["NS.objects"] ?? fields["NSOrderedSet.objects"], depth: depth)
        let hashable = content.compactMap { PlistValue.hashable($0) }
        return record.className.contains("Ordered") ? NSOrderedSet(array: hashable) : Set(hashable)
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
        unknownClasses.append(record.className)
        var content: [String: Any] = [:]
        for (key, node) in fields where key != "$class" {
          content[key] = try value(node, depth: depth + 1)
        }
        return UndecodedValue(className: record.className, classes: record.classes, fields: content)
      }
    }

    private mutating func elements(_ node: PlistNode?, depth: Int) throws -> [Any] {
      guard case .array(let list) = try archive.resolve(node) else {
        throw PlistError("a collection without elements")
      }
      return try list.compactMap { try value($0, depth: depth + 1) }
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

  /// The keys and values of an archived dictionary of either form. In the known-keys form, used in cached models, a value
  /// equal to the empty token means that the key is absent.
  func pairs(_ record: Record) throws -> [(key: PlistNode, value: PlistNode)] {
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
    let empty = try resolve(record.fields["emptyToken"])
    return try zip(keys, values).compactMap { key, value in
      if let empty, try resolve(value) == empty { return nil }
      return (key, value)
    }
  }
}
