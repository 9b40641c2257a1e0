import CoreDataModel
import CoreDataStorage

extension MigrationPlanner {
  /// Relationships to many that have no columns of their own: their inverse must have taken over the values.
  mutating func checkRelationships() {
    checkOneToOne()
    for entity in new.layout.entities {
      guard let former = moves.source[entity.index] else { continue }
      for (number, slot) in entity.slots.enumerated() where slot.role == .toMany {
        guard case .slot(let oldNumber, _) = plan.entities[entity.index].slots[number] else { continue }
        let place: String = "\(entity.name).\(slot.name)"
        let oldSlot: PropertySlot = old.layout.entities[former].slots[oldNumber]
        if oldSlot.relationship == nil {
          obstacles.append("\(place) is another kind of property than \(oldSlot.name) was.")
          continue
        }
        guard case .toMany(.foreignKey(let members)) = new.storage(of: entity.index, slot: number),
          !members.isHidden, let back = slot.inverseSlot, let destination = slot.destination
        else { continue }
        switch old.storage(of: former, slot: oldNumber) {
        case .toMany(.joinTable):
          obstacles.append("An object could be in several \(place), but has one inverse now.")
        case .toMany(.foreignKey(let oldMembers)):
          let followed: Bool = new.layout.entities[destination].family.contains { heir in
            guard let position = new.tablePosition[heir], let source = moves.source[heir],
              let place = new.tables[position].columns.firstIndex(where: { $0.name == members.key })
            else { return false }
            let pair = EntityMoves.Pair(old: source, new: heir)
            return tables[position].sources[place][pair]?.column == oldMembers.key
          }
          let isRetargeted: Bool = oldSlot.destination.flatMap { moves.shift($0, destination) } == nil
          if !followed, !isRetargeted {
            obstacles.append("\(place) has an inverse, \(backName(destination, back)), with other values.")
          }
        case .toOne:
          let isInverse: Bool = oldSlot.inverseSlot != nil
          if !isInverse {
            obstacles.append("An object could be in several \(place), but has one inverse now.")
          }
        case .none, .attribute: continue
        }
      }
    }
  }

  private func backName(_ entity: Int, _ slot: Int) -> String { new.layout.entities[entity].slots[slot].name }

  /// Of one to one both sides have a column: both must have been the two sides of one to one before.
  private mutating func checkOneToOne() {
    for entity in new.layout.entities {
      guard let former = moves.source[entity.index] else { continue }
      for (number, slot) in entity.slots.enumerated() {
        guard slot.isToOne, slot.role != .transient, let back = slot.inverseSlot,
          let destination = slot.destination, slot.relationship?.inverseRelationship?.isToMany == false,
          case .slot(let oldNumber, _) = plan.entities[entity.index].slots[number],
          let old = old.layout.entities[former].slots[oldNumber].relationship,
          old.destinationEntity.flatMap({ plan.source.byName[$0.name ?? ""] })
            .flatMap({ moves.shift($0.index, destination) }) != nil
        else { continue }
        let followed: Bool = new.layout.entities[destination].family.contains { heir in
          guard let source = moves.source[heir], case .slot(let place, _) = plan.entities[heir].slots[back]
          else { return false }
          return self.old.layout.entities[source].slots[place].relationship === old.inverseRelationship
        }
        if !followed || old.inverseRelationship?.isToMany != false {
          obstacles.append(
            "\(entity.name).\(slot.name) and \(new.layout.entities[destination].slots[back].name) are one to one, "
              + "but were not the two sides of such a relationship.")
        }
      }
    }
  }

  /// Of many to many one table holds both sides: they must have been the two sides of one relationship.
  mutating func checkManyToMany() {
    for change in joins where !change.isConsistent {
      let slot: PropertySlot = new.layout.entities[change.owner].slots[change.join.slot]
      obstacles.append(
        "\(new.layout.entities[change.owner].name).\(slot.name) and its inverse were sides of different "
          + "relationships.")
    }
  }
}
