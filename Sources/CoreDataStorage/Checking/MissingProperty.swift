/// A property for which a damaged store has no place any more: no object has what it held.
package struct MissingProperty: Sendable, Equatable {
  /// What is gone.
  package enum Part: Sendable { case value, members, order }

  /// The entity that declares the property.
  package var entity: String
  package var property: String
  package var part: Part
  /// What the store lacks, as a clause.
  package var reason: String

  package init(entity: String, property: String, part: Part, reason: String) {
    self.entity = entity
    self.property = property
    self.part = part
    self.reason = reason
  }
}
