import CoreDataModel

/// The renamings of both sides, made in the base and in the other side too, so that all three documents call
/// a part by one name before they are merged.
///
/// A side renamed a part if it has it under another name, with the name that it had, or its identifier then,
/// as renaming identifier. What the other side says of the part, also in what it adds, names it by the new
/// name then: destinations, parents, inverses, indexes, constraints, predicates.
///
///     base    entity Note, entity Item
///     ours    entity Memo (renaming identifier Note), entity Item
///     theirs  entity Note, entity Item with a relationship to Note
///     merged  entity Memo (renaming identifier Note), entity Item with a relationship to Memo
///
/// Entities are renamed first, then the properties of each. A new name that something else has in one of the
/// documents is left alone: the merge then takes the part for a removed one and a new one.
struct MergeRenaming {
  private(set) var conflicts: [ModelMerge.Conflict] = []
  /// The base, ours, theirs.
  private var drafts: [Draft]

  var base: SourceElement { drafts[0].root }
  var ours: SourceElement { drafts[1].root }
  var theirs: SourceElement { drafts[2].root }

  /// Cost: a look at each part, and for each that is renamed one at the whole documents.
  init(base: ModelDocument, ours: ModelDocument, theirs: ModelDocument) {
    drafts = [base, ours, theirs].map { Draft(root: $0.root, style: $0.style, file: $0.file) }
    rename(.entities)
    for entity in self.base.children("entity").compactMap({ $0["name"] }) { rename(.properties(entity)) }
  }

  // MARK: What is renamed

  /// Where names are unique.
  private enum Scope {
    case entities
    case properties(String)
  }

  /// A part that a side renamed.
  private struct Part {
    let kind: String
    /// What the base, ours and theirs call it; nil for a side that has it no more.
    let names: [String?]
    /// Ours, if both sides renamed it.
    let new: String
    let identifier: String?
  }

  private func elements(_ scope: Scope, _ draft: Draft) -> [SourceElement] {
    switch scope {
    case .entities: return draft.root.children("entity")
    case .properties(let entity):
      let kinds: Set<String> = ["attribute", "relationship", "fetchedProperty"]
      return draft.root.place("entity", named: entity).map {
        draft.root[at: $0].children.filter { kinds.contains($0.name) }
      } ?? []
    }
  }

  private func parts(_ scope: Scope) -> [Part] {
    let elements: [[SourceElement]] = drafts.map { self.elements(scope, $0) }
    let sides: [[String: SourceElement]] = elements.dropFirst().map {
      Self.counterparts(of: elements[0], in: $0)
    }
    let parts: [Part] = elements[0].compactMap { element in
      guard let name = element["name"] else { return nil }
      let found: [SourceElement?] = sides.map { side in
        side[name].flatMap { $0.name == element.name ? $0 : nil }
      }
      guard let new = found.compactMap(\.self).first(where: { $0["name"] != name }) else { return nil }
      return Part(
        kind: element.name, names: [name] + found.map { $0?["name"] }, new: new["name"] ?? "",
        identifier: new["elementID"])
    }
    return Self.withFreeNames(parts, elements)
  }

  /// What a side has of the base, by the names of the base.
  private static func counterparts(of base: [SourceElement], in side: [SourceElement])
    -> [String: SourceElement]
  {
    func table(_ elements: [SourceElement]) -> [String: SourceElement] {
      Dictionary(elements.map { ($0["name"] ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }
    let (known, own) = (table(base), table(side))
    // The new names by the former ones.
    var candidates: [String: [String]] = [:]
    for element in side {
      guard let name = element["name"], let identifier = element["elementID"], !identifier.isEmpty,
        identifier != known[name]?["elementID"]
      else { continue }
      let former: [String] = base.filter {
        $0.name == element.name && $0["name"] != name && [$0["elementID"], $0["name"]].contains(identifier)
      }.compactMap { $0["name"] }
      if former.count == 1 { candidates[former[0], default: []].append(name) }
    }
    // Two can't be the same part, and what still has its name was not renamed.
    var renamed: [String: String] = candidates.filter { $0.value.count == 1 }.mapValues { $0[0] }
    while let wrong = renamed.keys.first(where: { own[$0] != nil && !renamed.values.contains($0) }) {
      renamed[wrong] = nil
    }
    let new = Set(renamed.values)
    return own.filter { !new.contains($0.key) }.merging(renamed.compactMapValues { own[$0] }) { _, new in new
    }
  }

  /// Those whose new name nothing else has, or what has it is renamed too.
  private static func withFreeNames(_ parts: [Part], _ elements: [[SourceElement]]) -> [Part] {
    let names: [Set<String>] = elements.map { Set($0.compactMap { $0["name"] }) }
    var parts: [Part] = parts
    while let taken = parts.firstIndex(where: { part in
      names.indices.contains { document in
        names[document].contains(part.new) && !parts.contains { $0.names[document] == part.new }
      } || parts.count { $0.new == part.new } > 1
    }) {
      parts.remove(at: taken)
    }
    return parts
  }

  // MARK: Renaming

  private mutating func rename(_ scope: Scope) {
    let parts: [Part] = parts(scope)
    for part in parts { tell(part, scope) }
    for document in drafts.indices {
      // Names may change in a circle, so that each part gets first one that nothing has.
      for (number, part) in parts.enumerated() {
        if let name = part.names[document] { rename(name, to: Self.passing(number), part, scope, document) }
      }
      for (number, part) in parts.enumerated() where part.names[document] != nil {
        rename(Self.passing(number), to: part.new, part, scope, document)
        // In the base not of what a side removed: the removal would agree with what the other side has.
        if part.names.allSatisfy({ $0 != nil }) {
          update(part.new, part, scope, document) { $0.set("elementID", part.identifier) }
        }
      }
    }
  }

  private static func passing(_ number: Int) -> String { "renamed__\(number)__" }

  private mutating func rename(
    _ old: String, to new: String, _ part: Part, _ scope: Scope, _ document: Int
  ) {
    switch scope {
    case .entities: drafts[document].renameReferences(toEntity: old, to: new)
    case .properties(let entity):
      drafts[document].renameReferences(old, ofEntity: entity, to: new) { _ in }
    }
    update(old, part, scope, document) { $0.set("name", new) }
  }

  private mutating func update(
    _ name: String, _ part: Part, _ scope: Scope, _ document: Int, _ change: (inout SourceElement) -> Void
  ) {
    switch scope {
    case .entities:
      if let place = drafts[document].root.place("entity", named: name) {
        change(&drafts[document].root[at: place])
      }
    case .properties(let entity):
      if let place = drafts[document].root.place("entity", named: entity),
        let inner = drafts[document].root[at: place].place(part.kind, named: name)
      {
        change(&drafts[document].root[at: place][at: inner])
      }
    }
  }

  /// Two new names for one part.
  private mutating func tell(_ part: Part, _ scope: Scope) {
    guard let old = part.names[0], let ours = part.names[1], let theirs = part.names[2],
      Set([old, ours, theirs]).count == 3
    else { return }
    let label: String =
      switch scope {
      case .entities: ours
      case .properties(let entity): "\(entity).\(ours)"
      }
    conflicts.append(
      ModelMerge.Conflict(
        part: label,
        reason:
          "both renamed this: it was \"\(old)\", ours is \"\(ours)\", theirs \"\(theirs)\": ours stays; to take "
          + "theirs, rename it with `clarus model set MODEL \(label) --rename \(theirs)`"))
  }
}
