import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates

extension NSMappingModel {
  /// A value expression that names what the models don't have.
  package struct ExpressionProblem: CustomStringConvertible {
    /// The name of the entity mapping.
    package let mapping: String
    /// The destination entity.
    package let entity: String
    package let property: String
    package let problem: PredicateProblem

    package var description: String {
      "\(entity).\(property), in the entity mapping '\(mapping)': \(problem)"
    }
  }

  /// What the value expressions name and the models don't have: keys of the former object (`$source.titel`,
  /// or `titel`) and of the new one, variables, collection operators, types. What expressions make of the
  /// values is not looked at, nor what they ask the migration manager and the policy.
  package final func expressionProblems(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) -> [ExpressionProblem] {
    (entityMappings ?? []).flatMap { mapping -> [ExpressionProblem] in
      let old: NSEntityDescription? = mapping.sourceEntityName.flatMap { source.entitiesByName[$0] }
      let new: NSEntityDescription? = mapping.destinationEntityName.flatMap { destination.entitiesByName[$0] }
      // What is evaluated without an object has no keys.
      guard let entity = old ?? new else { return [] }
      var variables: [String: PredicateValue?] = ["destination": new.map { .example(of: $0) }]
      for name in ["manager", "entityMapping", "propertyMapping", "entityPolicy"] {
        variables.updateValue(nil, forKey: name)
      }
      if let old { variables["source"] = .example(of: old) }
      return ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).flatMap { property in
        Self.problems(of: property.valueExpression, entity, variables).map { problem in
          ExpressionProblem(
            mapping: mapping.name ?? "", entity: new?.name ?? "", property: property.name ?? "",
            problem: problem)
        }
      }
    }
  }

  /// Those of the values' types are left out: a policy may take them.
  private static let kinds: Set<PredicateProblem.Kind> = [
    .unknownKey, .keyBehindValue, .unboundVariable, .unknownOperator, .unknownType,
  ]

  private static func problems(
    of expression: CoreDataPredicates.NSExpression?, _ entity: NSEntityDescription,
    _ variables: [String: PredicateValue?]
  ) -> [PredicateProblem] {
    guard let expression else { return [] }
    var check = PredicateCheck(entity, variables: variables, findsWarnings: false, takesArguments: false)
    _ = check.example(of: expression.expressionNode())
    return check.problems.filter { kinds.contains($0.kind) }.map { problem in
      guard problem.kind == .unboundVariable else { return problem }
      var problem: PredicateProblem = problem
      let known: [String] = variables.keys.map { "$\($0)" }
      problem.advice =
        problem.name == "source"
        ? "The entity mapping makes new objects, and has no former ones."
        : NearestNames.advice(for: "$\(problem.name ?? "")", among: known)
      return problem
    }
  }
}
