import ArgumentParser
import CoreDataModel
import CoreDataPredicates
import Foundation

/// `Item.sku=$source.title`: the value of an attribute in a migration.
struct MappedValue {
  let entity: String
  let attribute: String
  private let format: String

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

  /// Sets the value expression of the attribute in all mappings to the entity.
  ///
  /// - Throws: ``CommandFailure`` if none makes objects of the entity, or it has no such attribute.
  func set(in model: NSMappingModel) throws {
    let expression: CoreDataPredicates.NSExpression
    do {
      expression = try CoreDataPredicates.NSExpression(parsing: format)
    } catch let error as CoreDataPredicates.PredicateError {
      throw CommandFailure("\(path): \(error.description)")
    }
    let mappings: [NSEntityMapping] = (model.entityMappings ?? []).filter {
      $0.destinationEntityName == entity
    }
    if mappings.isEmpty {
      let known: [String] = (model.entityMappings ?? []).compactMap(\.destinationEntityName)
      throw CommandFailure(
        "The mapping model makes no objects of '\(entity)'. \(NearestNames.advice(for: entity, among: known))"
      )
    }
    for mapping in mappings {
      let attributes: [NSPropertyMapping] = mapping.attributeMappings ?? []
      guard let property = attributes.first(where: { $0.name == attribute }) else {
        let known: [String] = attributes.compactMap(\.name)
        throw CommandFailure(
          "\(entity) has no attribute '\(attribute)' in the newer model. \(NearestNames.advice(for: attribute, among: known))"
        )
      }
      property.valueExpression = expression
      // What was copied as it is would not be computed.
      if mapping.mappingType == .copyEntityMappingType { mapping.mappingType = .transformEntityMappingType }
    }
  }
}
