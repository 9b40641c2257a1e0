import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import Foundation

/// Makes the result of a merge a model that can be used, if our side is one.
///
/// Two edits that touch nothing in common may still not go together: one removes an entity, the other adds a
/// relationship to it. Of the parts that are concerned ours are taken, and each is a conflict that says so:
/// first the properties and indexes that lead nowhere, then the entities of which the rules find errors that
/// neither side has, at last the whole of ours. Each round takes a part of ours that was not taken before, so
/// that it ends.
struct MergeRepair {
  private(set) var conflicts: [ModelMerge.Conflict] = []

  private let ours: ModelDocument
  private let theirs: ModelDocument
  /// Ours without the new names of theirs.
  private let before: ModelDocument
  /// Theirs without the new names of ours.
  private let theirsBefore: ModelDocument
  private var taken: Set<Part> = []

  /// An entity or another child of the root, or a child of an entity.
  private struct Part: Hashable {
    /// `entity`, or the kind of the child of the root.
    var kind: String
    var name: String
    var inner: ModelMerge.Key?

    static func entity(_ name: String) -> Part { Part(kind: "entity", name: name, inner: nil) }
    static func property(_ kind: String, _ name: String, of entity: String) -> Part {
      Part(kind: "entity", name: entity, inner: ModelMerge.Key(kind: kind, name: name, number: 0))
    }
  }

  private struct Fault {
    var reason: String
    var parts: [Part]
  }

  init(
    ours: ModelDocument, theirs: ModelDocument, before: ModelDocument, theirsBefore: ModelDocument
  ) {
    (self.ours, self.theirs, self.before, self.theirsBefore) = (ours, theirs, before, theirsBefore)
  }

  mutating func run(_ result: inout ModelDocument) {
    // Ours can't be made better than it is. A new name of one side may be one that the other side gave to
    // something above or below: that is an error of neither.
    guard let own = try? Self.errors(of: before) else { return }
    var known: Set<String> = []
    for (side, renamed) in [(own, ours), ((try? Self.errors(of: theirsBefore)) ?? [], theirs)]
    where !side.isEmpty {
      known.formUnion(((try? Self.errors(of: renamed)) ?? side).map(\.description))
    }
    while let fault = fault(of: result, known) {
      var changed = false
      for part in fault.parts where taken.insert(part).inserted {
        if take(part, &result, because: fault.reason) { changed = true }
      }
      if changed { continue }
      // The parts are ours already: their entities, and then all.
      let entities: [Part] = fault.parts.filter { $0.inner != nil }.map { .entity($0.name) }
      for part in entities where taken.insert(part).inserted {
        if take(part, &result, because: fault.reason) { changed = true }
      }
      if changed { continue }
      result.root = before.root
      conflicts.append(
        ModelMerge.Conflict(
          part: "",
          reason:
            "the two edits don't go together: \(fault.reason): the whole model is ours; to take theirs, "
            + "make their changes anew"))
      return
    }
  }

  /// The first thing that keeps the result from being used.
  private func fault(of result: ModelDocument, _ known: Set<String>) -> Fault? {
    let dangling: [Fault] = Self.dangling(result.root)
    if !dangling.isEmpty {
      // What is so in ours too is not ours to mend.
      let own: Set<String> = Set(Self.dangling(ours.root).map(\.reason))
      if let first = dangling.first(where: { !own.contains($0.reason) }) { return first }
    }
    do {
      guard let error = try Self.errors(of: result).first(where: { !known.contains($0.description) }) else {
        return nil
      }
      let message = "\(error.message) [\(error.code)]"
      guard let entity = error.entity else {
        let part: [Part] = error.part.map { [Part(kind: "fetchRequest", name: $0, inner: nil)] } ?? []
        return Fault(reason: message, parts: part)
      }
      guard let part = error.part else { return Fault(reason: message, parts: [.entity(entity)]) }
      let kinds: [String] = ["attribute", "relationship", "fetchedProperty", "fetchIndex"]
      let parts: [Part] = kinds.map { .property($0, part, of: entity) }
      return Fault(reason: message, parts: parts)
    } catch {
      let reason: String = (error as? ModelFileError)?.reason ?? ErrorMessage.reason(of: error)
      // Such as a cycle of parents: those that only theirs changed.
      let parents: [Part] = result.root.children("entity").compactMap { entity in
        let mine: SourceElement? = Self.counterpart(of: entity, in: ours.root)
        return mine?["parentEntity"] == entity["parentEntity"] ? nil : .entity(entity["name"] ?? "")
      }
      return Fault(reason: reason, parts: parents)
    }
  }

