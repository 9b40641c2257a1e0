import CoreDataArchives
import CoreDataPredicates
import Foundation

extension NSMappingModel {
  /// The mapping model as Xcode's editor keeps it: the content of `xcmapping.xml` in an `.xcmappingmodel`.
  ///
  /// ```swift
  /// let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
  /// let data = try mapping.sourceData(
  ///   from: old, at: "Shop.xcdatamodeld/Shop.xcdatamodel", to: new, at: "Shop.xcdatamodeld/Shop 2.xcdatamodel")
  /// ```
  ///
  /// It reads and compiles to an equal mapping model: names, types, expressions, policies and user info. Not
  /// kept are the order of an entity's property mappings, and version hashes, which the compiler takes from
  /// the models; an entity mapping without source expression gets the one for all objects of its source.
  /// What the compiler would write anyway is left out, as by the editor. Equal mapping models give equal
  /// data.
  ///
  /// - Parameters:
  ///   - source: the model before, and `sourcePath` its source relative to the project, which the editor and
  ///     the compiler look for beside the mapping model and in the folders above.
  ///   - destination: the model after, and its path.
  /// - Throws: ``ModelFileError`` that names the part for what the format can't say: mappings for other
  ///   versions of the models, of an undefined type, without name or entities; attributes without an
  ///   expression whose source has one of the name; user info and expressions that can't be archived.
  ///
  /// Queue: any. Cost: linear in the mappings; what was written is read and compiled once.
  public final func sourceData(
    from source: NSManagedObjectModel, at sourcePath: String, to destination: NSManagedObjectModel,
    at destinationPath: String
  ) throws -> Data {
    let decompiler = MappingDecompiler(self, source, destination, file: "mapping model source")
    return try decompiler.data(paths: (sourcePath, destinationPath))
  }
}

/// Makes the editor's mapping model out of one: without what its compiler adds.
struct MappingDecompiler {
  private let mapping: NSMappingModel
  private let source: NSManagedObjectModel
  private let destination: NSManagedObjectModel
  private let file: String

  init(
    _ mapping: NSMappingModel, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel,
    file: String
  ) {
    (self.mapping, self.source, self.destination, self.file) = (mapping, source, destination, file)
  }

  private func failure(_ reason: String) -> ModelFileError { ModelFileError(file: file, reason: reason) }

  func data(paths: (source: String, destination: String)) throws -> Data {
    if let misfit = mapping.misfit(source, destination) {
      throw failure("The mapping model is for other models: \(misfit)")
    }
    var editor: EditorMapping = try outline()
    (editor.sourcePath, editor.destinationPath) = paths
    // What the compiler makes of the mere names tells which expressions have to be written.
    let generated: NSMappingModel = try compile(editor)
    for place in editor.entities.indices {
      try complete(&editor.entities[place], mapping.entityMappings[place], generated.entityMappings[place])
    }
    let data: Data = EditorMappingWriter.document(of: editor).data
    try check(data)
    return data
  }

  private func compile(_ editor: EditorMapping) throws -> NSMappingModel {
    try MappingCompiler(editor, source: source, destination: destination, file: file).model()
  }

  // MARK: Entities

  /// Every mapping and property by name, and no expressions.
  private func outline() throws -> EditorMapping {
    var editor = EditorMapping()
    for (number, mapping) in (self.mapping.entityMappings ?? []).enumerated() {
      let name: String = mapping.name
      if mapping.sourceEntityName == nil && mapping.destinationEntityName == nil {
        throw failure(
          "The entity mapping '\(name)' has neither a source nor a destination entity; name one, or remove it."
        )
      }
      var entity = EditorMapping.Entity()
      entity.source = mapping.sourceEntityName
      entity.destination = mapping.destinationEntityName
      entity.policy = mapping.entityMigrationPolicyClassName
      entity.number = number + 1
      if name != MappingCompiler.standardName(of: entity) { entity.name = name }
      entity.typeName = try typeName(mapping, entity)
      entity.userInfo = try archive(mapping.userInfo, "entity mapping '\(name)'")
      entity.attributes = try properties(mapping.attributeMappings, of: name)
      entity.relationships = try properties(mapping.relationshipMappings, of: name)
      editor.entities.append(entity)
    }
    return editor
  }

  /// `Undefined`, as in the editor's own files, where the compiler finds the type by itself.
  private func typeName(_ mapping: NSEntityMapping, _ entity: EditorMapping.Entity) throws -> String {
    if MappingCompiler.type(of: entity) == mapping.mappingType { return "Undefined" }
    switch mapping.mappingType {
    case .customEntityMappingType: return "Custom"
    case .addEntityMappingType: return "Add"
    case .removeEntityMappingType: return "Remove"
    case .copyEntityMappingType: return "Copy"
    case .transformEntityMappingType: return "Transform"
    case .undefinedEntityMappingType:
      throw failure("The entity mapping '\(mapping.name ?? "")' has no type; set its mappingType.")
    }
  }

