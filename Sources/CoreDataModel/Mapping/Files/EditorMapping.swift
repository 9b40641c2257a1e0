import Foundation

/// A mapping model as Xcode's editor keeps it in an `.xcmappingmodel`: without what its compiler adds.
struct EditorMapping: Equatable {
  struct Entity: Equatable {
    var name: String?
    var source: String?
    var destination: String?
    var typeName: String?
    var number: Int = 0
    var policy: String?
    var filter: String?
    var sourceExpression: Data?
    var userInfo: Data?
    var attributes: [Property] = []
    var relationships: [Property] = []
  }

  struct Property: Equatable {
    var name: String
    var expression: Data?
    var userInfo: Data?
    /// For relationships: the mapping that made the objects, and the path to their sources.
    var sourceMapping: String?
    var sourcePath: String?
    var isGenerated: Bool
  }

  /// The models' paths in the project.
  var sourcePath: String?
  var destinationPath: String?
  /// In the order of the mapping.
  var entities: [Entity] = []
}

/// Reads `xcmapping.xml`: an XML store of the editor's own model, of which only attributes and references are
/// needed.
struct EditorMappingReader {
  private let file: String

  static func read(_ data: Data, file: String) throws -> EditorMapping {
    let document: EditorDocument = try EditorXML.read(data, file: file)
    return try EditorMappingReader(file: file).mapping(document.objects)
  }

  private func failure(_ reason: String) -> ModelFileError { ModelFileError(file: file, reason: reason) }

  private func mapping(_ objects: [EditorObject]) throws -> EditorMapping {
    let models: [EditorObject] = objects.filter { $0.type == "XDDEVMAPPINGMODEL" }
    guard models.count == 1, let model = models.first else {
      throw failure(
        "It holds \(models.count) mapping models instead of one; restore it from version control.")
    }
    var owners: [String: String] = [:]
    for object in objects where object.type == "XDDEVENTITYMAPPING" {
      for id in (object.ids("attributemappings") ?? []) + (object.ids("relationshipmappings") ?? []) {
        owners[id] = object.id
      }
    }
    var properties: [String: [EditorObject]] = [:]
    for object in objects
    where object.type == "XDDEVATTRIBUTEMAPPING" || object.type == "XDDEVRELATIONSHIPMAPPING" {
      // The editor leaves property mappings behind when it deletes an entity mapping.
      guard let owner = object.ids("entitymapping")?.first ?? owners[object.id] else { continue }
      properties[owner, default: []].append(object)
    }
    var mapping = EditorMapping()
    mapping.sourcePath = model.text("sourcemodelpath")
    mapping.destinationPath = model.text("destinationmodelpath")
    // The editor also leaves entity mappings behind that the model does not list any more.
    let listed: Set<String>? = model.ids("entitymappings").map(Set.init)
    mapping.entities =
      try objects
      .filter { $0.type == "XDDEVENTITYMAPPING" && (listed?.contains($0.id) ?? true) }
      .map { try entity($0, properties[$0.id] ?? []) }
      .sorted { ($0.number, $0.name ?? "") < ($1.number, $1.name ?? "") }
    return mapping
  }

  private func entity(_ object: EditorObject, _ properties: [EditorObject]) throws -> EditorMapping.Entity {
    var entity = EditorMapping.Entity()
    entity.name = object.text("name")
    entity.source = object.text("sourcename")
    entity.destination = object.text("destinationname")
    entity.typeName = object.text("mappingtypename")
    entity.policy = object.text("migrationpolicyclassname")
    entity.filter = object.text("sourcefilterpredicatestring")
    entity.number = object.text("mappingnumber").flatMap { Int($0) } ?? 0
    entity.sourceExpression = try data(object, "sourceexpressiondata")
    entity.userInfo = try data(object, "userinfodata")
    if entity.source == nil && entity.destination == nil {
      throw failure(
        "The entity mapping \(entity.name ?? object.id) names neither a source nor a destination.")
    }
    for object in properties.sorted(by: { ($0.text("name") ?? "") < ($1.text("name") ?? "") }) {
      guard let name = object.text("name") else {
        throw failure("A property mapping of \(entity.destination ?? entity.source ?? "") has no name.")
      }
      let property = EditorMapping.Property(
        name: name, expression: try data(object, "valueexpressiondata"),
        userInfo: try data(object, "userinfodata"), sourceMapping: object.text("sourcemappingname"),
        sourcePath: object.text("sourcekeypath"),
        isGenerated: object.text("autogenerateexpression").map { $0 != "0" } ?? true)
      if object.type == "XDDEVATTRIBUTEMAPPING" {
        entity.attributes.append(property)
      } else {
        entity.relationships.append(property)
      }
    }
    return entity
  }

  private func data(_ object: EditorObject, _ name: String) throws -> Data? {
    guard let text = object.text(name) else { return nil }
    guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
      throw failure("The \(name) of the object \(object.id) is not in base 64.")
    }
    return data
  }
}
