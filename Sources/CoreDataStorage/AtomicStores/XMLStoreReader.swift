import CoreDataModel
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads the document of an XML store, object by object; without a loader only what precedes and counts
/// them.
final class XMLStoreReader: NSObject, XMLParserDelegate {
  /// More objects than that no store can have had; numbers beyond leave none for new objects.
  private static let greatestKey: Int64 = 1 << 62

  private let file: AtomicStoreFile
  private let loader: AtomicStoreLoader?
  private let names: XMLStoreNames?
  private var uuid: String = ""
  private var highestKey: Int64 = 0
  private var metadata: [String: Any] = [:]
  private var plist: XMLStorePlist.Builder?
  private var counts: [String: Int] = [:]
  /// What is read without a loader.
  private(set) var structure = StoreStructure()
  private var objectType: String = ""
  private var failure: StoreError?
  private var isFinished = false
  /// Whether only what precedes the objects is read.
  private let readsOnlyInfo: Bool
  private var path: [String] = []
  private var text: [UInt8] = []
  /// Whether the rest of a document is left alone, because it is damaged.
  private var isStopped = false
  /// Where a document is damaged first, as a sentence.
  private var firstDamage: String?
  /// Stands in the document for bytes that no document can have.
  private var mark: Character?
  /// Whether what is read belongs to an object that was begun before.
  private var isContinuing = false
  /// Whether the end of an object's element is not the end of the object.
  private var keepsObject = false
  /// The properties of the object that have been met, if it is salvaged.
  private var seen: Set<Int> = []
  /// The parts of the document's beginning that were met: elements, by their names.
  private var beginning: Set<String> = []
  /// What was read wrong so far, if the file is examined.
  private var wrongValues: WrongValues?
  /// The lines before what the parser has.
  private var linesBefore: Int = 0
  private var object: (place: AtomicStoreLoader.Place, names: XMLStoreNames.Entity)?
  private var attribute: String?
  /// An element within the attribute, which has none.
  private var innerElement: String?

  init(_ file: AtomicStoreFile, loader: AtomicStoreLoader?, readsOnlyInfo: Bool = false) throws {
    self.file = file
    self.readsOnlyInfo = readsOnlyInfo
    self.loader = loader
    names = try loader.map { try XMLStoreNames($0.layout) }
  }

  func read() throws -> AtomicStoreHeader {
    if salvages {
      try readRemains()
      if !readsOnlyInfo, counts.isEmpty, let firstDamage {
        throw file.damage(firstDamage, .restoring)
      }
    } else {
      try readWhole()
    }
    noteMissingParts()
    if UUID(uuidString: uuid) == nil {
      guard salvages else { throw file.damage("Its <UUID> is '\(uuid)', which is no UUID.", .repairing) }
      loader?.note(damage: "Its <UUID> is '\(uuid.prefix(60))', which is no UUID.")
      uuid = AtomicStoreFile.unknownUUID
    }
    return AtomicStoreHeader(
      metadata: StoreMetadata(type: "XML", uuid: uuid, values: metadata), highestKey: highestKey,
      counts: counts)
  }

  private func readWhole() throws {
    if let (line, reason) = XMLBytes.refusal(of: file.bytes) {
      throw file.damage("Line \(line): \(reason)", .repairing)
    }
    let isWhole: Bool = parse(file.bytes)
    if let failure { throw failure }
    if !isFinished || (!isWhole && !readsOnlyInfo) {
      throw file.damage(
        isCutOff
          ? "It is cut off: it ends at line \(lineCount), without the end of <database>."
          : "Its XML is damaged: it ends early.", cure)
    }
    if let wrongValues { throw wrongValues.error(file) }
  }

  /// Nothing is saved of a document that ends before its first object.
  private var cure: FileCure {
    isCutOff && file.bytes.range(of: Data("<object".utf8)) == nil ? .restoring : .repairing
  }

  /// Whether the document ends before its end.
  private var isCutOff: Bool { XMLBytes.isCutOff(file.bytes, root: "database") }

