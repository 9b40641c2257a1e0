import CoreDataPredicates
import CoreDataStorage
import Foundation

/// A save is all or nothing and loses nobody's work.
extension StoreScenario {
  static let saveScenarios: [StoreScenario] = [
    StoreScenario("a stale version is a conflict and nothing of the save happens") { world in
      let ids: [RowID] = try world.insert("Item", [["title": "a"], ["title": "b"]])
      let fresh: RowUpdate = try world.updating(ids[0], ["title": "a2"])
      let stale: RowUpdate = try world.updating(ids[1], ["title": "b2"], expectedVersion: 7)
      try expectError("a conflict over the second row") {
        try world.save { $0.updates = [fresh, stale] }
      } matches: { error in
        guard case .conflicts(let conflicts)? = error as? StoreError else { return false }
        return conflicts.count == 1 && conflicts[0].id == ids[1] && conflicts[0].expectedVersion == 7
          && conflicts[0].stored?.version == 1
      }
      try world.reopen()
      try expect(world.fetch("title", of: "Item", sort: ["title"]), ["a", "b"])
      try expect(world.row(ids[0]).version, 1)
    },
    StoreScenario("changing or deleting a row that is gone is a conflict without a stored row") { world in
      let id: RowID = try world.insertOne("Item", ["title": "a"])
      let update: RowUpdate = try world.updating(id, ["title": "b"])
      try world.delete([id])
      for change in [{ $0.updates = [update] }, { $0.deletes = [RowDelete(id: id, expectedVersion: 1)] }]
        as [(inout SavePlan) -> Void]
      {
        try expectError("a conflict") {
          try world.save(change)
        } matches: { error in
          guard case .conflicts(let conflicts)? = error as? StoreError else { return false }
          return conflicts.map(\.id) == [id] && conflicts[0].stored == nil
        }
      }
    },
    StoreScenario("a uniqueness constraint stops a save as a whole") { world in
      try world.insertOne("Category", ["name": "fruit"])
      try expectError("a broken constraint") {
        try world.insert("Category", [["name": "tools"], ["name": "fruit"]])
      } matches: { error in
        guard case .uniqueness(let entity, let constraint, _, _)? = error as? StoreError else { return false }
        return entity == "Category" && constraint == ["name"]
      }
      try world.reopen()
      try expect(world.fetch("name", of: "Category"), ["fruit"])
    },
    StoreScenario("nil is bound by no constraint, and a value given up may be taken again") { world in
      let ids: [RowID] = try world.insert("Category", [["name": "a"], [:], [:]])
      try world.update(ids[0], ["name": "b"])
      try world.insert("Category", [["name": "a"]])
      try world.delete([ids[0]])
      try world.insert("Category", [["name": "b"]])
      try expect(world.fetch("name", of: "Category", sort: ["name"]), ["nil", "nil", "a", "b"])
    },
    StoreScenario("a save that fails uses no keys up") { world in
      let first: RowID = try world.insertOne("Category", ["name": "fruit"])
      try expectError("a broken constraint") {
        try world.insert("Category", [["name": "tools"], ["name": "fruit"]])
      } matches: { error in
        if case .uniqueness(_, _, let row, _)? = error as? StoreError { return row == first }
        return false
      }
      try expect(world.insertOne("Category", ["name": "tools"]).key, first.key + 1)
    },
    StoreScenario("provisional keys become keys wherever the plan names the new rows") { world in
      try world.insert("Item", [["title": "before"]])
      try world.insert("Tag", [["label": "old"], ["label": "older"]])
      let old: RowID = try world.insertOne("Item", ["title": "old"])
      let (item, category, tag): (EntityLayout, EntityLayout, EntityLayout) = (
        world.entity("Item"), world.entity("Category"), world.entity("Tag")
      )
      var plan = SavePlan()
      let categoryKey: Int64 = plan.provisionalKey(in: category)
      let itemKeys: [Int64] = (0..<3).map { _ in plan.provisionalKey(in: item) }
      let tagKeys: [Int64] = (0..<2).map { _ in plan.provisionalKey(in: tag) }
      try expect([categoryKey] + itemKeys + tagKeys, [-1, -1, -2, -3, -1, -2])
      func slab(_ entity: EntityLayout, _ keys: [Int64], _ values: [String: any Sendable] = [:]) -> RowSlab {
        let slab = RowSlab(layout: entity, family: false, rowCapacity: keys.count)
        for key in keys {
          let row = slab.appendRow(key: key, entity: entity.index, version: 1)
          for (name, value) in values { StoreWorld.set(value, name, in: row, slab, entity) }
        }
        return slab
      }
      let target = RowID(entity: category.index, key: categoryKey)
      // The row that is named comes after those that name it.
      plan.inserts = [
        (item, RowBatch(slabs: [slab(item, itemKeys, ["category": target])])),
        (tag, RowBatch(slabs: [slab(tag, tagKeys)])),
        (category, RowBatch(slabs: [slab(category, [categoryKey], ["name": "new"])])),
      ]
      plan.updates = [try world.updating(old, ["category": target])]
      plan.toMany = [
        ToManyEdit(
          owner: RowID(entity: item.index, key: itemKeys[1]), slot: world.slot("Item", "tags"),
          added: tagKeys.map { RowID(entity: tag.index, key: $0) }, removed: [])
      ]
      let outcome: SaveOutcome = try world.engine.save(plan)
      func ids(_ place: Int) -> [RowID] {
        outcome.written.inserts[place].rows.slabs.flatMap { slab in (0..<slab.count).map { slab.row($0).id } }
      }
      let first: Int64 = ids(0)[0].key
      try expect(ids(0).map(\.key), [first, first + 1, first + 2])
      try expect(ids(1)[1].key, ids(1)[0].key + 1)
      if !world.engine.hasOneKeySequence {
        try expect(first, old.key + 1)
        try expect(ids(1)[0].key, 3)
      }
      try expect(outcome.keys.key(itemKeys[2], root: item.rootIndex), first + 2)
      try expect(outcome.keys.holds(old.key, root: item.rootIndex), false)
      try world.reopen()
      try expect(world.members(ids(2)[0], "items"), [old] + ids(0))
      try expect(world.members(ids(0)[1], "tags"), ids(1))
      try expect(world.members(ids(1)[1], "items"), [ids(0)[1]])
    },
    StoreScenario("asking whether a store can be written changes nothing") { world in
      let first: RowID = try world.insertOne("Item", [:])
      try world.engine.checkWritable()
      try expect(world.insertOne("Item", [:]).key, first.key + 1)
      try world.engine.close()
      try expectError("that the store is closed") {
        try world.engine.checkWritable()
      } matches: { error in
        if case .closed? = error as? StoreError { return true }
        return false
      }
    },
    StoreScenario("keys handed out for good are not handed out again") { world in
      let first: Int64 = try world.engine.allocateKeys(for: world.entity("Item"), count: 5)
      if world.keeps(.allocatedKeys) { try world.reopen() }
      let next: RowID = try world.insertOne("Item", [:])
      try expect(next.key >= first + 5, "key \(next.key) is after \(first) ... \(first + 4)")
    },
    StoreScenario("an insert, an update, a delete and an edit go in one save") { world in
      let categories: [RowID] = try world.insert("Category", [["name": "a"]])
      let items: [RowID] = try world.insert("Item", [["title": "old"], ["title": "gone"]])
      let tag: RowID = try world.insertOne("Tag", ["label": "t"])
      let update: RowUpdate = try world.updating(items[0], ["title": "new", "category": categories[0]])
      let entity: EntityLayout = world.entity("Item")
      try world.save { plan in
        let key: Int64 = plan.provisionalKey(in: entity)
        let slab = RowSlab(layout: entity, family: false, rowCapacity: 1)
        _ = slab.appendRow(key: key, entity: entity.index, version: 1)
        plan.inserts = [(entity, RowBatch(slabs: [slab]))]
        plan.updates = [update]
        plan.deletes = [RowDelete(id: items[1], expectedVersion: 1)]
        plan.toMany = [
          ToManyEdit(
            owner: RowID(entity: entity.index, key: key), slot: world.slot("Item", "tags"), added: [tag],
            removed: [])
        ]
      }
      try world.reopen()
      try expect(world.fetch("title", of: "Item", sort: ["title"]), ["nil", "new"])
      try expect(world.members(categories[0], "items"), [items[0]])
      try expect(world.members(tag, "items").count, 1)
    },
    StoreScenario("an empty save changes nothing") { world in
      let id: RowID = try world.insertOne("Item", ["title": "a"])
      try world.save { _ in }
      try expect(world.row(id).version, 1)
    },
    StoreScenario("a closed store says so") { world in
      try world.insertOne("Item", ["title": "a"])
      try world.engine.close()
      try expectError("that the store is closed") {
        _ = try world.engine.fetch(world.plan("Item"))
      } matches: { error in
        if case .closed? = error as? StoreError { return true }
        return false
      }
    },
  ]
}

/// Arguments of predicates that only a store test needs.
enum PredicateArgument {
  /// An object that the store does not hold.
  static var unsaved: PredicateValue { .object(ObjectBox(ObjectReference(id: nil))) }
}
