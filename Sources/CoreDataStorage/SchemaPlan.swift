import CoreDataModel
import CoreDataPredicates
import Foundation

/// What becomes of a store's entities and properties when the store gets another model: for each entity of
/// the target model the entity whose rows it takes over, and for each of its slots the slot with its
/// values.
///
///     source              target              the plan
///     Car      maker      Vehicle  brand      Vehicle ← Car: brand ← maker, wheels ← 4
///              color               wheels     color is removed
///
/// What no part of the target refers to is removed. The plan says nothing about tables or files: a store's
/// kind decides whether it can do this in place (`StoreEngineKind.migrationPlan`).
package struct SchemaPlan: Sendable {
  /// Where a slot's values come from.
  package enum SlotSource: Sendable, Hashable {
    /// A slot of the source entity. A missing value becomes `whenNil`, for a property that was optional.
    case slot(Int, whenNil: PredicateValue?)
    /// A new property: the same value for all rows, `.null` for none.
    case constant(PredicateValue)
  }

  package struct EntitySource: Sendable {
    /// The entity of the source model; nil for a new one.
    package var entity: Int?
    /// By slot of the target entity.
    package var slots: [SlotSource]

    package init(entity: Int?, slots: [SlotSource]) {
      self.entity = entity
      self.slots = slots
    }
  }

  package let source: ModelLayout
  package let target: ModelLayout
  /// By index of the target entity.
  package let entities: [EntitySource]

  package init(source: ModelLayout, target: ModelLayout, entities: [EntitySource]) {
    self.source = source
    self.target = target
    self.entities = entities
  }

  /// The plan for two models whose entities and properties are matched by renaming identifiers and names.
  package init(source: ModelLayout, target: ModelLayout) {
    self.init(
      source: source, target: target,
      ModelCorrespondence(ModelDifference(from: source.model, to: target.model)))
  }

  /// The plan for a correspondence. New properties get their default values, and so do missing values of
  /// properties that become required.
  package init(source: ModelLayout, target: ModelLayout, _ correspondence: ModelCorrespondence) {
    self.init(
      source: source, target: target,
      entities: target.entities.map { entity in
        let found: EntityLayout? = correspondence.entities[entity.name].flatMap { source.byName[$0] }
        func property(_ slot: PropertySlot) -> String? {
          correspondence.properties[entity.name]?[slot.name]
            ?? correspondence.properties[target.entities[slot.declaringEntity].name]?[slot.name]
        }
        let slots: [SlotSource] = entity.slots.map { slot in
          let name: String? = found == nil ? nil : property(slot)
          let standard: PredicateValue =
            slot.isDerived ? .null : PredicateValue(normalizing: slot.attribute?.defaultValue)
          guard let found, let number = name.flatMap({ found.slotByName[$0] }) else {
            return .constant(standard)
          }
          let fillsNil: Bool =
            !slot.property.isOptional && found.slots[number].property.isOptional && !standard.isNull
          return .slot(number, whenNil: fillsNil ? standard : nil)
        }
        return EntitySource(entity: found?.index, slots: slots)
      })
  }
}