  private var lineCount: Int {
    let isEnded: Bool = file.bytes.last == UInt8(ascii: "\n")
    return file.bytes.count { $0 == UInt8(ascii: "\n") } + (isEnded ? 0 : 1)
  }

  private func parse(_ bytes: Data) -> Bool {
    let parser: XMLParser = XMLBytes.parser(of: bytes)
    parser.shouldResolveExternalEntities = false
    parser.delegate = self
    return parser.parse()
  }

  // MARK: Damaged documents

  private var salvages: Bool { file.salvages }

  /// Reads what can be read: from damage on each object as a document of its own, and a damaged object
  /// property by property.
  private func readRemains() throws {
    let remains = XMLStoreRemains(file.bytes)
    mark = remains.mark
    if mark != nil {
      loader?.note(
        damage: "It has bytes that are no text of XML; U+FFFD stands in their places in what was read.")
    }
    if let (line, reason) = XMLBytes.refusal(of: remains.bytes) {
      throw file.damage("Line \(line): \(reason)")
    }
    let form = XMLStoreForm(remains.bytes)
    if readsOnlyInfo || form.isWhole {
      _ = parse(remains.bytes)
      if let failure { throw failure }
      return
    }
    if isCutOff { loader?.noteCutOff(atLine: lineCount) }
    try read(remains.head(before: form.objects))
    try remains.forEachObject(from: form.objects) { object in
      if XMLStoreForm(object.document).isWhole {
        linesBefore = object.parts.tag.lines
        try read(object.document)
      } else {
        try read(object.parts)
      }
    }
    // Behind the last object.
    if firstDamage == nil { noteDamage(atLine: form.line) }
  }

  /// Reads a document that is a part of the whole one.
  private func read(_ document: Data) throws {
    (path, text, plist, attribute, isStopped) = ([], [], nil, nil, false)
    isFinished = false
    _ = parse(document)
    if let failure { throw failure }
    if !isFinished, !isStopped { noteDamage(atLine: nil) }
  }

  /// Damage outside of objects.
  private func noteDamage(atLine line: Int?) {
    isStopped = true
    let place: String = place(of: line.map { $0 + linesBefore })
    firstDamage = firstDamage ?? "Its XML \(place)."
    loader?.note(damage: "Its XML \(place); what stands there could not be read.")
  }

  private func place(of line: Int?) -> String {
    line.map { "is damaged at line \($0)" } ?? "is damaged: it ends early"
  }

  /// Reads a damaged object.
  private func read(_ parts: XMLStoreRemains.Parts) throws {
    let tag: XMLStoreRemains.Piece = parts.tag
    let start = Data("<database>".utf8) + tag.bytes + Data("</object></database>".utf8)
    let form = XMLStoreForm(start)
    (linesBefore, object, objectType) = (tag.lines, nil, "")
    guard form.isWhole else { return leaveOut(objectWithTag: tag, at: form.line) }
    isContinuing = false
    keepsObject = true
    defer { (keepsObject, isContinuing, object) = (false, false, nil) }
    try read(start)
    isContinuing = true
    /// Damage that belongs to no property.
    var others: [String] = []
    var lost: Set<Int> = []
    for piece in parts.pieces {
      linesBefore = piece.lines
      let form = XMLStoreForm(piece.document)
      if form.isWhole {
        try read(piece.document)
        continue
      }
      let place: String = place(of: form.line.map { $0 + piece.lines })
      firstDamage = firstDamage ?? "Its XML \(place)."
      let named: [Int] = properties(namedIn: piece.text).filter { !seen.contains($0) && !lost.contains($0) }
      if named.isEmpty { others.append(place) }
      for slot in named {
        lost.insert(slot)
        if let object { loader?.leaveOut(slot, of: object.place, because: "the XML \(place)") }
      }
    }
    if !parts.isEnded { others.append("ends early, or the end of the object is damaged") }
    if !others.isEmpty { firstDamage = firstDamage ?? "Its XML \(others[0])." }
    note(others, lost)
    if !parts.rest.isBlank {
      linesBefore = parts.rest.lines
      let rest = Data("<database>".utf8) + parts.rest.bytes + Data("</database>".utf8)
      noteDamage(atLine: XMLStoreForm(rest).line ?? 1)
    }
  }