  /// What keeps the model of a source from being used. Throws if it can't be read.
  private static func errors(of document: ModelDocument) throws -> [ModelProblem] {
    try NSManagedObjectModel.load(source: document.data, file: document.file).model.problems()
      .filter { $0.severity == .error }
  }

  // MARK: What leads nowhere

  /// Names of entities and properties that are not there.
  private static func dangling(_ root: SourceElement) -> [Fault] {
    let entities: [String: SourceElement] = Dictionary(
      root.children("entity").map { ($0["name"] ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    func chain(_ entity: String) -> [SourceElement] {
      var seen: Set<String> = []
      var found: [SourceElement] = []
      var current: String? = entity
      while let name = current, seen.insert(name).inserted, let element = entities[name] {
        found.append(element)
        current = element["parentEntity"]
      }
      return found
    }
    func holds(_ kind: String, _ name: String, _ entity: String) -> Bool {
      chain(entity).contains { $0.place(kind, named: name) != nil }
    }
    var faults: [Fault] = []
    for name in twice(root.children("entity")) {
      faults.append(Fault(reason: "two entities are named \(name)", parts: [.entity(name)]))
    }
    for child in root.children {
      let name: String = child["name"] ?? ""
      switch child.name {
      case "fetchRequest":
        if let target = child["entity"], entities[target] == nil {
          faults.append(
            Fault(
              reason: "it fetches \(target), which is not there",
              parts: [Part(kind: "fetchRequest", name: name, inner: nil), .entity(target)]))
        }
      case "configuration":
        for member in child.children("memberEntity") where entities[member["name"] ?? ""] == nil {
          faults.append(
            Fault(
              reason: "configuration '\(name)' has the entity \(member["name"] ?? ""), which is not there",
              parts: [Part(kind: "configuration", name: name, inner: nil), .entity(member["name"] ?? "")]))
        }
      case "entity":
        faults += danglingParts(child, name)
      default: break
      }
    }
    return faults

    func danglingParts(_ entity: SourceElement, _ owner: String) -> [Fault] {
      var faults: [Fault] = []
      if let parent = entity["parentEntity"], entities[parent] == nil {
        faults.append(
          Fault(
            reason: "\(owner) derives from \(parent), which is not there",
            parts: [.entity(owner), .entity(parent)]))
      }
      for relationship in entity.children("relationship") {
        let name: String = relationship["name"] ?? ""
        guard let destination = relationship["destinationEntity"] else { continue }
        let part: Part = .property("relationship", name, of: owner)
        guard entities[destination] != nil else {
          faults.append(
            Fault(
              reason: "\(owner).\(name) leads to \(destination), which is not there",
              parts: [part, .entity(destination)]))
          continue
        }
        guard let inverse = relationship["inverseName"], !inverse.isEmpty else { continue }
        let other: String = relationship["inverseEntity"] ?? destination
        let back: SourceElement? = chain(other).lazy.compactMap { above in
          above.place("relationship", named: inverse).map { above[at: $0] }
        }.first
        let fits: Bool = back.map { $0["inverseName"] == name } ?? false
        if !fits {
          faults.append(
            Fault(
              reason: "\(owner).\(name) has the inverse \(other).\(inverse), "
                + (back == nil ? "which is not there" : "which is not the inverse of it"),
              parts: [part, .property("relationship", inverse, of: other)]))
        }
      }
      let kinds: [String] = ["attribute", "relationship", "fetchedProperty"]
      for name in twice(entity.children.filter { kinds.contains($0.name) }) {
        faults.append(
          Fault(
            reason: "two properties of \(owner) are named \(name)",
            parts: kinds.map { .property($0, name, of: owner) }))
      }
      let ancestors: ArraySlice<SourceElement> = chain(owner).dropFirst()
      for property in entity.children where kinds.contains(property.name) {
        let name: String = property["name"] ?? ""
        guard
          let above = ancestors.first(where: { ancestor in
            ancestor.children.contains { kinds.contains($0.name) && $0["name"] == name }
          })
        else { continue }
        let parent: String = above["name"] ?? ""
        faults.append(
          Fault(
            reason: "\(owner).\(name) has the name of \(parent).\(name), which \(owner) inherits",
            parts: kinds.map { .property($0, name, of: owner) }
              + kinds.map { .property($0, name, of: parent) }))
      }
      let properties: [String] = ["attribute", "relationship"]
      for list in entity.children {
        let named: [String]
        switch list.name {
        case "fetchIndex": named = list.children.compactMap { $0["property"] }
        case "uniquenessConstraints", "compoundIndexes":
          named = list.children.flatMap { $0.children.compactMap { $0["value"] } }
        default: continue
        }
        for name in named where !properties.contains(where: { holds($0, name, owner) }) {
          // A path or an expression is not looked into here.
          guard name.unicodeScalars.allSatisfy({ $0.properties.isXIDContinue }) else { continue }
          let own = ModelMerge.Key(
            kind: list.name, name: list.name == "fetchIndex" ? list["name"] ?? "" : "", number: 0)
          faults.append(
            Fault(
              reason: "an index or a constraint of \(owner) names '\(name)', which is not there",
              parts: [
                Part(kind: "entity", name: owner, inner: own), .property("attribute", name, of: owner),
              ]))
        }
      }
      return faults
    }
  }

  /// The names that several elements have.
  private static func twice(_ elements: [SourceElement]) -> [String] {
    let names: [String] = elements.compactMap { $0["name"] }
    return Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
  }

  // MARK: Taking ours

  /// The element of one side that is what another side has under a name, or had.
  private static func counterpart(of element: SourceElement, in root: SourceElement) -> SourceElement? {
    if let place = root.place(element.name, named: element["name"]) { return root[at: place] }
    return root.children(element.name).first { other in
      guard let former = other["elementID"] ?? element["elementID"], !former.isEmpty else { return false }
      return [other["name"], other["elementID"]].contains(element["elementID"] ?? element["name"])
        || other["elementID"] == element["name"]
    }
  }

  /// Puts our part in the place of what the result has. False if that is ours already.
  private mutating func take(_ part: Part, _ result: inout ModelDocument, because reason: String) -> Bool {
    guard let inner = part.inner else {
      return Self.take(part, from: ours.root, &result.root, ours.style, depth: 1).map {
        tell(part.name, $0, reason)
      } ?? false
    }
    guard let place = result.root.place("entity", named: part.name) else { return false }
    let entity: SourceElement = result.root[at: place]
    // Of an entity that only theirs has one part is left out, not all.
    let mine: SourceElement = Self.counterpart(of: entity, in: ours.root) ?? SourceElement("entity", [])
    let change: Change? = Self.take(
      Part(kind: inner.kind, name: inner.name, inner: nil), from: mine, &result.root[at: place], ours.style,
      depth: 2)
    let label: String = inner.name.isEmpty ? part.name : "\(part.name).\(inner.name)"
    return change.map { tell(label, $0, reason) } ?? false
  }

  private enum Change { case kept, left, restored }

  /// Nil if nothing changes.
  private static func take(
    _ part: Part, from mine: SourceElement, _ result: inout SourceElement, _ style: SourceStyle, depth: Int
  ) -> Change? {
    // Lists have no name.
    let name: String? = part.name.isEmpty ? nil : part.name
    let own: SourceElement?
    if result.children(part.kind).count(where: { name != nil && $0["name"] == name }) > 1 {
      // Each side gave the name to another one.
      while let place = result.place(part.kind, named: name) { result.remove(at: place) }
      if let place = mine.place(part.kind, named: name) {
        result.insert(mine[at: place], style, depth: depth)
      }
      return .kept
    }
    let place: Int? = result.place(part.kind, named: name)
    if let place {
      own = counterpart(of: result[at: place], in: mine)
    } else {
      own = mine.place(part.kind, named: name).map { mine[at: $0] }
    }
    switch (place, own) {
    case (let place?, let own?):
      if result[at: place] == own { return nil }
      result[at: place] = own
      return .kept
    case (let place?, nil):
      result.remove(at: place)
      return .left
    case (nil, let own?):
      // Theirs may have it under another name.
      let renamed: Int? = result.content.firstIndex { node in
        guard let other = node.element, other.name == own.name, let name = other["name"],
          mine.place(own.name, named: name) == nil
        else { return false }
        return counterpart(of: other, in: mine) == own
      }
      if let renamed {
        result[at: renamed] = own
        return .kept
      }
      result.insert(own, style, depth: depth)
      return .restored
    case (nil, nil): return nil
    }
  }

  private mutating func tell(_ label: String, _ change: Change, _ reason: String) -> Bool {
    let text: String =
      switch change {
      case .kept: "ours is taken, without what theirs changed in it; to take theirs, make the change anew"
      case .left:
        "theirs added this, and it is left out as in ours; to take theirs, add it anew with what it needs"
      case .restored: "theirs removed this, and it stays as in ours; to take theirs, remove what needs it too"
      }
    conflicts.append(
      ModelMerge.Conflict(
        part: label, reason: "the two edits don't go together: \(Self.sentencePart(reason)): \(text)"))
    return true
  }

  private static func sentencePart(_ text: String) -> String {
    text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
