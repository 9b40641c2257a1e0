import CoreDataArchives
import CoreDataModel
import Foundation

/// Reads the objects of a binary store (`BinaryStoreFormat`), one after the other. No instance of a class is
/// made: the names of classes only tell how values are read.
struct BinaryStoreReader {
  private typealias Entry = KeyedArchiveTable.Entry

  private var archive: KeyedArchiveTable
  /// The fields of the instance that was read last, by `Field`.
  private var fields: [Int] = []
  /// The archive's objects that were nodes of the store, and those that are `NSNull`.
  private var usedNodes: Set<Int> = []
  private var nulls: Set<Int> = []
  private var names: [Int: String] = [:]
  private var entities: [String: BinaryStoreEntity] = [:]
  private let loader: AtomicStoreLoader?
  /// Whether what can't be read is left out.
  private let salvages: Bool
  /// The object that is read, as far as it is known.
  private var current: (entity: EntityLayout?, key: Int64?) = (nil, nil)

  /// Fields of instances, in the order of their names.
  private enum Field: Int, CaseIterable {
    case objects, keys, string, bytes, data, time, uuid, base, relative, attributes, related, key, entity

    var name: String {
      switch self {
      case .objects: "NS.objects"
      case .keys: "NS.keys"
      case .string: "NS.string"
      case .bytes: "NS.bytes"
      case .data: "NS.data"
      case .time: "NS.time"
      case .uuid: "NS.uuidbytes"
      case .base: "NS.base"
      case .relative: "NS.relative"
      case .attributes: "NSAttributeValues"
      case .related: "NSRelatedNodes"
      case .key: "NSPrimaryKey64"
      case .entity: "NSEntityName"
      }
    }
  }

  private init(_ bytes: UnsafeRawBufferPointer, _ loader: AtomicStoreLoader?, salvages: Bool) throws {
    self.salvages = salvages
    // One text may legitimately be the value of many objects, so the limit is not that of the file.
    archive = try KeyedArchiveTable(
      bytes, fieldNames: Field.allCases.map(\.name), limit: 256 << 20 + 64 * bytes.count, salvages: salvages)
    self.loader = loader
    for layout in loader?.layout.entities ?? [] { entities[layout.name] = BinaryStoreEntity(layout) }
  }

  // MARK: Files

  /// Reads all objects into a loader.
  static func read(_ file: AtomicStoreFile, _ header: BinaryStoreHeader, into loader: AtomicStoreLoader)
    throws
  {
    try withReader(file, header, loader) { reader in
      try reader.forEachNode { reader, key, fields in try reader.read(key, fields, into: loader) }
    }
  }

  /// The number of objects of each entity.
  static func counts(_ file: AtomicStoreFile, _ header: BinaryStoreHeader) throws -> [String: Int] {
    var counts: [String: Int] = [:]
    try withReader(file, header, nil) { reader in
      try reader.forEachNode { reader, _, fields in
        counts[try reader.entityName(fields), default: 0] += 1
      }
    }
    return counts
  }

  private static func withReader(
    _ file: AtomicStoreFile, _ header: BinaryStoreHeader, _ loader: AtomicStoreLoader?,
    _ body: (inout BinaryStoreReader) throws -> Void
  ) throws {
    do {
      try file.bytes.withUnsafeBytes { bytes in
        var reader = try BinaryStoreReader(
          UnsafeRawBufferPointer(rebasing: bytes[header.data]), loader, salvages: file.salvages)
        try body(&reader)
      }
    } catch let error as PlistError {
      throw file.damage(
        header.isCutOff
          ? "The file is cut off within its objects, at byte \(file.bytes.count); where each of them stands was told at the "
            + "end."
          : "Its objects can't be read: \(error.reason).", .repairing)
    }
  }

  // MARK: Nodes

  /// The objects that a node's fields refer to.
  private struct Node {
    var entity: Int?
    var attributes: Int?
    var related: Int?
  }

  private mutating func forEachNode(
    _ body: (inout BinaryStoreReader, _ key: Int64, Node) throws -> Void
  ) throws {
    if salvages { return try forEachNodeFound(body) }
    let (keys, nodes) = try map()
    for place in 0..<keys.count {
      let key: Int64 = try self.key(place, keys)
      guard let number = try archive.reference(place, of: nodes), usedNodes.insert(number).inserted else {
        throw PlistError("the object \(key) has no node of its own")
      }
      try body(&self, key, try node(number, key))
    }
  }

