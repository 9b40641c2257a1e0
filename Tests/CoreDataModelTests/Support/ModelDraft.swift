import CoreDataModel
import CoreDataPredicates
import Foundation

/// Models in a few words, for tests that compare versions.
struct ModelDraft {
  private(set) var entities: [NSEntityDescription] = []

  @discardableResult
  mutating func entity(
    _ name: String, was identifier: String? = nil, parent: String? = nil, isAbstract: Bool = false,
    _ properties: NSPropertyDescription...
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    if let identifier { entity.renamingIdentifier = identifier }
    entity.isAbstract = isAbstract
    entity.properties = properties
    if let parent { self[parent].subentities.append(entity) }
    entities.append(entity)
    return entity
  }

  subscript(name: String) -> NSEntityDescription { entities.first { $0.name == name }! }

  /// Two relationships that are each other's inverse.
  mutating func relate(
    _ owner: String, _ name: String, _ other: String, _ back: String, toMany: Bool = false,
    backToMany: Bool = true
  ) {
    let (there, home) = (Draft.to(name, toMany: toMany), Draft.to(back, toMany: backToMany))
    there.destinationEntity = self[other]
    home.destinationEntity = self[owner]
    there.inverseRelationship = home
    home.inverseRelationship = there
    self[owner].properties.append(there)
    self[other].properties.append(home)
  }

  var model: NSManagedObjectModel {
    let model = NSManagedObjectModel()
    model.entities = entities
    return model
  }

  static func make(_ build: (inout ModelDraft) -> Void) -> NSManagedObjectModel {
    var draft = ModelDraft()
    build(&draft)
    return draft.model
  }
}

/// Properties in a few words.
enum Draft {
  static func attribute(
    _ name: String, _ type: NSAttributeType = .stringAttributeType, was identifier: String? = nil,
    required: Bool = false, initially value: Any? = nil
  ) -> NSAttributeDescription {
    let made = NSAttributeDescription()
    made.name = name
    made.attributeType = type
    if let identifier { made.renamingIdentifier = identifier }
    made.isOptional = !required
    made.defaultValue = value
    return made
  }

  static func to(
    _ name: String, was identifier: String? = nil, toMany: Bool = false, required: Bool = false
  ) -> NSRelationshipDescription {
    let made = NSRelationshipDescription()
    made.name = name
    if let identifier { made.renamingIdentifier = identifier }
    made.maxCount = toMany ? 0 : 1
    made.isOptional = !required
    return made
  }

  static func composite(
    _ name: String, was identifier: String? = nil, _ elements: NSAttributeDescription...
  ) -> NSCompositeAttributeDescription {
    let made = NSCompositeAttributeDescription()
    made.name = name
    if let identifier { made.renamingIdentifier = identifier }
    made.elements = elements
    return made
  }

  static func derived(_ name: String, _ expression: String, _ type: NSAttributeType = .stringAttributeType)
    -> NSDerivedAttributeDescription
  {
    let made = NSDerivedAttributeDescription()
    made.name = name
    made.attributeType = type
    made.derivationExpression = CoreDataPredicates.NSExpression(format: expression)
    return made
  }
}
