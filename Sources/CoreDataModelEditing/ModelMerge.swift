import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import Foundation

/// Two edits of one source, merged: entity by entity, property by property, attribute by attribute.
///
/// What one side changed is taken from that side. What both changed differently is a conflict: this side's
/// ("ours") stays, and the conflict is named. What one side renamed has its new name in what the other side
/// says of it (``MergeRenaming``). Nor is taken from theirs what the model could not be used with
/// (``MergeRepair``): if ours can be used, the result can. The text of the result is that of our side but for
/// what is taken from theirs.
///
///     base    <attribute name="title" attributeType="String"/>
///     ours    <attribute name="title" optional="YES" attributeType="String"/>
///     theirs  <attribute name="title" attributeType="String" defaultValueString="New"/>
///     merged  <attribute name="title" optional="YES" attributeType="String" defaultValueString="New"/>
package struct ModelMerge {
  /// Something that both sides changed, or that does not go together.
  package struct Conflict: CustomStringConvertible, Sendable, Equatable {
    /// Such as `Item.title`; empty for the model.
    package let part: String
    package let reason: String

    package var description: String { part.isEmpty ? reason : "\(part): \(reason)" }

    /// With the names that parts have, where they were merged under others.
    func naming(_ freed: [MergeRenaming.FreedName]) -> Conflict {
      func named(_ text: String, _ addition: String) -> String {
        freed.reduce(text) { $0.replacing($1.passing, with: $1.name + addition) }
      }
      return Conflict(part: named(part, " (of the base)"), reason: named(reason, ""))
    }
  }

  private var conflicts: [Conflict] = []
  private let style: SourceStyle
  /// Without a base nothing tells what a side added and what the other one removed.
  private let hasBase: Bool
  /// Whether the base is ours' version before: what theirs lacks of it may be what ours added to that one.
  private let hasOurBase: Bool

  /// Merges what two sides made of a base; without one both sides are new, and everything that differs, or
  /// that one side has alone, is a conflict.
  ///
  /// - Parameter isOurBase: whether the base is not what both sides began with, but ours' copy of it, which
  ///   ours may have changed. Then theirs removes nothing without a conflict.
  ///
  /// Cost: linear in the three, and the reading of all of them for what does not go together.
  package static func merge(
    base: ModelDocument?, isOurBase: Bool = false, ours: ModelDocument, theirs: ModelDocument
  ) -> (
    document: ModelDocument, conflicts: [Conflict]
  ) {
    guard let base else {
      var merge = ModelMerge(style: ours.style, hasBase: false, hasOurBase: false)
      let result: ModelDocument = merge.whole(nil, ours, theirs, before: ours, theirsBefore: theirs)
      return (result, merge.conflicts)
    }
    // A name that theirs freed is not free where the merge keeps what had it. Each round refuses another one.
    var refused: Set<MergeRenaming.FreedName.Taker> = []
    while true {
      let renaming = MergeRenaming(base: base, ours: ours, theirs: theirs, refused: refused)
      var (own, other): (ModelDocument, ModelDocument) = (ours, theirs)
      (own.root, other.root) = (renaming.ours, renaming.theirs)
      var merge = ModelMerge(style: ours.style, hasBase: true, hasOurBase: isOurBase)
      merge.conflicts = renaming.conflicts
      let result: ModelDocument = merge.whole(
        renaming.base, own, other, before: ours, theirsBefore: theirs)
      let kept: Set<MergeRenaming.FreedName.Taker> = Set(
        renaming.freedNames.filter { freed in Self.names(freed.passing, in: result.root) }.map(\.taker))
      if kept.isEmpty { return (result, merge.conflicts.map { $0.naming(renaming.freedNames) }) }
      if kept.isSubset(of: refused) {
        let names: String = kept.map(\.name).sorted().joined(separator: ", ")
        let conflict = Conflict(
          part: "",
          reason:
            "new names don't go together (\(names)): the whole model is ours; to take theirs, make their changes anew"
        )
        return (ours, [conflict])
      }
      refused.formUnion(kept)
    }
  }

  private mutating func whole(
    _ base: SourceElement?, _ ours: ModelDocument, _ theirs: ModelDocument, before: ModelDocument,
    theirsBefore: ModelDocument
  ) -> ModelDocument {
    var result: ModelDocument = ours
    result.root = merged(base, ours.root, theirs.root, [], depth: 0)
    var repair = MergeRepair(ours: ours, theirs: theirs, before: before, theirsBefore: theirsBefore)
    repair.run(&result)
    conflicts += repair.conflicts
    removeStrayLayout(&result.root)
    return result
  }

  /// Whether an entity or a part of one has a name.
  private static func names(_ name: String, in root: SourceElement) -> Bool {
    root.children("entity").contains { entity in
      entity["name"] == name || entity.children.contains { $0["name"] == name }
    }
  }

  private init(style: SourceStyle, hasBase: Bool, hasOurBase: Bool) {
    (self.style, self.hasBase, self.hasOurBase) = (style, hasBase, hasOurBase)
  }

  // MARK: Which element is which

  /// What tells an element among its siblings.
  struct Key: Hashable {
    var kind: String
    var name: String
    /// Of several with the same name.
    var number: Int
  }

  private static func keys(of element: SourceElement) -> [(key: Key, place: Int)] {
    var counts: [Key: Int] = [:]
    return element.content.indices.compactMap { place in
      guard let child = element.content[place].element else { return nil }
      var key = Key(kind: child.name, name: name(of: child), number: 0)
      key.number = counts[key, default: 0]
      counts[Key(kind: key.kind, name: key.name, number: 0), default: 0] += 1
      return (key, place)
    }
  }

  private static func name(of element: SourceElement) -> String {
    switch element.name {
    case "entry": element["key"] ?? ""
    case "constraint", "index": element["value"] ?? ""
    case "uniquenessConstraint", "compoundIndex":
      element.children.map { $0["value"] ?? "" }.joined(separator: ", ")
    case "fetchIndexElement": element["property"] ?? element["expression"] ?? ""
    default: element["name"] ?? ""
    }
  }

  /// These are merged as a whole: their children have a meaning together.
  private static let wholes: Set<String> = ["fetchIndex", "uniquenessConstraint", "compoundIndex"]
  /// The diagram, which says nothing about data: our side prevails where both changed it.
  private static let layout: Set<String> = ["elements", "element"]

  // MARK: Elements

  private mutating func merged(
    _ base: SourceElement?, _ ours: SourceElement, _ theirs: SourceElement, _ path: [String], depth: Int
  ) -> SourceElement {
    if ours == theirs || base == theirs { return ours }
    // Which places in the diagram stay is known when all entities are merged.
    if base == ours, ours.name != "elements" { return theirs }
    var result: SourceElement = ours
    mergeAttributes(base, &result, theirs, path)
    mergeChildren(base, &result, theirs, path, depth: depth)
    return result
  }

  private mutating func mergeAttributes(
    _ base: SourceElement?, _ result: inout SourceElement, _ theirs: SourceElement, _ path: [String]
  ) {
    let ours: SourceElement = result
    var names: [String] = []
    for name in (ours.attributes + theirs.attributes + (base?.attributes ?? [])).map(\.name)
    where !names.contains(name) {
      names.append(name)
    }
    let apart: TypeChange? = base.flatMap { TypeChange($0, ours, theirs) }
    for name in names {
      let (before, own, other) = (base?[name], ours[name], theirs[name])
      if Self.isSame(own, other) || (base != nil && Self.isSame(before, other)) { continue }
      let changed: String
      if base != nil, Self.isSame(before, own) {
        guard let apart, let reason = apart.reason(against: name) else {
          result.set(name, other)
          continue
        }
        changed = reason
      } else {
        changed = "both changed \(name)"
      }
      if Self.layout.contains(ours.name) { continue }
      if ours.name == "model", Self.editorsOwn.contains(name) {
        // The versions of the editor that saved last: the later one knows the file.
        if let own, let other, own.compare(other, options: .numeric) == .orderedAscending {
          result.set(name, other)
        }
        continue
      }
      conflicts.append(
        Conflict(
          part: path.joined(separator: "."),
          reason: "\(changed): " + (base == nil ? "" : "it was \(Self.quoted(before, name)), ")
            + "ours is \(Self.quoted(own, name)), theirs \(Self.quoted(other, name)): ours stays; to take theirs, "
            + (other.map { "write \(name)=\"\(ModelSourceSchema.escaped($0))\"" } ?? "take \(name) out")))
    }
  }

  /// Two sides of an attribute that give it different types: what depends on the type stays with it.
  private struct TypeChange {
    /// What has a meaning for the type alone.
    private static let bound: Set<String> = [
      "attributeType", "usesScalarValueType", "defaultValueString", "minValueString", "maxValueString",
      "regularExpressionString", "defaultDateTimeInterval", "minDateTimeInterval", "maxDateTimeInterval",
      "valueTransformerName", "customClassName", "allowsExternalBinaryDataStorage", "composite",
      "derived", "derivationExpression",
    ]

    private let own: String?
    private let other: String?

    /// Nil where the type is the same, or theirs has changed it and ours nothing of this.
    init?(_ base: SourceElement, _ ours: SourceElement, _ theirs: SourceElement) {
      (own, other) = (ours["attributeType"], theirs["attributeType"])
      guard ours.name == "attribute", own != other else { return nil }
      if Self.bound.allSatisfy({ ModelMerge.isSame(base[$0], ours[$0]) }) { return nil }
    }

    /// Why a value is not taken that only theirs has changed; nil if it may be.
    func reason(against name: String) -> String? {
      guard Self.bound.contains(name) else { return nil }
      if name == "attributeType" { return "theirs changed the type, and ours what depends on it" }
      return
        "\(name) depends on the type, which is \(ModelMerge.quoted(own, "")) in ours, \(ModelMerge.quoted(other, "")) in theirs"
    }
  }

  private static let editorsOwn: Set<String> = ["lastSavedToolsVersion", "systemVersion"]

  private static func isSame(_ left: String?, _ right: String?) -> Bool {
    switch (left, right) {
    case (nil, nil): true
    case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  private static func quoted(_ value: String?, _ name: String) -> String {
    value.map { "\"\(SecondsText.told($0, name))\"" } ?? "not set"
  }

  // MARK: Children

  private mutating func mergeChildren(
    _ base: SourceElement?, _ result: inout SourceElement, _ theirs: SourceElement, _ path: [String],
    depth: Int
  ) {
    func table(_ element: SourceElement?) -> [Key: SourceElement] {
      guard let element else { return [:] }
      return Dictionary(uniqueKeysWithValues: Self.keys(of: element).map { ($0.key, element[at: $0.place]) })
    }
    let (before, other) = (table(base), table(theirs))
    var ourKeys: Set<Key> = []

    // From the last one, so that places stay.
    for (key, place) in Self.keys(of: result).reversed() {
      ourKeys.insert(key)
      let mine: SourceElement = result[at: place]
      let part: [String] = Self.part(path, mine)
      if let match = other[key] {
        result[at: place] = mergedChild(before[key], mine, match, part, depth: depth + 1)
      } else if !hasBase {
        noteLone(mine, part, "ours", "it stays; remove it to take theirs")
      } else if let old = before[key] {
        // They removed it; of places in the diagram those without an entity go later.
        if mine.name == "element" { continue }
        if hasOurBase, !Self.layout.contains(mine.name) {
          conflicts.append(
            Conflict(
              part: part.joined(separator: "."),
              reason:
                "theirs lacks this \(Self.label(mine)), which ours and the version before have: it stays; remove it to "
                + "take theirs"))
        } else if old == mine || Self.layout.contains(mine.name) {
          result.remove(at: place)
        } else {
          conflicts.append(
            Conflict(
              part: Self.place(part, mine),
              reason: "theirs removed this, and ours changed it: ours stays; remove it to take theirs"))
        }
      }
    }
    // What only they have, in their order.
    var previous: Key?
    for (key, place) in Self.keys(of: theirs) {
      defer { previous = key }
      if ourKeys.contains(key) { continue }
      let element: SourceElement = theirs[at: place]
      if let old = before[key] {
        // We removed it.
        if old != element, !Self.layout.contains(element.name) {
          conflicts.append(
            Conflict(
              part: Self.place(Self.part(path, element), element),
              reason:
                "ours removed this, and theirs changed it: it stays removed; to take theirs, copy it from "
                + "their file"))
        }
        continue
      }
      if !hasBase {
        noteLone(
          element, Self.part(path, element), "theirs", "it is added; remove it if ours took it out on purpose"
        )
      }
      let ordered: Bool = ["fetchIndexElement", "constraint", "index"].contains(element.name)
      let after: Int? =
        ordered
        ? previous.flatMap { previous in Self.keys(of: result).first { $0.key == previous }?.place } : nil
      if ordered, let after {
        result.insert(element, after: after, style, depth: depth + 1)
      } else {
        result.insert(element, style, depth: depth + 1)
      }
      ourKeys.insert(key)
    }
  }

  private mutating func noteLone(_ element: SourceElement, _ part: [String], _ side: String, _ result: String)
  {
    if Self.layout.contains(element.name) { return }
    conflicts.append(
      Conflict(
        part: part.joined(separator: "."),
        reason:
          "\(side) alone has this \(Self.label(element)), and there is no version that both began with: \(result)"
      ))
  }

  private mutating func mergedChild(
    _ base: SourceElement?, _ ours: SourceElement, _ theirs: SourceElement, _ part: [String], depth: Int
  ) -> SourceElement {
    guard Self.wholes.contains(ours.name), ours != theirs, base != ours, base != theirs else {
      return merged(base, ours, theirs, part, depth: depth)
    }
    if Self.meaning(ours) != Self.meaning(theirs) {
      conflicts.append(
        Conflict(
          part: part.joined(separator: "."),
          reason: "both \(base == nil ? "added" : "changed") this \(Self.label(ours)): "
            + "ours is \(Self.meaning(ours)), theirs \(Self.meaning(theirs)): ours stays; to take theirs, copy it "
            + "from their file"))
    }
    return ours
  }

  /// An index or a constraint in words.
  private static func meaning(_ element: SourceElement) -> String {
    let parts: [String] = element.children.map { child in
      name(of: child) + (child["order"] == "descending" ? " descending" : "")
        + (child["type"] == "RTree" ? " R-tree" : "")
    }
    let condition: String = element["partialIndexPredicate"].map { " where \($0)" } ?? ""
    return "(\(parts.joined(separator: ", ")))\(condition)"
  }

  private static func label(_ element: SourceElement) -> String {
    switch element.name {
    case "fetchIndex": "fetch index"
    case "uniquenessConstraint": "constraint"
    case "compoundIndex": "compound index"
    default: element.name
    }
  }

  /// The name of an element after that of the elements it is in.
  private static func part(_ path: [String], _ element: SourceElement) -> [String] {
    let name: String = name(of: element)
    switch element.name {
    case "entity", "attribute", "relationship", "fetchedProperty": return path + [name]
    case "fetchIndex", "fetchRequest", "configuration", "composite", "uniquenessConstraint", "compoundIndex":
      return path + ["\(label(element)) '\(name)'"]
    case "entry": return path + ["user info '\(name)'"]
    case "memberEntity": return path + [name]
    default: return path
    }
  }

  /// A part with the name of the list that is meant, since lists have none of their own.
  private static func place(_ part: [String], _ element: SourceElement) -> String {
    let lists: [String: String] = [
      "uniquenessConstraints": "constraints", "compoundIndexes": "compound indexes", "userInfo": "user info",
    ]
    return (part + [lists[element.name]].compactMap(\.self)).joined(separator: ".")
  }

  // MARK: The whole

  /// Places in the diagram of entities that are gone.
  private func removeStrayLayout(_ root: inout SourceElement) {
    guard let place = root.place("elements") else { return }
    let entities: Set<String> = Set(root.children.compactMap { $0["name"] })
    // A removal takes the line break before the element too, so that places are looked for anew.
    while let inner = root[at: place].content.firstIndex(where: { node in
      guard let element = node.element, element.name == "element", let name = element["name"] else {
        return false
      }
      return !entities.contains(name)
    }) {
      root[at: place].remove(at: inner)
    }
  }
}