  /// The keys of all objects, and their nodes.
  private mutating func map() throws -> (
    keys: KeyedArchiveTable.References, nodes: KeyedArchiveTable.References
  ) {
    guard let root = archive.topObject("mapData"), root != 0 else {
      throw PlistError("there is no 'mapData' at the top of the archive")
    }
    guard let (keys, nodes) = try pairs(root) else { throw PlistError("'mapData' is no dictionary") }
    return (keys, nodes)
  }

  /// The same for a damaged archive. A node is one whether `mapData` has it or not: it has its key itself.
  private mutating func forEachNodeFound(
    _ body: (inout BinaryStoreReader, _ key: Int64, Node) throws -> Void
  ) throws {
    /// By the numbers of nodes.
    var keys: [Int: Int64] = [:]
    var listed: Set<Int> = []
    var withoutNode: Set<Int64> = []
    do {
      let (keyList, nodes) = try map()
      for place in 0..<keyList.count {
        let key: Int64? = try? self.key(place, keyList)
        guard let number = try? archive.reference(place, of: nodes), listed.insert(number).inserted else {
          if let key { withoutNode.insert(key) }
          continue
        }
        if let key { keys[number] = key }
      }
    } catch let error as PlistError {
      loader?.note(
        damage:
          "Its list of objects can't be read: \(error.reason). They were looked for in the rest of the file.")
    }
    for number in 1..<max(1, archive.objectCount) where listed.contains(number) || isNode(number) {
      current = (nil, keys[number])
      do {
        let key: Int64 = try keys[number] ?? ownKey(ofNode: number)
        current.key = key
        withoutNode.remove(key)
        try body(&self, key, try node(number, key))
      } catch let error as PlistError {
        loader?.leaveOut(current.entity, key: current.key, because: error.reason)
      } catch StoreError.invalidFile(_, let reason, _) {
        loader?.leaveOut(current.entity, key: current.key, because: reason)
      }
    }
    for key in withoutNode.sorted() {
      loader?.leaveOut(nil, key: key, because: "the object \(key) has no node of its own")
    }
  }

  /// Whether an object has what a node has.
  private mutating func isNode(_ number: Int) -> Bool {
    guard case .dictionary(let keys, let values)? = try? archive.object(number),
      (try? archive.readFields(keys: keys, values: values, into: &fields)) != nil
    else { return false }
    return fields[Field.entity.rawValue] >= 0 && fields[Field.attributes.rawValue] >= 0
  }

  private mutating func ownKey(ofNode number: Int) throws -> Int64 {
    guard case .dictionary(let keys, let values)? = try archive.object(number) else {
      throw PlistError("an object has no node")
    }
    try archive.readFields(keys: keys, values: values, into: &fields)
    guard fields[Field.key.rawValue] >= 0,
      case .integer(let key) = try archive.list.entry(at: fields[Field.key.rawValue])
    else { throw PlistError("an object has no key") }
    return key
  }

  private mutating func key(_ place: Int, _ keys: KeyedArchiveTable.References) throws -> Int64 {
    guard let number = try archive.reference(place, of: keys),
      case .integer(let key)? = try archive.object(number)
    else { throw PlistError("key \(place) of 'mapData' is no integer") }
    return key
  }

  /// Reads a property of an object, which is left out of a damaged file if that fails.
  private mutating func read(
    _ slot: Int?, of place: AtomicStoreLoader.Place, _ body: (inout BinaryStoreReader) throws -> Void
  ) throws {
    do {
      try body(&self)
    } catch let error as PlistError {
      guard salvages, let loader else { throw error }
      if let slot { return loader.leaveOut(slot, of: place, because: error.reason) }
      loader.note(.damage, nil, of: place, "could be read in part: \(error.reason).")
    }
  }

  private mutating func node(_ number: Int, _ key: Int64) throws -> Node {
    guard case .dictionary(let keys, let values)? = try archive.object(number) else {
      throw PlistError("the object \(key) has no node")
    }
    try archive.readFields(keys: keys, values: values, into: &fields)
    let (name, ancestors) = try archive.className(fields[Field.allCases.count])
    guard salvages || name == "NSDictionaryMapNode" || ancestors.contains("NSStoreMapNode") else {
      throw PlistError("the object \(key) is archived as a \(name), not as an NSDictionaryMapNode")
    }
    // Absent in files of old systems.
    if fields[Field.key.rawValue] >= 0 {
      guard case .integer(key) = try archive.list.entry(at: fields[Field.key.rawValue]) else {
        throw PlistError("the object \(key) has another key in its node")
      }
    }
    return Node(
      entity: try archive.reference(fields[Field.entity.rawValue]),
      attributes: try archive.reference(fields[Field.attributes.rawValue]),
      related: try archive.reference(fields[Field.related.rawValue]))
  }

