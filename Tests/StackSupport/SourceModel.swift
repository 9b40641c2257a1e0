import CoreData
import Foundation
import TestSupport

/// A source model with several versions in a folder, as Xcode keeps it: what programs ship so that stores of
/// earlier versions can be migrated.
public enum SourceModel {
  /// Writes the versions in order, the last one as the current one, and loads that.
  public static func write(
    _ versions: [NSManagedObjectModel], in folder: TemporaryFolder, name: String = "Shop",
    called title: ((_ number: Int) -> String)? = nil
  ) throws -> NSManagedObjectModel {
    let package: URL = folder.file("\(name).xcdatamodeld")
    let title: (Int) -> String = title ?? { "\(name) \($0)" }
    for (number, model) in versions.enumerated() {
      let version: URL = package.appendingPathComponent("\(title(number + 1)).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try text(model).write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    }
    let current = ["_XCCurrentVersionName": "\(title(versions.count)).xcdatamodel"]
    try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
      .write(to: package.appendingPathComponent(".xccurrentversion"))
    return try NSManagedObjectModel.load(contentsOf: package).model
  }

  private static func text(_ model: NSManagedObjectModel) -> String {
    let identifiers: [String] = model.versionIdentifiers.compactMap { $0 as? String }
    var lines: [String] = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>",
      "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\" "
        + "userDefinedModelVersionIdentifier=\"\(identifiers.joined())\">",
    ]
    for entity in model.entities {
      let name: String = entity.name ?? ""
      let old: String = entity.renamingIdentifier.map { $0 == name ? "" : " elementID=\"\($0)\"" } ?? ""
      let parent: String = entity.superentity?.name.map { " parentEntity=\"\($0)\"" } ?? ""
      lines.append("<entity name=\"\(name)\"\(old)\(parent) syncable=\"YES\">")
      for property in entity.properties where entity.superentity?.propertiesByName[property.name] == nil {
        var words: [String] = ["name=\"\(property.name)\""]
        if property.isOptional { words.append("optional=\"YES\"") }
        if let old = property.renamingIdentifier, old != property.name {
          words.append("elementID=\"\(old)\"")
        }
        if let attribute = property as? NSAttributeDescription {
          words.append("attributeType=\"\(type(attribute.attributeType))\"")
          if let value = attribute.defaultValue { words.append("defaultValueString=\"\(value)\"") }
          if attribute.allowsExternalBinaryDataStorage {
            words.append("allowsExternalBinaryDataStorage=\"YES\"")
          }
          lines.append("<attribute \(words.joined(separator: " "))/>")
        } else if let relationship = property as? NSRelationshipDescription {
          words.append(relationship.isToMany ? "toMany=\"YES\"" : "maxCount=\"1\"")
          if relationship.minCount > 0, relationship.isToMany {
            words.append("minCount=\"\(relationship.minCount)\"")
          }
          if relationship.isOrdered { words.append("ordered=\"YES\"") }
          words.append(
            "deletionRule=\"\(relationship.deleteRule == .cascadeDeleteRule ? "Cascade" : "Nullify")\"")
          words.append("destinationEntity=\"\(relationship.destinationEntity?.name ?? "")\"")
          if let inverse = relationship.inverseRelationship {
            words.append("inverseName=\"\(inverse.name)\" inverseEntity=\"\(inverse.entity.name ?? "")\"")
          }
          lines.append("<relationship \(words.joined(separator: " "))/>")
        }
      }
      lines.append("</entity>")
    }
    return (lines + ["</model>"]).joined(separator: "\n")
  }

  private static func type(_ type: NSAttributeType) -> String {
    switch type {
    case .integer16AttributeType: "Integer 16"
    case .integer32AttributeType: "Integer 32"
    case .integer64AttributeType: "Integer 64"
    case .booleanAttributeType: "Boolean"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Binary"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .decimalAttributeType: "Decimal"
    default: "String"
    }
  }
}
