import CoreDataArchives
import Foundation

/// Compares the object graphs of two keyed archives key by key, from their roots: classes, keys, and values.
/// The order of dictionaries, sets and lists of indexes, what objects are shared, and whether a collection or
/// a text is a mutable one do not count.
///
/// A difference is named by its class, key and both values: `NSAttributeDescription.NSFlagsKey: 0, 4`.
struct ArchiveDifferences {
  private let one: KeyedArchive
  private let other: KeyedArchive
  private var seen: Set<[Int]> = []
  /// Pairs to compare. Not by recursion: graphs are as deep as they are large.
  private var waiting: [(left: PlistNode?, right: PlistNode?, place: String)] = []
  private(set) var found: [String] = []
  /// How many fields of objects were compared.
  private(set) var fields: Int = 0

  init(_ one: Data, _ other: Data) throws {
    (self.one, self.other) = (try KeyedArchive(one), try KeyedArchive(other))
    waiting = [(self.one.top["root"], self.other.top["root"], "root")]
    while let (left, right, place) = waiting.popLast() { try compare(left, right, at: place) }
  }

  private mutating func note(_ place: String, _ left: String, _ right: String) {
    found.append("\(place): \(left), \(right)")
  }

  private mutating func compare(_ left: PlistNode?, _ right: PlistNode?, at place: String) throws {
    if case .uid(let a)? = left, case .uid(let b)? = right, !seen.insert([a, b]).inserted { return }
    let first: KeyedArchive.Record? = try Self.record(left, one)
    let second: KeyedArchive.Record? = try Self.record(right, other)
    guard let first, let second else {
      let (a, b) = (Self.text(left, one), Self.text(right, other))
      if a != b || (first == nil) != (second == nil) { note(place, a, b) }
      return
    }
    guard first.className == second.className,
      Set(first.classes).subtracting(Self.mutable) == Set(second.classes).subtracting(Self.mutable)
    else {
      return note(place, first.className, second.className)
    }
    if let pairs = try? one.pairs(first), let others = try? other.pairs(second) {
      let (mine, theirs) = (Self.byKey(pairs, one), Self.byKey(others, other))
      for key in Set(mine.keys).union(theirs.keys).sorted() {
        fields += 1
        waiting.append((mine[key], theirs[key], "\(place)[]"))
      }
      return
    }
    for key in Set(first.fields.keys).union(second.fields.keys).subtracting(["$class"]).sorted() {
      fields += 1
      let place: String = key == "NS.objects" ? place : "\(first.className).\(key)"
      switch (first.fields[key], second.fields[key]) {
      case (.array(var a)?, .array(var b)?):
        if a.count != b.count { note(place, "\(a.count) members", "\(b.count) members") }
        if first.className == "NSSet" || place == "NSEntityDescription.NSFetchIndexDescriptions" {
          a.sort { Self.name($0, one) < Self.name($1, one) }
          b.sort { Self.name($0, other) < Self.name($1, other) }
        }
        waiting += zip(a, b).map { ($0, $1, place) }
      case (let a, let b): waiting.append((a, b, place))
      }
    }
  }

  /// The object of a reference; nil for a text too, which may be an object or a plain value.
  private static func record(_ node: PlistNode?, _ archive: KeyedArchive) throws -> KeyedArchive.Record? {
    guard var record = try archive.index(node).flatMap({ try archive.record(at: $0) }) else { return nil }
    if record.className.hasSuffix("String") { return nil }
    if mutable.contains(record.className) { record.className.replace("Mutable", with: "") }
    return record
  }

  private static let mutable: Set<String> = ["NSMutableDictionary", "NSMutableArray", "NSMutableSet"]

  private static func byKey(_ pairs: [(PlistNode, PlistNode)], _ archive: KeyedArchive) -> [String: PlistNode]
  {
    Dictionary(pairs.map { (text($0.0, archive), $0.1) }, uniquingKeysWith: { first, _ in first })
  }

  /// A leaf, "nil", "absent", or the class of an object.
  private static func text(_ node: PlistNode?, _ archive: KeyedArchive) -> String {
    guard let node else { return "absent" }
    guard let value = try? archive.resolve(node) else { return "nil" }
    if let record = try? record(node, archive) {
      return record.className
    }
    switch value {
    case .dictionary(let fields): return text(fields["NS.string"], archive)
    case .string(let text): return "'\(text)'"
    case .integer(let value): return "\(value)"
    case .boolean(let value): return "\(value)"
    case .real(let value): return "\(value)"
    default: return "\(value)"
    }
  }

  /// By what the members of a set are put in order.
  private static func name(_ node: PlistNode, _ archive: KeyedArchive) -> String {
    if let record = try? record(node, archive) {
      let keys: [String] = ["NSEntityName", "NSPropertyName", "NSIndexName"]
      return text(keys.lazy.compactMap { record.fields[$0] }.first, archive)
    }
    return text(node, archive)
  }
}
