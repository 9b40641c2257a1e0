import CoreDataModel
import CoreDataPredicates

extension FinderPlan {
  /// The function of a fetch request template: a parameter for each variable of its predicate, of the type of
  /// the property that it is compared with.
  init(
    _ template: String, _ request: NSFetchRequest<any NSFetchRequestResult>, _ entity: NSEntityDescription,
    _ planner: ClassPlanner
  ) {
    self.template = template
    let name: String = SwiftNames.capitalized(template)
    self.name = name.hasPrefix("Fetch") && name.count > 5 ? "f" + name.dropFirst() : "fetch" + name
    result =
      switch request.resultType {
      case .managedObjectIDResultType: .ids
      case .dictionaryResultType: .dictionaries
      case .countResultType: .count
      default: .objects(planner.reference(to: entity))
      }
    parameters = []
    guard let node = request.predicate?.predicateNode() else { return }
    var types: [String: VariableType] = [:]
    StackGuard.run(levels: node.depth) { node.collectVariableTypes(entity, planner, into: &types) }
    var names: Set<String> = ["context"]
    for variable in node.variables.sorted() {
      var name: String = SwiftNames.parameter(variable)
      while !names.insert(name).inserted { name += "_" }
      let type: VariableType = types[variable] ?? .any
      parameters.append(
        Parameter(name: name, variable: variable, type: type.text, isEnumeration: type.isEnumeration))
    }
  }
}

private struct VariableType: Equatable {
  var text: String
  var isEnumeration: Bool = false

  static let any = VariableType(text: "Any")
}

extension PredicateNode {
  /// The types of variables that are compared with a property as they are.
  fileprivate func collectVariableTypes(
    _ entity: NSEntityDescription, _ planner: ClassPlanner, into types: inout [String: VariableType]
  ) {
    switch self {
    case .compound(_, let members):
      for member in members { member.collectVariableTypes(entity, planner, into: &types) }
    case .comparison(let comparison):
      let path: String
      let variable: String
      switch (comparison.left, comparison.right) {
      case (.keyPath(let left), .variable(let right)), (.variable(let right), .keyPath(let left)):
        (path, variable) = (left, right)
      default: return
      }
      let type: VariableType = comparison.variableType(path, entity, planner) ?? .any
      // One that is compared with properties of different types can be of any.
      if let known = types[variable], known != type {
        types[variable] = .any
      } else {
        types[variable] = type
      }
    case .constant, .block: return
    }
  }
}

extension ComparisonNode {
  fileprivate func variableType(_ path: String, _ entity: NSEntityDescription, _ planner: ClassPlanner)
    -> VariableType?
  {
    let isOfWhole: Bool
    switch comparison {
    case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      isOfWhole = true
    case .beginsWith, .endsWith, .contains, .like, .matches: isOfWhole = false
    default: return nil
    }
    var current: NSEntityDescription? = entity
    let keys: [String] = path.split(separator: ".").map(String.init)
    for (index, key) in keys.enumerated() {
      guard let property = current?.propertiesByName[key] else { return nil }
      let isLast: Bool = index == keys.count - 1
      if let relationship = property as? NSRelationshipDescription {
        if isLast { return VariableType(text: planner.reference(to: relationship.destinationEntity)) }
        current = relationship.destinationEntity
      } else if let attribute = property as? NSAttributeDescription, isLast {
        if isOfWhole, let name = planner.enumeration(of: attribute) {
          return VariableType(text: name, isEnumeration: true)
        }
        return planner.types.argument(attribute).map { VariableType(text: $0) }
      } else {
        return nil
      }
    }
    return nil
  }
}

extension PropertyTypes {
  /// The type of an argument that an attribute is compared with.
  fileprivate func argument(_ attribute: NSAttributeDescription) -> String? {
    switch attribute.attributeType {
    case .integer16AttributeType: standard("Int16")
    case .integer32AttributeType: standard("Int32")
    case .integer64AttributeType: standard("Int64")
    case .doubleAttributeType: standard("Double")
    case .floatAttributeType: standard("Float")
    case .booleanAttributeType: standard("Bool")
    case .decimalAttributeType: standard("NSDecimalNumber")
    case .dateAttributeType: standard("Date")
    case .stringAttributeType: standard("String")
    case .binaryDataAttributeType: standard("Data")
    case .UUIDAttributeType: standard("UUID")
    case .URIAttributeType: standard("URL")
    default: nil
    }
  }
}
