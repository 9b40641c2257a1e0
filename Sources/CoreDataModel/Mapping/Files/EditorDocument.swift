import CoreDataArchives
import Foundation

/// The `xcmapping.xml` of an `.xcmappingmodel` as a document: read and written it is the same, byte for byte,
/// where Xcode's editor wrote it.
///
///     <database>
///         <databaseInfo> version, UUID, the highest id, metadata as a property list </databaseInfo>
///         <object type="XDDEVENTITYMAPPING" id="z103">
///             <attribute name="sourcename" type="string">Item</attribute>
///             <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z102"></relationship>
///         </object>
///     </database>
///
/// It is an XML store of the editor's own model. ``EditorMapping`` is what it means.
struct EditorDocument: Equatable {
  /// Editors since 2018 write `standalone="yes"`.
  var isStandalone: Bool = true
  /// What precedes the objects.
  var information: Element = Element("databaseInfo")
  var objects: [EditorObject] = []

  /// An element that is kept as it is.
  struct Element: Equatable {
    var name: String
    var attributes: [(name: String, value: String)] = []
    /// The text of an element without children, with its whitespace.
    var text: String = ""
    var children: [Element] = []

    init(_ name: String, _ text: String = "", _ children: [Element] = []) {
      (self.name, self.text, self.children) = (name, text, children)
    }

    static func == (left: Element, right: Element) -> Bool {
      left.name == right.name && left.text == right.text && left.children == right.children
        && left.attributes.map(\.name) == right.attributes.map(\.name)
        && left.attributes.map(\.value) == right.attributes.map(\.value)
    }
  }

  // MARK: Writing

  var data: Data {
    var text: [UInt8] = Array(
      """
      <?xml version="1.0" standalone="\(isStandalone ? "yes" : "no")"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

      <database>

      """.utf8)
    Self.append(information, depth: 1, to: &text)
    for object in objects { Self.append(object, to: &text) }
    text += Array("</database>".utf8)
    return Data(text)
  }

  private static func append(_ element: Element, depth: Int, to text: inout [UInt8]) {
    let indent = String(repeating: "    ", count: depth)
    let attributes: String = element.attributes.map { " \($0.name)=\"\(escaped($0.value))\"" }.joined()
    if element.children.isEmpty {
      let isMark: Bool = element.text.isEmpty && ["true", "false"].contains(element.name)
      text += Array(
        (isMark
          ? "\(indent)<\(element.name)\(attributes)/>\n"
          : "\(indent)<\(element.name)\(attributes)>\(escaped(element.text))</\(element.name)>\n").utf8)
      return
    }
    text += Array("\(indent)<\(element.name)\(attributes)>\n".utf8)
    for child in element.children { append(child, depth: depth + 1, to: &text) }
    text += Array("\(indent)</\(element.name)>\n".utf8)
  }

  /// Texts outside the objects are escaped as XML's are.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }

  private static func append(_ object: EditorObject, to text: inout [UInt8]) {
    text += Array("    <object type=\"\(escaped(object.type))\" id=\"\(escaped(object.id))\">\n".utf8)
    for attribute in object.attributes {
      text += Array(
        "        <attribute name=\"\(escaped(attribute.name))\" type=\"\(escaped(attribute.type))\">".utf8)
      Array(attribute.text.utf8).withUnsafeBytes { XMLStoreText.append($0, to: &text) }
      text += Array("</attribute>\n".utf8)
    }
    for relationship in object.relationships {
      text += Array(
        "        <relationship name=\"\(escaped(relationship.name))\" type=\"\(escaped(relationship.type))\""
          .utf8)
      text += Array(" destination=\"\(escaped(relationship.destination))\"".utf8)
      if !relationship.ids.isEmpty {
        text += Array(" idrefs=\"\(escaped(relationship.ids.joined(separator: " ")))\"".utf8)
      }
      text += Array("></relationship>\n".utf8)
    }
    text += Array("    </object>\n".utf8)
  }
}

/// An object of the editor's XML store.
struct EditorObject: Equatable {
  struct Attribute: Equatable {
    var name: String
    /// `string`, `bool`, `int16`, `binary`
    var type: String
    var text: String
  }

  struct Relationship: Equatable {
    var name: String
    /// The least and the greatest count, 0 for no limit: `1/1`.
    var type: String
    var destination: String
    var ids: [String]
  }

  var type: String
  var id: String
  var attributes: [Attribute] = []
  var relationships: [Relationship] = []

  /// The value, nil for none and for an empty one.
  func text(_ name: String) -> String? {
    attributes.last { $0.name == name }.flatMap { $0.text.isEmpty ? nil : $0.text }
  }

  /// The ids, nil for an unknown relationship.
  func ids(_ name: String) -> [String]? { relationships.last { $0.name == name }?.ids }
}
