import CoreDataPredicates

/// Refuses key paths that name no stored property, even when there is no row to stumble over.
struct KeyPathCheck {
  let layout: ModelLayout
  let entity: EntityLayout

  /// Whether the path crosses a to-many relationship. Throws `StoreError` for what can't be read from a store.
  @discardableResult
  func check(_ path: String) throws -> Bool {
    var entity: EntityLayout = self.entity
    var isCollection = false
    let components: [Substring] = path.split(separator: ".", omittingEmptySubsequences: false)
    for (place, component) in components.enumerated() {
      let name: String = component.hasPrefix("#") ? String(component.dropFirst()) : String(component)
      if name.lowercased() == "self" || name == "objectID" { continue }
      if name.hasPrefix("@") {
        guard isCollection else {
          throw StoreError.invalid(
            part: path, reason: "\(name) needs a to-many relationship before it",
            advice: "Write relationship.\(name).")
        }
        continue
      }
      // A key of a sub-entity is read behind a test of the class; a row without it throws when it is read all the same.
      let family: LazySequence<ClosedRange<Int>> = entity.family.lazy
      guard let slot = family.compactMap({ layout.entities[$0].slot(named: name) }).first else {
        // The description: what follows is a key of its own.
        if name == "entity" { return isCollection }
        throw StoreError.unknownKeyPath(
          path, entity: self.entity.name,
          advice: "\(entity.name) has no property \"\(name)\". "
            + NearestNames.advice(for: name, among: entity.slotByName.keys))
      }
      switch slot.role {
      case .transient, .fetched:
        throw StoreError.unsupported(
          part: path, reason: "\(entity.name).\(name) is not stored",
          advice: "Fetch through a context, which evaluates the condition over objects.")
      case .composite:
        throw StoreError.invalid(
          part: path, reason: "\(entity.name).\(name) is a composite attribute, which stores don't keep yet",
          advice: "Use plain attributes.")
      case .toMany: isCollection = true
      case .stored(let kind, _):
        guard slot.destination == nil else { break }
        try checkScalarKeys(components[(place + 1)...], of: kind, path, "\(entity.name).\(name)")
        return isCollection
      }
      if let destination = slot.destination { entity = layout.entities[destination] }
    }
    return isCollection
  }

  /// The keys behind an attribute, such as `length`.
  private func checkScalarKeys(
    _ keys: ArraySlice<Substring>, of column: ColumnKind, _ path: String, _ attribute: String
  ) throws {
    guard var kind = column.scalarKind else { return }
    for key in keys {
      // Of the values of a relationship's members.
      if key.hasPrefix("@") { return }
      guard let next = ScalarKeys.kind(ofKey: String(key), of: kind) else {
        throw StoreError.unknownKeyPath(
          path, entity: entity.name, advice: "\(attribute) is an attribute without a key \"\(key)\".")
      }
      kind = next
    }
  }
}
