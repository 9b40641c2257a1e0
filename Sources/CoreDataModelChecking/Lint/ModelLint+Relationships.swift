import CoreDataModel

extension ModelLint {
  mutating func check(_ relationship: NSRelationshipDescription, of entity: NSEntityDescription) {
    let name = relationship.name
    guard let destination = relationship.destinationEntity else {
      report(.destination, entity, name, "the relationship has no destination entity")
      return
    }
    if destination.model !== model {
      report(
        .destination, entity, name, "its destination '\(destination.name ?? "")' is not in the model; add it")
    }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      report(
        .countBounds, entity, name,
        "its minimum count \(relationship.minCount) is above its maximum count \(relationship.maxCount)")
    }
    if relationship.minCount < 0 { report(.countBounds, entity, name, "its minimum count is negative") }
    if relationship.isOrdered, !relationship.isToMany {
      report(
        .settingWithoutEffect, entity, name, "a to-one relationship has no order; the setting has no effect")
    }
    if relationship.deleteRule == .noActionDeleteRule {
      report(
        .noAction, entity, name,
        "with the delete rule No Action the other side keeps pointing at deleted objects; use Nullify")
    }
    checkRequired(relationship, of: entity, to: destination)
    guard let inverse = relationship.inverseRelationship else {
      report(
        .noInverse, entity, name, "it has no inverse; without one deletions leave dangling references")
      return
    }
    checkInverse(inverse, of: relationship, entity, destination)
    if inverse.inverseRelationship === relationship { checkDeletion(relationship, inverse, of: entity) }
  }

  private mutating func checkInverse(
    _ inverse: NSRelationshipDescription, of relationship: NSRelationshipDescription,
    _ entity: NSEntityDescription, _ destination: NSEntityDescription
  ) {
    let name = relationship.name
    if inverse.inverseRelationship !== relationship {
      let back = inverse.inverseRelationship.map { "'\($0.name)'" } ?? "nothing"
      report(
        .inverseMismatch, entity, name,
        "its inverse '\(inverse.name)' has \(back) as inverse instead of it; make the two agree")
    }
    if let owner = inverse.entity, !destination.isKindOf(entity: owner) {
      report(
        .inverseMismatch, entity, name,
        "its inverse '\(inverse.name)' belongs to '\(owner.name ?? "")', not to the destination '\(destination.name ?? "")'"
      )
    }
    if let back = inverse.destinationEntity, !entity.isKindOf(entity: back), !back.isKindOf(entity: entity) {
      report(
        .inverseMismatch, entity, name,
        "its inverse '\(inverse.name)' leads to '\(back.name ?? "")', not back here")
    }
  }

  /// Whether an object without a member of the relationship is refused in a save.
  private static func isRequired(_ relationship: NSRelationshipDescription) -> Bool {
    !MemberCounts(of: relationship).mayBeEmpty
  }

  private static func canHaveObjects(_ entity: NSEntityDescription) -> Bool {
    !entity.isAbstract || entity.storedSubentities.contains { canHaveObjects($0) }
  }

  private mutating func checkRequired(
    _ relationship: NSRelationshipDescription, of entity: NSEntityDescription,
    to destination: NSEntityDescription
  ) {
    guard Self.isRequired(relationship), !relationship.isTransient else { return }
    if !Self.canHaveObjects(destination) {
      report(
        .requiredUnsavable, entity, relationship.name,
        "it is required, and '\(destination.name ?? "")' is abstract without sub-entities, so no object of this "
          + "entity can be saved; make it optional, or the destination concrete")
    } else if !relationship.isToMany, entity.isKindOf(entity: destination),
      destination.storedSubentities.allSatisfy({ entity.isKindOf(entity: $0) }),
      destination === entity || destination.isAbstract
    {
      report(
        .requiredSelf, entity, relationship.name,
        "it is required and leads to the entity itself, so the first object can be saved only if it refers to "
          + "itself; make it optional")
    }
  }

  /// What a deletion does to the other side.
  private mutating func checkDeletion(
    _ relationship: NSRelationshipDescription, _ inverse: NSRelationshipDescription,
    of entity: NSEntityDescription
  ) {
    let other: String = "\(inverse.entity?.name ?? "").\(inverse.name)"
    let own: String = entity.name ?? ""
    switch relationship.deleteRule {
    case .nullifyDeleteRule:
      guard Self.isRequired(inverse), !inverse.isToMany else { return }
      report(
        .nullifiedRequired, entity, relationship.name,
        "deleting an object of \(own) sets \(other) to nil, which is required, so the save fails; use Cascade or "
          + "Deny, or make \(other) optional")
    case .denyDeleteRule:
      guard inverse.deleteRule == .denyDeleteRule, Self.isRequired(relationship), Self.isRequired(inverse)
      else { return }
      report(
        .denyBoth, entity, relationship.name,
        "it and \(other) are required and deny deletions, so neither side can ever be deleted; use Cascade for one"
      )
    case .cascadeDeleteRule:
      guard inverse.isToMany else { return }
      if relationship.isToMany {
        report(
          .cascadeShared, entity, relationship.name,
          "deleting one object of \(own) deletes objects that others of \(own) refer to as well; use Nullify")
      } else {
        let reach: String =
          inverse.deleteRule == .cascadeDeleteRule ? ", and with it all other objects in its \(other)" : ""
        report(
          .cascadeToOwner, entity, relationship.name,
          "deleting one object of \(own) deletes the object that it belongs to\(reach); use Nullify")
      }
    default: break
    }
  }
}
