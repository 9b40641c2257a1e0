import CoreDataGraph
import CoreDataModel
import CoreDataPredicates
import Foundation

/// Finds values of a store that the rules of the new model refuse: validation predicates of attributes, such
/// as limits and patterns, required values and limits of relationships. Of an inferred step the values that
/// only the new model requires are left out: inference has conditions for them.
///
/// A copy is validated, and ends with an error for them. In place nothing is validated, as in Apple's
/// framework: the objects stay, and can't be saved before they have other values. What a computed value or a
/// policy of the program gives is not known. Cost: reads the values of attributes with rules of all objects;
/// nothing if there are no rules.
struct RefusedValues {
  private let mappings: [PreparedMapping]
  private let contents: SurveyedContents
  private let isInferred: Bool

  /// `mappings`: those without policies of the program.
  init(_ step: MigrationStep, _ mappings: [PreparedMapping], _ contents: SurveyedContents) {
    (self.mappings, self.contents, isInferred) = (mappings, contents, step.isInferred)
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
        let path: String = "\(mapping.destination?.name ?? "").\(all[place].path)"
        let former: String? = all[place].key.map { "\(source).\($0)" }
        let value: String =
          former.map { $0 == path ? "a value" : "a value of \($0)" } ?? "the default value"
        return
          "\(counts[place]) object(s) have \(value) that the new \(path) refuses: it does not satisfy \(reasons[place])."
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

  // MARK: Required values and members

  private func lacking() throws -> [String] {
    try mappings.flatMap { mapping -> [String] in
      guard let source = mapping.source, let destination = mapping.destination else { return [] }
      return try destination.propertiesByName.sorted { $0.key < $1.key }.compactMap { name, property in
        guard let key = mapping.copiedKey(of: name), let old = source.propertiesByName[key],
          let lack = lack(of: property, from: old)
        else { return nil }
        let count: Int = try contents.count(source.name ?? "", lack.predicate)
        if count == 0 { return nil }
        return "\(count) object(s) of \(source.name ?? "") have \(lack.words) \(key), "
          + (lack.isNew
            ? "from which \(destination.name ?? "").\(name) is made, and the new model does not allow that. Change "
              + "them with the version that the store has, change the new one"
              + (property is NSRelationshipDescription ? "" : ", such as by a default value")
              + ", or compute another value in the mapping."
            : "as neither model allows. Change or delete them with the version that the store has, or change the new one.")
      }
    }
  }

  private struct Lack {
    /// True for the objects.
    let predicate: NSPredicate
    /// Between "objects have" and the name of the property.
    let words: String
    /// Whether the former model allows it.
    let isNew: Bool
  }

  /// nil if there can be none, or inference looks for it.
  private func lack(of new: NSPropertyDescription, from old: NSPropertyDescription) -> Lack? {
    if old.isTransient { return nil }
    let lack: Lack? =
      switch (new, old) {
      case (let new as NSRelationshipDescription, let old as NSRelationshipDescription):
        Self.lack(of: new, from: old)
      case (let new as NSAttributeDescription, let old as NSAttributeDescription):
        new.isOptional || new.defaultValue != nil || new is NSDerivedAttributeDescription
          ? nil
          : Lack(
            predicate: NSPredicate(format: "%K == nil", old.name), words: "no value of", isNew: old.isOptional
          )
      default: nil
      }
    return isInferred && lack?.isNew == true ? nil : lack
  }

  /// An expression that makes one object of several, or the other way round, has chosen.
  private static func lack(of new: NSRelationshipDescription, from old: NSRelationshipDescription) -> Lack? {
    if new.isToMany != old.isToMany { return nil }
    let allowed = MemberCounts(of: new)
    return predicate(refusing: allowed, of: old).map { predicate in
      Lack(
        predicate: predicate, words: new.isToMany ? "another number of" : "no value of",
        isNew: !allowed.includes(MemberCounts(of: old)))
    }
  }

  /// True for objects that have another number of members than is allowed; nil if all numbers are.
  static func predicate(refusing allowed: MemberCounts, of old: NSRelationshipDescription) -> NSPredicate? {
    var parts: [NSPredicate] = []
    if old.isToMany {
      let range: ClosedRange<Int> = allowed.range ?? 0...0
      if !allowed.mayBeEmpty { parts.append(NSPredicate(format: "%K.@count == 0", old.name)) }
      if range.lowerBound > 1 {
        parts.append(
          NSPredicate(
            format: "%K.@count > 0 AND %K.@count < %@", old.name, old.name, NSNumber(value: range.lowerBound))
        )
      }
      if range.upperBound < .max {
        parts.append(NSPredicate(format: "%K.@count > %@", old.name, NSNumber(value: range.upperBound)))
      }
    } else {
      if !allowed.mayBeEmpty { parts.append(NSPredicate(format: "%K == nil", old.name)) }
      if !allowed.allow(1) { parts.append(NSPredicate(format: "%K != nil", old.name)) }
    }
    return parts.isEmpty ? nil : CoreDataPredicates.NSCompoundPredicate(type: .or, subpredicates: parts)
  }
}
