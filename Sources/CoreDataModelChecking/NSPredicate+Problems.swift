import CoreDataEvaluation
import CoreDataModel
import CoreDataPredicates
import Foundation

extension NSPredicate {
  /// Everything in the predicate that doesn't fit objects of an entity, in the order in which it is written.
  /// Empty for a sound predicate.
  ///
  /// ```swift
  /// let predicate = NSPredicate(format: "titel == 'x' AND price LIKE 'a*'")
  /// for problem in predicate.problems(for: item) { print(problem) }
  /// // titel: keypath titel not found in entity Item. Did you mean "title"?
  /// // price LIKE "a*": LIKE can't compare price (a number) with a string. It compares strings; …
  /// ```
  ///
  /// Names are looked up and types compared; nothing is evaluated, no store is used. Fetches do the same and
  /// throw the errors. At most a hundred problems are listed. `$FETCH_SOURCE` and `$FETCHED_PROPERTY` count
  /// as bound, any other variable as missing. Parts of unknown type (a block, a transformable attribute) are
  /// not checked.
  public func problems(for entity: NSEntityDescription) -> [PredicateProblem] {
    var check = PredicateCheck(entity, variables: PredicateCheck.fetchVariables(owner: nil))
    check.check(structureNode())
    return check.problems
  }
}

extension PredicateNode {
  /// All problems of a predicate that a user has typed, with texts that do not mention arguments.
  package func typedProblems(for entity: NSEntityDescription) -> [PredicateProblem] {
    var check = PredicateCheck(entity, takesArguments: false)
    check.check(self)
    return check.problems
  }

  /// The problems that make a fetch throw. Cost: under a microsecond for a comparison or two.
  package func errors(for entity: NSEntityDescription) -> [PredicateProblem] {
    var check = PredicateCheck(entity, findsWarnings: false)
    check.check(self)
    return check.problems
  }
}

extension CoreDataPredicates.NSExpression {
  /// Everything in the expression that doesn't fit objects of an entity; see `NSPredicate.problems(for:)`.
  public func problems(for entity: NSEntityDescription) -> [PredicateProblem] {
    var check = PredicateCheck(entity, variables: PredicateCheck.fetchVariables(owner: nil))
    _ = check.example(of: expressionNode())
    return check.problems
  }
}

extension NSSortDescriptor {
  /// Everything in the descriptor's key that doesn't fit objects of an entity: unknown keys, many values,
  /// values without order.
  ///
  /// Of a descriptor with a comparator of the program's own only the key is checked.
  public func problems(for entity: NSEntityDescription) -> [PredicateProblem] {
    guard let key, !key.isEmpty else { return [] }
    var check = PredicateCheck(entity)
    check.checkSortKey(key, isCompared: sortTerm != nil)
    return check.problems
  }
}

extension NSFetchRequest {
  /// Everything in the request that doesn't fit a model: its entity, predicate, sort descriptors, properties
  /// to fetch and relationships to prefetch.
  public final func problems(in model: NSManagedObjectModel) -> [PredicateProblem] {
    guard let entity = entityName.flatMap({ model.entitiesByName[$0] }) else {
      let names: [String] = Array(model.entitiesByName.keys)
      guard let entityName else {
        return [
          PredicateProblem(
            .unknownEntity, part: "the request", reason: "it has no entity",
            advice: "Set its entity or entityName.")
        ]
      }
      return [
        PredicateProblem(
          .unknownEntity, part: entityName, name: entityName,
          nearest: NearestNames.of(entityName, among: names),
          reason: "the model has no entity '\(entityName)'",
          advice: NearestNames.advice(for: entityName, among: names))
      ]
    }
    var problems: [PredicateProblem] = predicate?.problems(for: entity) ?? []
    for descriptor in sortDescriptors ?? [] { problems += descriptor.problems(for: entity) }
    for property in propertiesToFetch ?? [] {
      switch property {
      case let path as String: problems += NSExpression(forKeyPath: path).problems(for: entity)
      case let description as NSExpressionDescription:
        problems += description.expression?.problems(for: entity) ?? []
      default: break
      }
    }
    for path in relationshipKeyPathsForPrefetching ?? [] {
      problems += NSExpression(forKeyPath: path).problems(for: entity)
    }
    return problems
  }
}

extension PredicateCheck {
  /// Problems of a request of the model itself: a fetched property's (with the entity that owns it), which
  /// has two variables, or a template, whose variables get values when it is used.
  static func problems(
    of request: NSFetchRequest<any NSFetchRequestResult>, for entity: NSEntityDescription,
    owner: NSEntityDescription?
  ) -> [PredicateProblem] {
    var problems: [PredicateProblem] = []
    if let predicate = request.predicate {
      var check = PredicateCheck(
        entity, variables: fetchVariables(owner: owner), needsVariables: owner != nil)
      check.check(predicate.structureNode())
      problems = check.problems
    }
    return problems + (request.sortDescriptors ?? []).flatMap { $0.problems(for: entity) }
  }

  /// The variables of a fetched property's predicate: the object that owns it, and its description.
  static func fetchVariables(owner: NSEntityDescription?) -> [String: PredicateValue?] {
    ["FETCH_SOURCE": owner.map { .example(of: $0) }, "FETCHED_PROPERTY": nil]
  }

  mutating func checkSortKey(_ key: String, isCompared: Bool) {
    let isObject: Bool = key == "self" && entity.propertiesByName[key] == nil
    let expression: ExpressionNode = isObject ? .evaluatedObject : .keyPath(key)
    guard let value = example(of: expression) else { return }
    if value.isCollection {
      report(
        PredicateProblem(
          .toManyNotAllowed, part: key, subject: subject(expression),
          reason: "to-many key not allowed here: \(key) gives many values, and an order needs one an object",
          advice: "Sort by an attribute, by one of a to-one relationship, or by \(key).@count."))
    } else if isCompared, value.exampleForm == nil,
      (try? SortTerm(key: key, ascending: true).order(value, value)) == nil
    {
      report(
        PredicateProblem(
          .wrongType, part: key, subject: subject(expression), reason: "\(value.kindName) has no order",
          advice: "Sort by a number, a string or a date, or give the descriptor a comparator."))
    }
  }
}
