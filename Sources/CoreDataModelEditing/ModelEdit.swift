import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import Foundation

/// Additions to a source: what Xcode's editor would write, and not a byte elsewhere.
///
/// An addition is checked as a whole. What the model can't be used with afterwards, by the rules of
/// `NSManagedObjectModel.problems()`, and what its readers would ignore is an error, and the document stays
/// as it was.
package struct ModelEdit {
  package private(set) var document: ModelDocument
  /// What the additions are warned of.
  package private(set) var warnings: [ModelProblem] = []
  /// What else is to be told of them, a sentence each.
  package private(set) var remarks: [String] = []

  package init(_ document: ModelDocument) { self.document = document }

  /// The source of a model without entities.
  package static func emptyModel(file: String) throws -> ModelDocument {
    try ModelDocument(NSManagedObjectModel().sourceData(), file: file)
  }

  // MARK: Additions

  /// - Throws: ``ModelFileError`` if the model has an entity of this name, no such parent, or could not be
  ///   used.
  package mutating func add(_ entity: NewEntity) throws {
    try change { draft in
      if draft.root.place("entity", named: entity.name) != nil {
        throw draft.failure("There is an entity '\(entity.name)' already; choose another name.")
      }
      if let parent = entity.parent { _ = try draft.place(ofEntity: parent) }
      draft.root.insert(entity.element, draft.style, depth: 1)
    }
  }

  /// - Parameters:
  ///   - versions: the other versions of the package, in which the former name is looked for.
  ///   - replacing: whether the attribute with the former name is removed from this version.
  /// - Throws: ``ModelFileError`` if there is no such entity, it has a property of this name, or the model
  ///   could not be used; if it has an attribute of the former name that is not to be replaced, or no version
  ///   has one.
  package mutating func add(
    _ attribute: NewAttribute, to entity: String, versions: [FormerName.Version] = [],
    replacing: Bool = false
  ) throws {
    let former: String? = attribute.renamingIdentifier
    let check: FormerName? = former.map { FormerName($0, of: entity, versions: versions) }
    let document: ModelDocument = document
    var remark: String?
    try change { draft in
      let place: Int = try draft.place(ofEntity: entity)
      try draft.requireFree(attribute.name, inEntityAt: place)
      if let former { try draft.release(former, inEntityAt: place, for: attribute.name, replacing) }
      draft.insert(try attribute.element(draft.failure), intoEntityAt: place)
      if attribute.isIndexed { draft.insertIndex(attribute.name, intoEntityAt: place) }
      if attribute.isUnique { draft.insertConstraint(attribute.name, intoEntityAt: place) }
      if let check {
        let current: LoadedModel =
          try NSManagedObjectModel.load(source: document.data, file: document.file)
        remark = try check.remark(current.model, file: document.file)
      }
    }
    if let remark { remarks.append(remark) }
  }

  /// Adds a relationship and its inverse, or makes one that is there the inverse.
  ///
  /// - Throws: ``ModelFileError`` as for attributes, and if the inverse that is there leads elsewhere or has
  ///   another inverse.
  package mutating func add(_ relationship: NewRelationship, to entity: String) throws {
    try change { draft in
      let place: Int = try draft.place(ofEntity: entity)
      let destination: Int = try draft.place(ofEntity: relationship.destination)
      try draft.requireFree(relationship.name, inEntityAt: place)
      let isOwnInverse: Bool = place == destination && relationship.inverse?.name == relationship.name
      draft.insert(relationship.element, intoEntityAt: place)
      guard let inverse = relationship.inverse, !isOwnInverse else { return }
      if let known = draft.root[at: destination].place("relationship", named: inverse.name) {
        try draft.connect(known, inEntityAt: destination, to: entity, relationship.name)
      } else {
        try draft.requireFree(inverse.name, inEntityAt: destination)
        draft.insert(relationship.element(of: inverse, to: entity), intoEntityAt: destination)
      }
    }
  }

  // MARK: Checking

  /// New entities have no properties, and nothing leads to them.
  private static let notYet: Set<String> = ["empty-entity", "isolated-entity", "abstract-leaf"]

  private mutating func change(_ body: (inout Draft) throws -> Void) throws {
    let before: Findings = try Self.findings(of: document)
    var draft = Draft(root: document.root, style: document.style, file: document.file)
    try body(&draft)
    var changed: ModelDocument = document
    changed.root = draft.root
    let after: Findings = try Self.findings(of: changed)
    let found: [ModelProblem] = after.problems.filter { !before.problems.contains($0) }
    let errors: [ModelProblem] = found.filter { $0.severity == .error }
    if !errors.isEmpty {
      let reasons: String = errors.map { "\($0.place): \($0.message) [\($0.code)]" }.joined(separator: "; ")
      throw draft.failure("Nothing was added, since the model could not be used: \(reasons)")
    }
    let ignored: [String] = after.ignored.filter { !before.ignored.contains($0) }
    if !ignored.isEmpty { throw draft.failure("Nothing was added: \(ignored.joined(separator: "; ")).") }
    document = changed
    warnings += found
  }

  /// What the rules say about a document, and what its readers would ignore.
  private struct Findings {
    var problems: [ModelProblem]
    var ignored: [String]
  }

  private static func findings(of document: ModelDocument) throws -> Findings {
    let loaded: LoadedModel = try NSManagedObjectModel.load(source: document.data, file: document.file)
    // Of the notes one is told: whoever chooses a name still can choose another one.
    let problems: [ModelProblem] = loaded.model.problems(downTo: .note, ignoring: notYet)
      .filter { $0.severity > .note || $0.code == "hidden-type" }
    return Findings(problems: problems, ignored: loaded.warnings.map(\.message))
  }
}

