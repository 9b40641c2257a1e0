import ArgumentParser
import CoreDataModel
import CoreDataModelChecking
import CoreDataPredicates
import Foundation

/// `Item.sku=$source.title`: the value of an attribute in a migration.
struct MappedValue {
  let entity: String
  let attribute: String
  fileprivate let format: String

  var path: String { "\(entity).\(attribute)" }

  /// - Throws: `ValidationError` for a text of another form.
  init(_ text: String) throws {
    let parts: [Substring] = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let names: [Substring] = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].allSatisfy(\.isWhitespace), names.count == 2,
      names.allSatisfy({ !$0.isEmpty })
    else {
      throw ValidationError(
        "--value '\(text)' is no value: write the entity, a dot, the attribute, an equals sign and an expression, as in "
          + "--value 'Item.label=uppercase:($source.title)'.")
    }
    (entity, attribute, format) = (String(names[0]), String(names[1]), String(parts[1]))
  }
}

/// The values that a mapping model gets, of an entity and of the sub-entities that inherit the attribute: one
/// that is given for a sub-entity itself is used there.
struct MappedValues {
  private struct Value {
    let owner: NSEntityDescription
    let attribute: String
    let expression: CoreDataPredicates.NSExpression
  }

  /// Those of ancestors first.
  private var values: [Value] = []
  /// A sentence for each value that can't be set.
  private(set) var problems: [String] = []
  /// The attributes that get a value, each with its entity, those of sub-entities too.
  private(set) var paths: Set<String> = []

  /// `model`: the newer one.
  init(_ given: [MappedValue], in model: NSManagedObjectModel) {
    var seen: Set<String> = []
    for value in given {
      guard seen.insert(value.path).inserted else {
        problems.append("--value: \(value.path) is given twice; leave one out.")
        continue
      }
      do throws(CommandFailure) {
        let owner: NSEntityDescription = try Self.owner(of: value, in: model)
        values.append(
          Value(owner: owner, attribute: value.attribute, expression: try Self.expression(of: value)))
        for entity in owner.familyInStoreOrder { paths.insert("\(entity.name ?? "").\(value.attribute)") }
      } catch {
        problems.append("--value: \(error.line)")
      }
    }
    values.sort { Self.depth($0.owner) < Self.depth($1.owner) }
  }

  private static func owner(of value: MappedValue, in model: NSManagedObjectModel) throws(CommandFailure)
    -> NSEntityDescription
  {
    guard let entity = model.entitiesByName[value.entity] else {
      let known: [String] = Array(model.entitiesByName.keys)
      throw CommandFailure(
        "The newer model has no entity '\(value.entity)'. \(NearestNames.advice(for: value.entity, among: known))"
      )
    }
    switch entity.propertiesByName[value.attribute] {
    case let attribute as NSDerivedAttributeDescription:
      throw CommandFailure(
        "\(value.path) is derived (\(attribute.derivationExpression.map { "\($0)" } ?? "")): the store makes its value."
      )
    case let attribute as NSAttributeDescription where attribute.isTransient:
      throw CommandFailure(
        "\(value.path) is transient: no store holds it, and a migration gives it no value.")
    case is NSAttributeDescription: return entity
    case is NSRelationshipDescription:
      throw CommandFailure(
        "\(value.path) is a relationship, and --value is for attributes. If it had another name, say so in the newer "
          + "model with `clarus model set MODEL \(value.path) --renamed-from NAME`; otherwise change its value "
          + "expression in the .xcmappingmodel, or set it in a policy (NSEntityMigrationPolicy).")
    case .some:
      throw CommandFailure("\(value.path) is a fetched property, which no store holds; leave the value out.")
    case nil:
      let known: [String] = Array(entity.attributesByName.keys)
      throw CommandFailure(
        "\(value.entity) has no attribute '\(value.attribute)' in the newer model. "
          + NearestNames.advice(for: value.attribute, among: known))
    }
  }

  private static func expression(of value: MappedValue) throws(CommandFailure)
    -> CoreDataPredicates.NSExpression
  {
    do {
      return try CoreDataPredicates.NSExpression(parsing: value.format)
    } catch {
      throw CommandFailure(
        "\(value.path): \((error as? CoreDataPredicates.PredicateError)?.description ?? "\(error)")")
    }
  }

  private static func depth(_ entity: NSEntityDescription) -> Int {
    sequence(first: entity, next: \.superentity).reduce(0) { count, _ in count + 1 }
  }

  /// Sets the value expressions in all mappings that make objects of the entities.
  mutating func set(in model: NSMappingModel) {
    for value in values {
      let names: Set<String> = Set(value.owner.familyInStoreOrder.compactMap(\.name))
      let mappings: [NSEntityMapping] = (model.entityMappings ?? []).filter {
        names.contains($0.destinationEntityName ?? "")
      }
      if mappings.isEmpty {
        problems.append(
          "--value: The mapping model makes no objects of '\(value.owner.name ?? "")'; leave the value out.")
      }
      for mapping in mappings {
        if let property = mapping.attributeMappings?.first(where: { $0.name == value.attribute }) {
          property.valueExpression = value.expression
        } else {
          let property = NSPropertyMapping()
          (property.name, property.valueExpression) = (value.attribute, value.expression)
          mapping.attributeMappings = (mapping.attributeMappings ?? []) + [property]
        }
        // What was copied as it is would not be computed.
        if mapping.mappingType == .copyEntityMappingType { mapping.mappingType = .transformEntityMappingType }
      }
    }
  }
}
