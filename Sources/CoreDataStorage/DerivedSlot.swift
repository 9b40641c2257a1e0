import CoreDataModel

/// A derived attribute with its expression resolved into slots.
package struct DerivedSlot: Sendable {
  /// A stored property by entity index and slot.
  package struct Place: Sendable, Hashable {
    package let entity: Int
    package let slot: Int
  }

  package enum Source: Sendable, Hashable {
    case now
    /// To-one relationships to follow, each in the entity where the previous one ends, and the attribute at
    /// the end.
    case value(path: [Place], attribute: Place, function: Derivation.TextFunction?)
    /// The members of a to-many relationship of the derived attribute's entity.
    case count(slot: Int)
    /// The sum of an attribute of the destination over the members.
    case sum(slot: Int, attribute: Place)
  }

  /// The entity that declares the attribute; it has the same slot and word in all sub-entities.
  package let place: Place
  package let name: String
  package let kind: ColumnKind
  package let word: Int
  package let source: Source
}

extension ModelLayout {
  /// The derived attributes that a store keeps up to date, by entity and slot. `entityNames`: those of its
  /// configuration, nil for all.
  ///
  /// Throws `StoreError.unsupportedModel` for an expression that no store can derive, with what is wrong and
  /// what is allowed.
  package func derivedSlots(entityNames: Set<String>? = nil) throws -> [DerivedSlot] {
    var result: [DerivedSlot] = []
    for entity in entities where entityNames?.contains(entity.name) ?? true {
      for (number, slot) in entity.slots.enumerated() where slot.declaringEntity == entity.index {
        guard let derived = slot.property as? NSDerivedAttributeDescription else { continue }
        func refusal(_ reason: String) -> StoreError {
          StoreError.unsupportedModel(entity: entity.name, property: slot.name, reason: reason)
        }
        let derivation: Derivation
        do throws(DerivationProblem) {
          derivation = try Derivation.of(derived, in: entity.entity)
        } catch {
          throw refusal(error.message)
        }
        guard case .stored(let kind, let word) = slot.role, let source = resolve(derivation, of: entity)
        else {
          throw refusal("its type can't be stored")
        }
        result.append(
          DerivedSlot(
            place: DerivedSlot.Place(entity: entity.index, slot: number), name: slot.name, kind: kind,
            word: word, source: source))
      }
    }
    return result
  }

  /// nil if a name is not found, which the check of the expression excludes.
  private func resolve(_ derivation: Derivation, of entity: EntityLayout) -> DerivedSlot.Source? {
    func place(_ name: String, of entity: EntityLayout) -> DerivedSlot.Place? {
      entity.slotByName[name].map { DerivedSlot.Place(entity: entity.index, slot: $0) }
    }
    switch derivation {
    case .now: return .now
    case .count(let relationship): return entity.slotByName[relationship].map { .count(slot: $0) }
    case .sum(let relationship, let attribute):
      guard let slot = entity.slotByName[relationship], let destination = entity.slots[slot].destination,
        let summand = place(attribute, of: entities[destination])
      else { return nil }
      return .sum(slot: slot, attribute: summand)
    case .value(let path, let attribute, let function):
      var owner: EntityLayout = entity
      var steps: [DerivedSlot.Place] = []
      for name in path {
        guard let step = place(name, of: owner), let destination = owner.slots[step.slot].destination else {
          return nil
        }
        steps.append(step)
        owner = entities[destination]
      }
      return place(attribute, of: owner).map { .value(path: steps, attribute: $0, function: function) }
    }
  }
}
