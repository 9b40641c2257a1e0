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
/// Entities are renamed first, then the properties of each. Where a new name is one that the other side gave
/// to another part, the name is ours': theirs gives way, and the conflict says so. What had a new name before
/// and was removed by the side that gave it to another part gets one that nothing has, so that it is not
/// taken for that part:
///
///     base    attribute old, attribute name
///     ours    attribute name (renaming identifier old)
///     theirs  attribute old, attribute name that is required
///     merged  attribute name (renaming identifier old), and a conflict: ours removed name, theirs changed it
struct MergeRenaming {
  private(set) var conflicts: [ModelMerge.Conflict] = []
  private(set) var freedNames: [FreedName] = []
  /// New names of theirs that are not taken, since what had them before stays.
  private let refused: Set<FreedName.Taker>
  /// The base, ours, theirs.
  private var drafts: [Draft]

  var base: SourceElement { drafts[0].root }
  var ours: SourceElement { drafts[1].root }
  var theirs: SourceElement { drafts[2].root }

  /// A name that a side took from a part, by removing that, and gave to another one.
  struct FreedName {
    /// The part that has the name now.
    struct Taker: Hashable {
      /// The entity of a property.
      let entity: String?
      /// Its name in the base.
      let name: String
    }

    let name: String
    /// What the removed part is called in its place.
    let passing: String
    let taker: Taker
  }