  /// Notes damage within an object that can't be ascribed to a property.
  private func note(_ places: [String], _ lost: Set<Int>) {
    guard let object, let loader else { return }
    let layout: EntityLayout = object.names.layout
    let unread: [String] = layout.slots.indices.filter { slot in
      if seen.contains(slot) || lost.contains(slot) { return false }
      switch layout.slots[slot].role {
      case .stored, .toMany: return true
      case .transient, .fetched, .composite: return false
      }
    }.map { layout.slots[$0].name }
    let missing: String =
      unread.isEmpty
      ? "" : " Nothing was read of \(unread.joined(separator: ", ")), which may have stood there."
    for place in places {
      loader.note(
        .damage, nil, of: object.place, "was read in part: the XML \(place), within the object.\(missing)")
    }
  }

  /// The properties of the object whose names stand in damaged text.
  private func properties(namedIn text: String) -> [Int] {
    guard let object else { return [] }
    return text.matches(of: /name\s*=\s*["']?([^"'<>=\s]+)/).compactMap {
      object.names.slots[XMLStoreNames.caseless(String($0.1))]
    }
  }

  /// An object whose beginning is damaged can't be told from another one.
  private func leaveOut(objectWithTag tag: XMLStoreRemains.Piece, at line: Int?) {
    let type: String = tag.text.firstMatch(of: /type\s*=\s*["']?([^"'<>=\s]+)/).map { String($0.1) } ?? ""
    let place: String = place(of: line.map { $0 + tag.lines })
    firstDamage = firstDamage ?? "Its XML \(place)."
    loader?.leaveOut(
      names?.entities[XMLStoreNames.caseless(type)]?.layout, called: type, key: nil,
      because: "Its XML \(place), where an object '\(type)' begins.")
  }

  private func fail(_ parser: XMLParser, _ error: any Error) {
    if failure != nil || (readsOnlyInfo && isFinished) { return }
    failure = error as? StoreError ?? file.damage("\(error)")
    parser.abortParsing()
  }

  /// A wrong value is an error, but an examination names the others too.
  private func failOrCollect(_ parser: XMLParser, _ what: String) {
    guard loader?.examines == true else { return fail(parser, what, .repairing) }
    if wrongValues == nil { wrongValues = WrongValues() }
    wrongValues?.add("At line \(parser.lineNumber): \(what)")
  }

  private func fail(_ parser: XMLParser, _ what: String, _ cure: FileCure = .none) {
    fail(parser, file.damage("At line \(parser.lineNumber): \(what)", cure))
  }

  /// The first error decides: Foundation on Linux parses on after it, and may even report success.
  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    if salvages {
      if !isStopped, !(readsOnlyInfo && isFinished) { noteDamage(atLine: parser.lineNumber) }
      return parser.abortParsing()
    }
    let line: Int = parser.lineNumber
    let reason: String =
      isCutOff
      ? "It is cut off: it ends at line \(lineCount), without the end of <database>."
        + (line < lineCount ? " Its XML is damaged at line \(line) already." : "")
      : "Its XML is damaged at line \(line): \(XMLBytes.explanation(of: parseError))."
    fail(parser, file.damage(reason, cure))
  }

  // MARK: Elements

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) {
    guard failure == nil, !isStopped else { return }
    let attributes: [String: String] = mark == nil ? attributes : attributes.mapValues(withoutMarks)
    path.append(element)
    if plist != nil {
      text.removeAll(keepingCapacity: true)
      plist?.start(element)
      return
    }
    noteStrayText(atLevel: 3)
    text.removeAll(keepingCapacity: true)
    if loader?.validates == true, let wrong = XMLStoreGrammar.objection(to: path, attributes) {
      return fail(parser, wrong)
    }
    switch path.count {
    case 1 where element != "database": fail(parser, "The document is a <\(element)>, not a <database>.")
    case 2 where element == "object":
      if !isContinuing { startObject(parser, attributes) }
    case 3 where path[1] == "object":
      if loader == nil { noteStructure(element, attributes) }
      switch element {
      case "attribute": (attribute, innerElement) = (attributes["name"], nil)
      case "relationship": startRelationship(parser, attributes)
      default: noteForeign("has <\(element)>")
      }
    case 4... where path[1] == "object":
      innerElement = element
      noteForeign("has <\(element)> in <\(path[path.count - 2])>")
    case 4 where element == "plist" && path[2] == "metadata":
      beginning.insert(element)
      plist = XMLStorePlist.Builder()
    case 3: beginning.insert(element)
    default: break
    }
  }

  private func withoutMarks(_ text: String) -> String {
    guard let mark, text.contains(mark) else { return text }
    return text.replacing(String(mark), with: "\u{FFFD}")
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if !isStopped { text += Array(string.utf8) }
  }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    if !isStopped { text += Array(block) }
  }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard failure == nil, !isStopped else { return }
    defer { _ = path.popLast() }
    if plist != nil {
      if let wrong = plist?.end(element, withoutMarks(String(decoding: text, as: UTF8.self))) {
        if salvages {
          loader?.note(damage: "Its metadata can't be read: \(wrong).")
          plist = nil
          return
        }
        return fail(parser, "The metadata can't be read: \(wrong).", .repairing)
      }
      text.removeAll(keepingCapacity: true)
      if element == "plist" {
        if let values = plist?.value as? [String: Any] {
          metadata = values
        } else {
          beginning.remove("plist")
        }
        plist = nil
      }
      return
    }
    var trimmed: String {
      String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
    switch (path.count, element) {
    case (3, "version") where Int(trimmed) != XMLStoreFormat.version:
      let wrong: String = "The version of the format is \(trimmed), not \(XMLStoreFormat.version)."
      if salvages { loader?.note(damage: wrong) } else { fail(parser, wrong, .repairing) }
    case (3, "UUID"): uuid = trimmed
    case (3, "nextObjectID"):
      guard let given = Int64(trimmed) else {
        loader?.note(damage: "Its <nextObjectID> is '\(trimmed.prefix(60))', which is no number.")
        return
      }
      if given > Self.greatestKey {
        let wrong: String = "nextObjectID is \(given); a store can't get there."
        if salvages { loader?.note(damage: wrong) } else { fail(parser, wrong, .repairing) }
        return
      }
      highestKey = max(highestKey, given)
    case (3, "attribute"):
      endAttribute(parser)
      text.removeAll(keepingCapacity: true)
    case (2, "object"):
      noteStrayText(atLevel: 2)
      if !keepsObject { object = nil }
    case (2, "databaseInfo") where readsOnlyInfo:
      isFinished = true
      parser.abortParsing()
    case (1, _): isFinished = true
    default: break
    }
  }