  private mutating func entityName(_ node: Node) throws -> String {
    guard let number = node.entity else { throw PlistError("an object has no entity") }
    return try name(number)
  }

  /// The text of an object that is a name, kept.
  private mutating func name(_ number: Int) throws -> String {
    if let known = names[number] { return known }
    guard let text = try text(number), text.utf8.count <= BinaryStoreFormat.longestNameInBytes else {
      throw PlistError("object \(number), which should be a name, is no text")
    }
    names[number] = text
    return text
  }

  private mutating func read(_ key: Int64, _ node: Node, into loader: AtomicStoreLoader) throws {
    let name: String = try entityName(node)
    guard let entity = entities[name] else {
      if salvages { return loader.leaveOut(objectOf: name, key: key) }
      throw PlistError("the object \(key) is of the entity '\(name)', which the model does not have")
    }
    current.entity = entity.layout
    guard let list = node.attributes, let values = try members(list) else {
      throw PlistError("the \(name) \(key) has no values")
    }
    guard values.count == entity.valueCount else {
      throw PlistError(
        "the \(name) \(key) has \(values.count) values, but the model has \(entity.valueCount) properties of \(name)"
      )
    }
    let place: AtomicStoreLoader.Place = try loader.begin(entity.layout, key: key)
    for (position, attribute) in entity.attributes.enumerated() {
      try read(entity.layout.slotByName[attribute.name], of: place) { reader in
        guard let number = try reader.archive.reference(position, of: values), try !reader.isNull(number)
        else { return }
        try reader.set(attribute, of: place, to: number) {
          "the \(name) \(key) has in '\(attribute.name)' \($0), which is no value of the attribute"
        }
      }
    }
    try read(nil, of: place) { reader in
      for position in entity.attributes.count..<values.count {
        guard let number = try reader.archive.reference(position, of: values), try reader.isNull(number)
        else {
          throw PlistError("the \(name) \(key) has more values than attributes in the model")
        }
      }
    }
    guard let related = node.related else { return }
    try read(nil, of: place) { try $0.read(related, of: place, name, entity, into: loader) }
  }

  private mutating func read(
    _ related: Int, of place: AtomicStoreLoader.Place, _ name: String, _ entity: BinaryStoreEntity,
    into loader: AtomicStoreLoader
  ) throws {
    guard let (keys, lists) = try pairs(related) else {
      throw PlistError("the relationships of the \(name) \(place.key) are no dictionary")
    }
    var seen: Set<Int> = []
    for position in 0..<keys.count {
      try read(nil, of: place) { reader in
        guard let number = try reader.archive.reference(position, of: keys) else {
          throw PlistError("the \(name) \(place.key) has a relationship without name")
        }
        let relationship: String = try reader.name(number)
        guard let slot = entity.layout.slotByName[relationship],
          entity.layout.slots[slot].relationship != nil, seen.insert(slot).inserted
        else {
          throw PlistError(
            "the \(name) \(place.key) has a relationship '\(relationship)' the model lacks, or twice")
        }
        try reader.read(slot, of: place) { reader in
          guard let list = try reader.archive.reference(position, of: lists),
            let members = try reader.members(list)
          else {
            throw PlistError("the \(name) \(place.key) has in '\(relationship)' no list of objects")
          }
          let targets: [Int64] = try reader.targets(members) {
            "the \(name) \(place.key) has in '\(relationship)' something that is no key"
          }
          try loader.set(place, slot: slot, to: targets)
        }
      }
    }
  }

  private mutating func targets(
    _ members: KeyedArchiveTable.References, _ wrong: () -> String
  ) throws -> [Int64] {
    try archive.spend(8 * members.count)
    var targets: [Int64] = []
    targets.reserveCapacity(members.count)
    for position in 0..<members.count {
      guard let number = try archive.reference(position, of: members),
        case .integer(let target)? = try archive.object(number)
      else { throw PlistError(wrong()) }
      targets.append(target)
    }
    return targets
  }

  // MARK: Values

