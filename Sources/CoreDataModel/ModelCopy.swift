import Foundation

/// Copies a cyclic graph of descriptions as a whole: first every entity with its own properties, then the
/// references between the copies. References to entities outside the graph are kept by name.
enum ModelCopy {
  static func copyGraph(_ entities: [NSEntityDescription], into model: NSManagedObjectModel) {
    var copies: [ObjectIdentifier: NSEntityDescription] = [:]
    for entity in entities {
      copies[ObjectIdentifier(entity)] = (entity.copy() as! NSEntityDescription)
    }
    for entity in entities {
      guard let copy = copies[ObjectIdentifier(entity)] else { continue }
      copy.storedSubentities = entity.storedSubentities.compactMap { copies[ObjectIdentifier($0)] }
      for child in copy.storedSubentities { child.superentity = copy }
      for (property, twin) in zip(entity.ownProperties, copy.ownProperties) {
        redirect(property, twin: twin, to: copies)
      }
    }
    model.entities = entities.compactMap { copies[ObjectIdentifier($0)] }
  }

  private static func redirect(
    _ property: NSPropertyDescription, twin: NSPropertyDescription,
    to copies: [ObjectIdentifier: NSEntityDescription]
  ) {
    if let relationship = property as? NSRelationshipDescription,
      let twin = twin as? NSRelationshipDescription
    {
      let destinationName = relationship.destinationEntityName
      twin.destinationEntity = relationship.destinationEntity.flatMap { copies[ObjectIdentifier($0)] }
      if twin.destinationEntity == nil { twin.unresolvedDestinationName = destinationName }

      let inverseName = relationship.inverseRelationshipName
      twin.inverseRelationship = relationship.inverseRelationship.flatMap { inverse in
        guard let owner = inverse.declaringEntity, let ownerCopy = copies[ObjectIdentifier(owner)],
          let position = owner.ownProperties.firstIndex(where: { $0 === inverse })
        else { return nil }
        return ownerCopy.ownProperties[position] as? NSRelationshipDescription
      }
      if twin.inverseRelationship == nil { twin.unresolvedInverseName = inverseName }
    } else if let twin = twin as? NSFetchedPropertyDescription, let request = twin.fetchRequest {
      redirect(request, to: copies)
    }
  }

  private static func redirect(
    _ request: NSFetchRequest<any NSFetchRequestResult>, to copies: [ObjectIdentifier: NSEntityDescription]
  ) {
    guard let entity = request.entity else { return }
    request.storedEntityName = entity.name
    request.entity = copies[ObjectIdentifier(entity)]
  }

  static func copyTemplates(of model: NSManagedObjectModel, into other: NSManagedObjectModel) {
    let byName = other.entitiesByName
    for (name, template) in model.templates {
      let copy = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
      copy.storedEntityName = template.entityName
      copy.entity = template.entityName.flatMap { byName[$0] }
      other.templates[name] = copy
    }
  }
}
