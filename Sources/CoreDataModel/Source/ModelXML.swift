import Foundation
import FoundationXML

/// An element of a model file, with the line it starts on.
final class ModelXMLElement {
  let name: String
  let attributes: [String: String]
  let line: Int
  fileprivate(set) var children: [ModelXMLElement] = []

  init(name: String, attributes: [String: String], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  /// The child elements of that name.
  func children(_ name: String) -> [ModelXMLElement] {
    children.filter { $0.name == name }
  }
}

/// Reads XML into elements. Depth and size are bounded, external entities are never loaded.
final class ModelXMLParser: NSObject, XMLParserDelegate {
  private let file: String
  private var stack: [ModelXMLElement] = []
  private var root: ModelXMLElement?
  private var failure: ModelFileError?
  private(set) var warnings: [ModelWarning] = []

  /// Model files nest five deep and the largest real ones are a few MB.
  private static let maximumDepth = 64
  private static let maximumSize = 64 << 20

  private init(file: String) {
    self.file = file
  }

  static func parse(_ data: Data, file: String) throws -> (root: ModelXMLElement, warnings: [ModelWarning]) {
    guard data.count <= maximumSize else {
      throw ModelFileError(
        file: file,
        reason: "The file has \(data.count) bytes; a model file has at most \(maximumSize >> 20) MB.")
    }
    guard !data.isEmpty else {
      throw ModelFileError(file: file, reason: "The file is empty; restore it from version control.")
    }
    let reader = ModelXMLParser(file: file)
    if let (line, reason) = XMLBytes.refusal(of: data) {
      throw ModelFileError(file: file, line: line, reason: reason + " Nothing of the file was used.")
    }
    let parser: XMLParser = XMLBytes.parser(of: data)
    parser.shouldResolveExternalEntities = false
    parser.delegate = reader
    let succeeded = parser.parse()
    if let failure = reader.failure { throw failure }
    guard succeeded, let root = reader.root, reader.stack.isEmpty else {
      throw reader.malformed(line: parser.lineNumber, parser.parserError)
    }
    return (root, reader.warnings)
  }

  private func malformed(line: Int, _ error: (any Error)?) -> ModelFileError {
    ModelFileError(
      file: file, line: max(1, line),
      reason: "This is not well-formed XML: \(XMLBytes.explanation(of: error)). Nothing of the file was used."
    )
  }

  /// The first error decides: Foundation on Linux parses on after it, and may even report success.
  func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
    if failure == nil { failure = malformed(line: parser.lineNumber, parseError) }
    parser.abortParsing()
  }

  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?,
    attributes attributeDict: [String: String] = [:]
  ) {
    guard stack.count < Self.maximumDepth else {
      if failure == nil {
        failure = ModelFileError(
          file: file, line: parser.lineNumber,
          reason: "Elements nest deeper than \(Self.maximumDepth); this is not a model file.")
      }
      parser.abortParsing()
      return
    }
    let element = ModelXMLElement(
      name: elementName, attributes: attributeDict, line: max(1, parser.lineNumber))
    if let parent = stack.last {
      parent.children.append(element)
    } else if root == nil {
      root = element
    }
    stack.append(element)
  }

  func parser(
    _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?,
    qualifiedName qName: String?
  ) {
    _ = stack.popLast()
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) {
    if let text = string.split(whereSeparator: \.isWhitespace).first, warnings.count < 100 {
      warnings.append(
        ModelWarning(file: file, line: parser.lineNumber, message: "the text '\(text.prefix(40))' is ignored")
      )
    }
  }
}

extension ModelSourceSchema {
  /// Whether bytes are an XML document within the limits of model files.
  ///
  /// - Throws: ``ModelFileError`` with the line.
  package static func checkXML(_ data: Data, file: String) throws {
    _ = try ModelXMLParser.parse(data, file: file)
  }
}
