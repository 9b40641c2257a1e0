import CoreDataArchives
import CoreDataPredicates
import Foundation

/// Makes a mapping model out of the editor's one, as Xcode's compiler does: default names, types, version
/// hashes, and expressions that the editor leaves to it.
struct MappingCompiler {
  private let editor: EditorMapping
  private let source: NSManagedObjectModel
  private let destination: NSManagedObjectModel
  private let file: String

  init(_ editor: EditorMapping, source: NSManagedObjectModel, destination: NSManagedObjectModel, file: String)
  {
    (self.editor, self.source, self.destination, self.file) = (editor, source, destination, file)
  }

  func model() throws -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = try editor.entities.map(mapping)
    return model
  }

  private func failure(_ reason: String) -> ModelFileError { ModelFileError(file: file, reason: reason) }

  /// `CarToCar`; one name for what is added or removed.
  static func standardName(of entity: EditorMapping.Entity) -> String {
    [entity.source, entity.destination].compactMap(\.self).joined(separator: "To")
  }

  private func name(of entity: EditorMapping.Entity) -> String {
    entity.name ?? Self.standardName(of: entity)
  }

  private func entity(
    _ name: String?, in model: NSManagedObjectModel, _ side: String, of mapping: String
  ) throws -> NSEntityDescription? {
    guard let name else { return nil }
    guard let entity = model.entitiesByName[name] else {
      throw failure(
        "The entity mapping '\(mapping)' names the entity \(name), which the \(side) model does not have. "
          + NearestNames.advice(for: name, among: model.entitiesByName.keys))
    }
    return entity
  }

  private func mapping(_ entity: EditorMapping.Entity) throws -> NSEntityMapping {
    let name: String = name(of: entity)
    let old: NSEntityDescription? = try self.entity(entity.source, in: source, "source", of: name)
    let new: NSEntityDescription? = try self.entity(
      entity.destination, in: destination, "destination", of: name)
    let mapping = NSEntityMapping()
    mapping.name = name
    mapping.sourceEntityName = old?.name
    mapping.sourceEntityVersionHash = old?.versionHash
    mapping.destinationEntityName = new?.name
    mapping.destinationEntityVersionHash = new?.versionHash
    mapping.entityMigrationPolicyClassName = entity.policy
    mapping.mappingType = Self.type(of: entity)
    mapping.userInfo = try userInfo(entity.userInfo, name)
    if let data = entity.sourceExpression {
      mapping.sourceExpression = try expression(data, "the source of '\(name)'")
    } else if let source = entity.source {
      mapping.sourceExpression = MappingExpressions.objects(
        of: source, where: entity.filter ?? "TRUEPREDICATE")
    }
    mapping.attributeMappings = try entity.attributes.map { property in
      try make(property, name) {
        old?.attributesByName[property.name].map { MappingExpressions.value($0.name) }
      }
    }
    mapping.relationshipMappings = try entity.relationships.map { property in
      try make(property, name) { relationshipExpression(property, old, new) }
    }
    return mapping
  }

  static func type(of entity: EditorMapping.Entity) -> NSEntityMappingType {
    switch entity.typeName {
    case "Custom": return .customEntityMappingType
    case "Add": return .addEntityMappingType
    case "Remove": return .removeEntityMappingType
    case "Copy": return .copyEntityMappingType
    case "Transform": return .transformEntityMappingType
    default: break
    }
    if entity.policy != nil { return .customEntityMappingType }
    if entity.source == nil { return .addEntityMappingType }
    if entity.destination == nil { return .removeEntityMappingType }
    // Xcode's compiler looks at the names alone, whatever the hashes are.
    return entity.source == entity.destination ? .copyEntityMappingType : .transformEntityMappingType
  }

  private func make(
    _ property: EditorMapping.Property, _ owner: String,
    _ generated: () -> CoreDataPredicates.NSExpression?
  ) throws -> NSPropertyMapping {
    let mapping = NSPropertyMapping()
    mapping.name = property.name
    mapping.userInfo = try userInfo(property.userInfo, "\(owner).\(property.name)")
    if let data = property.expression {
      mapping.valueExpression = try expression(data, "'\(property.name)' in '\(owner)'")
    } else if property.isGenerated {
      mapping.valueExpression = generated()
    }
    return mapping
  }

  // MARK: Relationships

  private func relationshipExpression(
    _ property: EditorMapping.Property, _ old: NSEntityDescription?, _ new: NSEntityDescription?
  ) -> CoreDataPredicates.NSExpression? {
    guard let old else { return nil }
    let path: String =
      property.sourcePath.map { $0.hasPrefix("$source.") ? String($0.dropFirst("$source.".count)) : $0 }
      ?? property.name
    guard let relationship = Self.relationship(path, of: old) else { return nil }
    if let name = property.sourceMapping {
      return MappingExpressions.destinations(of: path, mappedBy: name)
    }
    // Of all mappings, those that make objects of the new destination out of objects of the old one.
    let target: NSEntityDescription? = new?.relationshipsByName[property.name]?.destinationEntity
    let makers: [EditorMapping.Entity] = editor.entities.filter { entity in
      guard let former = entity.source.flatMap({ source.entitiesByName[$0] }),
        let made = entity.destination.flatMap({ destination.entitiesByName[$0] }),
        let end = relationship.destinationEntity
      else { return false }
      return former.isKindOf(entity: end) && (target.map { made.isKindOf(entity: $0) } ?? true)
    }
    if makers.count == 1, let maker = makers.first {
      return MappingExpressions.destinations(of: path, mappedBy: name(of: maker))
    }
    return MappingExpressions.destinations(of: path)
  }

  /// The operators of key paths whose value has the objects of what follows.
  private static let unions: Set<Substring> = [
    "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@distinctUnionOfArrays",
    "@unionOfSets", "@distinctUnionOfSets",
  ]

  /// The relationship at the end of a path, such as `countries.@distinctUnionOfSets.moods`; nil if the path
  /// leads elsewhere.
  private static func relationship(
    _ path: String, of entity: NSEntityDescription
  ) -> NSRelationshipDescription? {
    var owner: NSEntityDescription? = entity
    var found: NSRelationshipDescription?
    for key in path.split(separator: ".", omittingEmptySubsequences: false) where !unions.contains(key) {
      guard let next = owner?.relationshipsByName[String(key)] else { return nil }
      (found, owner) = (next, next.destinationEntity)
    }
    return found
  }

  // MARK: Archives

  private func expression(_ data: Data, _ label: String) throws -> CoreDataPredicates.NSExpression {
    do {
      let archive = try KeyedArchive(data)
      return try PredicateArchiveReader(archive).expression(archive.top["root"], of: label)
    } catch let error as PlistError {
      throw failure("The expression of \(label) can't be read: \(error.reason).")
    }
  }

  private func userInfo(_ data: Data?, _ label: String) throws -> [AnyHashable: Any]? {
    guard let data else { return nil }
    do {
      let archive = try KeyedArchive(data)
      var values = KeyedArchive.ValueDecoder(archive, allowsUndefinedDates: false)
      guard let info = try values.value(archive.top["root"]) as? [AnyHashable: Any] else {
        throw PlistError("it is no dictionary")
      }
      return info.isEmpty ? nil : info
    } catch let error as PlistError {
      throw failure("The user info of \(label) can't be read: \(error.reason).")
    }
  }
}