  /// Sets an attribute's value. `wrong` makes the message for one that it can't have.
  private mutating func set(
    _ attribute: BinaryStoreEntity.Attribute, of place: AtomicStoreLoader.Place, to number: Int,
    _ wrong: (String) -> String
  ) throws {
    guard let loader, let entry = try archive.object(number) else { return }
    let word: Int = attribute.word
    func refuse(_ what: String) -> PlistError { PlistError(wrong(what)) }
    switch attribute.kind {
    case .int16, .int32, .int64:
      guard let value = Self.integer(entry) else { throw refuse(Self.describe(entry)) }
      let isInRange: Bool =
        switch attribute.kind {
        case .int16: Int16(exactly: value) != nil
        case .int32: Int32(exactly: value) != nil
        default: true
        }
      guard isInRange else { throw refuse("\(value)") }
      loader.set(place, word: word, to: UInt64(bitPattern: value))
    case .bool:
      guard let value = Self.integer(entry) else { throw refuse(Self.describe(entry)) }
      loader.set(place, word: word, to: value == 0 ? 0 : 1)
    case .double, .float:
      guard let value = Self.real(entry) else { throw refuse(Self.describe(entry)) }
      loader.set(
        place, word: word, to: (attribute.kind == .float ? Double(Float(value)) : value).bitPattern)
    case .date:
      guard let seconds = try seconds(entry) else { throw refuse(try describe(number)) }
      loader.set(place, word: word, to: seconds.bitPattern)
    case .string:
      guard let content = try content(number, .string, ["NSString", "NSMutableString"]) else {
        throw refuse(try describe(number))
      }
      try set(text: content, loader, place, word)
    case .data:
      guard let content = try content(number, .data, ["NSData", "NSMutableData"]),
        case .data(let bytes) = content
      else { throw refuse(try describe(number)) }
      try set(archive.list.content(bytes), loader, place, word)
    case .uuid:
      guard let content = try content(number, .uuid, ["NSUUID"]), case .data(let bytes) = content,
        bytes.count == 16
      else { throw refuse(try describe(number)) }
      try set(archive.list.content(bytes), loader, place, word)
    case .uri:
      if archive.list.text(entry) != nil { return try set(text: entry, loader, place, word) }
      if let text = try absoluteURL(number) { return try set(text: text, loader, place, word) }
      guard let url = try value(number) as? URL else { throw refuse(try describe(number)) }
      try set(Array(url.absoluteString.utf8), loader, place, word)
    case .decimal:
      guard let decimal = try decimal(entry, number) else { throw refuse(try describe(number)) }
      try set(Array(decimal.description.utf8), loader, place, word)
    case .transformable:
      if case .data(let bytes) = entry, !attribute.isArchived {
        return try set(archive.list.content(bytes), loader, place, word)
      }
      let part: KeyedArchive = try archive.archive(of: number)
      if let allowed = loader.valueClasses, let name = part.strangeClass(allowed: allowed) {
        throw refuse("an instance of \(name), which is not among the NSBinaryStoreSecureDecodingClasses")
      }
      let data: Data = part.data
      try data.withUnsafeBytes { try set($0, loader, place, word) }
    case .toOne: return
    }
  }

  private mutating func set(
    _ bytes: UnsafeRawBufferPointer, _ loader: AtomicStoreLoader, _ place: AtomicStoreLoader.Place,
    _ word: Int
  ) throws {
    try archive.spend(bytes.count)
    loader.set(place, word: word, to: bytes)
  }

  private mutating func set(
    _ bytes: [UInt8], _ loader: AtomicStoreLoader, _ place: AtomicStoreLoader.Place, _ word: Int
  ) throws {
    try bytes.withUnsafeBytes { try set($0, loader, place, word) }
  }

  private mutating func set(
    text entry: Entry, _ loader: AtomicStoreLoader, _ place: AtomicStoreLoader.Place, _ word: Int
  ) throws {
    switch entry {
    case .ascii(let range) where archive.list.content(range).allSatisfy({ $0 < 0x80 }):
      try set(archive.list.content(range), loader, place, word)
    case .data(let range):
      // A text that is archived as its bytes.
      try set(Array(String(decoding: archive.list.content(range), as: UTF8.self).utf8), loader, place, word)
    default:
      try set(Array((archive.list.text(entry) ?? "").utf8), loader, place, word)
    }
  }

  private static func integer(_ entry: Entry) -> Int64? {
    switch entry {
    case .integer(let value): value
    case .boolean(let value): value ? 1 : 0
    case .real(let value): Int64(exactly: value)
    default: nil
    }
  }

  private static func real(_ entry: Entry) -> Double? {
    switch entry {
    case .real(let value): value
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .boolean(let value): value ? 1 : 0
    default: nil
    }
  }

  private mutating func seconds(_ entry: Entry) throws -> Double? {
    switch entry {
    case .date(let seconds): return seconds
    case .dictionary(let keys, let values):
      guard try className(keys, values) == "NSDate", fields[Field.time.rawValue] >= 0 else { return nil }
      let time: Entry = try archive.list.entry(at: fields[Field.time.rawValue])
      return Self.real(time)
    default: return nil
    }
  }

