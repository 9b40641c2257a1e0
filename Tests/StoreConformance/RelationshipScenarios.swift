import CoreDataStorage
import Foundation

/// Who belongs to whom.
extension StoreScenario {
  static let relationshipScenarios: [StoreScenario] = [
    StoreScenario("the members of a one-to-many are the rows that point back") { world in
      let categories: [RowID] = try world.insert("Category", [["name": "a"], ["name": "b"]])
      let items: [RowID] = try world.insert(
        "Item", [["category": categories[0]], ["category": categories[1]], ["category": categories[0]]])
      try world.reopen()
      try expect(world.members(categories[0], "items"), [items[0], items[2]])
      try world.update(items[0], ["category": categories[1]])
      try world.update(items[2], ["category": nil])
      try expect(world.members(categories[0], "items"), [])
      try expect(world.members(categories[1], "items"), [items[0], items[1]])
      try world.delete([items[1]])
      try expect(world.members(categories[1], "items"), [items[0]])
    },
    StoreScenario("members are given for several owners at once, in the owners' order") { world in
      let categories: [RowID] = try world.insert("Category", [["name": "a"], ["name": "b"], ["name": "c"]])
      let items: [RowID] = try world.insert(
        "Item", [["category": categories[2]], ["category": categories[0]]])
      let members: [[RowID]] = try world.engine.members(
        of: world.entity("Category"), slot: world.slot("Category", "items"),
        owners: [categories[2], categories[1], categories[0]])
      try expect(members, [[items[0]], [], [items[1]]])
    },
    StoreScenario("members of a hierarchy are named by their own entities") { world in
      let person: RowID = try world.insertOne("Person", ["name": "Ann"])
      let dog: RowID = try world.insertOne("Dog", ["owner": person])
      let cat: RowID = try world.insertOne("HouseCat", ["owner": person])
      try world.reopen()
      try expect(world.members(person, "pets"), [dog, cat])
    },
    StoreScenario("pairs of a many-to-many are seen from both sides") { world in
      let items: [RowID] = try world.insert("Item", [["title": "1"], ["title": "2"]])
      let tags: [RowID] = try world.insert("Tag", [["label": "a"], ["label": "b"], ["label": "c"]])
      try world.edit(items[0], "tags", add: [tags[2], tags[0]])
      try world.edit(tags[0], "items", add: [items[1]])
      try world.reopen()
      try expect(world.members(items[0], "tags"), [tags[0], tags[2]])
      try expect(world.members(items[1], "tags"), [tags[0]])
      try expect(world.members(tags[0], "items"), [items[0], items[1]])
      try world.edit(tags[0], "items", remove: [items[0]])
      try expect(world.members(items[0], "tags"), [tags[2]])
      try expect(world.members(tags[0], "items"), [items[1]])
      try expect(world.members(tags[1], "items"), [])
    },
    StoreScenario("a deleted row takes its pairs with it") { world in
      let item: RowID = try world.insertOne("Item", [:])
      let tags: [RowID] = try world.insert("Tag", [["label": "a"], ["label": "b"]])
      try world.edit(item, "tags", add: tags)
      let delete = RowDelete(id: tags[0], expectedVersion: 1)
      try world.save { plan in
        plan.deletes = [delete]
        plan.toMany = [
          ToManyEdit(owner: item, slot: world.slot("Item", "tags"), added: [], removed: [tags[0]])
        ]
      }
      try world.reopen()
      try expect(world.members(item, "tags"), [tags[1]])
    },
    StoreScenario("an ordered one-to-many keeps its order through moves and removals") { world in
      let album: RowID = try world.insertOne("Album", ["name": "A"])
      let tracks: [RowID] = try world.insert(
        "Track", (0..<5).map { ["name": "\($0)", "album": album] })
      let order: [RowID] = [tracks[3], tracks[0], tracks[4], tracks[1], tracks[2]]
      try world.edit(album, "tracks", add: tracks, order: order)
      try world.reopen()
      try expect(world.members(album, "tracks"), order)

      // One leaves, one moves to the front.
      let leaving: RowUpdate = try world.updating(tracks[0], ["album": nil])
      let rest: [RowID] = [tracks[2], tracks[3], tracks[4], tracks[1]]
      let owner: RowUpdate = try world.updating(album, [:])
      try world.save { plan in
        plan.updates = [leaving, owner]
        plan.toMany = [
          ToManyEdit(
            owner: album, slot: world.slot("Album", "tracks"), added: [], removed: [tracks[0]], ordering: rest
          )
        ]
      }
      try world.reopen()
      try expect(world.members(album, "tracks"), rest)
    },
    StoreScenario("one side of a many-to-many may be ordered") { world in
      let lists: [RowID] = try world.insert("Playlist", [["name": "x"], ["name": "y"]])
      let tracks: [RowID] = try world.insert("Track", (0..<3).map { ["name": "\($0)"] })
      try world.edit(
        lists[0], "songs", add: tracks, order: [tracks[2], tracks[0], tracks[1]])
      try world.edit(lists[1], "songs", add: [tracks[1], tracks[2]], order: [tracks[2], tracks[1]])
      try world.reopen()
      try expect(world.members(lists[0], "songs"), [tracks[2], tracks[0], tracks[1]])
      try expect(world.members(lists[1], "songs"), [tracks[2], tracks[1]])
      try expect(world.members(tracks[1], "playlists"), lists)
      try world.edit(lists[0], "songs", order: [tracks[0], tracks[1], tracks[2]])
      try world.reopen()
      try expect(world.members(lists[0], "songs"), [tracks[0], tracks[1], tracks[2]])
      try expect(world.members(lists[1], "songs"), [tracks[2], tracks[1]])
    },
    StoreScenario("a relationship that is its own inverse holds at both ends") { world in
      let people: [RowID] = try world.insert("Person", ["a", "b", "c"].map { ["name": $0] })
      try world.edit(people[0], "friends", add: [people[1], people[2]])
      try world.reopen()
      try expect(world.members(people[0], "friends"), [people[1], people[2]])
      try expect(world.members(people[1], "friends"), [people[0]])
      try world.edit(people[2], "friends", remove: [people[0]])
      try expect(world.members(people[0], "friends"), [people[1]])
    },
    StoreScenario("a to-many without inverse has each member in one place") { world in
      let people: [RowID] = try world.insert("Person", [["name": "a"], ["name": "b"]])
      let notes: [RowID] = try world.insert("Note", [["text": "1"], ["text": "2"]])
      try world.edit(people[0], "notes", add: notes)
      try world.reopen()
      try expect(world.members(people[0], "notes"), notes)
      try world.edit(people[1], "notes", add: [notes[0]])
      try expect(world.members(people[0], "notes"), [notes[1]])
      try expect(world.members(people[1], "notes"), [notes[0]])
      try world.edit(people[0], "notes", remove: [notes[1]])
      try expect(world.members(people[0], "notes"), [])
    },
  ]
}
