import CoreDataModel
import CoreDataPredicates

// Names are changed with whatever in the model names what is renamed.
extension Draft {
  // MARK: Entities

  /// Returns whether the class has the entity's old name.
  mutating func renameEntity(_ old: String, to new: String) throws -> Bool {
    if root.place("entity", named: new) != nil {
      throw failure("There is an entity '\(new)' already; choose another name.")
    }
    guard let place = root.place("entity", named: old) else { return false }
    root[at: place].set("name", new)
    renameReferences(toEntity: old, to: new)
    return EntitySettings.simpleClass(root[at: place]) == old
  }

  /// Changes what names an entity.
  mutating func renameReferences(toEntity old: String, to new: String) {
    Self.replace(
      old, by: new, below: &root,
      where: [
        "entity": ["parentEntity"], "relationship": ["destinationEntity", "inverseEntity"],
        "fetchRequest": ["entity"], "memberEntity": ["name"], "element": ["name"],
      ])
  }

  /// Replaces a value in the elements below, of the attributes that are given for the name of the element.
  private static func replace(
    _ old: String, by new: String, below element: inout SourceElement, where names: [String: [String]]
  ) {
    for place in element.content.indices {
      guard var child = element.content[place].element else { continue }
      for attribute in names[child.name] ?? [] where child[attribute] == old { child.set(attribute, new) }
      replace(old, by: new, below: &child, where: names)
      element.content[place] = .element(child)
    }
  }

  // MARK: Properties

  mutating func rename(_ old: String, _ part: FormerName.Part, inEntityAt place: Int, to new: String) throws {
    try requireFree(new, inEntityAt: place)
    guard let inner = root[at: place].place(part.rawValue, named: old) else { return }
    let failure: (String) -> ModelFileError = failure
    try renameReferences(old, ofEntity: root[at: place]["name"] ?? "", to: new) { throw failure($0) }
    root[at: place][at: inner].set("name", new)
  }

  /// Changes what names a property: the indexes and constraints of its entity and of the sub-entities,
  /// inverses, and the key paths of derivations, indexes and predicates.
  ///
  /// - Parameter unclear: is called for a text of which it is not known whether it names the property, with a
  ///   sentence about it; the text stays as it is.
  mutating func renameReferences(
    _ old: String, ofEntity owner: String, to new: String, unclear: (String) throws -> Void
  ) rethrows {
    let paths = KeyPathRenaming(root, owner: owner, old: old, new: new)
    func text(_ element: inout SourceElement, _ key: String, from entity: String?, _ label: String) throws {
      guard let text = element[key], !text.isEmpty else { return }
      guard let changed = paths.renamed(text, from: entity) else {
        return try unclear(
          "\(label), '\(text)', names '\(old)', and it is not known of which entity. Change it first, or leave the "
            + "name.")
      }
      if changed != text { element.set(key, changed) }
    }
    for place in root.content.indices {
      guard var child = root.content[place].element else { continue }
      let name: String = child["name"] ?? ""
      switch child.name {
      case "fetchRequest":
        try text(
          &child, "predicateString", from: child["entity"], "The predicate of the fetch request '\(name)'")
      case "entity":
        if paths.family.contains(name) {
          Self.replace(
            old, by: new, below: &child,
            where: ["fetchIndexElement": ["property"], "constraint": ["value"], "index": ["value"]])
        }
        for inner in child.content.indices {
          guard var part = child.content[inner].element else { continue }
          let label: String = part["name"] ?? ""
          switch part.name {
          case "attribute":
            try text(
              &part, "derivationExpression", from: name, "The derivation of the attribute \(name).\(label)")
          case "relationship":
            if part["inverseName"] == old,
              paths.family.contains(part["inverseEntity"] ?? part["destinationEntity"] ?? "")
            {
              part.set("inverseName", new)
            }
          case "fetchIndex":
            try text(
              &part, "partialIndexPredicate", from: name,
              "The condition of the fetch index '\(label)' of \(name)")
            for deep in part.content.indices {
              guard var element = part.content[deep].element else { continue }
              try text(&element, "expression", from: name, "The fetch index '\(label)' of \(name)")
              part.content[deep] = .element(element)
            }
          case "fetchedProperty":
            for deep in part.content.indices {
              guard var request = part.content[deep].element, request.name == "fetchRequest" else { continue }
              try text(
                &request, "predicateString", from: request["entity"],
                "The predicate of the fetched property \(name).\(label)")
              part.content[deep] = .element(request)
            }
          default: break
          }
          child.content[inner] = .element(part)
        }
      default: continue
      }
      root.content[place] = .element(child)
    }
  }

  // MARK: Inverses

  /// Makes a relationship of the destination the inverse, or none. What was the inverse has none then.
  mutating func set(inverse: PropertySettings.Change, of name: String, inEntityAt place: Int) throws {
    guard inverse != .asItIs, let inner = root[at: place].place("relationship", named: name) else { return }
    let owner: String = root[at: place]["name"] ?? ""
    let element: SourceElement = root[at: place][at: inner]
    let destination: String = element["destinationEntity"] ?? ""
    if let new = inverse.value, element["inverseName"] == new { return }
    if let old = element["inverseName"],
      let back = relationship(old, of: element["inverseEntity"] ?? destination)
    {
      if root[at: back.entity][at: back.inner]["inverseName"] == name {
        root[at: back.entity][at: back.inner].set("inverseName", nil)
        root[at: back.entity][at: back.inner].set("inverseEntity", nil)
      }
    }
    guard let new = inverse.value else {
      root[at: place][at: inner].set("inverseName", nil)
      root[at: place][at: inner].set("inverseEntity", nil)
      return
    }
    guard let back = relationship(new, of: destination) else {
      let known: [String] =
        root.place("entity", named: destination).map {
          root[at: $0].children("relationship").compactMap { $0["name"] }
        } ?? []
      throw failure(
        "--inverse: \(destination), where \(owner).\(name) leads, has no relationship '\(new)'. "
          + "\(NearestNames.advice(for: new, among: known)) `clarus model add MODEL relationship \(destination).\(new) "
          + "\(owner) --inverse \(name)` adds one.")
    }
    try connect(back.inner, inEntityAt: back.entity, to: owner, name)
    root[at: place][at: inner].set("inverseName", new)
    root[at: place][at: inner].set("inverseEntity", root[at: back.entity]["name"])
  }

