import CoreDataModel
import CoreDataStorage

/// What becomes of references to objects that are not in the store when objects are copied: the copy's are
/// nil, or there is none.
struct LostReferences {
  /// That they are nil afterwards, or lost with their property; a sentence each.
  private(set) var losses: [String] = []
  /// Those that the new model requires, so that the copy would not be valid.
  private(set) var problems: [String] = []

  /// `contents`: those of the source of the step; nil if nothing is copied.
  init(_ step: MigrationStep?, _ contents: SurveyedContents?) throws {
    guard let step, let contents else { return }
    let mappings: [PreparedMapping] = (step.mapping.entityMappings ?? []).compactMap {
      try? PreparedMapping($0, from: step.source, to: step.destination)
    }
    for problem in try contents.lostReferences() {
      guard let entity = problem.entity, let property = problem.property else { continue }
      add(
        "\(problem.count) reference(s) of \(entity).\(property) lead to objects that are not in the store",
        Self.copies(of: property, entity, in: mappings), step)
    }
  }

  private mutating func add(
    _ fact: String, _ copies: [(entity: String, relationship: NSRelationshipDescription)],
    _ step: MigrationStep
  ) {
    guard !copies.isEmpty else {
      losses.append("\(fact); the new store has no such property.")
      return
    }
    let required = copies.first { !$0.relationship.isOptional && !$0.relationship.isToMany }
    guard let required else {
      let isToMany: Bool = copies.contains { $0.relationship.isToMany }
      losses.append("\(fact), and will be \(isToMany ? "left out" : "nil").")
      return
    }
    problems.append(
      "\(fact), and \(required.entity).\(required.relationship.name) is required in the new model. Set other objects, "
        + "or delete these ones, with the version that the store has, or make the relationship optional in the new one."
    )
  }

  /// The relationships that are made of one of the source.
  private static func copies(of property: String, _ entity: String, in mappings: [PreparedMapping])
    -> [(entity: String, relationship: NSRelationshipDescription)]
  {
    mappings.filter { $0.source?.name == entity }.flatMap { mapping in
      (mapping.destination?.relationshipsByName ?? [:]).sorted { $0.key < $1.key }.compactMap {
        name, relationship in
        mapping.sourceKey(of: name) == property ? (mapping.destination?.name ?? "", relationship) : nil
      }
    }
  }
}
