/// The elements of an XML store, and their attributes.
enum XMLStoreGrammar {
  private struct Element {
    var children: [String: Element] = [:]
    var required: Set<String> = []
    var optional: Set<String> = []
    /// Whether what is in it is of another grammar: the metadata, a property list.
    var isOpen = false
  }

  private static let document = Element(children: [
    "database": Element(children: [
      "databaseInfo": Element(children: [
        "version": Element(), "UUID": Element(), "nextObjectID": Element(),
        "metadata": Element(children: ["plist": Element(optional: ["version"], isOpen: true)]),
      ]),
      "object": Element(
        children: [
          "attribute": Element(required: ["name", "type"]),
          "relationship": Element(required: ["name", "type", "destination"], optional: ["idrefs"]),
        ], required: ["type", "id"]),
    ])
  ])

  /// What is wrong with an element, in words; nil if nothing is. `path` names the elements from the outermost
  /// one to this one.
  static func objection(to path: [String], _ attributes: [String: String]) -> String? {
    var element: Element = document
    for name in path {
      if element.isOpen { return nil }
      guard let child = element.children[name] else {
        return "<\(path.joined(separator: "> <"))> is no part of an XML store."
      }
      element = child
    }
    if element.isOpen { return nil }
    let name: String = path.last ?? ""
    if let missing = element.required.subtracting(attributes.keys).sorted().first {
      return "<\(name)> has no '\(missing)'."
    }
    let known: Set<String> = element.required.union(element.optional)
    if let unknown = Set(attributes.keys).subtracting(known).sorted().first {
      return "<\(name)> has '\(unknown)', which XML stores don't have."
    }
    return nil
  }
}
