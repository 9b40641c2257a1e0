import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds value expressions of a mapping model that end a migration: those that can't be evaluated, those whose
/// values their attributes don't take, and those that name an entity mapping which the model does not have.
///
/// What an expression yields depends on the objects: it is evaluated for the first ``objectsRead`` of each
/// mapping, unless it asks the migration manager or the new object. Cost: reads these objects; nothing if all
/// attributes are copied.
struct ExpressionProblems {
  static let objectsRead: Int = 10_000

  private let step: MigrationStep
  private let mappings: [PreparedMapping]
  private let contents: SurveyedContents

  /// `mappings`: those without policies of the program.
  init(_ step: MigrationStep, _ mappings: [PreparedMapping], _ contents: SurveyedContents) {
    (self.step, self.mappings, self.contents) = (step, mappings, contents)
  }

  func problems() throws -> [String] {
    try mappings.flatMap { unknownMappings(of: $0) + (try refused(of: $0)) }
  }

  private func unknownMappings(of mapping: PreparedMapping) -> [String] {
    let known: [String] = (step.mapping.entityMappings ?? []).compactMap(\.name)
    return mapping.relationships.compactMap { value in
      guard let name = value.expression.associated?.mapping, !known.contains(name) else { return nil }
      return
        "The entity mapping '\(mapping.name)' takes the objects of \(value.path) from the entity mapping '\(name)', which "
        + "the mapping model does not have. \(NearestNames.advice(for: name, among: known))"
    }
  }

  private func refused(of mapping: PreparedMapping) throws -> [String] {
    guard let entity = mapping.source else { return [] }
    let open: [PreparedMapping.Value] = mapping.attributes.filter { isOpen($0, entity) }
    if open.isEmpty { return [] }
    var counts = [Int](repeating: 0, count: open.count)
    var reasons = [String](repeating: "", count: open.count)
    try contents.forEachObject(of: entity.name ?? "", atMost: Self.objectsRead) { object in
      let variables: NSMutableDictionary = [
        MigrationKey.source: object, MigrationKey.entityMapping: mapping.mapping,
        MigrationKey.entityPolicy: mapping.policy,
      ]
      for (place, value) in open.enumerated() {
        variables[MigrationKey.propertyMapping] = value.mapping
        do {
          let found: Any? = try mapping.evaluate(value, variables, object)
          try mapping.requireAccepted(found is NSNull ? nil : found, of: value, object)
        } catch {
          if counts[place] == 0 { reasons[place] = MigrationFailure.text(of: error) }
          counts[place] += 1
        }
      }
    }
    return counts.indices.filter { counts[$0] > 0 }.map { "\(counts[$0]) object(s): \(reasons[$0])" }
  }

  /// Whether the value may be one that the attribute does not take. Numbers that are copied to a narrower type
  /// are counted by statements (`MigrationProblems`).
  private func isOpen(_ value: PreparedMapping.Value, _ source: NSEntityDescription) -> Bool {
    guard let attribute = value.property as? NSAttributeDescription else { return false }
    if value.isCopied, let old = value.key.flatMap({ source.attributesByName[$0] }) {
      return !attribute.attributeType.holdsEveryValue(of: old.attributeType)
        && !(attribute.attributeType.isNumber && old.attributeType.isNumber)
    }
    let text: String = "\(value.expression)"
    return ![MigrationKey.manager, MigrationKey.destination].contains { text.contains("$\($0)") }
  }
}

extension NSAttributeType {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .decimalAttributeType:
      true
    default: false
    }
  }
}
