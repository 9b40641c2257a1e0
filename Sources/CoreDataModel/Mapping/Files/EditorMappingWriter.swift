import CoreDataArchives
import Foundation

/// Makes the document of a mapping model, as Xcode's editor stores one.
///
/// The editor also stores both models, as archives of its own classes. Those are left out: the paths name the
/// models, and compilers here and Xcode's read them from there.
struct EditorMappingWriter {
  private var objects: [EditorObject] = []
  /// The first number of an XML store.
  private var next: Int = 102

  static func document(of mapping: EditorMapping) -> EditorDocument {
    var writer = EditorMappingWriter()
    writer.add(mapping)
    var document = EditorDocument()
    document.objects = writer.objects
    document.information = information(of: writer.objects, highest: writer.next - 1)
    return document
  }

  // MARK: Objects

  private mutating func id() -> String {
    defer { next += 1 }
    return "z\(next)"
  }

  private mutating func add(_ mapping: EditorMapping) {
    var model = EditorObject(type: "XDDEVMAPPINGMODEL", id: id())
    let place: Int = objects.count
    objects.append(model)
    model.add("sourcemodelpath", mapping.sourcePath)
    model.add("destinationmodelpath", mapping.destinationPath)
    let entities: [String] = mapping.entities.enumerated().map { add($1, number: $0 + 1, to: model.id) }
    model.relate("entitymappings", "0/0", "XDDEVENTITYMAPPING", entities)
    objects[place] = model
  }

  private mutating func add(_ entity: EditorMapping.Entity, number: Int, to model: String) -> String {
    var object = EditorObject(type: "XDDEVENTITYMAPPING", id: id())
    let place: Int = objects.count
    objects.append(object)
    object.add("sourceexpressiondata", entity.sourceExpression)
    object.add("userinfodata", entity.userInfo)
    object.add("sourcefilterpredicatestring", entity.filter)
    object.add("migrationpolicyclassname", entity.policy)
    object.add("sourcename", entity.source)
    object.add("name", entity.name)
    object.add("mappingtypename", entity.typeName)
    object.add("mappingnumber", "\(number)", type: "int16")
    object.add("destinationname", entity.destination)
    object.add("autogenerateexpression", entity.sourceExpression == nil ? "1" : "0", type: "bool")
    let attributes: [String] = entity.attributes.map { add($0, "XDDEVATTRIBUTEMAPPING", to: object.id) }
    let relationships: [String] = entity.relationships.map {
      add($0, "XDDEVRELATIONSHIPMAPPING", to: object.id)
    }
    object.relate("mappingmodel", "1/1", "XDDEVMAPPINGMODEL", [model])
    object.relate("attributemappings", "0/0", "XDDEVATTRIBUTEMAPPING", attributes)
    object.relate("relationshipmappings", "0/0", "XDDEVRELATIONSHIPMAPPING", relationships)
    objects[place] = object
    return object.id
  }

  private mutating func add(_ property: EditorMapping.Property, _ type: String, to entity: String) -> String {
    var object = EditorObject(type: type, id: id())
    object.add("userinfodata", property.userInfo)
    object.add("valueexpressiondata", property.expression)
    if type == "XDDEVRELATIONSHIPMAPPING" {
      object.add("sourcemappingname", property.sourceMapping)
      object.add("sourcekeypath", property.sourcePath)
      object.add("autogenerateexpression", property.isGenerated ? "1" : "0", type: "bool")
    }
    object.add("name", property.name)
    object.relate("entitymapping", "1/1", "XDDEVENTITYMAPPING", [entity])
    objects.append(object)
    return object.id
  }

  // MARK: Metadata

  /// The version hashes of the editor's entities, the same in the files of all editors.
  private static let hashes: [(entity: String, hash: String)] = [
    ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
    ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
    ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
    ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
    ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
  ]
  private static let digest: String =
    "+Hmc2uYZK6og+Pvx5GUJ7oW75UG4V/ksQanTjfTKUnxyGWJRMtB5tIRgVwGsrd7lz/QR57++wbvWsr6nxwyS0A=="

  private static func information(of objects: [EditorObject], highest: Int) -> EditorDocument.Element {
    typealias Element = EditorDocument.Element
    var plist = Element("plist")
    plist.attributes = [("version", "1.0")]
    plist.children = [
      Element(
        "dict", "",
        [
          Element("key", "NSPersistenceFrameworkVersion"), Element("integer", "1344"),
          Element("key", "NSStoreModelVersionHashes"),
          Element(
            "dict", "",
            hashes.flatMap { [Element("key", $0.entity), Element("data", "\n\t\t\($0.hash)\n\t\t")] }),
          Element("key", "NSStoreModelVersionHashesDigest"), Element("string", digest),
          Element("key", "NSStoreModelVersionHashesVersion"), Element("integer", "3"),
          Element("key", "NSStoreModelVersionIdentifiers"), Element("array", "", [Element("string")]),
        ])
    ]
    return Element(
      "databaseInfo", "",
      [
        Element("version", "134481920"), Element("UUID", identifier(of: objects)),
        Element("nextObjectID", "\(highest)"), Element("metadata", "", [plist]),
      ])
  }

  /// Equal mapping models have equal files, so the store's identifier comes from its objects.
  private static func identifier(of objects: [EditorObject]) -> String {
    var document = EditorDocument()
    document.objects = objects
    let bytes: [UInt8] = Array(SHA2.sha256(document.data).prefix(16))
    let digits: [String] = bytes.map { String(format: "%02X", $0) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
  }
}

extension EditorObject {
  fileprivate mutating func add(_ name: String, _ text: String?, type: String = "string") {
    if let text { attributes.append(Attribute(name: name, type: type, text: text)) }
  }

  /// In base 64: a line of 76 characters, and one with the rest, as Apple's framework writes it.
  fileprivate mutating func add(_ name: String, _ data: Data?) {
    guard let data else { return }
    let text: String = data.base64EncodedString()
    let rest: Substring = text.dropFirst(76)
    add(name, "\(text.prefix(76))\(rest.isEmpty ? "" : "\n\(rest)")\n", type: "binary")
  }

  fileprivate mutating func relate(_ name: String, _ type: String, _ destination: String, _ ids: [String]) {
    relationships.append(Relationship(name: name, type: type, destination: destination, ids: ids))
  }
}
