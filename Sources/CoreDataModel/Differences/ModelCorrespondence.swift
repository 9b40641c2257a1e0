/// Which entities, properties and elements of composite attributes of two versions of a model are the same,
/// by name.
package struct ModelCorrespondence: Sendable {
  /// Destination entity → source entity. One that is missing is new.
  package var entities: [String: String]
  /// Destination entity → destination property → source property, inherited ones under the entity itself or
  /// the one that declares them; elements of composite attributes by their paths (`address.city`). One that
  /// is missing is new.
  package var properties: [String: [String: String]]

  package init(entities: [String: String], properties: [String: [String: String]]) {
    self.entities = entities
    self.properties = properties
  }

  /// As the difference of the models has matched them.
  package init(_ difference: ModelDifference) {
    self.init(entities: [:], properties: [:])
    for entity in difference.entities {
      guard let former = entity.source?.name, let name = entity.destination?.name else { continue }
      entities[name] = former
      for property in entity.properties {
        guard let old = property.source?.name, let new = property.destination?.name else { continue }
        properties[name, default: [:]][new] = old
        add(property.elements, of: name, (old, new))
      }
    }
  }

  private mutating func add(
    _ elements: [ElementDifference], of entity: String, _ paths: (old: String, new: String)
  ) {
    for element in elements {
      guard let old = element.source?.name, let new = element.destination?.name else { continue }
      let inner: (old: String, new: String) = ("\(paths.old).\(old)", "\(paths.new).\(new)")
      properties[entity, default: [:]][inner.new] = inner.old
      add(element.elements, of: entity, inner)
    }
  }

  /// The same from the destination to the source.
  package var inverse: ModelCorrespondence {
    func inverted(_ names: [String: String]) -> [String: String] {
      Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, second in min(first, second) })
    }
    var result = ModelCorrespondence(entities: inverted(entities), properties: [:])
    for (former, name) in result.entities { result.properties[former] = inverted(properties[name] ?? [:]) }
    return result
  }

  /// From the source of this one to the destination of the next.
  package func followed(by next: ModelCorrespondence) -> ModelCorrespondence {
    var result = ModelCorrespondence(entities: [:], properties: [:])
    for (name, middle) in next.entities {
      guard let former = entities[middle] else { continue }
      result.entities[name] = former
      result.properties[name] = (next.properties[name] ?? [:]).compactMapValues { properties[middle]?[$0] }
    }
    return result
  }
}
