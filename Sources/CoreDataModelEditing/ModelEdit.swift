import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import Foundation

/// Additions to a source, changes of parts, and removals: what Xcode's editor would write, and not a byte
/// elsewhere.
///
/// An edit is checked as a whole. What the model can't be used with afterwards, by the rules of
/// `NSManagedObjectModel.problems()`, and what its readers would ignore is an error, and the document stays
/// as it was.
package struct ModelEdit {
  package private(set) var document: ModelDocument
  /// What the edits are warned of.
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
      try draft.requireFreeClass(entity.className, ofEntity: entity.name)
      draft.root.insert(entity.element, draft.style, depth: 1)
    }
  }

  /// - Parameters:
  ///   - versions: the other versions of the package, in which the former name is looked for.
  ///   - replacing: whether the attribute with the former name is removed from this version. The new one has
  ///     what is not given anew from it.
  /// - Throws: ``ModelFileError`` if there is no such entity, it has a property of this name, or the model
  ///   could not be used; if it has an attribute of the former name that is not to be replaced, or no version
  ///   has one; if the new type can't have what the replaced attribute has.
  package mutating func add(
    _ attribute: NewAttribute, to entity: String, versions: [FormerName.Version] = [],
    replacing: Bool = false
  ) throws {
    let former: String? = attribute.settings.renamingIdentifier.value
    try edit(entity, former, .attribute, versions) { draft, place in
      try draft.requireFree(attribute.name, inEntityAt: place)
      var settings: PropertySettings = attribute.settings
      if let former,
        let old = try draft.release(
          former, .attribute, inEntityAt: place, for: attribute.name, replacing)
      {
        settings.type = attribute.type
        draft.insert(
          try Self.successor(of: old, attribute.name, settings, draft.failure), intoEntityAt: place)
      } else {
        draft.insert(try attribute.element(draft.failure), intoEntityAt: place)
      }
      try draft.set(settings, indexesOf: attribute.name, inEntityAt: place)
    }
  }

  /// An attribute in place of a former one.
  private static func successor(
    of old: SourceElement, _ name: String, _ settings: PropertySettings,
    _ failure: (String) -> ModelFileError
  ) throws -> SourceElement {
    var element: SourceElement = old
    var settings: PropertySettings = settings
    element.set("name", name)
    // Also the versions before the former one are found by the name that all of them know.
    if let earlier = old["elementID"], !earlier.isEmpty {
      settings.renamingIdentifier = earlier == name ? .removed : .given(earlier)
    }
    try settings.apply(to: &element, failure)
    return element
  }

  /// Changes an attribute or a relationship.
  ///
  /// With a new name, what names the property is changed too: indexes, constraints, inverses, derivations,
  /// predicates. The old name is its renaming identifier, unless it had one.
  ///
  /// - Parameter versions: the other versions of the package, the one before first: a former name is looked
  ///   for in them, and a renamed part keeps its values in a migration from the one before.
  /// - Throws: ``ModelFileError`` if there is no such property, it can't have what is given, or would lose by
  ///   a new type what it has; if the model could not be used; for a former name that no version has; for a
  ///   text that names a renamed property in a way that is not understood.
  package mutating func set(
    _ settings: PropertySettings, of name: String, in entity: String, versions: [FormerName.Version] = []
  ) throws {
    let former: String? = settings.renamingIdentifier.value
    let start = Draft(root: document.root, style: document.style, file: document.file)
    let part: FormerName.Part =
      try start.kind(ofProperty: name, inEntityAt: try start.place(ofEntity: entity))
    let before: ModelDocument = document
    var told: [String] = []
    try edit(entity, former, part, versions) { draft, place in
      if let former {
        _ = try draft.release(former, part, inEntityAt: place, for: settings.name ?? name, nil)
      }
      let failure: (String) -> ModelFileError = draft.failure
      guard let inner = draft.root[at: place].place(part.rawValue, named: name) else { return }
      if part == .attribute {
        try settings.apply(to: &draft.root[at: place][at: inner], failure)
        try draft.set(settings, indexesOf: name, inEntityAt: place)
      } else {
        try settings.apply(toRelationship: &draft.root[at: place][at: inner], "\(entity).\(name)", failure)
        try draft.set(inverse: settings.inverse, of: name, inEntityAt: place)
      }
      if let new = settings.name, new != name {
        try draft.rename(name, part, inEntityAt: place, to: new)
        if settings.renamingIdentifier == .asItIs {
          let renamed = RenamedPart(
            part: part, entity: entity, old: name, new: new, version: versions.first(where: \.isEarlier))
          told = renamed.complete(&draft, before: before)
        }
      }
    }
    remarks += told
  }

  /// Changes an entity.
  ///
  /// With a new name, what names the entity is changed too, and its class if it had the entity's name. The
  /// old name is its renaming identifier, unless it had one.
  ///
  /// - Throws: ``ModelFileError`` if there is no such entity, or there is one of the new name; if the model
  ///   could not be used; for a former name that no version has, or that this version still has.
  package mutating func set(
    _ settings: EntitySettings, of entity: String, versions: [FormerName.Version] = []
  ) throws {
    let former: String? = settings.renamingIdentifier.value
    let before: ModelDocument = document
    var isClassRenamed = false
    var told: [String] = []
    try edit(entity, former, .entity, versions) { draft, place in
      if let former, former != settings.name ?? entity, draft.root.place("entity", named: former) != nil {
        throw draft.failure(
          "--renamed-from: There still is the entity '\(former)' in this version, so that a migration would take its "
            + "objects away for '\(settings.name ?? entity)'. Leave --renamed-from out.")
      }
      if let parent = settings.parent.value { _ = try draft.place(ofEntity: parent) }
      settings.apply(to: &draft.root[at: place])
      if let new = settings.name, new != entity {
        let hadItsName: Bool = try draft.renameEntity(entity, to: new)
        if settings.renamingIdentifier == .asItIs {
          let renamed = RenamedPart(
            part: .entity, entity: entity, old: entity, new: new, version: versions.first(where: \.isEarlier))
          told = renamed.complete(&draft, before: before)
        }
        if hadItsName, settings.className == nil {
          settings.setClass(new, of: &draft.root[at: place])
          isClassRenamed = true
        }
      }
      if settings.name != nil || settings.className != nil {
        let changed: SourceElement = draft.root[at: place]
        try draft.requireFreeClass(changed["representedClassName"], ofEntity: changed["name"] ?? "")
      }
    }
    remarks += told
    if isClassRenamed, let new = settings.name {
      remarks.append(
        "The class of the entity has its new name too, \(new): rename it in the program, or keep the old one with "
          + "--class \(entity).")
    }
  }

  /// Changes an entity, of which then a part may have a former name.
  private mutating func edit(
    _ entity: String, _ former: String?, _ part: FormerName.Part, _ versions: [FormerName.Version],
    _ body: (inout Draft, _ place: Int) throws -> Void
  ) throws {
    let check: FormerName? = former.map { FormerName($0, of: entity, part, versions: versions) }
    let document: ModelDocument = document
    var remark: String?
    try change { draft in
      try body(&draft, try draft.place(ofEntity: entity))
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

  // MARK: Removals

  /// Removes an attribute, a relationship or a fetched property with the indexes and constraints that name
  /// it; its inverse has none then.
  ///
  /// - Throws: ``ModelFileError`` if there is no such property, a predicate or an expression names it, or the
  ///   model could not be used.
  package mutating func remove(_ name: String, from entity: String) throws {
    var told: [String] = []
    try change { draft in
      told = try draft.removeProperty(name, inEntityAt: try draft.place(ofEntity: entity))
    }
    remarks += told
  }

  /// Removes an entity.
  ///
  /// - Throws: ``ModelFileError`` if there is no such entity, something leads to it, derives from it or
  ///   fetches it, or the model could not be used.
  package mutating func remove(entity: String) throws {
    try change { draft in try draft.removeEntity(entity) }
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
    try draft.requireText()
    let after: Findings = try Self.findings(of: changed)
    let found: [ModelProblem] = after.problems.filter { !before.problems.contains($0) }
    let errors: [ModelProblem] = found.filter { $0.severity == .error }
    if !errors.isEmpty {
      let reasons: String = errors.map { "\($0.place): \($0.message) [\($0.code)]" }.joined(separator: "; ")
      throw draft.failure("Nothing was changed, since the model could not be used: \(reasons)")
    }
    let ignored: [String] = after.ignored.filter { !before.ignored.contains($0) }
    if !ignored.isEmpty { throw draft.failure("Nothing was changed: \(ignored.joined(separator: "; ")).") }
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

/// A source while it is edited. Places are those of entities among the children of the root.
struct Draft {
  var root: SourceElement
  let style: SourceStyle
  let file: String

  func failure(_ reason: String) -> ModelFileError { ModelFileError(file: file, reason: reason) }

  /// - Throws: ``ModelFileError`` for a value with a character that XML can't have, which no reader would
  ///   read.
  func requireText() throws { try requireText(root) }

  private func requireText(_ element: SourceElement) throws {
    for attribute in element.attributes {
      guard let wrong = attribute.value.unicodeScalars.first(where: { !Self.isXML($0) }) else { continue }
      let number: String = String(wrong.value, radix: 16, uppercase: true)
      throw failure(
        "\(attribute.name) would be '\(attribute.value)', with the character U+"
          + String(repeating: "0", count: max(0, 4 - number.count)) + number
          + ", which the file of a model can't have; leave it out.")
    }
    for child in element.children { try requireText(child) }
  }

  private static func isXML(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x9, 0xA, 0xD: true
    case 0..<0x20, 0xFFFE, 0xFFFF: false
    default: true
    }
  }

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

  func kind(ofProperty name: String, inEntityAt place: Int) throws -> FormerName.Part {
    let entity: SourceElement = root[at: place]
    for kind: FormerName.Part in [.attribute, .relationship]
    where entity.place(kind.rawValue, named: name) != nil {
      return kind
    }
    let owner: String = entity["name"] ?? ""
    for ancestor in ancestors(ofEntityAt: place) {
      let above: SourceElement = root[at: ancestor]
      if above.place("attribute", named: name) != nil || above.place("relationship", named: name) != nil {
        throw failure(
          "\(owner) inherits '\(name)' from \(above["name"] ?? ""): change \(above["name"] ?? "").\(name).")
      }
    }
    let known: [String] = (entity.children("attribute") + entity.children("relationship"))
      .compactMap { $0["name"] }
    throw failure(
      "\(owner) has no attribute or relationship '\(name)'. \(NearestNames.advice(for: name, among: known))")
  }

  /// The entities that one inherits from, its parent first.
  func ancestors(ofEntityAt place: Int) -> [Int] {
    var result: [Int] = []
    var seen: Set<String> = [root[at: place]["name"] ?? ""]
    var parent: String? = root[at: place]["parentEntity"]
    while let current = parent, seen.insert(current).inserted,
      let above = root.place("entity", named: current)
    {
      result.append(above)
      parent = root[at: above]["parentEntity"]
    }
    return result
  }

  /// The former name of a property must be free: a property that has it would lose its values to the new
  /// one. With `replacing` it is removed and returned, and what named it names the new one. Without a new
  /// one, if that is nil, nothing can take its place.
  mutating func release(
    _ former: String, _ part: FormerName.Part, inEntityAt place: Int, for name: String, _ replacing: Bool?
  ) throws -> SourceElement? {
    let owner: String = root[at: place]["name"] ?? ""
    let kind: String = part.rawValue
    for ancestor in ancestors(ofEntityAt: place)
    where root[at: ancestor].place(kind, named: former) != nil {
      let current: String = root[at: ancestor]["name"] ?? ""
      throw failure(
        "--renamed-from: \(owner) inherits the \(kind) '\(former)' from \(current) in this version, so that a "
          + "migration would take its values away for '\(name)'. "
          + (replacing == nil ? "Leave" : "Add '\(name)' to \(current) with --replace, or leave")
          + " --renamed-from out.")
    }
    guard let old = root[at: place].place(kind, named: former) else {
      if replacing == true {
        let known: [String] = root[at: place].children(kind).compactMap { $0["name"] }
        throw failure(
          "--replace: \(owner) has no \(kind) '\(former)' in this version, so that there is nothing to replace. "
            + "\(NearestNames.advice(for: former, among: known)) Without --replace '\(name)' is added, and "
            + "--renamed-from names what it was called in another version.")
      }
      return nil
    }
    if former == name { return nil }
    guard replacing == true else {
      let cure: String =
        replacing == nil
        ? "Remove '\(former)' from this version"
        : "Add --replace, which removes '\(former)' from this version"
      throw failure(
        "--renamed-from: \(owner) still has the \(kind) '\(former)' in this version, so that a migration would take "
          + "its values away for '\(name)'. \(cure), or leave --renamed-from out.")
    }
    let element: SourceElement = root[at: place][at: old]
    let failure: (String) -> ModelFileError = failure
    try renameReferences(former, ofEntity: owner, to: name) { throw failure($0) }
    root[at: place].remove(at: old)
    return element
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

  /// Adds or removes the index and the constraint that an attribute has alone. Those of several attributes
  /// stay.
  mutating func set(
    _ settings: PropertySettings, indexesOf name: String, inEntityAt place: Int
  ) throws {
    func isOwn(_ element: SourceElement, _ kind: String, _ key: String) -> Bool {
      let parts: [SourceElement] = element.children(kind)
      return parts.count == 1 && parts[0][key] == name && element["partialIndexPredicate"] == nil
    }
    if let isIndexed = settings.isIndexed {
      let own: Int? = root[at: place].content.firstIndex { node in
        node.element.map { $0.name == "fetchIndex" && isOwn($0, "fetchIndexElement", "property") } ?? false
      }
      switch (isIndexed, own) {
      case (true, nil): insertIndex(name, intoEntityAt: place)
      case (false, let own?): root[at: place].remove(at: own)
      case (false, nil): throw failure("--no-indexed: There is no index over '\(name)' alone.")
      case (true, .some): break
      }
    }
    if let isUnique = settings.isUnique {
      let list: Int? = root[at: place].place("uniquenessConstraints")
      let own: Int? = list.flatMap { list in
        root[at: place][at: list].content.firstIndex { node in
          node.element.map { isOwn($0, "constraint", "value") } ?? false
        }
      }
      switch (isUnique, list, own) {
      case (true, _, nil): insertConstraint(name, intoEntityAt: place)
      case (false, let list?, let own?):
        root[at: place][at: list].remove(at: own)
        if root[at: place][at: list].children.isEmpty { root[at: place].remove(at: list) }
      case (false, _, _): throw failure("--no-unique: There is no constraint of '\(name)' alone.")
      case (true, _, .some): break
      }
    }
  }

  /// Indexes have names as the editor gives them.
  private mutating func insertIndex(_ name: String, intoEntityAt place: Int) {
    let title: String = name.prefix(1).uppercased() + name.dropFirst()
    var index = SourceElement("fetchIndex", [("name", "by\(title)Index")])
    index.insert(
      SourceElement("fetchIndexElement", [("property", name), ("type", "Binary"), ("order", "ascending")]),
      style, depth: 3)
    insert(index, intoEntityAt: place)
  }

  private mutating func insertConstraint(_ name: String, intoEntityAt place: Int) {
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
