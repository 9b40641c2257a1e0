import Foundation

/// Writes a keyed archive of many objects without a tree of it in memory.
///
/// Objects have two numbers: that in the archive's table, by which they refer to each other, and those in
/// the property list, which the functions hide. An object may be referred to before it is written.
package struct KeyedArchiveStream {
  /// An object of the archive.
  package struct Object: Hashable, Sendable {
    package let number: Int
    package static let null = Object(number: 0)
  }

  private var bytes: BinaryPlistBytes
  /// The place of each object in the property list; -1 until it is written.
  private var objects: [Int] = []
  /// The place in the property list of the reference to each object; -1 if there is none yet.
  private var references: [Int] = []
  private var names: [String: Int] = [:]
  private var strings: [String: Object] = [:]
  private var classes: [[String]: Object] = [:]

  /// Writes an archive whose object at the top has a name. `body` may be called a second time, if the archive
  /// gets larger than expected.
  package static func write(
    top name: String, expectedCount: Int, _ body: (inout KeyedArchiveStream) throws -> Object
  ) rethrows -> [UInt8] {
    var size: Int = expectedCount < 60_000 ? 2 : 4
    while true {
      var stream = KeyedArchiveStream(referenceSize: size)
      let root: Object = try body(&stream)
      stream.finish(name, root)
      if stream.bytes.isComplete { return stream.bytes.bytes }
      size *= 2
    }
  }

  private init(referenceSize: Int) {
    bytes = BinaryPlistBytes(referenceSize: referenceSize)
    let null: Object = reserve()
    objects[null.number] = bytes.append(leaf: .string("$null"))
  }

  // MARK: Objects

  /// A number for an object that is written later.
  package mutating func reserve() -> Object {
    objects.append(-1)
    references.append(-1)
    return Object(number: objects.count - 1)
  }

  package mutating func integer(_ value: Int64) -> Object { add { $0.append(value) } }
  package mutating func real(_ value: Double) -> Object { add { $0.append(value) } }
  package mutating func data(_ value: UnsafeRawBufferPointer) -> Object { add { $0.append(data: value) } }

  /// UTF-8 text, not looked for among other texts.
  package mutating func text(_ value: UnsafeRawBufferPointer) -> Object {
    // Readers treat a bare "$null" as nil, wherever it is.
    if value.elementsEqual("$null".utf8) { return string("$null") }
    return add { $0.append(text: value) }
  }

  /// A text that is written once, however often it is asked for.
  package mutating func string(_ value: String) -> Object {
    if let known = strings[value] { return known }
    let made: Object
    if value == "$null" {
      let place: Int = bytes.append(leaf: .string(value))
      let text: Object = reserve()
      objects[text.number] = place
      made = instance(
        ["NSString", "NSObject"], [("NS.string", reference(text))])
    } else {
      made = add { $0.append(leaf: .string(value)) }
    }
    strings[value] = made
    return made
  }

  /// An instance's field that refers to an object.
  package mutating func reference(_ object: Object) -> Field {
    if references[object.number] < 0 { references[object.number] = bytes.append(uid: object.number) }
    return Field(place: references[object.number])
  }

  /// A number that stands in an instance's field itself.
  package mutating func field(_ value: Int64) -> Field { Field(place: bytes.append(value)) }
  package mutating func field(_ value: Double) -> Field { Field(place: bytes.append(value)) }
  package mutating func field(data value: UnsafeRawBufferPointer) -> Field {
    Field(place: bytes.append(data: value))
  }

  package mutating func field(_ values: some Sequence<Object>) -> Field {
    let members: [Int] = values.map { reference($0).place }
    return Field(place: bytes.append(array: members))
  }

  /// What a field of an instance holds.
  package struct Field {
    fileprivate let place: Int
  }

  /// An instance. `classNames`: its class and that one's ancestors.
  package mutating func instance(_ classNames: [String], _ fields: [(name: String, value: Field)]) -> Object {
    let object: Object = reserve()
    fill(object, classNames, fields)
    return object
  }

  /// Writes a reserved object.
  package mutating func fill(
    _ object: Object, _ classNames: [String], _ fields: [(name: String, value: Field)]
  ) {
    let description: Field = reference(classDescription(classNames))
    let keys: [Int] = fields.map { name($0.name) } + [name("$class")]
    objects[object.number] = bytes.append(keys: keys, values: fields.map(\.value.place) + [description.place])
  }

  package mutating func array(_ members: some Sequence<Object>, mutable: Bool = false) -> Object {
    let members: Field = field(members)
    return instance(
      mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
      [("NS.objects", members)])
  }

  /// A mutable dictionary.
  package mutating func dictionary(_ keys: some Sequence<Object>, _ values: some Sequence<Object>) -> Object {
    let (keys, values): (Field, Field) = (field(keys), field(values))
    return instance(
      ["NSMutableDictionary", "NSDictionary", "NSObject"], [("NS.keys", keys), ("NS.objects", values)])
  }

  private mutating func classDescription(_ names: [String]) -> Object {
    if let known = classes[names] { return known }
    let listed: [Int] = names.map { name($0) }
    let list: Int = bytes.append(array: listed)
    let object: Object = reserve()
    objects[object.number] = bytes.append(
      keys: [name("$classname"), name("$classes")], values: [name(names[0]), list])
    classes[names] = object
    return object
  }

  // MARK: Parts of other archives

  /// Copies the objects of an archive, and returns the one that a node refers to.
  package mutating func copy(_ archive: KeyedArchive, root: PlistNode) throws -> Object {
    guard let root = try archive.index(root) else { return .null }
    var places: [Int: Object] = [:]
    var waiting: [(Int, Object)] = []
    func place(_ number: Int) throws -> Object {
      if number == 0 { return .null }
      guard archive.objects.indices.contains(number) else {
        throw PlistError("a reference to object \(number) of \(archive.objects.count)")
      }
      if let known = places[number] { return known }
      let made: Object
      if case .dictionary(let fields) = archive.objects[number],
        case .string(let name) = fields["$classname"],
        case .array(let list) = fields["$classes"]
      {
        let names: [String] = list.compactMap { if case .string(let name) = $0 { name } else { nil } }
        made = classDescription(names.first == name ? names : [name] + names)
      } else {
        made = reserve()
        waiting.append((number, made))
      }
      places[number] = made
      return made
    }
    let result: Object = try place(root)
    while let (number, object) = waiting.popLast() {
      let node: PlistNode = try archive.objects[number].mapReferences { try place($0).number }
      objects[object.number] = append(node)
    }
    return result
  }

  private mutating func append(_ node: PlistNode) -> Int {
    switch node {
    case .array(let elements):
      let members: [Int] = elements.map { append($0) }
      return bytes.append(array: members)
    case .dictionary(let content):
      let ordered: [(String, PlistNode)] = content.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      let keys: [Int] = ordered.map { name($0.0) }
      let values: [Int] = ordered.map { append($0.1) }
      return bytes.append(keys: keys, values: values)
    case .uid(let number): return reference(Object(number: number)).place
    default: return bytes.append(leaf: node)
    }
  }

  // MARK: Parts

  private mutating func add(_ write: (inout BinaryPlistBytes) -> Int) -> Object {
    let object: Object = reserve()
    objects[object.number] = write(&bytes)
    return object
  }

  /// A text of the list itself: a key, or the name of a class.
  private mutating func name(_ text: String) -> Int {
    if let known = names[text] { return known }
    let place: Int = bytes.append(leaf: .string(text))
    names[text] = place
    return place
  }

  private mutating func finish(_ name: String, _ root: Object) {
    // A part of another archive that could not be copied to its end may have left objects unwritten.
    let list: Int = bytes.append(array: objects.map { $0 < 0 ? objects[0] : $0 })
    let top: Int = bytes.append(keys: [self.name(name)], values: [reference(root).place])
    let version: Int = bytes.append(Int64(100_000))
    let archiver: Int = bytes.append(leaf: .string("NSKeyedArchiver"))
    let keys: [Int] = ["$version", "$objects", "$archiver", "$top"].map { self.name($0) }
    bytes.finish(top: bytes.append(keys: keys, values: [version, list, archiver, top]))
  }
}
