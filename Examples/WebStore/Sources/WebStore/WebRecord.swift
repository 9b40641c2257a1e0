import CoreData
import Foundation

/// An object as the service keeps it.
///
///     {"id": "r7", "entity": "Task", "version": 2, "values": {"title": "…"}, "related": {"list": ["r1"]}}
struct WebRecord {
  let id: String
  let entity: String
  var version: Int
  var values: [String: Any]
  var related: [String: [String]]

  init?(_ json: [String: Any]) {
    guard let id = json["id"] as? String, let entity = json["entity"] as? String,
      let version = json["version"] as? Int
    else { return nil }
    self.id = id
    self.entity = entity
    self.version = version
    values = json["values"] as? [String: Any] ?? [:]
    related = json["related"] as? [String: [String]] ?? [:]
  }

  /// `name`: the reference object of an id.
  init(_ object: NSManagedObject, version: Int, name: (NSManagedObjectID) -> String) {
    id = name(object.objectID)
    entity = object.entity.name ?? ""
    self.version = version
    values = [:]
    related = [:]
    for (key, attribute) in object.entity.attributesByName {
      values[key] = Self.encoded(object.value(forKey: key), attribute)
    }
    for key in object.entity.relationshipsByName.keys {
      related[key] = object.objectIDs(forRelationshipNamed: key).map(name)
    }
  }

  var json: [String: Any] {
    ["id": id, "entity": entity, "version": version, "values": values, "related": related]
  }

  /// The values of the attributes, as a node has them.
  func attributes(of entity: NSEntityDescription) -> [String: Any] {
    var result: [String: Any] = [:]
    for (key, attribute) in entity.attributesByName {
      if let value = values[key] { result[key] = Self.decoded(value, attribute) }
    }
    return result
  }

  /// JSON has strings, numbers and Booleans. Doubles are strings, because JSON's numbers may lose digits on
  /// their way.
  private static func encoded(_ value: Any?, _ attribute: NSAttributeDescription) -> Any? {
    switch (attribute.attributeType, value) {
    case (.dateAttributeType, let value as Date): "\(value.timeIntervalSinceReferenceDate)"
    case (.doubleAttributeType, let value as Double): "\(value)"
    case (.floatAttributeType, let value as Float): "\(value)"
    case (.decimalAttributeType, let value as NSDecimalNumber): value.description
    case (.binaryDataAttributeType, let value as Data): value.base64EncodedString()
    case (.UUIDAttributeType, let value as UUID): value.uuidString
    case (.URIAttributeType, let value as URL): value.absoluteString
    case (.integer64AttributeType, let value as Int64): "\(value)"
    default: value
    }
  }

  private static func decoded(_ value: Any, _ attribute: NSAttributeDescription) -> Any? {
    guard let text = value as? String else { return value }
    switch attribute.attributeType {
    case .dateAttributeType: return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .doubleAttributeType: return Double(text)
    case .floatAttributeType: return Float(text)
    case .decimalAttributeType: return Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
    case .binaryDataAttributeType: return Data(base64Encoded: text)
    case .UUIDAttributeType: return UUID(uuidString: text)
    case .URIAttributeType: return URL(string: text)
    case .integer64AttributeType: return Int64(text)
    default: return text
    }
  }
}
