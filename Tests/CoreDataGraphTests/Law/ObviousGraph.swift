/// What the graph should hold: dictionaries of names. Everything is by number; relationships are
/// sets of pairs.
struct ObviousGraph: Equatable {
  /// item → price
  var items: [Int: Int] = [:]
  var categories: Set<Int> = []
  var tags: Set<Int> = []
  var playlists: Set<Int> = []
  var songs: Set<Int> = []
  var details: Set<Int> = []
  /// item → category
  var category: [Int: Int] = [:]
  /// item → detail
  var detail: [Int: Int] = [:]
  /// item and tag
  var tagged: Set<[Int]> = []
  /// playlist → songs
  var order: [Int: [Int]] = [:]
  /// album → songs, each in one album at most
  var tracks: [Int: [Int]] = [:]
  var people: Set<Int> = []
  /// pairs of people
  var friends: Set<Set<Int>> = []

  /// All objects.
  var numbers: [Int] {
    Array(items.keys) + categories + tags + playlists + songs + details + Array(tracks.keys) + people
  }

  mutating func delete(item: Int) {
    items[item] = nil
    category[item] = nil
    if let gone = detail.removeValue(forKey: item) { details.remove(gone) }
    tagged = tagged.filter { $0[0] != item }
  }

  func has(_ number: Int) -> Bool { numbers.contains(number) }

  /// Deleted elsewhere: what the store has of it goes, what is set here only stays.
  mutating func leave(item: Int) {
    items[item] = nil
    category[item] = nil
    detail[item] = nil
    tagged = tagged.filter { $0[0] != item }
  }

  mutating func delete(detail gone: Int) {
    details.remove(gone)
    detail = detail.filter { $0.value != gone }
  }

  mutating func delete(category gone: Int) {
    for item in category.filter({ $0.value == gone }).keys { delete(item: item) }
    categories.remove(gone)
  }

  mutating func delete(tag: Int) {
    tags.remove(tag)
    tagged = tagged.filter { $0[1] != tag }
  }

  mutating func delete(song: Int) {
    songs.remove(song)
    for playlist in order.keys { order[playlist]?.removeAll { $0 == song } }
    takeOut(song: song)
  }

  mutating func delete(album: Int) {
    for song in tracks.removeValue(forKey: album) ?? [] { delete(song: song) }
  }

  mutating func delete(person: Int) {
    people.remove(person)
    friends = friends.filter { !$0.contains(person) }
  }

  mutating func delete(playlist: Int) {
    playlists.remove(playlist)
    order[playlist] = nil
  }

  /// Out of the album that it is in.
  mutating func takeOut(song: Int) {
    for album in tracks.keys { tracks[album]?.removeAll { $0 == song } }
  }
}