  // MARK: What stores don't have

  /// Parts of the document's beginning that every store has. Without them it is read nevertheless.
  private func noteMissingParts() {
    if readsOnlyInfo { return }
    let parts: [(name: String, meaning: String)] = [
      ("version", "the version of the format"),
      ("nextObjectID", "the highest id that was given to an object"),
      ("metadata", "which model wrote it, and the program's metadata"),
    ]
    for (name, meaning) in parts where !beginning.contains(name) {
      loader?.note(damage: "Its <databaseInfo> has no <\(name)>, so it does not tell \(meaning).")
    }
    if beginning.contains("metadata"), !beginning.contains("plist") {
      loader?.note(
        damage:
          "Its <metadata> has no dictionary, so it does not tell which model wrote it, nor the program's metadata."
      )
    }
  }

  /// What is in an object and no part of an XML store is passed over, as Apple's framework does.
  private func noteForeign(_ what: String) {
    guard let loader, let object else { return }
    loader.note(
      .damage, nil, of: object.place,
      "\(what.prefix(80)), which is no part of an XML store; it is passed over.")
  }

  /// Text between the properties of an object. `level`: how many elements there are around where it ends.
  private func noteStrayText(atLevel level: Int) {
    guard object != nil, path.count == level, text.contains(where: { $0 > 0x20 }) else { return }
    noteForeign("has text between its properties")
  }

  // MARK: Objects

