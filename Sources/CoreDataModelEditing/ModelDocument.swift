import CoreDataModel
import Foundation

/// The `contents` file of an `.xcdatamodel` as a document: read and written it is the same, byte for byte.
///
/// ``NSManagedObjectModel`` is what a source means; this is how it is written. Edits change the lines that
/// they concern and no other: order, escapes and whitespace of the rest, comments, elements of newer editors,
/// the header and the diagram stay.
package struct ModelDocument: Sendable {
  /// For messages.
  package let file: String
  private let prolog: String
  var root: SourceElement
  private let epilog: String
  let style: SourceStyle

  /// Reads the bytes of a `contents` file. `file` is named by errors.
  ///
  /// - Throws: ``ModelFileError`` with the line of what is no XML, or no model.
  package init(_ data: Data, file: String) throws {
    try ModelSourceSchema.checkXML(data, file: file)
    var parser = SourceParser(data, file: file)
    let parts = try parser.parse()
    guard parts.root.name == "model" else {
      throw ModelFileError(
        file: file,
        reason:
          "The outermost element is <\(parts.root.name)>, but a model file starts with <model>; is this another file?"
      )
    }
    self.file = file
    prolog = parts.prolog
    root = parts.root
    epilog = parts.epilog
    style = Self.style(of: data, root: parts.root)
  }

  /// The document as it stands.
  package var data: Data {
    var text: String = prolog
    root.write(into: &text)
    text += epilog
    return Data(text.utf8)
  }

  /// The line break and the indentation of the first child.
  private static func style(of data: Data, root: SourceElement) -> SourceStyle {
    var style = SourceStyle()
    guard case .text(let text)? = root.content.first, root.content[0].isWhitespace,
      let line = text.unicodeScalars.lastIndex(of: "\n")
    else {
      if data.range(of: Data("\r\n".utf8)) != nil { style.newline = "\r\n" }
      return style
    }
    if text.unicodeScalars.contains("\r") { style.newline = "\r\n" }
    let indent = String(text.unicodeScalars[line...].dropFirst())
    if !indent.isEmpty, root.content.count > 1 { style.indent = indent }
    return style
  }
}
