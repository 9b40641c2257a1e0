import CoreDataArchives
import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads an `xcmapping.xml`. Size, number and depth are bounded; entities are neither declared nor loaded.
final class EditorXML: NSObject, XMLParserDelegate {
  private let file: String
  /// Whether the models in the editor's classes are read: they are large, and only who writes the document
  /// again needs them.
  private let readsModels: Bool
  private var document = EditorDocument()
  private var object: EditorObject?
  /// The attribute that is being read, and the text of what is being read.
  private var attribute: EditorObject.Attribute?
  private var text: String = ""
  /// The elements before the objects that are open, outermost first.
  private var open: [EditorDocument.Element] = []
  private var depth: Int = 0
  private var hasDatabase = false
  private var failure: ModelFileError?

  private static let maximumSize: Int = 64 << 20
  private static let maximumCount: Int = 200_000
  private static let models: Set<String> = ["sourcemodeldata", "destinationmodeldata"]

  private init(file: String, readsModels: Bool) {
    (self.file, self.readsModels) = (file, readsModels)
  }

  static func read(_ data: Data, file: String, readsModels: Bool = false) throws -> EditorDocument {
    guard data.count <= maximumSize else {
      throw ModelFileError(
        file: file,
        reason: "The file has \(data.count) bytes; a mapping model has at most \(maximumSize >> 20) MB.")
    }
    if let (line, reason) = XMLBytes.refusal(of: data) {
      throw ModelFileError(file: file, line: line, reason: reason)
    }
    let reader = EditorXML(file: file, readsModels: readsModels)
    let parser: XMLParser = XMLBytes.parser(of: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    let succeeded: Bool = !data.isEmpty && parser.parse()
    if let failure = reader.failure { throw failure }
    guard succeeded, reader.hasDatabase, reader.depth == 0 else {
      throw ModelFileError(
        file: file, line: max(1, parser.lineNumber),
        reason: "This is no mapping model of Xcode's editor: its XML is damaged, cut off or of another kind. "
          + "Restore it from version control.")
    }
    // The parser does not tell the declaration.
    reader.document.isStandalone = data.prefix(100).range(of: Data("standalone=\"yes\"".utf8)) != nil
    return reader.document
  }

  private func fail(_ parser: XMLParser, _ reason: String) {
    if failure == nil {
      failure = ModelFileError(file: file, line: max(1, parser.lineNumber), reason: reason)
    }
    parser.abortParsing()
  }

  func parser(
    _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String] = [:]
  ) {
    depth += 1
    // Metadata nests a few levels.
    guard depth <= 64 else { return fail(parser, "Its elements nest deeper than 64.") }
    if !open.isEmpty || element == "databaseInfo" && object == nil {
      var made = EditorDocument.Element(element)
      made.attributes = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      open.append(made)
      text = ""
      return
    }
    switch element {
    case "database":
      hasDatabase = hasDatabase || depth == 1
    case "object":
      guard let type = attributes["type"], let id = attributes["id"] else {
        return fail(parser, "An object has no type or no id.")
      }
      guard object == nil else { return fail(parser, "An object is inside another one.") }
      guard document.objects.count < Self.maximumCount else {
        return fail(parser, "It has more than \(Self.maximumCount) objects.")
      }
      object = EditorObject(type: type.uppercased(), id: id)
    case "attribute" where object != nil:
      if let name = attributes["name"] {
        attribute = EditorObject.Attribute(name: name, type: attributes["type"] ?? "", text: "")
      }
      text = ""
    case "relationship" where object != nil:
      if let name = attributes["name"] {
        object?.relationships.append(
          EditorObject.Relationship(
            name: name, type: attributes["type"] ?? "", destination: attributes["destination"] ?? "",
            ids: (attributes["idrefs"] ?? "").split(separator: " ").map(String.init)))
      }
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if open.isEmpty {
      guard let attribute, readsModels || !Self.models.contains(attribute.name) else { return }
    }
    text += string
  }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    depth -= 1
    if var done = open.popLast() {
      if done.children.isEmpty { done.text = text }
      text = ""
      if open.isEmpty {
        document.information = done
      } else {
        open[open.count - 1].children.append(done)
      }
      return
    }
    switch element {
    case "attribute":
      if var attribute {
        attribute.text = String(decoding: XMLStoreText.unescaped(Array(text.utf8)), as: UTF8.self)
        object?.attributes.append(attribute)
      }
      attribute = nil
      text = ""
    case "object":
      if let object { document.objects.append(object) }
      object = nil
    default: break
    }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    fail(parser, "Its XML is malformed here. Nothing of the file was used; restore it from version control.")
  }
}
