import CoreDataPredicates
import Foundation

/// The source of a derived attribute: its expression in one of the few forms that stores can update by
/// themselves.
///
///     name, author.name            .value(path, function: nil)       a copy, also across to-one relationships
///     canonical:(author.name)      .value(path, function: .canonical)
///     pages.@count                 .count; `count:(pages)` is the same
///     items.@sum.price             .sum; `items.price.@sum` and `sum:(items.price)` are the same
///     now()                        .now                              when the object was saved last
package enum Derivation: Sendable, Hashable {
  package enum TextFunction: String, Sendable {
    case canonical = "canonical:"
    case lowercase = "lowercase:"
    case uppercase = "uppercase:"

    /// The built-in function that it is.
    package var builtin: BuiltinFunction {
      switch self {
      case .canonical: .canonical
      case .lowercase: .lowercase
      case .uppercase: .uppercase
      }
    }
  }

  case now
  /// The attribute at the end of to-one relationships, mostly of none.
  case value(path: [String], attribute: String, function: TextFunction?)
  case count(relationship: String)
  case sum(relationship: String, attribute: String)

  /// The allowed forms, for error messages.
  package static let allowed: String =
    "a store derives: an attribute (name), also of a to-one relationship (author.name); canonical:(name), "
    + "lowercase:(name), uppercase:(name); pages.@count; items.@sum.price; now()"
}

/// Why a derived attribute can't be derived.
package struct DerivationProblem: Error {
  package let message: String
}

extension Derivation {
  /// Reads and checks the expression of an attribute. Throws ``DerivationProblem``, which names the
  /// expression, what is wrong with it, and what is allowed.
  package static func of(
    _ derived: NSDerivedAttributeDescription, in entity: NSEntityDescription
  ) throws(DerivationProblem) -> Derivation {
    try DerivationCheck(derived: derived, entity: entity).run()
  }
}

private struct DerivationCheck {
  let derived: NSDerivedAttributeDescription
  let entity: NSEntityDescription

  private var text: String { derived.derivationExpression.map { $0.description } ?? "" }

  private func problem(_ reason: String) -> DerivationProblem {
    DerivationProblem(message: "its derivation expression '\(text)' \(reason); \(Derivation.allowed)")
  }

  func run() throws(DerivationProblem) -> Derivation {
    if derived.isTransient {
      throw DerivationProblem(
        message: "a derived attribute is computed by the store and can't be transient; clear one of the two")
    }
    guard let expression = derived.derivationExpression else {
      throw DerivationProblem(message: "the derived attribute has no expression; \(Derivation.allowed)")
    }
    if derived.filteringPredicate != nil {
      throw problem("is limited by a predicate, which stores can't keep up")
    }
    switch expression.expressionNode() {
    case .keyPath(let path): return try read(path)
    case .function(target: nil, name: "now", arguments: []):
      guard derived.attributeType == .dateAttributeType else { throw misfit("a date") }
      return .now
    case .function(target: nil, name: "count:", let arguments):
      if case .keyPath(let path)? = arguments.first { return try read("\(path).@count") }
      throw problem("counts something that is no relationship")
    case .function(target: nil, name: "sum:", let arguments):
      if case .keyPath(let path)? = arguments.first { return try read("\(path).@sum") }
      throw problem("sums up something that is no attribute of a relationship's members")
    case .function(target: nil, let name, let arguments):
      guard let function = Derivation.TextFunction(rawValue: name), arguments.count == 1,
        case .keyPath(let path) = arguments[0]
      else {
        throw problem("calls '\(name)' in a way that stores don't know")
      }
      return try read(path, function)
    default: throw problem("is neither a key path nor one of these functions")
    }
  }

  private func misfit(_ kind: String) -> DerivationProblem {
    problem(
      "gives \(kind), and the attribute's type is \(derived.attributeType.editorName); change the type")
  }

