import CoreDataModel
import Foundation

// Writes the models of the largest entities among real sources as classes with macros. `make macro-twins`
// compiles them and compares the version hashes with those of the sources.
//
//     DrawnTwinSource FOLDER OUTPUT [COUNT]
//
// An entity counts once a program, with its largest version. Entities whose hash
// can't be computed (derived and composite attributes) are not among them. The last line of the output says
// what macros can't declare, and is left out.

/// A model with some of the largest entities.
struct Twin {
  var path: String
  var model: NSManagedObjectModel
  var entities: [String]
}

enum Choice {
  static func twins(in folder: URL, count: Int) -> [Twin] {
    let walk = FileManager.default.enumerator(atPath: folder.path)
    let paths: [String] = (walk?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".xcdatamodel/contents") && $0.hasPrefix("models/") }.sorted()
    var largest: [String: (size: Int, path: String, name: String)] = [:]
    var models: [String: NSManagedObjectModel] = [:]
    for path in paths {
      let url: URL = folder.appendingPathComponent(path)
      guard let model = try? NSManagedObjectModel.load(contentsOf: url).model else { continue }
      models[path] = model
      let origin = String(path.split(separator: "/")[1])
      for entity in model.entities where !entity.properties.contains(where: isUnknown) {
        let key: String = "\(origin)/\(entity.name ?? "")"
        let size: Int = entity.properties.count
        if size > largest[key]?.size ?? 0 { largest[key] = (size, path, entity.name ?? "") }
      }
    }
    let chosen = largest.values.sorted { ($1.size, $0.path, $0.name) < ($0.size, $1.path, $1.name) }.prefix(
      count)
    return Dictionary(grouping: chosen, by: \.path).sorted { $0.key < $1.key }.map { path, entities in
      Twin(path: path, model: models[path]!, entities: entities.map(\.name).sorted())
    }
  }

  private static func isUnknown(_ property: NSPropertyDescription) -> Bool {
    property is NSDerivedAttributeDescription || property is NSCompositeAttributeDescription
  }
}

/// The classes of a model, as somebody would write them.
struct Declarations {
  let number: Int
  let model: NSManagedObjectModel
  /// The entities that are declared whole: the largest, and their ancestors. Those that their relationships
  /// lead to have the inverses alone, since no hash covers more of them.
  let whole: [NSEntityDescription]
  /// What macros can't declare.
  private(set) var rest: [String: Int] = [:]

  /// Names that a managed object has, and so can't have again.
  private static let taken: Set<String> = [
    "description", "debugDescription", "hash", "hashValue", "entity", "objectID", "isDeleted", "isInserted",
    "isUpdated", "hasChanges", "isFault", "managedObjectContext", "self", "Type", "init", "faultingState",
    "copy",
    "superclass", "changedValues", "observationInfo", "zone",
  ]

  init(_ twin: Twin, number: Int) {
    (model, self.number) = (twin.model, number)
    var names: Set<String> = []
    for name in twin.entities {
      var entity: NSEntityDescription? = twin.model.entitiesByName[name]
      while let current = entity, names.insert(current.name ?? "").inserted { entity = current.superentity }
    }
    whole = twin.model.entitiesInOrder.filter { names.contains($0.name ?? "") }
  }

  func className(_ entity: String?) -> String { "M\(number)_\(entity ?? "")" }

  mutating func text() -> String {
    if !model.configurations.dropFirst().isEmpty { rest["configurations", default: 0] += 1 }
    rest["fetch request templates", default: 0] += model.fetchRequestTemplatesByName.count
    let declared: [String] = whole.map { text($0) }
    return (declared + ends.map { text(ofEnd: $0.key, $0.value) }.sorted()).joined(separator: "\n")
  }

  var classNames: [String] {
    (whole.map { className($0.name) } + ends.keys.map { className($0) }).sorted()
  }

