import CoreDataPredicates
import Foundation

/// What can be inferred of a migration from the difference of two models: a mapping model, or the reasons why
/// there is none.
///
/// ```swift
/// let inference = MappingInference(from: old, to: new)
/// inference.refusals.forEach { print($0) }
/// let mapping = try inference.mappingModel()
/// ```
///
/// Everything is inferred that Apple's lightweight migration infers, and attribute types of which the new one
/// holds every value of the old one. Among types of numbers others are inferred too, as Apple does, on the
/// condition that no number is rounded or cut off. Queue: any. Cost: linear in the models.
public struct MappingInference: Sendable {
  /// A change for which no mapping can be inferred.
  public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// The entity, by its name in the destination.
    public let entity: String
    /// The property, nil if the whole entity is concerned.
    public let property: String?
    /// What is wrong: a sentence.
    public let reason: String
    /// What to do about it: a sentence.
    public let advice: String
    /// Whether a mapping model lacks nothing but a value of the property, for objects that have none.
    package let lacksValueOnly: Bool
    /// Whether a value expression for the attribute is all that a mapping model needs: the same, or its type
    /// does not hold the values of the former one.
    package let needsExpression: Bool

    public var description: String { "\(reason) \(advice)" }
  }

  /// What must be true of a store's objects, so that the mapping suffices. A migration checks it first.
  public struct Condition: Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
      /// No object lacks a value of the property, which has become required.
      case hasValue(property: String)
      /// No two objects have equal values of these attributes.
      case isUnique([String])
      /// The number of objects at the other end of the relationship is in the range, or there are none and
      /// there may be none.
      case hasCount(relationship: String, ClosedRange<Int>, orNone: Bool)
      /// The source has no objects of the entity itself, which has become abstract.
      case hasNoObjects
      /// The number of the attribute, or of the element at the path, is one that its new type holds without
      /// rounding.
      case isExact(attribute: String, as: NSAttributeType)
    }

    /// The entity, by its name in the destination. Sub-entities are included.
    public let entity: String
    /// The names are those of the destination.
    public let kind: Kind

    public var description: String {
      switch kind {
      case .hasValue(let property): "Every \(entity) must have a value of '\(property)'."
      case .isUnique(let names):
        "No two objects of \(entity) may have the same \(names.joined(separator: " and "))."
      case .hasCount(let relationship, let range, orNone: true) where range.lowerBound <= 1:
        "Every \(entity) may have at most \(range.upperBound) of '\(relationship)'."
      case .hasCount(let relationship, let range, let orNone):
        "Every \(entity) must have "
          + (range.upperBound == .max
            ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)")
          + " of '\(relationship)'\(orNone ? ", or none" : "")."
      case .isExact(let attribute, let type):
        "The '\(attribute)' of every \(entity) must be a number that a value of type \(type.editorName) can be"
          + (type.wholeNumbers.map {
            type.isInteger ? " (\($0.lowerBound) to \($0.upperBound))." : " without rounding."
          } ?? ".")
      case .hasNoObjects: "There may be no objects of \(entity) itself, which is abstract in the destination."
      }
    }
  }

  public let difference: ModelDifference
  private let isDown: Bool

  /// Every reason why no mapping model can be inferred; none if one can.
  public let refusals: [Refusal]

  /// What a store's objects must fulfil.
  public let conditions: [Condition]

  /// Relationships whose objects are left out because they have another destination now, a sentence each.
  /// What the destination does not have at all is left out without a word here.
  public var omissions: [String] { omittedRelationships.map(\.sentence) }

  /// The same with their places.
  package let omittedRelationships: [Omission]

  package struct Omission: Sendable, Hashable {
    /// By its names in the source.
    package let entity: String
    package let relationship: String
    package let sentence: String
  }

  /// Whether the numbers of members have to be checked.
  package var countsMembers: Bool {
    conditions.contains { if case .hasCount = $0.kind { true } else { false } }
  }

  /// Whether relationships get inverses with which objects may lose members: a copy must be compared.
  package let changesInverses: Bool

  public init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
    self.init(ModelDifference(from: source, to: destination))
  }

  public init(_ difference: ModelDifference) { self.init(difference, isDown: false) }

  /// `isDown`: whether the destination is an earlier version, which can't be changed any more.
  package init(_ difference: ModelDifference, isDown: Bool) {
    self.difference = difference
    self.isDown = isDown
    var check = InferenceCheck(difference, isDown: isDown)
    check.run()
    (refusals, conditions, omittedRelationships) = (check.refusals, check.conditions, check.omissions)
    changesInverses = check.changesInverses
  }

  /// The error that says why no mapping model can be inferred; nil if one can.
  public var error: CocoaError? { error(refusals) }

  private func error(_ refusals: [Refusal]) -> CocoaError? {
    guard let first = refusals.first else { return nil }
    let list: String =
      refusals.count == 1
      ? first.description
      : refusals.enumerated().map { "\n\($0 + 1). \($1)" }.joined()
    let message = ErrorMessage(
      "No mapping model can be inferred from the source model to the destination model. \(list)",
      advice:
        "\(isDown ? "Provide" : "Change the destination model, or provide") a mapping model (.xcmappingmodel or .cdm, or in "
        + "code) for these two versions.")
    // Apple documents these keys of the error, for one property.
    var info: [String: Any] = ["reason": first.reason, "entity": first.entity]
    if let property = first.property { info["property"] = property }
    if refusals.count > 1 {
      info["NSDetailedErrors"] = refusals.map { refusal in
        var info: [String: Any] = ["reason": refusal.reason, "entity": refusal.entity]
        if let property = refusal.property { info["property"] = property }
        return ErrorMessage(refusal.reason, advice: refusal.advice).cocoaError(Self.code, info)
      }
    }
    return message.cocoaError(Self.code, info)
  }

  /// `NSInferredMappingModelError`
  private static let code: Int = 134_190

  /// The mapping model. Throws ``error``.
  public func mappingModel() throws -> NSMappingModel {
    if let error { throw error }
    return made
  }

  /// The mapping model to be completed: what is required and has no value has none in it either.
  /// `expressions`: the attributes, each with its entity by the names in the destination, that will have
  /// expressions of the program, so that any type may become any other. Throws the other refusals.
  package func unfinishedMappingModel(expressions: Set<String> = []) throws -> (
    model: NSMappingModel, lacking: [Refusal]
  ) {
    let refused: [Refusal] = refusals.filter { refusal in
      !refusal.lacksValueOnly
        && !(refusal.needsExpression && expressions.contains("\(refusal.entity).\(refusal.property ?? "")"))
    }
    if let error = error(refused) { throw error }
    return (made, refusals.filter(\.lacksValueOnly))
  }

  private var made: NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = InferredMappings(difference).entityMappings()
    return model
  }
}