  private mutating func decimal(_ entry: Entry, _ number: Int) throws -> Decimal? {
    switch entry {
    case .integer(let value): return Decimal(value)
    case .unsigned(let value): return Decimal(value)
    case .real(let value): return Decimal(string: DecimalText.shortest(value))
    default: return (try value(number) as? NSDecimalNumber)?.decimalValue
    }
  }

  /// The text of an archived URL without a base, as it stands: Foundation has no URL for some, as the empty
  /// one.
  private mutating func absoluteURL(_ number: Int) throws -> Entry? {
    guard case .dictionary(let keys, let values)? = try archive.object(number),
      try className(keys, values) == "NSURL", fields[Field.relative.rawValue] >= 0,
      case .uid(let text) = try archive.list.entry(at: fields[Field.relative.rawValue])
    else { return nil }
    if fields[Field.base.rawValue] >= 0 {
      guard case .uid(let base) = try archive.list.entry(at: fields[Field.base.rawValue]), try isNull(base)
      else {
        return nil
      }
    }
    return try content(text, .string, ["NSString", "NSMutableString"])
  }

  /// A value of one of Foundation's classes, in its part of the archive.
  private mutating func value(_ number: Int) throws -> Any? {
    let part: KeyedArchive = try archive.archive(of: number)
    var decoder = KeyedArchive.ValueDecoder(part)
    return try decoder.value(part.top["root"])
  }

  /// Text or data: an entry itself, or the field of an instance of one of the classes.
  private mutating func content(_ number: Int, _ field: Field, _ classes: [String]) throws -> Entry? {
    switch try archive.object(number) {
    case .dictionary(let keys, let values)?:
      guard classes.contains(try className(keys, values)) else { return nil }
      let found: Int = fields[field.rawValue] >= 0 ? fields[field.rawValue] : fields[Field.bytes.rawValue]
      guard found >= 0 else { return nil }
      let entry: Entry = try archive.list.entry(at: found)
      if case .uid(let number) = entry { return try archive.object(number) }
      return entry
    case let entry?:
      switch (entry, field) {
      case (.ascii, .string), (.utf16, .string), (.data, .data): return entry
      default: return nil
      }
    case nil: return nil
    }
  }

  private mutating func text(_ number: Int) throws -> String? {
    try content(number, .string, ["NSString", "NSMutableString"]).flatMap { archive.list.text($0) }
  }

  // MARK: Instances

  private mutating func className(
    _ keys: KeyedArchiveTable.References, _ values: KeyedArchiveTable.References
  ) throws -> String {
    try archive.readFields(keys: keys, values: values, into: &fields)
    return try archive.className(fields[Field.allCases.count]).name
  }

  private mutating func isNull(_ number: Int) throws -> Bool {
    if number == 0 || nulls.contains(number) { return true }
    guard case .dictionary(let keys, let values)? = try archive.object(number) else { return false }
    guard try className(keys, values) == "NSNull" else { return false }
    nulls.insert(number)
    return true
  }

  /// The keys and values of an archived dictionary.
  private mutating func pairs(
    _ number: Int
  ) throws -> (keys: KeyedArchiveTable.References, values: KeyedArchiveTable.References)? {
    guard case .dictionary(let names, let contents)? = try archive.object(number),
      ["NSDictionary", "NSMutableDictionary"].contains(try className(names, contents)),
      let keys = try list(.keys), let values = try list(.objects), keys.count == values.count
    else { return nil }
    return (keys, values)
  }

  /// The members of an archived list.
  private mutating func members(_ number: Int) throws -> KeyedArchiveTable.References? {
    guard case .dictionary(let keys, let values)? = try archive.object(number),
      ["NSArray", "NSMutableArray", "NSSet", "NSMutableSet"].contains(try className(keys, values))
    else { return nil }
    return try list(.objects)
  }

  private func list(_ field: Field) throws -> KeyedArchiveTable.References? {
    guard fields[field.rawValue] >= 0,
      case .array(let members) = try archive.list.entry(at: fields[field.rawValue])
    else { return nil }
    return members
  }

  // MARK: Messages

  private mutating func describe(_ number: Int) throws -> String {
    switch try archive.object(number) {
    case nil: return "nothing"
    case .dictionary(let keys, let values)?: return "an instance of \(try className(keys, values))"
    case let entry?: return Self.describe(entry)
    }
  }

  private static func describe(_ entry: Entry) -> String {
    switch entry {
    case .boolean: "a Boolean"
    case .integer, .unsigned: "an integer"
    case .real: "a real number"
    case .date: "a date"
    case .data: "data"
    case .ascii, .utf16: "a text"
    case .uid: "a reference"
    case .array: "an array"
    case .dictionary: "an instance of a class"
    }
  }
}