  /// - Parameter refused: what a merge before this one found: the parts that had those names stayed.
  ///
  /// Cost: a look at each part, and for each that is renamed one at the whole documents.
  init(
    base: ModelDocument, ours: ModelDocument, theirs: ModelDocument, refused: Set<FreedName.Taker> = []
  ) {
    self.refused = refused
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

  /// The elements of each document.
  private func elements(_ scope: Scope) -> [[SourceElement]] {
    drafts.map { draft in
      switch scope {
      case .entities: draft.root.children("entity")
      case .properties(let entity):
        draft.root.place("entity", named: entity).map { Self.properties(of: draft.root[at: $0]) } ?? []
      }
    }
  }

  private static func properties(of entity: SourceElement) -> [SourceElement] {
    let kinds: Set<String> = ["attribute", "relationship", "fetchedProperty"]
    return entity.children.filter { kinds.contains($0.name) }
  }

  private func parts(_ scope: Scope) -> [Part] {
    let elements: [[SourceElement]] = elements(scope)
    let sides: [[String: SourceElement]] = elements.dropFirst().map {
      Self.counterparts(of: elements[0], in: $0)
    }
    return elements[0].compactMap { element in
      guard let name = element["name"] else { return nil }
      let found: [SourceElement?] = sides.map { side in
        side[name].flatMap { $0.name == element.name ? $0 : nil }
      }
      guard let new = found.compactMap(\.self).first(where: { $0["name"] != name }) else { return nil }
      return Part(
        kind: element.name, names: [name] + found.map { $0?["name"] }, new: new["name"] ?? "",
        identifier: new["elementID"])
    }
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
    // Two can't be the same part. Identifiers decide before names, as in a migration: something else may have
    // the former name now.
    let renamed: [String: String] = candidates.filter { $0.value.count == 1 }.mapValues { $0[0] }
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
    settleNames(scope)
    setAside(scope)
    let parts: [Part] = Self.withFreeNames(parts(scope), elements(scope))
    let before: [[SourceElement]] = elements(scope)
    for part in parts {
      tell(part, scope)
      tellReuse(of: part, parts, before, scope)
    }
    for document in drafts.indices {
      rename(
        parts.compactMap { part in part.names[document].map { Change(part.kind, $0, part.new) } }, scope,
        document)
      // In the base not of what a side removed: the removal would agree with what the other side has.
      for part in parts {
        if part.names.allSatisfy({ $0 != nil }) {
          update(part.new, part.kind, scope, document) { $0.set("elementID", part.identifier) }
        } else if document == 0 {
          update(part.new, part.kind, scope, document) { element in
            // The identifier of an earlier name stays, and the new name is a change all the same.
            if element["elementID"] == part.identifier { element.set("elementID", "renamed__") }
          }
        }
      }
    }
  }

  /// Gives what had the new name of a part, and is gone where that has it, one that nothing has.
  private mutating func setAside(_ scope: Scope) {
    let parts: [Part] = parts(scope)
    for part in parts where !parts.contains(where: { $0.names[0] == part.new }) {
      let named: [SourceElement?] = elements(scope).enumerated().map { document, elements in
        parts.contains { $0.names[document] == part.new }
          ? nil : elements.first { $0["name"] == part.new }
      }
      let kinds: Set<String> = Set(named.compactMap { $0?.name })
      guard named[0] != nil, kinds.count == 1, let kind = kinds.first, let old = part.names[0] else {
        continue
      }
      let passing: String = "\(part.new)__freed\(freedNames.count)__"
      for document in named.indices where named[document] != nil {
        rename([Change(kind, part.new, passing)], scope, document)
      }
      freedNames.append(
        FreedName(
          name: part.new, passing: passing, taker: FreedName.Taker(entity: Self.entity(scope), name: old)))
    }
  }

  private static func entity(_ scope: Scope) -> String? {
    if case .properties(let entity) = scope { entity } else { nil }
  }

  /// A new name for an element.
  private struct Change {
    let kind: String
    let old: String
    let new: String

    init(_ kind: String, _ old: String, _ new: String) { (self.kind, self.old, self.new) = (kind, old, new) }
  }

  private mutating func rename(_ changes: [Change], _ scope: Scope, _ document: Int) {
    // Names may change in a circle, so that each part gets first one that nothing has.
    let passing: [Change] = changes.enumerated().map { Change($1.kind, $1.old, "renamed__\($0)__") }
    let last: [Change] = zip(passing, changes).map { Change($0.kind, $0.new, $1.new) }
    for change in passing + last {
      switch scope {
      case .entities: drafts[document].renameReferences(toEntity: change.old, to: change.new)
      case .properties(let entity):
        drafts[document].renameReferences(change.old, ofEntity: entity, to: change.new) { _ in }
      }
      update(change.old, change.kind, scope, document) { $0.set("name", change.new) }
    }
  }

  private mutating func update(
    _ name: String, _ kind: String, _ scope: Scope, _ document: Int, _ change: (inout SourceElement) -> Void
  ) {
    switch scope {
    case .entities:
      if let place = drafts[document].root.place("entity", named: name) {
        change(&drafts[document].root[at: place])
      }
    case .properties(let entity):
      if let place = drafts[document].root.place("entity", named: entity),
        let inner = drafts[document].root[at: place].place(kind, named: name)
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
    let label: String = Self.label(ours, scope)
    conflicts.append(
      ModelMerge.Conflict(
        part: label,
        reason:
          "both renamed this: it was \"\(old)\", ours is \"\(ours)\", theirs \"\(theirs)\": ours stays; to take "
          + "theirs, rename it with `clarus model set MODEL \(label) --rename \(theirs)`"))
  }

  /// A former name that the side with the new one has given to something new, where the other side changed or
  /// removed what had it: that side may mean the one or the other.
  private mutating func tellReuse(
    of part: Part, _ parts: [Part], _ elements: [[SourceElement]], _ scope: Scope
  ) {
    guard let old = part.names[0], let base = elements[0].first(where: { $0["name"] == old }) else { return }
    for (side, other) in [(1, 2), (2, 1)] {
      guard let new = part.names[side], new != old, elements[side].contains(where: { $0["name"] == old }),
        !parts.contains(where: { $0.names[side] == old }),
        elements[other].first(where: { $0["name"] == old }) != base
      else { continue }
      let (here, there): (String, String) = side == 1 ? ("ours", "theirs") : ("theirs", "ours")
      conflicts.append(
        ModelMerge.Conflict(
          part: Self.label(new, scope),
          reason:
            "\(here) gave \"\(old)\" the name \"\(new)\", and its name to something new: what \(there) did to \"\(old)\" is taken for "
            + "\"\(new)\"; to take it for the new one, make it anew"))
    }
  }

  private static func label(_ name: String, _ scope: Scope) -> String {
    switch scope {
    case .entities: name
    case .properties(let entity): "\(entity).\(name)"
    }
  }

  // MARK: Names that both sides give

  /// Changes names in theirs until no side gives a part a name that the other side gave to another one.
  ///
  ///     ours    Item, and a new entity Thing      ours    Thing (was Item)
  ///     theirs  Thing (was Item)                  theirs  Item, and a new entity Thing
  ///     then    Item                              then    Item, and a new entity Thing2
  private mutating func settleNames(_ scope: Scope) {
    // Each round takes a name from a part of theirs.
    for _ in 0..<elements(scope)[2].count {
      let (parts, elements) = (parts(scope), elements(scope))
      func has(_ document: Int, _ name: String) -> Bool { elements[document].contains { $0["name"] == name } }
      func isNew(_ name: String, _ document: Int) -> Bool {
        has(document, name) && !has(0, name) && !parts.contains { $0.names[document] == name }
      }
      if let part = parts.first(where: { part in
        part.names[2] == part.new
          && (part.names[1] == part.names[0]
            && (isNew(part.new, 1) || parts.contains { $0.names[1] == part.new && $0.new == part.new })
            || refused.contains(FreedName.Taker(entity: Self.entity(scope), name: part.names[0] ?? "")))
      }) {
        keepName(of: part, parts, elements, scope)
      } else if let part = parts.first(where: { $0.names[1] == $0.new && isNew($0.new, 2) }) {
        giveWay(part, elements, scope)
      } else {
        return
      }
    }
  }

  /// Takes the renaming of a part back in theirs, with those to a name that is no longer free then.
  private mutating func keepName(
    of part: Part, _ parts: [Part], _ elements: [[SourceElement]], _ scope: Scope
  ) {
    var kept: [Part] = [part]
    while let next = parts.first(where: { other in
      !kept.contains { $0.names[0] == other.names[0] } && kept.contains { $0.names[0] == other.names[2] }
    }) {
      kept.append(next)
    }
    let changes: [Change] = kept.compactMap { part in
      guard let old = part.names[0], let new = part.names[2] else { return nil }
      return Change(part.kind, new, old)
    }
    rename(changes, scope, 2)
    for change in changes {
      let before: SourceElement? = elements[0].first { $0["name"] == change.new && $0.name == change.kind }
      update(change.new, change.kind, scope, 2) { element in
        element.set("elementID", before?["elementID"])
        if EntitySettings.simpleClass(element) == change.old {
          element.set("representedClassName", before?["representedClassName"])
        }
      }
      let label: String = Self.label(change.new, scope)
      if kept.first(where: { $0.names[0] == change.new })?.names[1] == nil {
        conflicts.append(
          ModelMerge.Conflict(
            part: label,
            reason:
              "ours removed this, and theirs renamed it to \"\(change.old)\": it stays removed; to take theirs, copy it "
              + "from their file"))
        continue
      }
      conflicts.append(
        ModelMerge.Conflict(
          part: label,
          reason: "theirs renamed this to \"\(change.old)\", and "
            + (change.old == part.new ? "ours has another part of that name" : "that name is not free then")
            + ": it stays \"\(change.new)\" as in ours; to take theirs, give the other one another name, then "
            + "`clarus model set MODEL \(label) --rename \(change.old)`"))
    }
  }

  /// Gives what theirs added another name, since ours renamed a part to the one that it has.
  private mutating func giveWay(_ part: Part, _ elements: [[SourceElement]], _ scope: Scope) {
    guard let element = elements[2].first(where: { $0["name"] == part.new }) else { return }
    let entities: [SourceElement] = drafts.flatMap { $0.root.children("entity") }
    // Names of properties must be other than those of ancestors too.
    let taken: Set<String> =
      switch scope {
      case .entities: Set(entities.compactMap { $0["name"] })
      case .properties: Set(entities.flatMap(Self.properties).compactMap { $0["name"] })
      }
    guard let free = (2...taken.count + 2).map({ "\(part.new)\($0)" }).first(where: { !taken.contains($0) })
    else { return }
    rename([Change(element.name, part.new, free)], scope, 2)
    update(free, element.name, scope, 2) { element in
      if EntitySettings.simpleClass(element) == part.new { EntitySettings().setClass(free, of: &element) }
    }
    let label: String = Self.label(free, scope)
    conflicts.append(
      ModelMerge.Conflict(
        part: label,
        reason: "theirs added this as \"\(part.new)\", which is the name that ours gave to "
          + "\"\(part.names[0] ?? "")\": choose its name with `clarus model set MODEL \(label) --rename NAME`"
      ))
  }
}