  private func startObject(_ parser: XMLParser, _ attributes: [String: String]) {
    let type: String = attributes["type"] ?? ""
    guard let id = attributes["id"], let key = Self.key(id) else {
      let wrong: String =
        "An object '\(type)' has the id '\(attributes["id"] ?? "")'; z and a number were expected."
      guard salvages else { return fail(parser, wrong, .repairing) }
      loader?.leaveOut(
        names?.entities[XMLStoreNames.caseless(type)]?.layout, called: type, key: nil,
        because: line(parser, wrong))
      return
    }
    counts[type, default: 0] += 1
    highestKey = max(highestKey, key)
    objectType = type
    guard let loader, let names else { return }
    guard let entity = names.entities[XMLStoreNames.caseless(type)] else {
      if salvages { return loader.leaveOut(objectOf: type, key: key) }
      return fail(parser, "The model has no entity '\(type)'.")
    }
    seen = []
    do {
      object = (try loader.begin(entity.layout, key: key), entity)
    } catch StoreError.invalidFile(_, let reason, _) where salvages {
      loader.leaveOut(entity.layout, called: type, key: key, because: reason)
    } catch { fail(parser, error) }
  }

  private func line(_ parser: XMLParser, _ what: String) -> String {
    "At line \(parser.lineNumber + linesBefore): \(what)"
  }

  private func noteStructure(_ element: String, _ attributes: [String: String]) {
    let (name, type): (String, String) = (attributes["name"] ?? "", attributes["type"] ?? "")
    switch element {
    case "attribute": structure.note(attribute: name, type, of: objectType)
    case "relationship":
      structure.note(relationship: name, type, to: attributes["destination"] ?? "", of: objectType)
    default: break
    }
  }

  private static func key(_ id: some StringProtocol) -> Int64? {
    id.first == "z" || id.first == "Z" ? Int64(id.dropFirst()) : nil
  }

  private func endAttribute(_ parser: XMLParser) {
    guard let loader, let object, let attribute else { return }
    self.attribute = nil
    let entity: EntityLayout = object.names.layout
    guard let slot = object.names.slots[XMLStoreNames.caseless(attribute)] else {
      if salvages {
        let unknown: String = "has '\(attribute)', which the model does not have; it was left out."
        return loader.note(.value, nil, of: object.place, unknown)
      }
      return fail(parser, "\(entity.name) has no attribute '\(attribute)' in the model.")
    }
    if salvages { seen.insert(slot) }
    let hadMarks: Bool = removeMarks()
    switch entity.slots[slot].role {
    case .stored(let kind, let word) where kind != .toOne:
      if loader.hasValue(object.place, word: word) {
        loader.note(
          .damage, entity.slots[slot], of: object.place, "stands twice in it; the last value counts.")
      }
      if salvages, let innerElement {
        return loader.leaveOut(slot, of: object.place, because: "there is <\(innerElement.prefix(60))> in it")
      }
      if XMLStoreValue.set(text, kind, word, of: object.place, in: loader) {
        if hadMarks {
          loader.note(
            .value, entity.slots[slot], of: object.place,
            "had bytes that are no text of XML; U+FFFD stands in their places.")
        }
        return
      }
      let shown = String(String(decoding: text, as: UTF8.self).prefix(60))
      if salvages {
        let reason: String = "'\(shown)' is no value of the type \(XMLStoreValue.typeName(kind))"
        return loader.leaveOut(slot, of: object.place, because: reason)
      }
      failOrCollect(
        parser,
        "'\(shown)' is no value for \(entity.name).\(entity.slots[slot].name) (\(XMLStoreValue.typeName(kind))) of the object "
          + "z\(object.place.key).")
    case .transient: return
    default:
      if salvages {
        return loader.leaveOut(slot, of: object.place, because: "the file has an attribute of that name")
      }
      fail(parser, "\(entity.name).\(entity.slots[slot].name) is no attribute in the model.")
    }
  }

  /// Puts U+FFFD in the places of marks. Returns whether there were any.
  private func removeMarks() -> Bool {
    guard let mark else { return false }
    let found = String(decoding: text, as: UTF8.self)
    guard found.contains(mark) else { return false }
    text = Array(withoutMarks(found).utf8)
    return true
  }

