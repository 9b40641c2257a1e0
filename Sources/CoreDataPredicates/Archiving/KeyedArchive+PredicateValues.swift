import CoreDataArchives
import Foundation

// Constants of predicates in keyed archives.

extension KeyedArchiveWriter {
  /// Archives a constant of a predicate; equal sets and dictionaries are always written in the same order.
  /// Throws ``PlistError`` for objects that can't be archived.
  mutating func value(_ value: PredicateValue, of owner: String, depth: Int = 0) throws -> PlistNode {
    guard depth < KeyedArchive.ValueDecoder.depthLimit else {
      throw PlistError("\(owner) nest deeper than \(KeyedArchive.ValueDecoder.depthLimit) levels")
    }
    switch value {
    // A collection can't hold nil, so nil is a null there.
    case .null: return depth == 0 ? Self.null : instance(["NSNull", "NSObject"], [:])
    case .nullObject: return instance(["NSNull", "NSObject"], [:])
    case .bool(let value): return plain(.boolean(value))
    case .integer(let value): return plain(.integer(value))
    case .unsigned(let value): return plain(.unsigned(value))
    case .double(let value): return plain(.real(value))
    case .decimal(let value): return decimal(value)
    case .string(let value): return string(value)
    case .date(let value):
      // It would not be equal to itself when it is read again.
      guard !value.timeIntervalSinceReferenceDate.isNaN else {
        throw PlistError("\(owner) hold a date that is no number; set another")
      }
      return date(value)
    case .data(let value): return plain(.data(value))
    case .uuid(let value): return uuid(value)
    case .url(let value): return url(value)
    case .array(let members):
      let elements = try members.map { try self.value($0, of: owner, depth: depth + 1) }
      return array(elements)
    case .set(let members):
      let ordered = members.map { (ValuePrinter.print($0), $0) }.sorted { $0.0 < $1.0 }
      let elements = try ordered.map { try self.value($0.1, of: owner, depth: depth + 1) }
      return set(elements)
    case .dictionary(let entries):
      let ordered = entries.map { (ValuePrinter.print($0.key), $0) }.sorted { $0.0 < $1.0 }
      let pairs = try ordered.map { _, entry in
        (
          key: try self.value(entry.key, of: owner, depth: depth + 1),
          value: try self.value(entry.value, of: owner, depth: depth + 1)
        )
      }
      return dictionary(pairs)
    case .object(let box):
      if let value = box.value as? UndecodedValue { return try undecoded(value, of: owner) }
      return try secureObject(box.value, of: owner)
    }
  }
}

extension KeyedArchive.ValueDecoder {
  /// The value in the form that predicates compare.
  package mutating func predicateValue(_ node: PlistNode?, depth: Int = 0) throws -> PredicateValue {
    switch try content(node, depth: depth) {
    case nil: return .null
    case .value(.null): return depth == 0 ? .nullObject : .null
    case .value(let value): return PredicateValue(value)
    case .list(let nodes): return .array(try nodes.map { try predicateValue($0, depth: depth + 1) })
    case .instance(let record):
      switch record.className {
      case "NSArray", "NSMutableArray", "NSOrderedSet", "NSMutableOrderedSet":
        return .array(try elements(record).map { try predicateValue($0, depth: depth + 1) })
      case "NSSet", "NSMutableSet":
        return .set(Set(try elements(record).map { try predicateValue($0, depth: depth + 1) }))
      case "NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1":
        var entries: [PredicateValue: PredicateValue] = [:]
        for (key, node) in try archive.pairs(record) {
          entries[try predicateValue(key, depth: depth + 1)] = try predicateValue(node, depth: depth + 1)
        }
        return .dictionary(entries)
      default:
        return PredicateValue(normalizing: try foreignInstance(record, depth: depth))
      }
    }
  }
}

extension PredicateValue {
  fileprivate init(_ scalar: KeyedArchive.Scalar) {
    switch scalar {
    case .null: self = .nullObject
    case .bool(let value): self = .bool(value)
    case .integer(let value): self = .integer(value)
    case .unsigned(let value): self = .unsigned(value)
    case .double(let value): self = .double(value)
    case .decimal(let value): self = .decimal(value)
    case .string(let value): self = .string(value)
    case .date(let value): self = .date(value)
    case .data(let value): self = .data(value)
    case .uuid(let value): self = .uuid(value)
    case .url(let value): self = .url(value)
    }
  }
}
