import CoreDataModel
import CoreDataPredicates

// A part is removed with what has a meaning only together with it. What else names it keeps it in the model.
extension Draft {
  // MARK: Properties

  /// Removes a property with the indexes and constraints that name it; its inverse has none then.
  ///
  /// - Returns: what was removed with it, a sentence each.
  /// - Throws: ``ModelFileError`` if there is no such property, and for expressions and predicates that name
  ///   it.
  mutating func removeProperty(_ name: String, inEntityAt place: Int) throws -> [String] {
    let owner: String = root[at: place]["name"] ?? ""
    let isFetched: Bool = root[at: place].place("fetchedProperty", named: name) != nil
    let kind: String = isFetched ? "fetchedProperty" : try kind(ofProperty: name, inEntityAt: place).rawValue
    var rest: Draft = self
    let told: [String] = rest.removeLists(naming: name, ofEntity: owner)
    var renamed: Draft = rest
    var users: [String] = []
    renamed.renameReferences(name, ofEntity: owner, to: Self.unused) { users.append($0) }
    users += Self.differences(
      rest.root, renamed.root,
      ["derivationExpression", "predicateString", "expression", "partialIndexPredicate"])
    if !users.isEmpty {
      throw failure(
        "\(owner).\(name) is needed: \(users.joined(separator: "; ")). Change or remove that first.")
    }
    if kind == "relationship" { try rest.set(inverse: .removed, of: name, inEntityAt: place) }
    if let inner = rest.root[at: place].place(kind, named: name) { rest.root[at: place].remove(at: inner) }
    self = rest
    return told
  }

  /// Removes indexes and constraints of a property from its entity and those that inherit it.
  private mutating func removeLists(naming name: String, ofEntity owner: String) -> [String] {
    let family: Set<String> = KeyPathRenaming(root, owner: owner, old: name, new: Self.unused).family
    var told: [String] = []
    for place in root.content.indices {
      guard let entity = root.content[place].element, entity.name == "entity",
        let title = entity["name"], family.contains(title)
      else { continue }
      root[at: place].removeChildren { list in
        guard list.name == "fetchIndex", list.children.contains(where: { $0["property"] == name }) else {
          return false
        }
        told.append("The fetch index '\(list["name"] ?? "")' of \(title) is removed with it.")
        return true
      }
      for (kind, label) in [("uniquenessConstraints", "constraint"), ("compoundIndexes", "compound index")] {
        guard let list = root[at: place].place(kind) else { continue }
        root[at: place][at: list].removeChildren { item in
          let names: [String] = item.children.compactMap { $0["value"] }
          guard names.contains(name) else { return false }
          told.append("The \(label) (\(names.joined(separator: ", "))) of \(title) is removed with it.")
          return true
        }
        if root[at: place][at: list].children.isEmpty { root[at: place].remove(at: list) }
      }
    }
    return told
  }

  // MARK: Entities

  /// Removes an entity, its place in the diagram and in configurations.
  ///
  /// - Throws: ``ModelFileError`` if there is no such entity, and for what leads to it, derives from it or
  ///   fetches it.
  mutating func removeEntity(_ name: String) throws {
    let place: Int = try place(ofEntity: name)
    var rest: Draft = self
    rest.root.remove(at: place)
    var renamed: Draft = rest
    renamed.renameReferences(toEntity: name, to: Self.unused)
    let users: [String] = Self.differences(
      rest.root, renamed.root, ["parentEntity", "destinationEntity", "entity"])
    if !users.isEmpty {
      throw failure("\(name) is needed: \(users.joined(separator: "; ")). Change or remove that first.")
    }
    for list in rest.root.content.indices {
      guard let kind = rest.root.content[list].element?.name, ["configuration", "elements"].contains(kind)
      else {
        continue
      }
      rest.root[at: list].removeChildren { $0["name"] == name }
    }
    self = rest
  }

  // MARK: Users

  /// No name of a part: a space can't be in one.
  private static let unused: String = "removed part"

  /// The attributes of those names whose values differ, in words; both elements have the same children.
  private static func differences(
    _ own: SourceElement, _ other: SourceElement, _ names: Set<String>, in path: [String] = []
  ) -> [String] {
    var found: [String] = []
    for name in names.sorted() where own[name] != other[name] {
      let part: String = path.joined(separator: ".")
      let word: String =
        switch name {
        case "parentEntity": "\(part) derives from it"
        case "destinationEntity": "\(part) leads to it"
        case "entity": "\(part) fetches it"
        default: "\(part) names it (\(own[name] ?? ""))"
        }
      found.append(word)
    }
    for (left, right) in zip(own.children, other.children) {
      found += differences(left, right, names, in: left["name"].map { path + [label(left, $0)] } ?? path)
    }
    return found
  }

  private static func label(_ element: SourceElement, _ name: String) -> String {
    switch element.name {
    case "fetchRequest": "the fetch request '\(name)'"
    case "fetchIndex": "the fetch index '\(name)'"
    default: name
    }
  }
}

extension SourceElement {
  /// Removes the child elements of which a closure says so.
  fileprivate mutating func removeChildren(where isGone: (SourceElement) -> Bool) {
    // A removal takes the line break before the element too: from the last one, so that places stay.
    for place in content.indices.reversed() {
      guard place < content.count, let element = content[place].element, isGone(element) else { continue }
      remove(at: place)
    }
  }
}