  private func startRelationship(_ parser: XMLParser, _ attributes: [String: String]) {
    guard let loader, let object else { return }
    let name: String = attributes["name"] ?? ""
    let entity: EntityLayout = object.names.layout
    guard let slot = object.names.slots[XMLStoreNames.caseless(name)],
      entity.slots[slot].relationship != nil
    else {
      if salvages {
        let unknown: String =
          "has the relationship '\(name)', which the model does not have; it was left out."
        return loader.note(.value, nil, of: object.place, unknown)
      }
      return fail(parser, "\(entity.name) has no relationship '\(name)' in the model.")
    }
    if salvages { seen.insert(slot) }
    var keys: [Int64] = []
    for id in (attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace) {
      guard let key = Self.key(id) else {
        if salvages {
          loader.note(
            .dangling, entity.slots[slot], of: object.place, "named '\(id.prefix(60))', which is no object.")
          continue
        }
        failOrCollect(
          parser,
          "\(entity.name).\(name) of the object z\(object.place.key) refers to '\(id)'; z and a number were expected."
        )
        continue
      }
      keys.append(key)
    }
    do { try loader.set(object.place, slot: slot, to: keys) } catch { fail(parser, error) }
  }
}

/// The values that can't be read: the first of them in words, and how many there are.
private struct WrongValues {
  private static let told: Int = 20
  private var first: [String] = []
  private var count: Int = 0

  mutating func add(_ text: String) {
    if first.count < Self.told { first.append(text) }
    count += 1
  }

  func error(_ file: AtomicStoreFile) -> StoreError {
    let more: String = count > first.count ? " And \(count - first.count) more." : ""
    return file.damage(first.joined(separator: " ") + more, .repairing)
  }
}

/// The entities and properties of a model by the names that XML stores use, which have no case.
struct XMLStoreNames {
  struct Entity {
    let layout: EntityLayout
    let slots: [String: Int]
  }

  let entities: [String: Entity]

  /// Throws `StoreError.unsupportedModel` for names that differ only in case, and for composite attributes,
  /// which only SQLite stores have.
  init(_ layout: ModelLayout) throws {
    var entities: [String: Entity] = [:]
    for entity in layout.entities {
      if let character = Self.unwritable(in: entity.name) {
        throw StoreError.unsupportedModel(
          entity: entity.name, property: nil,
          reason: "its name has the character \(character), which can't stand in an XML store")
      }
      var slots: [String: Int] = [:]
      for (number, slot) in entity.slots.enumerated() {
        func refusal(_ reason: String) -> StoreError {
          .unsupportedModel(entity: entity.name, property: slot.name, reason: reason)
        }
        if slot.role == .composite {
          throw refusal("XML stores have no composite attributes; use a SQLite store")
        }
        if let character = Self.unwritable(in: slot.name) {
          throw refusal("its name has the character \(character), which can't stand in an XML store")
        }
        if slots.updateValue(number, forKey: Self.caseless(slot.name)) != nil {
          throw refusal(
            "another property has the same name in other case, which XML stores don't distinguish")
        }
      }
      let known = entities.updateValue(
        Entity(layout: entity, slots: slots), forKey: Self.caseless(entity.name))
      if known != nil {
        throw StoreError.unsupportedModel(
          entity: entity.name, property: nil,
          reason: "another entity has the same name in other case, which XML stores don't distinguish")
      }
    }
    self.entities = entities
  }

  /// The same for a name, for its upper case and for its lower case. One mapping does not do: the upper case
  /// of "Größe" is "GRÖSSE", whose lower case has no "ß".
  static func caseless(_ name: String) -> String { name.lowercased().uppercased().lowercased() }

  /// A character of a name that the document could not hold, as `U+26`; nil if there is none.
  private static func unwritable(in name: String) -> String? {
    name.unicodeScalars.first {
      $0.value < 0x20 || $0 == "<" || $0 == "&" || $0 == "\"" || $0.value & 0xFFFE == 0xFFFE
    }.map { "U+\(String($0.value, radix: 16, uppercase: true))" }
  }
}
