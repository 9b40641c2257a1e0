import CoreDataModel

/// An attribute as it stands in a source.
struct SourceAttribute: Sendable {
  let name: String
  /// Without escapes.
  let value: String
  /// The whitespace before it, its name and its value, as they stand.
  let text: String

  init(name: String, value: String, text: String) {
    self.name = name
    self.value = value
    self.text = text
  }

  /// As the editor writes it; `space` is the whitespace before it.
  init(_ name: String, _ value: String, space: String = " ") {
    self.init(name: name, value: value, text: "\(space)\(name)=\"\(ModelSourceSchema.escaped(value))\"")
  }

  /// The whitespace before the name.
  var space: String {
    String(text.unicodeScalars.prefix { $0.properties.isWhitespace })
  }
}

/// What an element contains.
enum SourceNode: Sendable {
  case element(SourceElement)
  /// Whitespace, comments and whatever else is no element, as it stands.
  case text(String)

  var element: SourceElement? {
    if case .element(let element) = self { element } else { nil }
  }

  var isWhitespace: Bool {
    if case .text(let text) = self {
      text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    } else {
      false
    }
  }
}

/// How a document breaks and indents lines.
struct SourceStyle: Sendable {
  var newline: String = "\n"
  var indent: String = "    "

  func lineBreak(_ depth: Int) -> String { newline + String(repeating: indent, count: depth) }
}

/// An element of a source with everything that its text has: attributes in their order, escapes, whitespace,
/// comments, elements that are unknown. What no edit touches is written as it was read.
struct SourceElement: Sendable {
  let name: String
  var attributes: [SourceAttribute]
  /// What stands between the last attribute and the content: `>`, or `/>` if there is none.
  var startEnd: String
  var content: [SourceNode]
  /// The end tag; empty where the start tag is the end too.
  var end: String

  init(
    name: String, attributes: [SourceAttribute], startEnd: String, content: [SourceNode], end: String
  ) {
    self.name = name
    self.attributes = attributes
    self.startEnd = startEnd
    self.content = content
    self.end = end
  }

  // MARK: Text

  func write(into text: inout String) {
    text += "<"
    text += name
    for attribute in attributes { text += attribute.text }
    text += startEnd
    for node in content {
      switch node {
      case .element(let element): element.write(into: &text)
      case .text(let between): text += between
      }
    }
    text += end
  }

  var text: String {
    var text = ""
    write(into: &text)
    return text
  }

  // MARK: Attributes

  /// The value of an attribute, without escapes.
  subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

  /// Sets or, with nil, removes an attribute. One that is new gets its place in the order of the format.
  mutating func set(_ name: String, _ value: String?) {
    let place: Int? = attributes.firstIndex { $0.name == name }
    guard let value else {
      if let place { attributes.remove(at: place) }
      return
    }
    if let place {
      if !attributes[place].value.utf8.elementsEqual(value.utf8) {
        attributes[place] = SourceAttribute(name, value, space: attributes[place].space)
      }
      return
    }
    guard let schema = ModelSourceSchema.elements[self.name] else {
      attributes.append(SourceAttribute(name, value))
      return
    }
    let rank: Int = schema.place(ofAttribute: name)
    let before: Int? = attributes.lastIndex { schema.place(ofAttribute: $0.name) < rank }
    attributes.insert(SourceAttribute(name, value), at: before.map { $0 + 1 } ?? 0)
  }

  // MARK: Children

  var children: [SourceElement] { content.compactMap(\.element) }

  func children(_ name: String) -> [SourceElement] { children.filter { $0.name == name } }

  /// The place in `content` of the child element of that name and, if it is given, `name` attribute.
  func place(_ kind: String, named name: String? = nil) -> Int? {
    content.firstIndex { node in
      guard let element = node.element, element.name == kind else { return false }
      return name == nil || element["name"] == name
    }
  }

  /// The child element at a place of `content`.
  subscript(at place: Int) -> SourceElement {
    get {
      guard let element = content[place].element else { preconditionFailure("No element is at \(place).") }
      return element
    }
    set { content[place] = .element(newValue) }
  }

  /// Inserts a child after those that precede it in the order of the format and, where the editor sorts them
  /// and they are sorted, in that of their names; `depth` is the child's.
  mutating func insert(_ child: SourceElement, _ style: SourceStyle, depth: Int) {
    insert(child, after: predecessor(of: child), style, depth: depth)
  }

  private func predecessor(of child: SourceElement) -> Int? {
    let schema: ModelSourceSchema? = ModelSourceSchema.elements[name]
    func rank(_ element: SourceElement) -> Int { schema?.place(ofChild: element.name) ?? 0 }
    let own: Int = rank(child)
    let siblings: [String] = children(child.name).map(Self.sortKey)
    let isSorted: Bool =
      Self.sortedKinds.contains(child.name) && zip(siblings, siblings.dropFirst()).allSatisfy(<=)
    let key: String = Self.sortKey(child)
    return content.lastIndex { node in
      guard let element = node.element else { return false }
      if rank(element) != own || element.name != child.name { return rank(element) < own }
      return !isSorted || Self.sortKey(element) <= key
    }
  }

  /// The editor sorts these by name, without regard to case.
  private static let sortedKinds: Set<String> = [
    "entity", "attribute", "relationship", "fetchedProperty", "fetchRequest", "configuration", "composite",
    "element",
  ]

  private static func sortKey(_ element: SourceElement) -> String { (element["name"] ?? "").lowercased() }

  /// Inserts a child after the one at a place of `content`, or before all.
  mutating func insert(_ child: SourceElement, after place: Int?, _ style: SourceStyle, depth: Int) {
    if startEnd.hasSuffix("/>") || content.allSatisfy(\.isWhitespace) {
      startEnd = ">"
      content = [.text(style.lineBreak(depth)), .element(child), .text(style.lineBreak(depth - 1))]
      end = "</\(name)>"
      return
    }
    let start: Int = place.map { $0 + 1 } ?? 0
    content.insert(contentsOf: [.text(style.lineBreak(depth)), .element(child)], at: start)
  }

  /// Removes the child at a place of `content`, and the line break before it.
  mutating func remove(at place: Int) {
    content.remove(at: place)
    if place > 0, content[place - 1].isWhitespace { content.remove(at: place - 1) }
    if content.allSatisfy(\.isWhitespace) {
      content = []
      startEnd = "/>"
      end = ""
    }
  }
}

/// Equal text.
extension SourceElement: Equatable {
  static func == (left: SourceElement, right: SourceElement) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }
}
