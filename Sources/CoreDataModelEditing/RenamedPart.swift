import CoreDataModel
import Foundation

/// A part of a draft that has a new name: the renaming identifier that it gets, and a hash modifier where
/// the version would have the hashes of the one before.
///
/// The identifier is the name that the part had, unless it has one already. Where a migration from the
/// version before would then give some part other values than without the renaming, it is one with which it
/// doesn't, if there is one.
struct RenamedPart {
  let part: FormerName.Part
  /// The entity itself by its former name, or that of the property.
  let entity: String
  let old: String
  let new: String
  /// The version before.
  let version: FormerName.Version?

  private var label: String { part == .entity ? new : "\(entity).\(new)" }

  /// Completes the draft, in which the part has its new name and the identifier that it had.
  ///
  /// Cost: reads the model for each identifier that is tried.
  ///
  /// - Parameter before: the document without the new name.
  /// - Returns: what to tell, a sentence each.
  func complete(_ draft: inout Draft, before: ModelDocument) -> [String] {
    let earlier: String? = identifier(of: draft)
    set(earlier ?? old, in: &draft)
    guard let former = model(before) else { return [] }
    var remarks: [String] = []
    if let version, let remark = choose(&draft, earlier, former, version) { remarks.append(remark) }
    if let remark = markExchange(&draft, former) { remarks.append(remark) }
    return remarks
  }

  // MARK: The identifier

  private func choose(
    _ draft: inout Draft, _ earlier: String?, _ former: NSManagedObjectModel, _ version: FormerName.Version
  ) -> String? {
    let expected: [String: String] = renamed(Self.sources(from: version.model, to: former), former)
    func wrong(_ draft: Draft) -> (part: String, found: String?, wanted: String)? {
      guard let changed = model(draft) else { return nil }
      let found: [String: String] = Self.sources(from: version.model, to: changed)
      return expected.sorted { $0.key < $1.key }.first { found[$0.key] != $0.value }
        .map { ($0.key, found[$0.key], $0.value) }
    }
    guard let first = wrong(draft) else { return nil }
    let inVersion: String? = expected[label]?.split(separator: ".").last.map(String.init)
    for candidate in [old, inVersion, new] where candidate != nil {
      var trial: Draft = draft
      set(candidate ?? new, in: &trial)
      if wrong(trial) == nil {
        draft = trial
        return nil
      }
    }
    return "A migration from version '\(version.name)' will give \(first.part) "
      + (first.found.map { "the values of \($0), not" } ?? "no values, and not")
      + " those of \(first.wanted): the names and renaming identifiers of that version leave no other choice. Rename "
      + "\(label) to a name that no version has had."
  }

  /// What a migration takes the objects of each entity and the values of each property from.
  private static func sources(from old: NSManagedObjectModel, to new: NSManagedObjectModel)
    -> [String: String]
  {
    var found: [String: String] = [:]
    for entity in ModelDifference(from: old, to: new).entities {
      guard let source = entity.source?.name, let destination = entity.destination?.name else { continue }
      found[destination] = source
      for property in entity.properties {
        guard let former = property.source?.name, let name = property.destination?.name else { continue }
        found["\(destination).\(name)"] = "\(source).\(former)"
      }
    }
    return found
  }

  /// The same by the new name.
  private func renamed(_ sources: [String: String], _ model: NSManagedObjectModel) -> [String: String] {
    let owner: NSEntityDescription? = model.entitiesByName[entity]
    let pairs: [(String, String)] = sources.map { key, source in
      let names: [Substring] = key.split(separator: ".", maxSplits: 1)
      let name = String(names[0])
      if part == .entity {
        return (name == entity ? "\(new)\(key.dropFirst(name.count))" : key, source)
      }
      guard names.count == 2, names[1] == old, let owner, let heir = model.entitiesByName[name],
        heir.isKindOf(entity: owner)
      else { return (key, source) }
      return ("\(name).\(new)", source)
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  // MARK: Exchanged names

  /// Two parts that exchange their names and are alike have the version hashes of before: nothing would be
  /// migrated.
  private func markExchange(_ draft: inout Draft, _ former: NSManagedObjectModel) -> String? {
    guard let changed = model(draft) else { return nil }
    let known: [RenamingExchange] = RenamingExchange.all(in: former)
    let exchange: RenamingExchange? = RenamingExchange.all(in: changed).first { exchange in
      exchange.names.contains(new) && exchange.path.isEmpty && !known.contains(exchange)
        && exchange.entity == (part == .entity ? nil : entity)
    }
    guard let exchange else { return nil }
    let modifier: String = "was \(identifier(of: draft) ?? old)"
    update(&draft) { $0.set("versionHashModifier", modifier) }
    return
      "\(exchange.subject) exchange their names, which no version hash would tell: \(label) has the hash modifier "
      + "'\(modifier)' now, so that stores are migrated."
  }

  // MARK: The draft

  private func model(_ document: ModelDocument) -> NSManagedObjectModel? {
    try? NSManagedObjectModel.load(source: document.data, file: document.file).model
  }

  private func model(_ draft: Draft) -> NSManagedObjectModel? {
    var text: String = ""
    draft.root.write(into: &text)
    return try? NSManagedObjectModel.load(source: Data(text.utf8), file: draft.file).model
  }

  private func identifier(of draft: Draft) -> String? {
    var draft: Draft = draft
    var found: String?
    update(&draft) { found = $0["elementID"] }
    return found.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func set(_ identifier: String, in draft: inout Draft) {
    update(&draft) { $0.set("elementID", identifier == new ? nil : identifier) }
  }

  private func update(_ draft: inout Draft, _ change: (inout SourceElement) -> Void) {
    guard let place = draft.root.place("entity", named: part == .entity ? new : entity) else { return }
    if part == .entity {
      change(&draft.root[at: place])
    } else if let inner = draft.root[at: place].place(part.rawValue, named: new) {
      change(&draft.root[at: place][at: inner])
    }
  }
}
