import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import CoreDataStorage
import Foundation

/// What in a store's contents will stop a step that copies object by object, as far as it can be told without
/// migrating: each problem a sentence with its cure.
struct MigrationProblems {
  private let step: MigrationStep
  private let store: OutdatedStore

  init(_ step: MigrationStep, of store: OutdatedStore) { (self.step, self.store) = (step, store) }

  /// A number of the source that the mapping copies to an attribute of a narrower type.
  private struct Narrowing {
    let source: NSEntityDescription
    let key: String
    let destination: String
    let attribute: NSAttributeDescription
  }

  /// Numbers that their new attribute does not take, of SQLite stores: others would be read as wholes for it.
  /// Cost: a statement for each attribute that gets a narrower type, and none if there is none.
  func sentences() throws -> [String] {
    guard store.type == NSSQLiteStoreType, !step.isInferred else { return [] }
    let narrowings: [Narrowing] = (step.mapping.entityMappings ?? []).flatMap(narrowings)
    if narrowings.isEmpty { return [] }
    let side = try MigrationSide(
      StorePlace(store.url, store.type, store.options), step.source,
      options: [NSReadOnlyPersistentStoreOption: true, CreatesStoreIfMissingOption: false])
    defer { side.close() }
    return try narrowings.compactMap { narrowing in
      let request = NSFetchRequest<NSManagedObject>(entityName: narrowing.source.name ?? "")
      request.includesSubentities = false
      let bits: Int = Self.bits(narrowing.attribute.attributeType)
      let limit: Double = Double(sign: .plus, exponent: bits - 1, significand: 1)
      // What is cut off after the point is left out of the comparison.
      request.predicate = NSPredicate(
        format: bits < 64 ? "%K >= %@ OR %K <= %@" : "%K >= %@ OR %K < %@", narrowing.key,
        NSNumber(value: limit), narrowing.key, NSNumber(value: bits < 64 ? -limit - 1 : -limit))
      let count: Int = try side.context.count(for: request)
      if count == 0 { return nil }
      return "\(count) object(s) of \(narrowing.source.name ?? "") have a value of \(narrowing.key) that "
        + "\(narrowing.destination).\(narrowing.attribute.name), of type "
        + "\(narrowing.attribute.attributeType.editorName), does not take. Change them with the old model, give the "
        + "attribute a wider type, or compute a smaller value in the mapping."
    }
  }

  private func narrowings(_ mapping: NSEntityMapping) -> [Narrowing] {
    // A policy of the program, or a source expression that leaves objects out, may treat them apart.
    guard mapping.mappingType != .removeEntityMappingType,
      let prepared = try? PreparedMapping(mapping, from: step.source, to: step.destination),
      type(of: prepared.policy) == NSEntityMigrationPolicy.self, let source = prepared.source,
      let destination = prepared.destination, Self.takesAll(mapping, of: source)
    else { return [] }
    return prepared.attributes.compactMap { value in
      guard let key = value.key, let old = source.attributesByName[key],
        let new = value.property as? NSAttributeDescription,
        Self.isNumber(old.attributeType), Self.bits(new.attributeType) > 0,
        !new.attributeType.holdsEveryValue(of: old.attributeType)
      else { return nil }
      return Narrowing(source: source, key: key, destination: destination.name ?? "", attribute: new)
    }
  }

  private static func takesAll(_ mapping: NSEntityMapping, of source: NSEntityDescription) -> Bool {
    guard let expression = mapping.sourceExpression else { return true }
    return expression.description.contains("\"TRUEPREDICATE\"")
  }

  private static func isNumber(_ type: NSAttributeType) -> Bool {
    bits(type) > 0
      || [.doubleAttributeType, .floatAttributeType, .decimalAttributeType].contains(type)
  }

  /// The size of integers; 0 for other types.
  private static func bits(_ type: NSAttributeType) -> Int {
    switch type {
    case .integer16AttributeType: 16
    case .integer32AttributeType: 32
    case .integer64AttributeType: 64
    default: 0
    }
  }
}
