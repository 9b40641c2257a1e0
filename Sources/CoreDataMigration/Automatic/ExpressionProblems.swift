import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds value expressions of a mapping model that end a migration: those that can't be evaluated, those
/// whose values their attributes don't take, and those that name an entity mapping which the model does not
/// have. And it finds values of which an expression makes none.
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

  /// What ends the migration, and values that expressions make nothing of.
  func found() throws -> (problems: [String], doubts: [String]) {
    var (problems, doubts): ([String], [String]) = ([], [])
    for mapping in mappings {
      problems += unknownMappings(of: mapping)
      let computed = try computed(by: mapping)
      problems += computed.problems
      doubts += computed.doubts
    }
    return (problems, doubts)
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

  private func computed(by mapping: PreparedMapping) throws -> (problems: [String], doubts: [String]) {
    guard let entity = mapping.source else { return ([], []) }
    let open: [PreparedMapping.Value] = mapping.attributes.filter { isOpen($0, entity) }
    if open.isEmpty { return ([], []) }
    // The one attribute from which an expression makes a value.
    let keys: [String?] = open.map { value in
      let keys: Set<String> = value.expression.expressionNode().keysOfSource
      return keys.count == 1 ? keys.first.flatMap { entity.attributesByName[$0]?.name } : nil
    }
    var failed = [Int](repeating: 0, count: open.count)
    var lost: [Int] = failed
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
          if found == nil || found is NSNull, let key = keys[place],
            try object.readValue(forKey: key) != nil
          {
            lost[place] += 1
          }
        } catch {
          if failed[place] == 0 { reasons[place] = MigrationFailure.text(of: error) }
          failed[place] += 1
        }
      }
    }
    let all: Range<Int> = open.indices
    return (
      all.filter { failed[$0] > 0 }.map { "\(failed[$0]) object(s): \(reasons[$0])" },
      all.filter { lost[$0] > 0 }.map { place in
        "\(lost[place]) object(s) of \(entity.name ?? "") have a value of \(keys[place] ?? ""), of which "
          + "\(open[place].expression) makes none for \(mapping.destination?.name ?? "").\(open[place].path)."
      }
    )
  }

  /// Whether the value may be one that the attribute does not take. Numbers that are copied to a narrower
  /// type are counted by statements (`MigrationProblems`).
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
