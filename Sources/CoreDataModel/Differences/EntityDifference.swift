import Foundation

/// An entity in both versions of a model, or in one of them.
public struct EntityDifference: Sendable {
  /// The entity in the source; nil for an added one.
  public let source: NSEntityDescription?

  /// The entity in the destination; nil for a removed one.
  public let destination: NSEntityDescription?

  /// The changes of the entity itself.
  public let changes: [ModelChange]

  /// The properties, inherited ones included: those of the destination in its order, then those that are only
  /// in the source. Empty for an entity that is in one version only.
  public let properties: [PropertyDifference]

  /// The name in the destination, or in the source if it is only there.
  public var name: String { (destination ?? source)?.name ?? "" }

  /// The changes of the entity, then those of its properties by name. What is inherited is left to the entity
  /// that declares it.
  public var allChanges: [ModelChange] {
    changes
      + properties.filter { !$0.isRepeated }.sorted { $0.name < $1.name }.flatMap(\.changes)
  }

  /// Whether stores of the source are unfit for the destination because of this entity.
  public var changesVersionHash: Bool {
    guard let source, let destination else { return true }
    return source.structureHash != destination.structureHash
  }
}

/// Compares an entity with its former version.
enum EntityComparison {
  static func changes(
    _ old: NSEntityDescription, _ new: NSEntityDescription, _ entities: EntityPairs
  ) -> [ModelChange] {
    var list = ChangeList(new.name ?? "")
    list.compare(
      old.name ?? "", new.name ?? "", isHashed: true, { .renamed(from: $0, to: $1) }, { "named '\($0)'" })
    list.compare(
      old.isAbstract, new.isAbstract, isHashed: true, { .abstract(from: $0, to: $1) },
      { $0 ? "abstract" : "not abstract" })
    let parent: NSEntityDescription? = new.superentity.flatMap { entities.source(of: $0) }
    // The same parent under a new name is no change of this entity, although it enters its hash.
    if new.superentity == nil ? old.superentity != nil : parent !== old.superentity || parent == nil {
      list.add(
        .parent(from: old.superentity?.name, to: new.superentity?.name), Self.parent(old), Self.parent(new),
        isHashed: true)
    }
    list.compare(
      old.uniquenessConstraintNames, new.uniquenessConstraintNames, isHashed: true,
      { .constraints(from: $0, to: $1) }, Self.constraints)
    list.compare(
      old.versionHashModifier, new.versionHashModifier, isHashed: true,
      { .hashModifier(from: $0, to: $1) }, Self.modifier)
    list.compare(
      old.managedObjectClassName ?? "", new.managedObjectClassName ?? "", isHashed: false,
      { .className(from: $0, to: $1) }, { "of the class \($0)" })
    compareIndexes(old, new, into: &list)
    list.compareUserInfo(old.userInfo, new.userInfo)
    return list.changes
  }

  static func modifier(_ modifier: String?) -> String {
    modifier.map { "of hash modifier '\($0)'" } ?? "without hash modifier"
  }

  private static func parent(_ entity: NSEntityDescription) -> String {
    entity.superentity?.name.map { "a sub-entity of \($0)" } ?? "without a parent"
  }

  private static func constraints(_ constraints: [[String]]) -> String {
    let texts: [String] = constraints.map { $0.joined(separator: " and ") }
    return texts.isEmpty ? "without constraints" : "unique by \(texts.sorted().joined(separator: ", "))"
  }

  private static func compareIndexes(
    _ old: NSEntityDescription, _ new: NSEntityDescription, into list: inout ChangeList
  ) {
    let (before, after): ([String: String], [String: String]) = (indexes(old), indexes(new))
    if before == after { return }
    let names: ([String], [String]) = (before.keys.sorted(), after.keys.sorted())
    let words: ([String: String]) -> String = { indexes in
      indexes.isEmpty
        ? "without indexes"
        : "indexed by \(indexes.sorted { $0.key < $1.key }.map(\.value).joined(separator: ", "))"
    }
    list.add(.indexes(from: names.0, to: names.1), words(before), words(after), isHashed: false)
  }

  /// All indexes in words, by name.
  private static func indexes(_ entity: NSEntityDescription) -> [String: String] {
    var result: [String: String] = [:]
    for index in entity.indexes { result[index.name] = "\(index.name) (\(index.contentInWords))" }
    // What was written before there were fetch indexes says nothing where one over the same columns stands
    // beside it.
    let columns: [[String]] = entity.indexes.filter { index in
      index.partialIndexPredicate == nil
        && index.elements.allSatisfy { $0.collationType == .binary && $0.expressionDescription == nil }
    }.map { $0.elements.compactMap(\.propertyName) }
    for names in entity.compoundIndexNames where !columns.contains(names) {
      let text: String = names.joined(separator: ", ")
      result["(\(text))"] = "(\(text))"
    }
    for property in entity.ownProperties where property.isIndexed && !columns.contains([property.name]) {
      result[".\(property.name)"] = "(\(property.name))"
    }
    return result
  }
}

extension NSFetchIndexDescription {
  /// Its columns and its condition: `price downwards, title where price > 0`.
  package var contentInWords: String {
    let columns: [String] = elements.map { element in
      let name: String =
        element.expressionDescription?.expression?.description ?? element.propertyName ?? ""
      let form: String = element.collationType == .rTree ? " in an R-tree" : ""
      return name + (element.isAscending ? "" : " downwards") + form
    }
    let filter: String = ModelComparison.text(partialIndexPredicate).map { " where \($0)" } ?? ""
    return columns.joined(separator: ", ") + filter
  }
}
