import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// Reads the objects of an `xcmapping.xml`. Size, number and depth are bounded; entities are neither declared
/// nor loaded.
final class EditorXML: NSObject, XMLParserDelegate {
  private let file: String
  private var objects: [EditorObject] = []
  private var object: EditorObject?
  /// The attribute that is being read, and its text.
  private var name: String?
  private var text: String = ""
  private var depth: Int = 0
  private var hasDatabase = false
  private var failure: ModelFileError?

  private static let maximumSize: Int = 64 << 20
  private static let maximumCount: Int = 200_000
  /// The models in the editor's classes are large, and nothing reads them.
  private static let unread: Set<String> = ["sourcemodeldata", "destinationmodeldata"]

  private init(file: String) {
    self.file = file
  }

  static func read(_ data: Data, file: String) throws -> [EditorObject] {
    guard data.count <= maximumSize else {
      throw ModelFileError(
        file: file,
        reason: "The file has \(data.count) bytes; a mapping model has at most \(maximumSize >> 20) MB.")
    }
    if let (line, reason) = XMLBytes.refusal(of: data) {
      throw ModelFileError(file: file, line: line, reason: reason)
    }
    let reader = EditorXML(file: file)
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
    return reader.objects
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
    switch element {
    case "database":
      hasDatabase = hasDatabase || depth == 1
    case "object":
      guard let type = attributes["type"], let id = attributes["id"] else {
        return fail(parser, "An object has no type or no id.")
      }
      guard object == nil else { return fail(parser, "An object is inside another one.") }
      guard objects.count < Self.maximumCount else {
        return fail(parser, "It has more than \(Self.maximumCount) objects.")
      }
      object = EditorObject(type: type.uppercased(), id: id)
    case "attribute" where object != nil:
      name = attributes["name"]
      text = ""
    case "relationship" where object != nil:
      if let name = attributes["name"] {
        object?.references[name] = (attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
      }
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    guard let name, !Self.unread.contains(name) else { return }
    text += string
  }

  func parser(
    _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
  ) {
    depth -= 1
    switch element {
    case "attribute":
      if let name, !Self.unread.contains(name) { object?.values[name] = text }
      name = nil
      text = ""
    case "object":
      if let object { objects.append(object) }
      object = nil
    default: break
    }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    fail(parser, "Its XML is malformed here. Nothing of the file was used; restore it from version control.")
  }
}
