import Foundation

/// A keyed archive whose objects are read one at a time, for archives of many objects. No class's instances
/// are made.
///
/// What is made of the archive may be much larger than it, because an object in it can be referred to often:
/// `spend` limits that.
package struct KeyedArchiveTable {
  package typealias Entry = BinaryPlistTable.Entry
  package typealias References = BinaryPlistTable.References

  package let list: BinaryPlistTable
  private let objects: References
  private let top: [String: Int]
  /// The field names that the caller asks for, and for each object of the list which of them it is: 0 not
  /// known yet, 1 none, else its place + 2.
  private let fieldNames: [String]
  private var fieldOfObject: [UInt8]
  private var classes: [Int: (name: String, ancestors: [String])] = [:]
  private var remaining: Int

  /// The names of the fields that instances have, at most 200, and the limit of bytes made. `salvages`:
  /// whether the objects are looked for if they are not where they must be.
  package init(
    _ bytes: UnsafeRawBufferPointer, fieldNames: [String], limit: Int, salvages: Bool = false
  ) throws {
    let list = try BinaryPlistTable(bytes)
    self.list = list
    self.fieldNames = fieldNames
    fieldOfObject = Array(repeating: 0, count: list.count)
    remaining = limit
    do {
      (objects, top) = try Self.parts(of: list)
    } catch let error as PlistError {
      guard salvages, let found = Self.objects(foundIn: list) else { throw error }
      (objects, top) = (found, [:])
    }
  }

  /// The objects, and the names at the top.
  private static func parts(of list: BinaryPlistTable) throws -> (References, [String: Int]) {
    var objects: References?
    var top: [String: Int] = [:]
    guard case .dictionary(let keys, let values) = try list.entry(at: list.top) else {
      throw PlistError("it is a property list, but not a keyed archive")
    }
    for place in 0..<keys.count {
      let value: Entry = try list.entry(at: try list.member(place, of: values))
      switch (try name(at: try list.member(place, of: keys), in: list), value) {
      case ("$objects", .array(let found)): objects = found
      case ("$top", .dictionary(let keys, let values)):
        for place in 0..<keys.count {
          guard case .uid(let number) = try list.entry(at: try list.member(place, of: values)),
            let name = try name(at: try list.member(place, of: keys), in: list)
          else { continue }
          top[name] = number
        }
      default: continue
      }
    }
    guard let objects else {
      throw PlistError("it is a property list, but not a keyed archive: $objects is missing")
    }
    return (objects, top)
  }

  /// The array of all objects, which is the longest one that begins with "$null"; nil if there is none.
  private static func objects(foundIn list: BinaryPlistTable) -> References? {
    var longest: References?
    for index in 0..<list.count {
      guard case .array(let members)? = try? list.entry(at: index), members.count > longest?.count ?? 0,
        let first = try? list.member(0, of: members), (try? name(at: first, in: list)) == "$null"
      else { continue }
      longest = members
    }
    return longest
  }

  /// Counts what was made of the archive. Throws when it is too much.
  package mutating func spend(_ bytes: Int) throws {
    remaining -= bytes
    if remaining < 0 { throw PlistError("its values repeat each other without end") }
  }

  // MARK: Objects

  /// How many objects there are, "$null" included.
  package var objectCount: Int { objects.count }

  /// The object of that name at the top.
  package func topObject(_ name: String) -> Int? { top[name] }

  /// The object that a member of a collection of the list refers to; nil for a value that stands there
  /// itself.
  package func reference(_ place: Int, of members: References) throws -> Int? {
    if case .uid(let number) = try list.entry(at: try list.member(place, of: members)) { return number }
    return nil
  }

  /// An object; nil for "$null".
  package func object(_ number: Int) throws -> Entry? {
    guard number >= 0, number < objects.count else {
      throw PlistError("it refers to object \(number) of \(objects.count)")
    }
    return number == 0 ? nil : try list.entry(at: try list.member(number, of: objects))
  }

  /// Finds the fields of an instance: for each name that `init` was given, the number of the value's object
  /// in the list, or -1. The instance's class description comes last.
  package mutating func readFields(
    keys: References, values: References, into fields: inout [Int]
  ) throws {
    fields.removeAll(keepingCapacity: true)
    for _ in 0...fieldNames.count { fields.append(-1) }
    for place in 0..<keys.count {
      let key: Int = try list.member(place, of: keys)
      if fieldOfObject[key] == 0 { fieldOfObject[key] = try findField(key) }
      let field: Int = Int(fieldOfObject[key]) - 2
      if field >= 0 { fields[field] = try list.member(place, of: values) }
    }
  }

  private func findField(_ key: Int) throws -> UInt8 {
    guard let name = try Self.name(at: key, in: list) else { return 1 }
    if name == "$class" { return UInt8(fieldNames.count + 2) }
    return fieldNames.firstIndex(of: name).map { UInt8($0 + 2) } ?? 1
  }

  /// The object that a field refers to, by its number; nil for an absent one and for "$null".
  package func reference(_ field: Int) throws -> Int? {
    guard field >= 0, case .uid(let number) = try list.entry(at: field), number != 0 else { return nil }
    return number
  }

  /// The class of an instance, by its field.
  package mutating func className(_ field: Int) throws -> (name: String, ancestors: [String]) {
    guard let number = try reference(field) else { throw PlistError("an object without a class") }
    if let known = classes[number] { return known }
    guard case .dictionary(let keys, let values)? = try object(number) else {
      throw PlistError("object \(number) is no class description")
    }
    var found: (name: String, ancestors: [String]) = ("", [])
    for place in 0..<keys.count {
      let value: Entry = try list.entry(at: try list.member(place, of: values))
      switch try Self.name(at: try list.member(place, of: keys), in: list) {
      case "$classname":
        found.name = try Self.name(at: try list.member(place, of: values), in: list) ?? ""
      case "$classes":
        guard case .array(let names) = value else { continue }
        // Real classes have a handful of ancestors.
        found.ancestors = try (0..<min(32, names.count)).compactMap {
          try Self.name(at: try list.member($0, of: names), in: list)
        }
      default: continue
      }
    }
    if found.name.isEmpty { throw PlistError("object \(number) is a class description without a name") }
    classes[number] = found
    return found
  }

  /// The text of a name; nil for anything else, and for texts that are too long for one.
  private static func name(at index: Int, in list: BinaryPlistTable) throws -> String? {
    let entry: Entry = try list.entry(at: index)
    return entry.size <= 1024 ? list.text(entry) : nil
  }

  // MARK: Parts

  /// An archive of one object, as "root", and of all that it refers to, in the order of this archive.
  package mutating func archive(of root: Int) throws -> KeyedArchive {
    var found: [Int: PlistNode] = [:]
    var waiting: [Int] = [root]
    while let number = waiting.popLast() {
      if number == 0 || found[number] != nil { continue }
      guard number < objects.count else {
        throw PlistError("it refers to object \(number) of \(objects.count)")
      }
      found[number] = try node(try list.member(number, of: objects), depth: 0) { waiting.append($0) }
    }
    let order: [Int] = found.keys.sorted()
    let places: [Int: Int] = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0 + 1) })
    let table: [PlistNode] =
      [.string("$null")] + order.compactMap { found[$0]?.mapReferences { places[$0] ?? 0 } }
    return KeyedArchive(objects: table, top: ["root": .uid(places[root] ?? 0)])
  }

  private mutating func node(_ index: Int, depth: Int, _ refer: (Int) -> Void) throws -> PlistNode {
    guard depth < BinaryPlistReader.maximumDepth else {
      throw PlistError(
        "its objects nest deeper than \(BinaryPlistReader.maximumDepth), or contain themselves")
    }
    let entry: Entry = try list.entry(at: index)
    try spend(entry.size + MemoryLayout<PlistNode>.size)
    switch entry {
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .unsigned(let value): return .unsigned(value)
    case .real(let value): return .real(value)
    case .date(let seconds): return .date(seconds)
    case .data(let place): return .data(Data(list.content(place)))
    case .ascii, .utf16: return .string(list.text(entry) ?? "")
    case .uid(let number):
      refer(number)
      return .uid(number)
    case .array(let members):
      var nodes: [PlistNode] = []
      for place in 0..<members.count {
        nodes.append(try node(try list.member(place, of: members), depth: depth + 1, refer))
      }
      return .array(nodes)
    case .dictionary(let keys, let values):
      var content: [String: PlistNode] = [:]
      for place in 0..<keys.count {
        guard let key = list.text(try list.entry(at: try list.member(place, of: keys))) else {
          throw PlistError("a dictionary has a key that is not a string")
        }
        content[key] = try node(try list.member(place, of: values), depth: depth + 1, refer)
      }
      return .dictionary(content)
    }
  }
}