  /// A relationship that an entity has or inherits.
  private func relationship(_ name: String, of entity: String) -> (entity: Int, inner: Int)? {
    guard let own = root.place("entity", named: entity) else { return nil }
    for place in [own] + ancestors(ofEntityAt: own) {
      if let inner = root[at: place].place("relationship", named: name) { return (place, inner) }
    }
    return nil
  }
}

/// A new name for a property in the key paths of a text: of a predicate, an expression, a derivation.
struct KeyPathRenaming {
  /// The entity that declares the property, and those that inherit it.
  let family: Set<String>
  private let ancestors: Set<String>
  private let entities: [String: SourceElement]
  private let old: String
  private let new: String

  init(_ root: SourceElement, owner: String, old: String, new: String) {
    (self.old, self.new) = (old, new)
    let entities: [String: SourceElement] = Dictionary(
      root.children("entity").map { ($0["name"] ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    self.entities = entities
    func chain(_ name: String) -> [String] {
      var found: [String] = []
      var current: String? = name
      while let name = current, !found.contains(name) {
        found.append(name)
        current = entities[name]?["parentEntity"]
      }
      return found
    }
    ancestors = Set(chain(owner).dropFirst())
    family = Set(entities.keys.filter { chain($0).contains(owner) })
  }

  /// Where the walk along a key path is.
  private enum Place {
    case entity(String)
    /// Behind an attribute: the elements of a composite.
    case end
    case unknown
  }

  /// The text with the new name; nil if it has the old one in a key path that begins nobody knows where.
  func renamed(_ text: String, from entity: String?) -> String? {
    let start: Place = entity.map { .entity($0) } ?? .unknown
    // Of SUBQUERY(items, $item, …).
    var variables: [String: Place] = [:]
    var last: Place = .unknown
    var result = ""
    var rest: Substring = text[...]
    while let character = rest.first {
      if character == "\"" || character == "'" {
        let quoted: Substring = Self.quoted(rest)
        result += quoted
        rest = rest.dropFirst(quoted.count)
        continue
      }
      let word: Substring = rest.prefix { Self.isPart($0) }
      if word.isEmpty {
        result.append(character)
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst(word.count)
      // A number, or the name of a function.
      if character.isNumber || rest.first == ":" || rest.first == "(" {
        result += word
        continue
      }
      let isContinued: Bool = character == "."
      var names: [Substring] = word.split(separator: ".", omittingEmptySubsequences: false)
      var place: Place = isContinued ? .unknown : start
      for index in names.indices {
        let name = String(names[index].first == "#" ? names[index].dropFirst() : names[index])
        if index == 0, name.isEmpty || name.lowercased() == "self" { continue }
        if index == 0, name.hasPrefix("$") {
          if names.count == 1 { variables[name] = variables[name] ?? last }
          place = variables[name] ?? .unknown
          continue
        }
        if name.hasPrefix("@") { continue }
        switch place {
        case .entity(let current):
          if name == old, isProperty(of: current) {
            names[index] = names[index].first == "#" ? "#\(new)" : new[...]
          }
          place = next(name, from: current)
        case .unknown: if name == old { return nil }
        case .end: break
        }
      }
      last = place
      result += names.joined(separator: ".")
    }
    return result
  }

  private static func isPart(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_.$#@".contains(character)
  }

  /// A literal with its quotation marks.
  private static func quoted(_ text: Substring) -> Substring {
    var index: Substring.Index = text.index(after: text.startIndex)
    while index < text.endIndex, text[index] != text.first {
      if text[index] == "\\" { index = text.index(after: index) }
      if index < text.endIndex { index = text.index(after: index) }
    }
    return index < text.endIndex ? text[...index] : text
  }

  /// Whether an entity has the property, or a fetch of it may meet it in sub-entities.
  private func isProperty(of entity: String) -> Bool {
    family.contains(entity) || (ancestors.contains(entity) && find(old, in: entity) == nil)
  }

  private func next(_ name: String, from entity: String) -> Place {
    guard let property = find(name, in: entity) else { return .unknown }
    switch property.name {
    case "relationship": return property["destinationEntity"].map { .entity($0) } ?? .unknown
    case "fetchedProperty":
      return property.children("fetchRequest").first?["entity"].map { .entity($0) } ?? .unknown
    default: return .end
    }
  }

  private func find(_ name: String, in entity: String) -> SourceElement? {
    var seen: Set<String> = []
    var current: String? = entity
    while let owner = current, seen.insert(owner).inserted, let element = entities[owner] {
      for kind in ["attribute", "relationship", "fetchedProperty"] {
        if let place = element.place(kind, named: name) { return element[at: place] }
      }
      current = element["parentEntity"]
    }
    return nil
  }
}
