import CoreDataModel
import CoreDataStorage

/// Triggers and the columns that they keep up to date; views and triggers of other programs.
///
/// No trigger may run while rows are moved: those that stay are on tables whose rows don't change.
struct TriggerChanges {
  private(set) var dropping: [MigrationStep] = []
  private(set) var creating: [MigrationStep] = []
  private(set) var obstacles: [String] = []

  init(_ planner: MigrationPlanner, _ indexes: IndexChanges, _ entities: Set<String>?) throws {
    let stores = StoreTables(planner)
    let derived: [DerivedSlot] = try planner.new.layout.derivedSlots(entityNames: entities)
    var wanted: [SchemaTree] = indexes.treeTriggers
    for slot in derived {
      let triggers = try DerivationTriggers(schema: planner.new, derived: slot)
      wanted += try triggers.trees()
      guard Self.isOutdated(slot, planner, stores) else { continue }
      let entity: EntityLayout = planner.new.layout.entities[slot.place.entity]
      creating.append(
        MigrationStep(.rows(.update(try triggers.recomputation())), "derive \(entity.name).\(slot.name)"))
    }
    var open: [SQLTokens: SchemaTree] = [:]
    for tree in wanted { open[SQLTokens(SQLRenderer.text(tree, dialect: SQLiteDialect()))] = tree }
    for object in planner.facts.objects where object.kind == .trigger {
      let tokens = SQLTokens(object.sql ?? "")
      if AppleNames.isTrigger(DatabaseNames.fold(object.name)) {
        if stores.changed(in: tokens).isEmpty, open.removeValue(forKey: tokens) != nil { continue }
        dropping.append(MigrationStep(.dropTrigger(object.name), "remove trigger \(object.name)"))
      } else {
        refuse(object, stores.changed(in: tokens))
      }
    }
    for object in planner.facts.objects where object.kind == .view {
      refuse(object, stores.changed(in: SQLTokens(object.sql ?? "")))
    }
    for tree in wanted {
      guard case .trigger(let trigger) = tree,
        open[SQLTokens(SQLRenderer.text(tree, dialect: SQLiteDialect()))] != nil
      else { continue }
      creating.append(MigrationStep(.create(tree), "make trigger \(trigger.name)"))
    }
  }

  /// Whether the values of a derived attribute have to be computed: it is new, or what it is derived from
  /// changes.
  private static func isOutdated(_ derived: DerivedSlot, _ planner: MigrationPlanner, _ stores: StoreTables)
    -> Bool
  {
    let new: StoreSchema = planner.new
    let entity: EntityLayout = new.layout.entities[derived.place.entity]
    func text(_ slot: PropertySlot) -> String? {
      (slot.property as? NSDerivedAttributeDescription)?.derivationExpression.map { "\($0)" }
    }
    for heir in entity.family {
      guard let former = planner.moves.source[heir] else { continue }
      guard case .slot(let number, _) = planner.plan.entities[heir].slots[derived.place.slot],
        planner.old.layout.entities[former].slots[number].isDerived
      else { return true }
      if derived.source == .now { continue }
      let oldSlot: PropertySlot = planner.old.layout.entities[former].slots[number]
      if text(oldSlot) != text(entity.slots[derived.place.slot]) { return true }
    }
    var entities: [Int] = [derived.place.entity]
    switch derived.source {
    case .now: return false
    case .value(let path, let attribute, _):
      entities += path.compactMap { new.layout.entities[$0.entity].slots[$0.slot].destination }
      entities.append(attribute.entity)
    case .count(let slot), .sum(let slot, _):
      entities += [entity.slots[slot].destination].compactMap(\.self)
      if case .toMany(.joinTable(let members)) = new.storage(of: entity.index, slot: slot),
        !stores.isQuiet(members.table)
      {
        return true
      }
    }
    return entities.contains { entity in
      (try? new.table(of: entity)).map { !stores.isQuiet($0.name) } ?? false
    }
  }

  private mutating func refuse(_ object: MigrationFacts.Object, _ changed: [String]) {
    guard let table = changed.first else { return }
    obstacles.append(
      "The \(object.kind.rawValue) \(object.name) is not of the store's model, and uses table \(table), which "
        + "changes.")
  }
}

extension DerivationTriggers {
  /// Computes the attribute of all rows.
  func recomputation() throws -> UpdateStatement {
    UpdateStatement(tableName, set: [.init(columnName, try wholeValue())], where: isOwnRow)
  }
}