  /// The other entities that relationships lead to, and those relationships.
  private var ends: [String: [NSRelationshipDescription]] {
    let names: Set<String> = Set(whole.compactMap(\.name))
    let relationships: [NSRelationshipDescription] = whole.flatMap { entity in
      own(entity).compactMap { $0 as? NSRelationshipDescription }
    }
    return Dictionary(grouping: relationships) { $0.destinationEntity?.name ?? "" }
      .filter { !names.contains($0.key) }
  }

  private func text(ofEnd name: String, _ relationships: [NSRelationshipDescription]) -> String {
    var members: Set<String> = []
    for relationship in relationships {
      guard let inverse = relationship.inverseRelationship else { continue }
      let taken: Bool = Self.taken.contains(inverse.name)
      members.insert(
        "  @Managed(\(taken ? "name: \(literal(inverse.name)), " : "")rule: .nullifyDeleteRule) "
          + "var `\(taken ? "own_" : "")\(inverse.name)`: \(className(relationship.entity?.name))?\n")
    }
    return "@ManagedObject(\(literal(name)))\nclass \(className(name)): NSManagedObject {\n"
      + members.sorted().joined() + "}\n"
  }

  /// The properties that an entity declares.
  private func own(_ entity: NSEntityDescription) -> [NSPropertyDescription] {
    let inherited: Set<String> = Set(entity.superentity?.properties.map(\.name) ?? [])
    return entity.properties.filter { !inherited.contains($0.name) }.sorted { $0.name < $1.name }
  }

  private mutating func text(_ entity: NSEntityDescription) -> String {
    var arguments: [String] = [literal(entity.name ?? "")]
    if entity.isAbstract { arguments.append("isAbstract: true") }
    let unique: [[String]] = (entity.uniquenessConstraints as? [[String]]) ?? []
    if !unique.isEmpty { arguments.append("unique: \(unique)") }
    if let was = entity.renamingIdentifier, was != entity.name { arguments.append("was: \(literal(was))") }
    if let modifier = entity.versionHashModifier {
      arguments.append("versionHashModifier: \(literal(modifier))")
    }
    let members: [String] = own(entity).compactMap { line($0) }
    let parent: String = entity.superentity.map { className($0.name) } ?? "NSManagedObject"
    return "@ManagedObject(\(arguments.joined(separator: ", ")))\n"
      + "class \(className(entity.name)): \(parent) {\n" + members.map { "  \($0)\n" }.joined() + "}\n"
  }

  private mutating func line(_ property: NSPropertyDescription) -> String? {
    var before: [String] = []
    var after: [String] = []
    var member: String = property.name
    if Self.taken.contains(member) {
      before.append("name: \(literal(member))")
      member = "own_\(member)"
    }
    let type: String
    switch property {
    case let attribute as NSAttributeDescription:
      guard let made = Self.type(attribute) else {
        rest["attributes of an undefined type", default: 0] += 1
        return nil
      }
      type = made + (attribute.isOptional ? "?" : "")
      if attribute.attributeType == .transformableAttributeType {
        after.append(
          attribute.valueTransformerName.map { "transformer: \(literal($0))" } ?? "type: .transformable")
      }
      if attribute.isTransient {
        after.insert("isTransient: true", at: after.first?.hasPrefix("type") == true ? 1 : 0)
      }
      if attribute.allowsExternalBinaryDataStorage { after.append("isExternal: true") }
      if attribute.preservesValueInHistoryOnDeletion { after.append("isKeptInHistory: true") }
      // The order of the parameters.
      let order: [String] = ["type:", "isTransient:", "isExternal:", "isKeptInHistory:", "transformer:"]
      after.sort { left, right in
        order.firstIndex { left.hasPrefix($0) }! < order.firstIndex { right.hasPrefix($0) }!
      }
    case let relationship as NSRelationshipDescription:
      let target: String = className(relationship.destinationEntity?.name)
      type =
        !relationship.isToMany
        ? target + (relationship.isOptional ? "?" : "")
        : relationship.isOrdered ? "[\(target)]" : "Set<\(target)>"
      if let inverse = relationship.inverseRelationship {
        before.insert("inverse: \(literal(inverse.name))", at: 0)
      }
      after.append("rule: .\(Self.rules[relationship.deleteRule] ?? "")")
      if relationship.minCount != 0 { after.append("min: \(relationship.minCount)") }
      if relationship.isToMany, relationship.maxCount != 0 { after.append("max: \(relationship.maxCount)") }
      if !relationship.isToMany, relationship.isOrdered { after.append("isOrdered: true") }
      if relationship.isToMany, !relationship.isOptional { after.append("isOptional: false") }
      if relationship.isTransient { after.append("isTransient: true") }
    default:
      rest["fetched properties", default: 0] += 1
      return nil
    }
    if let was = property.renamingIdentifier, was != property.name { after.append("was: \(literal(was))") }
    if let modifier = property.versionHashModifier {
      after.append("versionHashModifier: \(literal(modifier))")
    }
    let arguments: String = (before + after).joined(separator: ", ")
    return "@Managed\(arguments.isEmpty ? "" : "(\(arguments))") var `\(member)`: \(type)"
  }

