import CoreDataPredicates
import Foundation

/// How descriptions are archived on their own: as a model, and the names that find them in it.
///
/// A description refers to others, and these to more, in cycles. So an archive of any of them contains the
/// whole model, as Apple's do, in the one form that models have. Descriptions of one model that are encoded
/// by one archiver share its model, there and after decoding, where each takes the place of its twin.
/// Foundation's archiver on Linux takes objects that are equal for one: of equal properties of two entities
/// that it archives together the second one comes back as the first.
enum DescriptionCoding {
  private static let modelKey = "model"
  private static let entityKey = "entity"
  private static let nameKey = "name"
  private static let isAloneKey = "isAlone"

  /// The entity that contains a property or an index that belongs to none.
  private static let holder = "Description"

  // MARK: Encoding

  static func encode(_ entity: NSEntityDescription, with coder: NSCoder) {
    guard let name = entity.name, !name.isEmpty else {
      coder.report(error("An entity without a name can't be archived: set its name."))
      return
    }
    coder.encode(entity.model ?? model(of: [entity]), forKey: modelKey)
    coder.encode(name as NSString, forKey: entityKey)
  }

  /// - Parameters:
  ///   - name: by which the description is found in its entity.
  ///   - add: adds a copy of the description to an entity; for one that belongs to no entity.
  static func encode(
    _ name: String, of entity: NSEntityDescription?, label: String, with coder: NSCoder,
    add: (NSEntityDescription) -> Void
  ) {
    guard !name.isEmpty else {
      coder.report(error("\(label) can't be archived without a name: set its name."))
      return
    }
    if let entity, let owner = entity.name, !owner.isEmpty {
      encode(entity, with: coder)
    } else {
      let entity = NSEntityDescription()
      entity.name = holder
      add(entity)
      coder.encode(model(of: [entity]), forKey: modelKey)
      coder.encode(holder as NSString, forKey: entityKey)
      coder.encode(true, forKey: isAloneKey)
    }
    coder.encode(name as NSString, forKey: nameKey)
  }

  /// A model of copies: of the entities and of all that they refer to.
  private static func model(of entities: [NSEntityDescription]) -> NSManagedObjectModel {
    var known: Set<ObjectIdentifier> = []
    var all: [NSEntityDescription] = []
    var names: Set<String> = []
    var waiting: [NSEntityDescription] = entities
    while let entity = waiting.popLast() {
      guard known.insert(ObjectIdentifier(entity)).inserted, names.insert(entity.name ?? "").inserted else {
        continue
      }
      all.append(entity)
      if let parent = entity.superentity { waiting.append(parent) }
      waiting += entity.storedSubentities
      for property in entity.ownProperties {
        guard let relationship = property as? NSRelationshipDescription else { continue }
        waiting += [relationship.destinationEntity, relationship.inverseRelationship?.declaringEntity]
          .compactMap(\.self)
      }
    }
    let model = NSManagedObjectModel()
    ModelCopy.copyGraph(all, into: model)
    return model
  }

  // MARK: Decoding

  /// Where a decoded description's twin is.
  struct Origin {
    var entity: NSEntityDescription
    /// The name of the property or index; empty for an entity.
    var name: String
    /// Whether the description belongs to no entity; ``entity`` then only contains it.
    var isAlone: Bool
  }

  /// Nil, with an error in the coder, for anything but what `encode` wrote.
  static func origin(_ coder: NSCoder) -> Origin? {
    guard
      let model: NSManagedObjectModel = coder.decodeObject(of: NSManagedObjectModel.self, forKey: modelKey),
      let owner: NSString = coder.decodeObject(of: NSString.self, forKey: entityKey)
    else {
      if coder.error == nil { coder.report(error("The archive contains no description of a model.")) }
      return nil
    }
    guard let entity: NSEntityDescription = model.entitiesByName[String(owner)] else {
      coder.report(error("The archived model has no entity '\(owner)'."))
      return nil
    }
    let name: NSString? =
      coder.containsValue(forKey: nameKey) ? coder.decodeObject(of: NSString.self, forKey: nameKey) : nil
    return Origin(
      entity: entity, name: name.map(String.init) ?? "", isAlone: coder.decodeBool(forKey: isAloneKey))
  }

  /// The property of that name and class that an archived entity declares.
  static func property<Property: NSPropertyDescription>(
    _ type: Property.Type, at origin: Origin, _ coder: NSCoder
  ) -> Property? {
    let named: NSPropertyDescription? = origin.entity.ownProperties.first { $0.name == origin.name }
    guard let property = named as? Property else {
      coder.report(
        error("The archived entity '\(origin.entity.name ?? "")' declares no \(type) '\(origin.name)'."))
      return nil
    }
    return property
  }

  static func error(_ reason: String) -> any Error {
    ModelFileError(file: "archive of a description", reason: reason)
  }
}

// MARK: - Taking the place of a twin

extension NSEntityDescription {
  /// Becomes the entity that `twin` is in its model. Nothing may refer to `twin` any more.
  final func takePlace(of twin: NSEntityDescription) {
    let properties: [NSPropertyDescription] = twin.ownProperties
    let indexes: [NSFetchIndexDescription] = twin.indexes
    twin.ownProperties = []
    twin.indexes = []
    twin.copyContents(into: self)
    self.properties = properties
    self.indexes = indexes
    superentity = twin.superentity
    superentity?.storedSubentities.replace(twin, by: self)
    storedSubentities = twin.storedSubentities
    for child in storedSubentities { child.superentity = self }
    guard let model = twin.model else { return }
    model.storedEntities.replace(twin, by: self)
    self.model = model
    twin.model = nil
    for property in model.storedEntities.flatMap(\.ownProperties) {
      if let relationship = property as? NSRelationshipDescription, relationship.destinationEntity === twin {
        relationship.destinationEntity = self
      } else if let request = (property as? NSFetchedPropertyDescription)?.fetchRequest,
        request.entity === twin
      {
        request.entity = self
      }
    }
    for template in model.templates.values where template.entity === twin { template.entity = self }
  }
}

extension NSPropertyDescription {
  /// Becomes the property that `twin` is in its entity.
  final func takePlace(of twin: NSPropertyDescription) {
    twin.copyContents(into: self)
    guard let entity = twin.declaringEntity else { return }
    entity.ownProperties.replace(twin, by: self)
    declaringEntity = entity
    twin.declaringEntity = nil
    if let inverse = (self as? NSRelationshipDescription)?.inverseRelationship,
      inverse.inverseRelationship === twin
    {
      inverse.inverseRelationship = self as? NSRelationshipDescription
    }
  }
}

extension Array where Element: AnyObject {
  fileprivate mutating func replace(_ old: Element, by new: Element) {
    for index in indices where self[index] === old { self[index] = new }
  }
}
