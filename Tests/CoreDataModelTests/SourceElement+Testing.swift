@testable import CoreDataModel
@testable import CoreDataModelEditing

extension SourceElement {
  /// An element as the editor writes it, its attributes in the order of the format.
  init(_ name: String, _ attributes: [String: String]) {
    self.init(
      name: name,
      attributes: (ModelSourceSchema.elements[name]?.attributes ?? []).compactMap { key in
        attributes[key].map { SourceAttribute(key, $0) }
      }, startEnd: "/>", content: [], end: "")
  }
}

extension ModelDocument {
  /// Known elements whose attributes stand in another order than that of the editor.
  func attributesOutOfOrder() -> [String] {
    var found: [String] = []
    func visit(_ element: SourceElement) {
      if let schema = ModelSourceSchema.elements[element.name] {
        let places: [Int] = element.attributes.map { schema.place(ofAttribute: $0.name) }
        if !zip(places, places.dropFirst()).allSatisfy(<) {
          found.append("\(element.name) \(element.attributes.map(\.name).joined(separator: " "))")
        }
      }
      for child in element.children { visit(child) }
    }
    visit(root)
    return found
  }
}