  private static let rules: [NSDeleteRule: String] = [
    .noActionDeleteRule: "noActionDeleteRule", .nullifyDeleteRule: "nullifyDeleteRule",
    .cascadeDeleteRule: "cascadeDeleteRule", .denyDeleteRule: "denyDeleteRule",
  ]

  private static func type(_ attribute: NSAttributeDescription) -> String? {
    switch attribute.attributeType {
    case .integer16AttributeType: "Int16"
    case .integer32AttributeType: "Int32"
    case .integer64AttributeType: "Int64"
    case .decimalAttributeType: "Decimal"
    case .doubleAttributeType: "Double"
    case .floatAttributeType: "Float"
    case .stringAttributeType: "String"
    case .booleanAttributeType: "Bool"
    case .dateAttributeType: "Date"
    case .binaryDataAttributeType: "Data"
    case .UUIDAttributeType: "UUID"
    case .URIAttributeType: "URL"
    case .transformableAttributeType: "NSObject"
    default: nil
    }
  }

  private func literal(_ text: String) -> String { text.debugDescription }
}

extension NSManagedObjectModel {
  /// Parents before their children.
  fileprivate var entitiesInOrder: [NSEntityDescription] {
    func depth(_ entity: NSEntityDescription) -> Int { entity.superentity.map { depth($0) + 1 } ?? 0 }
    return entities.sorted { (depth($0), $0.name ?? "") < (depth($1), $1.name ?? "") }
  }
}

let words: [String] = CommandLine.arguments
guard words.count > 2 else {
  print("usage: DrawnTwinSource FOLDER OUTPUT [COUNT]")
  exit(2)
}
let twins: [Twin] = Choice.twins(
  in: URL(fileURLWithPath: words[1]), count: words.count > 3 ? Int(words[3]) ?? 30 : 30)
var source: String = "// swift-format-ignore-file\nimport CoreDataMacros\n\n"
var list: String = ""
var rest: [String: Int] = [:]
var count: Int = 0
for (number, twin) in twins.enumerated() {
  var declarations = Declarations(twin, number: number)
  source += "// \(twin.path)\n\n\(declarations.text())\n"
  let names: [String] = declarations.whole.compactMap(\.name)
  count += names.count
  list +=
    "  DrawnTwin(\n    path: \(twin.path.debugDescription), entities: \(names), largest: \(twin.entities.count),\n"
  list += "    classes: [\n" + declarations.classNames.map { "      \($0).self,\n" }.joined() + "    ]),\n"
  rest.merge(declarations.rest) { $0 + $1 }
}
source += "let drawnTwins: [DrawnTwin] = [\n\(list)]\n"
try Data(source.utf8).write(to: URL(fileURLWithPath: words[2]))
let left: String = rest.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
print(
  "\(twins.count) models with \(twins.map(\.entities.count).reduce(0, +)) of the largest entities, \(count) "
    + "with their ancestors; without \(left)")
