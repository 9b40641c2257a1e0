import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds value expressions of a mapping model that end a migration: those that can't be evaluated, those
/// whose values their attributes don't take, and those that name an entity mapping which the model does not
/// have. And it finds values of which an expression makes none, and numbers that an attribute cuts off.
///
/// What an expression yields depends on the objects: it is evaluated for the first ``objectsRead`` of each
/// mapping, unless it asks the migration manager or the new object, as a dry run allows
/// (`MigrationDryRun`). Cost: reads these objects; nothing if all attributes are copied.
struct ExpressionProblems {
  static let objectsRead: Int = 10_000

  private let step: MigrationStep
  private let mappings: [PreparedMapping]
  private let contents: SurveyedContents

  /// `mappings`: those without policies of the program.
  init(_ step: MigrationStep, _ mappings: [PreparedMapping], _ contents: SurveyedContents) {
    (self.step, self.mappings, self.contents) = (step, mappings, contents)
  }

  /// What ends the migration, and what does not but loses values.
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

  /// What the values of one property came to.
  private struct Findings {
    let value: PreparedMapping.Value
    let attribute: NSAttributeDescription
    /// The one attribute from which an expression makes a value.
    let key: String?
    /// Whether a value is a number that is copied: those that are too large are counted by statements
    /// (`MigrationProblems`).
    let isCopiedNumber: Bool
    var failed: Int = 0
    var failure: String = ""
    var lost: Int = 0
    var cutOff: Int = 0
    var example: (made: String, stored: String) = ("", "")
  }

  private func computed(by mapping: PreparedMapping) throws -> (problems: [String], doubts: [String]) {
    guard let entity = mapping.source else { return ([], []) }
    var all: [Findings] = mapping.attributes.compactMap { findings(of: $0, entity) }
    if all.isEmpty { return ([], []) }
    try contents.forEachObject(of: entity.name ?? "", atMost: Self.objectsRead) { object in
      let variables: NSMutableDictionary = [
        MigrationKey.source: object, MigrationKey.entityMapping: mapping.mapping,
        MigrationKey.entityPolicy: mapping.policy,
      ]
      for place in all.indices {
        let value: PreparedMapping.Value = all[place].value
        variables[MigrationKey.propertyMapping] = value.mapping
        do {
          let found: Any? = try mapping.evaluate(value, variables, object)
          let given: Any? = found is NSNull ? nil : found
          if !all[place].isCopiedNumber { try mapping.requireAccepted(given, of: value, object) }
          if let stored = PreparedMapping.cutOff(given, by: all[place].attribute) {
            if all[place].cutOff == 0 { all[place].example = (given.map { "\($0)" } ?? "", stored) }
            all[place].cutOff += 1
          }
          if given == nil, let key = all[place].key, try object.readValue(forKey: key) != nil {
            all[place].lost += 1
          }
        } catch {
          if all[place].failed == 0 { all[place].failure = MigrationFailure.text(of: error) }
          all[place].failed += 1
        }
      }
    }
    return (
      all.filter { $0.failed > 0 }.map { "\($0.failed) object(s): \($0.failure)" },
      all.flatMap { doubts($0, mapping, entity.name ?? "") }
    )
  }

  private func doubts(_ found: Findings, _ mapping: PreparedMapping, _ entity: String) -> [String] {
    let place: String = "\(mapping.destination?.name ?? "").\(found.value.path)"
    var doubts: [String] = []
    if found.lost > 0 {
      doubts.append(
        "\(found.lost) object(s) of \(entity) have a value of \(found.key ?? ""), of which \(found.value.expression) makes "
          + "none for \(place).")
    }
    if found.cutOff > 0 {
      doubts.append(
        "\(found.cutOff) object(s) of \(entity): \(place), of type \(found.attribute.attributeType.editorName), cuts off "
          + "what \(found.value.expression) yields, such as \(found.example.made) to \(found.example.stored)."
      )
    }
    return doubts
  }

  /// nil if the attribute takes every value as it is, or the value can't be told without migrating.
  private func findings(of value: PreparedMapping.Value, _ source: NSEntityDescription) -> Findings? {
    guard let attribute = value.property as? NSAttributeDescription else { return nil }
    if value.isCopied, let old = value.key.flatMap({ source.attributesByName[$0] }) {
      if attribute.attributeType.holdsEveryValue(of: old.attributeType) { return nil }
      return Findings(
        value: value, attribute: attribute, key: old.name,
        isCopiedNumber: attribute.attributeType.isNumber && old.attributeType.isNumber)
    }
    let text: String = "\(value.expression)"
    if [MigrationKey.manager, MigrationKey.destination].contains(where: { text.contains("$\($0)") }) {
      return nil
    }
    let keys: Set<String> = value.expression.expressionNode().keysOfSource
    return Findings(
      value: value, attribute: attribute,
      key: keys.count == 1 ? keys.first.flatMap { source.attributesByName[$0]?.name } : nil,
      isCopiedNumber: false)
  }
}