/// A source while something is added to it. Places are those of entities among the children of the root.
private struct Draft {
  var root: SourceElement
  let style: SourceStyle
  let file: String

  func failure(_ reason: String) -> ModelFileError { ModelFileError(file: file, reason: reason) }

  func place(ofEntity name: String) throws -> Int {
    if let place = root.place("entity", named: name) { return place }
    let known: [String] = root.children("entity").compactMap { $0["name"] }
    throw failure(
      known.isEmpty
        ? "There is no entity '\(name)', and no other; add it first."
        : "There is no entity '\(name)'. \(NearestNames.advice(for: name, among: known))")
  }

  func requireFree(_ name: String, inEntityAt place: Int) throws {
    let kinds: Set<String> = ["attribute", "relationship", "fetchedProperty"]
    let entity: SourceElement = root[at: place]
    guard let taken = entity.children.first(where: { kinds.contains($0.name) && $0["name"] == name }) else {
      return
    }
    let kind: String = taken.name == "fetchedProperty" ? "a fetched property" : "the \(taken.name)"
    throw failure("Entity '\(entity["name"] ?? "")' has \(kind) '\(name)' already; choose another name.")
  }

  /// The former name of an attribute must be free: an attribute that has it would lose its values to the new
  /// one. With `replacing` it is removed, and the indexes and constraints of the entity have the new one.
  mutating func release(
    _ former: String, inEntityAt place: Int, for name: String, _ replacing: Bool
  ) throws {
    let owner: String = root[at: place]["name"] ?? ""
    var seen: Set<String> = [owner]
    var parent: String? = root[at: place]["parentEntity"]
    while let current = parent, seen.insert(current).inserted,
      let above = root.place("entity", named: current)
    {
      if root[at: above].place("attribute", named: former) != nil {
        throw failure(
          "--renamed-from: \(owner) inherits the attribute '\(former)' from \(current) in this version, so that a "
            + "migration would take its values away for '\(name)'. Add '\(name)' to \(current) with --replace, or leave "
            + "--renamed-from out.")
      }
      parent = root[at: above]["parentEntity"]
    }
    guard let old = root[at: place].place("attribute", named: former) else {
      if replacing {
        throw failure(
          "--replace: \(owner) has no attribute '\(former)' in this version; leave --replace out.")
      }
      return
    }
    guard replacing else {
      throw failure(
        "--renamed-from: \(owner) still has the attribute '\(former)' in this version, so that a migration would take "
          + "its values away for '\(name)'. Add --replace, which removes '\(former)' from this version, or leave "
          + "--renamed-from out.")
    }
    root[at: place].remove(at: old)
    root[at: place].rename(former, name, where: ["fetchIndexElement": "property", "constraint": "value"])
  }

  mutating func insert(_ element: SourceElement, intoEntityAt place: Int) {
    root[at: place].insert(element, style, depth: 2)
  }

  /// Makes a relationship that is there the inverse of a new one.
  mutating func connect(_ inner: Int, inEntityAt place: Int, to entity: String, _ name: String) throws {
    var element: SourceElement = root[at: place][at: inner]
    let label: String = "\(root[at: place]["name"] ?? "").\(element["name"] ?? "")"
    if element["destinationEntity"] != entity {
      throw failure(
        "\(label) leads to '\(element["destinationEntity"] ?? "")', so it can't be the inverse of \(entity).\(name); "
          + "choose another name for the inverse.")
    }
    if let other = element["inverseName"], !other.isEmpty {
      throw failure("\(label) has the inverse '\(other)' already; choose another name for the inverse.")
    }
    element.set("inverseName", name)
    element.set("inverseEntity", entity)
    root[at: place][at: inner] = element
  }

  /// Indexes have names as the editor gives them.
  mutating func insertIndex(_ name: String, intoEntityAt place: Int) {
    let title: String = name.prefix(1).uppercased() + name.dropFirst()
    var index = SourceElement("fetchIndex", [("name", "by\(title)Index")])
    index.insert(
      SourceElement("fetchIndexElement", [("property", name), ("type", "Binary"), ("order", "ascending")]),
      style, depth: 3)
    insert(index, intoEntityAt: place)
  }

  mutating func insertConstraint(_ name: String, intoEntityAt place: Int) {
    var constraint = SourceElement("uniquenessConstraint", [])
    constraint.insert(SourceElement("constraint", [("value", name)]), style, depth: 4)
    if let list = root[at: place].place("uniquenessConstraints") {
      root[at: place][at: list].insert(constraint, style, depth: 3)
    } else {
      var list = SourceElement("uniquenessConstraints", [])
      list.insert(constraint, style, depth: 3)
      insert(list, intoEntityAt: place)
    }
  }
}
