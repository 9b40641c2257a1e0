import CoreDataEvaluation
import CoreDataPredicates

/// Rejects key paths that name no stored property, even if there is no row to evaluate.
package struct KeyPathCheck {
  let layout: ModelLayout
  let entity: EntityLayout

  package init(layout: ModelLayout, entity: EntityLayout) {
    self.layout = layout
    self.entity = entity
  }

  /// Whether the path crosses a to-many relationship. Throws `StoreError` for a path that can't be read from
  /// a store.
  @discardableResult
  package func check(_ path: String) throws -> Bool {
    var entity: EntityLayout = self.entity
    var isCollection = false
    var components: [Substring] = path.split(separator: ".", omittingEmptySubsequences: false)
    var place: Int = -1
    while place + 1 < components.count {
      place += 1
      joinElements(&components, at: place, of: entity)
      let name: String = String(components[place])
      if name.hasPrefix("@") {
        guard isCollection else {
          throw StoreError.invalid(
            part: path, reason: "\(name) needs a to-many relationship before it",
            advice: "Write relationship.\(name).")
        }
        continue
      }
      // A key of a sub-entity is usually read after a test of the class; for a row without it the evaluation
      // throws.
      let family: LazySequence<ClosedRange<Int>> = entity.family.lazy
      guard let slot = family.compactMap({ layout.entities[$0].slot(named: name) }).first else {
        if name == "self" || name == "SELF" || name == "objectID" { continue }
        // `entity` is the entity's description; what follows is a key of the description.
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
        guard place + 1 < components.count else { return isCollection }
        throw StoreError.unknownKeyPath(
          path, entity: self.entity.name,
          advice:
            "\(entity.name).\(name) is a composite attribute without an element \"\(components[place + 1])\". "
            + NearestNames.advice(
              for: String(components[place + 1]), among: slot.elements.map { entity.slots[$0].property.name })
        )
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

  /// Joins the elements of a composite attribute with it into one step.
  private func joinElements(_ components: inout [Substring], at place: Int, of entity: EntityLayout) {
    let rest: [String] = components[place...].map(String.init)
    for member in entity.family.lazy.map({ layout.entities[$0] }) {
      let joined: [String] = member.joinElements(rest)
      guard joined.count < rest.count else { continue }
      components.replaceSubrange(place..., with: joined.map { Substring($0) })
      return
    }
  }

  /// Checks the keys after an attribute, such as `length`.
  private func checkScalarKeys(
    _ keys: ArraySlice<Substring>, of column: ColumnKind, _ path: String, _ attribute: String
  ) throws {
    guard var kind = column.scalarKind else { return }
    for key in keys {
      // An operator over the values of a relationship's members.
      if key.hasPrefix("@") { return }
      guard let next = ScalarKeys.kind(ofKey: String(key), of: kind) else {
        throw StoreError.unknownKeyPath(
          path, entity: entity.name, advice: "\(attribute) is an attribute without a key \"\(key)\".")
      }
      kind = next
    }
  }
}
