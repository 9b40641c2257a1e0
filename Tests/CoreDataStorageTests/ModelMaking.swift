import CoreDataModel
import Foundation

/// An entity in few words: attributes, then sub-entities.
struct ModelEntity {
  var name: String
  var attributes: [(String, NSAttributeType)]
  var children: [ModelEntity]

  init(_ name: String, _ attributes: [(String, NSAttributeType)] = [], children: [ModelEntity] = []) {
    self.name = name
    self.attributes = attributes
    self.children = children
  }

  func build(into all: inout [NSEntityDescription]) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = attributes.map { name, type in
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }
    all.append(entity)
    entity.subentities = children.map { $0.build(into: &all) }
    return entity
  }
}

func makeModel(_ entities: [ModelEntity], edit: ([String: NSEntityDescription]) -> Void = { _ in })
  -> NSManagedObjectModel
{
  var all: [NSEntityDescription] = []
  for entity in entities { _ = entity.build(into: &all) }
  edit(Dictionary(uniqueKeysWithValues: all.map { ($0.name ?? "", $0) }))
  let model = NSManagedObjectModel()
  model.entities = all
  return model
}

func addRelationship(
  _ name: String, from: NSEntityDescription, to: NSEntityDescription, toMany: Bool
) -> NSRelationshipDescription {
  let relationship = NSRelationshipDescription()
  relationship.name = name
  relationship.destinationEntity = to
  relationship.maxCount = toMany ? 0 : 1
  from.properties.append(relationship)
  return relationship
}
