/// What makes two versions of an entity differ for stores: the facts that its version hash covers.
package enum VersionDifferences {
  /// Each difference in words, as `Item.priority is Integer 16 in the store, Integer 32 in the model`. What
  /// an entity inherits is left to the entity that declares it.
  package static func list(store: NSEntityDescription, model: NSEntityDescription) -> [String] {
    let name: String = model.name ?? ""
    var found: [String] = lines(name, facts(store), facts(model))
    let (old, new) = (own(store), own(model))
    for property in Set(old.keys).union(new.keys).sorted() {
      switch (old[property], new[property]) {
      case (let old?, let new?):
        let isSameKind: Bool = (old is NSAttributeDescription) == (new is NSAttributeDescription)
        let count: Int = isSameKind ? .max : 1
        found += lines(
          "\(name).\(property)", Array(facts(old).prefix(count)), Array(facts(new).prefix(count)))
      case (nil, _): found.append("\(name).\(property) is only in the model")
      case (_, nil): found.append("\(name).\(property) is only in the store")
      }
    }
    return found
  }

  private static func own(_ entity: NSEntityDescription) -> [String: NSPropertyDescription] {
    let stored: [NSPropertyDescription] = entity.ownProperties.filter {
      !$0.isTransient && ($0 is NSAttributeDescription || $0 is NSRelationshipDescription)
    }
    return Dictionary(stored.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The facts are in the same order on both sides.
  private static func lines(_ subject: String, _ old: [String], _ new: [String]) -> [String] {
    zip(old, new).filter { $0 != $1 }.map { "\(subject) is \($0) in the store, \($1) in the model" }
  }

  private static func facts(_ entity: NSEntityDescription) -> [String] {
    let constraints: [String] = entity.uniquenessConstraintNames.map { $0.joined(separator: " and ") }
    return [
      entity.isAbstract ? "abstract" : "not abstract",
      entity.superentity?.name.map { "a sub-entity of \($0)" } ?? "without a parent",
      constraints.isEmpty
        ? "without constraints" : "unique by \(constraints.sorted().joined(separator: ", "))",
      modifier(entity.versionHashModifier),
    ]
  }

  private static func facts(_ property: NSPropertyDescription) -> [String] {
    var facts: [String] = []
    if let attribute = property as? NSAttributeDescription {
      facts = [
        attribute.attributeType.editorName,
        attribute.allowsExternalBinaryDataStorage ? "kept in files if large" : "kept in its row",
        attribute.preservesValueInHistoryOnDeletion ? "kept in history" : "not kept in history",
        (attribute as? NSDerivedAttributeDescription).map {
          "derived from \($0.derivationExpression?.description ?? "nothing")"
        }
          ?? "not derived",
        (attribute as? NSCompositeAttributeDescription).map {
          "made of \($0.elements.map(\.name).joined(separator: ", "))"
        } ?? "not composite",
      ]
    }
    if let relationship = property as? NSRelationshipDescription {
      let most: String = relationship.maxCount == 0 ? "any number of" : "\(relationship.maxCount)"
      facts = [
        relationship.isToMany ? "a to-many relationship" : "a to-one relationship",
        "to \(relationship.destinationEntityName ?? "nothing")",
        relationship.inverseRelationshipName.map { "the inverse of \($0)" } ?? "without inverse",
        relationship.isOrdered ? "ordered" : "not ordered",
        "for \(relationship.minCount) to \(most) objects",
      ]
    }
    return facts + [property.isOptional ? "optional" : "required", modifier(property.versionHashModifier)]
  }

  private static func modifier(_ modifier: String?) -> String {
    modifier.map { "of hash modifier '\($0)'" } ?? "without hash modifier"
  }
}
