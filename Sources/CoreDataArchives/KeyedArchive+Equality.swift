import Foundation

extension KeyedArchive {
  /// Whether two archives are of equal values: their objects may be in other places of the table, shared or
  /// repeated, and those of dictionaries and sets in another order. No instance of a class is made. Mutable
  /// and immutable collections and texts are equal, and so are an integer and a real number of one value.
  ///
  /// nil for data that is no archive, and for values that contain themselves.
  ///
  /// Cost: linear in the objects of both.
  package static func areEqual(_ left: Data, _ right: Data) -> Bool? {
    guard let one = try? KeyedArchive(left), let other = try? KeyedArchive(right) else { return nil }
    guard Set(one.top.keys) == Set(other.top.keys) else { return false }
    var numbers = ValueNumbers()
    for (name, node) in one.top {
      guard let a = try? numbers.number(of: node, in: one), let theirs = other.top[name],
        let b = try? numbers.number(of: theirs, in: other)
      else { return nil }
      if a != b { return false }
    }
    return true
  }
}

/// Gives equal values equal numbers: those of a value's parts are known before its own.
private struct ValueNumbers {
  /// A value by the numbers of its parts.
  private enum Shape: Hashable {
    case null
    case notANumber
    case leaf(PlistNode)
    case list([Int])
    case fields([String: Int])
    case instance(String, [String: Int])
    /// Keys and values, in the order of these numbers.
    case dictionary([[Int]])
    case set([Int])
  }

  private var numbers: [Shape: Int] = [:]

  private mutating func number(_ shape: Shape) -> Int {
    if let known = numbers[shape] { return known }
    numbers[shape] = numbers.count
    return numbers.count - 1
  }

  /// Throws for values that contain themselves, and for references out of the table.
  mutating func number(of node: PlistNode, in archive: KeyedArchive) throws -> Int {
    var done: [Int: Int] = [:]
    var open: Set<Int> = []
    // Not by recursion: an archive may nest values as deep as it is long.
    var waiting: [Int] = Array(node.references)
    while let index = waiting.last {
      if done[index] != nil {
        waiting.removeLast()
        continue
      }
      guard archive.objects.indices.contains(index) else {
        throw PlistError("a reference to object \(index) of \(archive.objects.count)")
      }
      if open.insert(index).inserted {
        let parts: Set<Int> = archive.objects[index].references.filter { done[$0] == nil }
        if !parts.isDisjoint(with: open) { throw PlistError("object \(index) contains itself") }
        waiting += parts
        if !parts.isEmpty { continue }
      }
      done[index] = number(try shape(of: index, in: archive, done))
      open.remove(index)
      waiting.removeLast()
    }
    return number(inline: node, done)
  }

  private mutating func number(inline node: PlistNode, _ done: [Int: Int]) -> Int {
    switch node {
    case .uid(let index): return done[index] ?? -1
    case .array(let elements): return number(.list(elements.map { number(inline: $0, done) }))
    case .dictionary(let content):
      return number(.fields(content.mapValues { number(inline: $0, done) }))
    default: return number(Self.leaf(node))
    }
  }

  /// Numbers as integers where they have no fraction.
  private static func leaf(_ node: PlistNode) -> Shape {
    guard case .real(let number) = node else { return .leaf(node) }
    if number.isNaN { return .notANumber }
    return .leaf(Int64(exactly: number).map { .integer($0) } ?? node)
  }

  private mutating func shape(of index: Int, in archive: KeyedArchive, _ done: [Int: Int]) throws -> Shape {
    if index == 0 { return .null }
    guard let record = try archive.record(at: index) else {
      switch archive.objects[index] {
      case .array(let elements): return .list(elements.map { number(inline: $0, done) })
      case .dictionary(let content): return .fields(content.mapValues { number(inline: $0, done) })
      case let node: return Self.leaf(node)
      }
    }
    var fields: [String: Int] = [:]
    for (name, node) in record.fields where name != "$class" { fields[name] = number(inline: node, done) }
    let name: String = Self.immutableNames[record.className] ?? record.className
    switch name {
    case "NSDictionary":
      guard case .array(let keys)? = record.fields["NS.keys"],
        case .array(let values)? = record.fields["NS.objects"], keys.count == values.count
      else { break }
      let pairs: [[Int]] = zip(keys, values).map { [number(inline: $0, done), number(inline: $1, done)] }
      return .dictionary(pairs.sorted { $0.lexicographicallyPrecedes($1) })
    case "NSSet":
      guard case .array(let members)? = record.fields["NS.objects"] else { break }
      return .set(members.map { number(inline: $0, done) }.sorted())
    // Written as an instance, or as the text or the bytes themselves.
    case "NSString":
      if case .string(let text)? = try archive.resolve(record.fields["NS.string"]) {
        return .leaf(.string(text))
      }
    case "NSData":
      if case .data(let bytes)? = try archive.resolve(record.fields["NS.data"]) { return .leaf(.data(bytes)) }
    default: break
    }
    return .instance(name, fields)
  }

  private static let immutableNames: [String: String] = [
    "NSMutableDictionary": "NSDictionary", "NSMutableArray": "NSArray", "NSMutableSet": "NSSet",
    "NSMutableString": "NSString", "NSMutableData": "NSData", "NSMutableOrderedSet": "NSOrderedSet",
  ]
}

extension PlistNode {
  /// The objects that a value refers to, those inside its own lists included. "$null" is one of them.
  fileprivate var references: Set<Int> {
    switch self {
    case .uid(let index): [index]
    case .array(let elements): elements.reduce(into: []) { $0.formUnion($1.references) }
    case .dictionary(let content): content.values.reduce(into: []) { $0.formUnion($1.references) }
    default: []
    }
  }
}
