import Foundation

/// Detects hierarchies whose traversal would never end or would overflow the stack.
enum HierarchyCheck {
  /// Apple advises against deep hierarchies; real ones have up to six levels.
  static let maximumDepth = 200

  /// What is wrong with the entity's ancestors, nil if nothing is. Costs at most ``maximumDepth`` steps.
  static func flaw(of entity: NSEntityDescription) -> String? {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(entity)]
    var current = entity.superentity
    while let ancestor = current {
      let name = entity.name ?? ""
      if ancestor === entity { return "entity '\(name)' is among its own ancestors" }
      // A cycle further up is reported for an entity that is part of it.
      guard seen.insert(ObjectIdentifier(ancestor)).inserted else { return nil }
      if seen.count > maximumDepth { return "entity '\(name)' has more than \(maximumDepth) ancestors" }
      current = ancestor.superentity
    }
    return nil
  }
}

/// Properties by name for code that looks up many while the model can still change.
struct PropertyTables {
  private var tables: [ObjectIdentifier: [String: NSPropertyDescription]] = [:]

  mutating func find(_ name: String, in entity: NSEntityDescription) -> NSPropertyDescription? {
    if let table = tables[ObjectIdentifier(entity)] { return table[name] }
    let table = entity.propertiesByName
    tables[ObjectIdentifier(entity)] = table
    return table[name]
  }
}
