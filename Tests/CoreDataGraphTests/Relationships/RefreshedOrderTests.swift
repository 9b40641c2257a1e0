import CoreData
import Foundation
import StackSupport
import Testing

/// One side of an ordered relationship forgets its changes while the other side keeps them (finding B17).
@Suite
struct RefreshedOrderTests {
  private enum Way: CaseIterable {
    case addedToSong, insertedIntoPlaylist, movedInPlaylist

    func change(_ song: NSManagedObject, _ playlist: NSManagedObject) {
      switch self {
      case .addedToSong: song.mutableSetValue(forKey: "playlists").add(playlist)
      case .insertedIntoPlaylist: playlist.mutableOrderedSetValue(forKey: "songs").insert(song, at: 0)
      case .movedInPlaylist:
        playlist.mutableSetValue(forKey: "songs").add(song)
        playlist.mutableOrderedSetValue(forKey: "songs").moveObjects(at: [2], to: 1)
      }
    }
  }

  private func songs(_ playlist: NSManagedObject) -> [String] {
    (playlist.value(forKey: "songs") as? NSOrderedSet)?.array.compactMap {
      ($0 as? NSManagedObject)?.value(forKey: "name") as? String
    } ?? []
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  private func `a pair whose ordered side was refreshed goes to the end`(kind: StoreKind, way: Way) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let playlist: NSManagedObject = context.make("Playlist", ["name": "p"])
      let all: [NSManagedObject] = ["a", "b", "c", "d"].map { context.make("Song", ["name": $0]) }
      playlist.setValue(NSOrderedSet(array: [all[1], all[0]]), forKey: "songs")
      try context.save()
      way.change(all[2], playlist)
      context.refresh(playlist, mergeChanges: false)
      try context.save()
      all[3].mutableSetValue(forKey: "playlists").add(playlist)
      try context.save()
      context.refresh(playlist, mergeChanges: false)
      #expect(songs(playlist) == ["b", "a", "c", "d"])
      #expect(all[2].value(forKey: "playlists") as? Set<NSManagedObject> == [playlist])
    }
    try stack.elsewhere { context in
      let playlist: NSManagedObject = try #require(try context.all(NSManagedObject.self, "Playlist").first)
      #expect(songs(playlist) == ["b", "a", "c", "d"])
    }
  }

  @Test(arguments: StoreKind.allCases, Way.allCases)
  private func `a pair whose unordered side was refreshed has the place that it was given`(
    kind: StoreKind, way: Way
  ) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let playlist: NSManagedObject = context.make("Playlist", ["name": "p"])
      let all: [NSManagedObject] = ["a", "b", "c"].map { context.make("Song", ["name": $0]) }
      playlist.setValue(NSOrderedSet(array: [all[1], all[0]]), forKey: "songs")
      try context.save()
      way.change(all[2], playlist)
      let wanted: [String] = songs(playlist)
      context.refresh(all[2], mergeChanges: false)
      try context.save()
      context.refresh(playlist, mergeChanges: false)
      #expect(songs(playlist) == wanted)
      #expect(all[2].value(forKey: "playlists") as? Set<NSManagedObject> == [playlist])
    }
  }

  // One-to-many: the member's own row says where it belongs, and its owner's list where in there.
  @Test(arguments: StoreKind.allCases, [false, true])
  func `a member of an owner that was refreshed goes to the end`(kind: StoreKind, isNew: Bool) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let album: NSManagedObject = context.make("Album", ["name": "x"])
      let former: NSManagedObject = context.make("Album", ["name": "y"])
      var all: [NSManagedObject] = ["a", "b", "c", "d", "e"].map { context.make("Song", ["name": $0]) }
      album.setValue(NSOrderedSet(array: [all[1], all[0]]), forKey: "songs")
      former.setValue(NSOrderedSet(array: [all[2], all[3], all[4]]), forKey: "songs")
      try context.save()
      if isNew { for place in 2...4 { all[place] = context.make("Song", ["name": "new \(place)"]) } }
      all[2].setValue(album, forKey: "album")
      album.mutableOrderedSetValue(forKey: "songs").insert(all[3], at: 0)
      context.refresh(album, mergeChanges: false)
      try context.save()
      all[4].setValue(album, forKey: "album")
      try context.save()
      let wanted: [String] = [1, 0, 2, 3, 4].map { all[$0].value(forKey: "name") as? String ?? "" }
      context.refresh(album, mergeChanges: false)
      #expect(Set(songs(album)) == Set(wanted) && songs(album).prefix(2) == wanted.prefix(2))
      #expect(songs(album).last == wanted.last)
      try stack.elsewhere { other in
        let stored: NSManagedObject = try other.existingObject(with: album.objectID)
        #expect(songs(stored) == songs(album))
      }
      // What did not come in keeps its place.
      all[0].setValue(former, forKey: "album")
      all[0].setValue(album, forKey: "album")
      context.refresh(album, mergeChanges: false)
      let before: [String] = songs(album)
      try context.save()
      context.refresh(album, mergeChanges: false)
      #expect(songs(album) == before)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a member that was refreshed is none, and takes no place when it comes later`(kind: StoreKind) throws {
    let stack = try Stack(kind)
    try stack.run { context in
      let album: NSManagedObject = context.make("Album", ["name": "x"])
      let all: [NSManagedObject] = ["a", "b", "c", "d"].map { context.make("Song", ["name": $0]) }
      album.setValue(NSOrderedSet(array: [all[1], all[0]]), forKey: "songs")
      try context.save()
      album.mutableOrderedSetValue(forKey: "songs").insert(all[2], at: 0)
      context.refresh(all[2], mergeChanges: false)
      try context.save()
      context.refresh(album, mergeChanges: false)
      #expect(songs(album) == ["b", "a"] && all[2].value(forKey: "album") == nil)
      all[3].setValue(album, forKey: "album")
      try context.save()
      all[2].setValue(album, forKey: "album")
      try context.save()
      context.refresh(album, mergeChanges: false)
      #expect(songs(album) == ["b", "a", "d", "c"])
    }
  }
}
