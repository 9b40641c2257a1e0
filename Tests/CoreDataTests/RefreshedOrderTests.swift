import CoreData
import Foundation
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
}