  /// Follows a path; an aggregate ends it.
  private func read(
    _ path: String, _ function: Derivation.TextFunction? = nil
  ) throws(DerivationProblem) -> Derivation {
    var keys: [String] = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    var owner: NSEntityDescription = entity
    var steps: [String] = []
    while true {
      let key: String = keys.removeFirst()
      switch owner.propertiesByName[key] {
      case nil:
        throw problem(
          "names '\(key)', which \(owner.name ?? "the entity") doesn't have. "
            + NearestNames.advice(for: key, among: owner.propertiesByName.keys))
      case let attribute as NSAttributeDescription:
        guard keys.isEmpty else { throw problem("goes on behind the attribute '\(key)'") }
        try checkCopy(of: attribute, function)
        return .value(path: steps, attribute: key, function: function)
      case let relationship as NSRelationshipDescription:
        guard !relationship.isTransient, let destination = relationship.destinationEntity else {
          throw problem("follows '\(key)', which is not stored")
        }
        if relationship.isToMany {
          guard steps.isEmpty else {
            throw problem("goes through a to-one relationship to the to-many '\(key)'")
          }
          guard function == nil else { throw problem("calls a text function with many values") }
          return try readAggregate(keys, of: relationship, destination)
        }
        guard !keys.isEmpty else {
          throw problem("ends with the relationship '\(key)' instead of an attribute")
        }
        steps.append(key)
        owner = destination
      default: throw problem("names '\(key)', which is not stored")
      }
    }
  }

  private func readAggregate(
    _ keys: [String], of relationship: NSRelationshipDescription, _ destination: NSEntityDescription
  ) throws(DerivationProblem) -> Derivation {
    switch keys {
    case ["@count"]:
      guard derived.attributeType.isNumber else { throw misfit("a number") }
      return .count(relationship: relationship.name)
    case _ where keys.count == 2 && keys.contains("@sum"):
      let name: String = keys[0] == "@sum" ? keys[1] : keys[0]
      guard let attribute = destination.attributesByName[name] else {
        throw problem(
          "sums up '\(name)', which is no attribute of \(destination.name ?? "the destination"). "
            + NearestNames.advice(for: name, among: destination.attributesByName.keys))
      }
      try checkStored(attribute)
      guard attribute.attributeType.isNumber else { throw problem("sums up '\(name)', which is no number") }
      guard derived.attributeType.isNumber,
        attribute.attributeType.isWholeNumber || !derived.attributeType.isWholeNumber
      else { throw misfit("a number of type \(attribute.attributeType.editorName)") }
      return .sum(relationship: relationship.name, attribute: name)
    case []: throw problem("has many values without '@count' or '@sum' behind '\(relationship.name)'")
    default:
      throw problem(
        "ends in '\(keys.joined(separator: "."))' behind the to-many '\(relationship.name)', which is neither "
          + "'@count' nor '@sum' with an attribute")
    }
  }

  private func checkStored(_ attribute: NSAttributeDescription) throws(DerivationProblem) {
    if attribute is NSDerivedAttributeDescription {
      throw problem("reads '\(attribute.name)', which is derived itself")
    }
    if attribute.isTransient { throw problem("reads '\(attribute.name)', which is transient and not stored") }
  }

  private func checkCopy(
    of attribute: NSAttributeDescription, _ function: Derivation.TextFunction?
  ) throws(DerivationProblem) {
    try checkStored(attribute)
    let (from, to): (NSAttributeType, NSAttributeType) = (attribute.attributeType, derived.attributeType)
    if let function {
      guard from == .stringAttributeType else {
        throw problem("calls '\(function.rawValue)' with '\(attribute.name)', which is no text")
      }
      guard to == .stringAttributeType else { throw misfit("text") }
      return
    }
    if attribute.allowsExternalBinaryDataStorage || derived.allowsExternalBinaryDataStorage {
      throw problem("copies binary data that may lie in a file of its own")
    }
    switch from {
    case .undefinedAttributeType, .objectIDAttributeType, .transformableAttributeType,
      .compositeAttributeType:
      throw problem("copies '\(attribute.name)', and values of its type have no copies")
    default:
      guard from == to || to.widens(from) else { throw misfit("a value of type \(from.editorName)") }
    }
  }
}

extension NSAttributeType {
  /// Whole numbers, real numbers, decimals; no Booleans.
  package var isNumber: Bool {
    switch self {
    case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: true
    default: isWholeNumber
    }
  }

  fileprivate var isWholeNumber: Bool {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: true
    default: false
    }
  }

  /// Whether every value of the other type is one of this.
  fileprivate func widens(_ other: NSAttributeType) -> Bool {
    switch (other, self) {
    case (.integer16AttributeType, .integer32AttributeType),
      (.integer16AttributeType, .integer64AttributeType),
      (.integer32AttributeType, .integer64AttributeType), (.integer16AttributeType, .doubleAttributeType),
      (.integer32AttributeType, .doubleAttributeType), (.floatAttributeType, .doubleAttributeType):
      true
    default: false
    }
  }
}
