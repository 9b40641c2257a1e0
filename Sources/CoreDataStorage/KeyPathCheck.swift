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
          throw StoreError.unsupported(
            part: path, reason: "\(name) needs a to-many relationship before it",
            advice: "Write relationship.\(name).")
        }
        continue
      }
      guard let slot = entity.slot(named: name) else {
        throw StoreError.unknownKeyPath(
          path, entity: self.entity.name,
          advice: "\(entity.name) has no property \"\(name)\". "
            + NearestNames.advice(for: name, among: entity.slotByName.keys))
      }
      switch slot.role {
      case .transient, .fetched, .composite:
        throw StoreError.unsupported(
          part: path, reason: "\(entity.name).\(name) is not stored",
          advice: "Fetch without it and filter the objects in memory.")
      case .toMany: isCollection = true
      case .stored: break
      }
      if let destination = slot.destination {
        entity = layout.entities[destination]
      } else if place < components.count - 1, !components[place + 1].hasPrefix("@") {
        throw StoreError.unknownKeyPath(
          path, entity: self.entity.name,
          advice: "\(entity.name).\(name) is an attribute, so the path ends there.")
      }
    }
    return isCollection
  }
}
