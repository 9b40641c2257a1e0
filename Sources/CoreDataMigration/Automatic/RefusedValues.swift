import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds values of a store that the rules of the new model refuse: validation predicates of attributes, such
/// as limits and patterns, required values and limits of relationships that the old model had, too, or the
/// objects would not be as they are.
///
/// A copy is validated, and ends with an error for them. In place nothing is validated, as in Apple's
/// framework: the objects stay, and can't be saved before they have other values. What a computed value or a
/// policy of the program gives is not known. Cost: reads the values of attributes with rules of all objects;
/// nothing if there are no rules.
struct RefusedValues {
  private let mappings: [PreparedMapping]
  private let contents: SurveyedContents

  /// `mappings`: those without policies of the program.
  init(_ mappings: [PreparedMapping], _ contents: SurveyedContents) {
    (self.mappings, self.contents) = (mappings, contents)
  }

  /// What ends a copy.
  func problems() throws -> [String] {
    try broken().map { "\($0) Change them with the version that the store has, or take the rule back." }
      + lacking()
  }

  /// The same for a step in place.
  func warnings() throws -> [String] {
    try broken().map { "\($0) They stay, and can't be saved before they have another value." }
  }

  // MARK: Attributes

  /// An attribute of the new model with rules, and what its values are made of.
  private struct Rules {
    let path: String
    let predicates: [NSPredicate]
    /// nil if all objects get the standard value.
    let key: String?
    /// Where the source has no value, or for all objects.
    let standard: Any?
  }

  private func broken() throws -> [String] {
    try mappings.flatMap { mapping -> [String] in
      guard let source = mapping.source?.name else { return [] }
      let all: [Rules] = rules(of: mapping)
      if all.isEmpty { return [] }
      var counts = [Int](repeating: 0, count: all.count)
      var reasons = [String](repeating: "", count: all.count)
      try contents.forEachObject(of: source, reading: Set(all.compactMap(\.key)).sorted()) { row in
        for (place, rule) in all.enumerated() {
          let own: Any? = rule.key.flatMap { row[$0] }
          guard let value = own is NSNull ? rule.standard : own ?? rule.standard,
            let refusal = Self.refusal(of: value, by: rule.predicates)
          else { continue }
          if counts[place] == 0 { reasons[place] = refusal }
          counts[place] += 1
        }
      }
      return all.indices.filter { counts[$0] > 0 }.map { place in
        let entity: String = mapping.destination?.name ?? ""
        let from: String = all[place].key.map { "\(source).\($0)" } ?? "the default value"
        return
          "\(counts[place]) object(s): \(entity).\(all[place].path) refuses their values, those of \(from): one does "
          + "not satisfy \(reasons[place])."
      }
    }
  }

  /// The rule that a value does not satisfy, as text. One that can't be evaluated refuses everything.
  private static func refusal(of value: Any, by rules: [NSPredicate]) -> String? {
    rules.first {
      (try? $0.evaluateThrowing(with: value, substitutionVariables: nil)) != true
    }?.formatText
  }

  private func rules(of mapping: PreparedMapping) -> [Rules] {
    let attributes = mapping.destination?.attributesByName ?? [:]
    return attributes.sorted { $0.key < $1.key }.compactMap { name, attribute -> Rules? in
      guard !attribute.validationPredicates.isEmpty, !attribute.isTransient,
        !(attribute is NSDerivedAttributeDescription), Self.isPlain(attribute)
      else { return nil }
      let standard: Any? = attribute.isOptional ? nil : attribute.defaultValue
      guard mapping.hasValue(of: name) else {
        return attribute.defaultValue.map {
          Rules(path: name, predicates: attribute.validationPredicates, key: nil, standard: $0)
        }
      }
      guard let key = mapping.copiedKey(of: name), let old = mapping.source?.attributesByName[key],
        !old.isTransient, Self.isPlain(old)
      else { return nil }
      return Rules(
        path: name, predicates: attribute.validationPredicates, key: key, standard: standard)
    }
  }

  /// Whether dictionaries have the values as objects have them.
  private static func isPlain(_ attribute: NSAttributeDescription) -> Bool {
    ![.transformableAttributeType, .compositeAttributeType, .objectIDAttributeType, .undefinedAttributeType]
      .contains(attribute.attributeType)
  }

  // MARK: What the old model required, too

  private func lacking() throws -> [String] {
    try mappings.flatMap { mapping -> [String] in
      guard let source = mapping.source, let destination = mapping.destination else { return [] }
      return try destination.propertiesByName.sorted { $0.key < $1.key }.compactMap { name, property in
        guard let key = mapping.copiedKey(of: name), let old = source.propertiesByName[key],
          let predicate = Self.lacks(property, old)
        else { return nil }
        let count: Int = try contents.count(source.name ?? "", predicate)
        if count == 0 { return nil }
        return "\(count) object(s) of \(source.name ?? "") have "
          + (Self.isToMany(property) ? "another number of \(key)" : "no value of \(key)")
          + ", as neither model allows. Change or delete them with the version that the store has, or change the new one."
      }
    }
  }

  /// True for objects that both models refuse; nil if there can be none, or inference looks for them.
  private static func lacks(_ new: NSPropertyDescription, _ old: NSPropertyDescription) -> NSPredicate? {
    if old.isTransient || isToMany(new) != isToMany(old) { return nil }
    if let new = new as? NSRelationshipDescription, let old = old as? NSRelationshipDescription, new.isToMany
    {
      return count(new, old)
    }
    if new.isOptional || old.isOptional || (new as? NSAttributeDescription)?.defaultValue != nil {
      return nil
    }
    return new is NSDerivedAttributeDescription ? nil : NSPredicate(format: "%K == nil", old.name)
  }

  private static func isToMany(_ property: NSPropertyDescription) -> Bool {
    (property as? NSRelationshipDescription)?.isToMany == true
  }

  /// Another number of members than both models allow.
  private static func count(_ new: NSRelationshipDescription, _ old: NSRelationshipDescription)
    -> NSPredicate?
  {
    guard (new.minCount, new.maxCount) == (old.minCount, old.maxCount), new.minCount > 0 || new.maxCount > 0
    else { return nil }
    let most: Int = new.maxCount > 0 ? max(new.minCount, new.maxCount) : .max
    return anotherCount(of: old.name, than: new.minCount...most, refusesNone: !new.isOptional)
  }

  /// True for objects with another number of members of a relationship. `refusesNone`: also for those that
  /// have none.
  static func anotherCount(of key: String, than range: ClosedRange<Int>, refusesNone: Bool = false)
    -> NSPredicate
  {
    NSPredicate(
      format: "%K.@count >= %@ AND (%K.@count < %@ OR %K.@count > %@)", key,
      NSNumber(value: refusesNone ? 0 : 1), key, NSNumber(value: range.lowerBound), key,
      NSNumber(value: range.upperBound))
  }
}