  private func properties(_ mappings: [NSPropertyMapping]?, of owner: String) throws -> [EditorMapping
    .Property]
  {
    var names: Set<String> = []
    return try (mappings ?? []).map { mapping in
      guard let name = mapping.name, !name.isEmpty else {
        throw failure("A property mapping of '\(owner)' has no name; set it, or remove the mapping.")
      }
      guard names.insert(name).inserted else {
        throw failure("'\(owner)' has two mappings of the property '\(name)'; remove one.")
      }
      return EditorMapping.Property(
        name: name, userInfo: try archive(mapping.userInfo, "'\(name)' in '\(owner)'"), isGenerated: true)
    }.sorted { $0.name < $1.name }
  }

  // MARK: Expressions

  /// Adds the expressions in which the mapping differs from what the compiler generates.
  private func complete(
    _ entity: inout EditorMapping.Entity, _ wanted: NSEntityMapping, _ generated: NSEntityMapping
  ) throws {
    let name: String = wanted.name
    if let expression = wanted.sourceExpression, expression != generated.sourceExpression {
      if let source = entity.source,
        let filter = MappingExpressions.predicate(of: expression, forObjectsOf: source), !filter.isEmpty
      {
        entity.filter = filter
      } else {
        entity.sourceExpression = try archive(expression, "the source of '\(name)'")
      }
    }
    try complete(&entity.attributes, wanted.attributeMappings, generated.attributeMappings) {
      property, expression in
      guard let expression else {
        throw failure(
          """
          The attribute '\(property.name)' in '\(name)' has no value expression, and the source has an attribute of that name, whose \
          value the editor's form would take. Give it an expression, or remove its mapping.
          """)
      }
      property.expression = try archive(expression, "'\(property.name)' in '\(name)'")
    }
    let names: [String] = mapping.entityMappings.map { $0.name ?? "" }
    try complete(&entity.relationships, wanted.relationshipMappings, generated.relationshipMappings) {
      property, expression in
      guard let expression else {
        property.isGenerated = false
        return
      }
      let path: String = property.name
      if generated.sourceEntityName != nil,
        let maker = names.first(where: {
          MappingExpressions.destinations(of: path, mappedBy: $0) == expression
        }),
        source.entitiesByName[entity.source ?? ""]?.relationshipsByName[path] != nil
      {
        property.sourceMapping = maker
        return
      }
      property.expression = try archive(expression, "'\(property.name)' in '\(name)'")
    }
  }

  private func complete(
    _ properties: inout [EditorMapping.Property], _ wanted: [NSPropertyMapping]?,
    _ generated: [NSPropertyMapping]?,
    _ add: (inout EditorMapping.Property, CoreDataPredicates.NSExpression?) throws -> Void
  ) throws {
    let byName: [String: NSPropertyMapping] = Dictionary(
      (wanted ?? []).map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    for (place, made) in (generated ?? []).enumerated() {
      let expression: CoreDataPredicates.NSExpression? = byName[properties[place].name]?.valueExpression
      if expression != made.valueExpression { try add(&properties[place], expression) }
    }
  }

  // MARK: Archives

  private func archive(
    _ expression: CoreDataPredicates.NSExpression, _ label: String
  ) throws -> Data {
    do {
      var archive = KeyedArchiveWriter()
      let root: PlistNode = try PredicateArchiveWriter(label: label, isForModels: true)
        .write(expression.expressionNode(), to: &archive)
      return archive.data(root: root)
    } catch let error as PlistError { throw failure("\(error.reason).") }
  }

  private func archive(_ info: [AnyHashable: Any]?, _ label: String) throws -> Data? {
    guard let info, !info.isEmpty else { return nil }
    do {
      var archive = KeyedArchiveWriter()
      let root: PlistNode = try archive.value(info, of: label)
      return archive.data(root: root)
    } catch let error as PlistError { throw failure("\(error.reason).") }
  }

  // MARK: Checking

  /// Reads and compiles what was written: a source that says something else would be lost work.
  private func check(_ data: Data) throws {
    let again: NSMappingModel = try compile(try EditorMappingReader.read(data, file: file))
    let (wanted, made) = (mapping.entityMappings ?? [], again.entityMappings ?? [])
    for (number, mapping) in wanted.enumerated()
    where number >= made.count || Self.comparable(mapping) != Self.comparable(made[number]) {
      throw failure(
        "The entity mapping '\(mapping.name ?? "")' would be another one after it was written as a source and read "
          + "again. Keep it in a compiled mapping model (.cdm).")
    }
  }

  /// The mapping with what the editor's form does not keep as it makes it.
  private static func comparable(_ mapping: NSEntityMapping) -> NSEntityMapping {
    let twin = NSEntityMapping()
    twin.name = mapping.name
    twin.mappingType = mapping.mappingType
    twin.sourceEntityName = mapping.sourceEntityName
    twin.destinationEntityName = mapping.destinationEntityName
    twin.entityMigrationPolicyClassName = mapping.entityMigrationPolicyClassName
    twin.sourceExpression =
      mapping.sourceExpression ?? mapping.sourceEntityName.map { MappingExpressions.objects(of: $0) }
    twin.userInfo = mapping.userInfo
    func sorted(_ mappings: [NSPropertyMapping]?) -> [NSPropertyMapping] {
      (mappings ?? []).sorted { ($0.name ?? "") < ($1.name ?? "") }
    }
    twin.attributeMappings = sorted(mapping.attributeMappings)
    twin.relationshipMappings = sorted(mapping.relationshipMappings)
    return twin
  }
}
