import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A model as a value that a test can change.
struct ModelSketch {
  struct Attribute {
    var name: String
    var type: NSAttributeType = .stringAttributeType
    /// The name in the version before, if it differs.
    var was: String?
    var isOptional: Bool = true
    var standard: Any?
    var isExternal: Bool = false
    /// `relationship.@count` and the like.
    var derivation: String?
  }

  struct Relation {
    var name: String
    var to: String
    var isMany: Bool = false
    var isOrdered: Bool = false
    var inverse: String?
    var was: String?
    var isOptional: Bool = true
  }

  struct Entity {
    var name: String
    var was: String?
    var parent: String?
    var isAbstract: Bool = false
    var attributes: [Attribute] = []
    var relations: [Relation] = []
    var unique: [[String]] = []
    var indexed: [[String]] = []
    var boxes: [[String]] = []
  }

  var entities: [Entity]

  init(_ entities: Entity...) { self.entities = entities }

  subscript(entity: String) -> Entity {
    get { entities.first { $0.name == entity }! }
    set { entities[entities.firstIndex { $0.name == entity }!] = newValue }
  }

  /// A version of this one.
  func changed(_ change: (inout ModelSketch) -> Void) -> ModelSketch {
    var copy: ModelSketch = self
    for place in copy.entities.indices {
      copy.entities[place].was = nil
      for other in copy.entities[place].attributes.indices {
        copy.entities[place].attributes[other].was = nil
      }
      for other in copy.entities[place].relations.indices { copy.entities[place].relations[other].was = nil }
    }
    change(&copy)
    return copy
  }

  func layout() -> ModelLayout {
    var made: [String: NSEntityDescription] = [:]
    for sketch in entities {
      let entity = NSEntityDescription()
      entity.name = sketch.name
      entity.isAbstract = sketch.isAbstract
      if let was = sketch.was { entity.renamingIdentifier = was }
      made[sketch.name] = entity
    }
    var relations: [String: NSRelationshipDescription] = [:]
    for sketch in entities {
      let entity: NSEntityDescription = made[sketch.name]!
      entity.properties =
        sketch.attributes.map(Self.description)
        + sketch.relations.map { relation in
          let result = NSRelationshipDescription()
          result.name = relation.name
          result.destinationEntity = made[relation.to]
          result.maxCount = relation.isMany ? 0 : 1
          result.isOrdered = relation.isOrdered
          result.isOptional = relation.isOptional
          if let was = relation.was { result.renamingIdentifier = was }
          relations["\(sketch.name).\(relation.name)"] = result
          return result
        }
      entity.uniquenessConstraints = sketch.unique
    }
    for sketch in entities {
      for relation in sketch.relations {
        guard let inverse = relation.inverse else { continue }
        relations["\(sketch.name).\(relation.name)"]?.inverseRelationship =
          relations["\(relation.to).\(inverse)"]
      }
      if let parent = sketch.parent { made[parent]!.subentities.append(made[sketch.name]!) }
    }
    for sketch in entities {
      let entity: NSEntityDescription = made[sketch.name]!
      func index(_ names: [String], _ type: NSFetchIndexElementType) -> NSFetchIndexDescription {
        NSFetchIndexDescription(
          name: "by" + names.joined(separator: "And"),
          elements: names.map {
            NSFetchIndexElementDescription(property: entity.propertiesByName[$0]!, collationType: type)
          })
      }
      entity.indexes = sketch.indexed.map { index($0, .binary) } + sketch.boxes.map { index($0, .rTree) }
    }
    let model = NSManagedObjectModel()
    model.entities = entities.map { made[$0.name]! }
    return ModelLayout(model: model)
  }

  private static func description(_ sketch: Attribute) -> NSAttributeDescription {
    let result: NSAttributeDescription
    if let derivation = sketch.derivation {
      let derived = NSDerivedAttributeDescription()
      derived.derivationExpression = NSExpression(format: derivation)
      result = derived
    } else {
      result = NSAttributeDescription()
    }
    result.name = sketch.name
    result.attributeType = sketch.type
    result.isOptional = sketch.isOptional
    result.defaultValue = sketch.standard
    result.allowsExternalBinaryDataStorage = sketch.isExternal
    if let was = sketch.was { result.renamingIdentifier = was }
    return result
  }
}
