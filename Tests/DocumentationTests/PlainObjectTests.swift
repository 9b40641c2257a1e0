import CoreData
import Testing

// snippet readable
struct Song: KeyValueReadable {
  var title: String
  var seconds: Int
  var artist: Artist?

  func readValue(forKey key: String) throws -> Any? {
    switch key {
    case "title": title
    case "seconds": seconds
    case "artist": artist
    default: throw UnknownKey(key: key, type: "Song")
    }
  }
}

struct Artist: KeyValueReadable {
  var name: String

  func readValue(forKey key: String) throws -> Any? {
    guard key == "name" else { throw UnknownKey(key: key, type: "Artist") }
    return name
  }
}

struct UnknownKey: Error, CustomStringConvertible {
  let key: String
  let type: String
  var description: String { "\(type) has no property \(key)." }
}
// end

@Suite struct PlainObjectTests {
  private let songs: [Song] = [
    Song(title: "Blue in Green", seconds: 337, artist: Artist(name: "Miles Davis")),
    Song(title: "Élan", seconds: 125, artist: nil),
    Song(title: "So What", seconds: 562, artist: Artist(name: "Miles Davis")),
  ]

  @Test func `structs are filtered and sorted by key`() throws {
    // snippet filter
    let long = NSPredicate(format: "seconds > %d AND artist.name BEGINSWITH[c] %@", 300, "miles")
    let found = try songs.filter { try long.evaluateThrowing(with: $0) }
    let byLength = NSSortDescriptor(key: "seconds", ascending: false)
    let sorted = found.sorted { byLength.compare($0, to: $1) == .orderedAscending }
    // end
    #expect(sorted.map(\.title) == ["So What", "Blue in Green"])
  }

  @Test func `an unknown key is an error where the call can throw`() throws {
    let predicate = NSPredicate(format: "lenght > 3")
    #expect(throws: UnknownKey.self) { try predicate.evaluateThrowing(with: songs[0]) }
  }

  @Test func `dictionaries need no conformance`() throws {
    // snippet dictionaries
    let rows: [[String: Any]] = [["city": "Bern", "people": 134_000], ["city": "Basel", "people": 178_000]]
    let large = NSPredicate(format: "people > 150000")
    let cities = rows.filter { large.evaluate(with: $0) }.compactMap { $0["city"] as? String }
    // end
    #expect(cities == ["Basel"])
  }

  @Test func `an operator of the program compares`() throws {
    // snippet operator
    PredicateFunctions.registerComparison("soundsLike:") { left, right in
      guard let left = left as? String, let right = right as? String else { return false }
      return left.first == right.first
    }
    let similar = NSPredicate(format: "title soundsLike: %@", "Blau")
    let titles = try songs.filter { try similar.evaluateThrowing(with: $0) }.map(\.title)
    // end
    #expect(titles == ["Blue in Green"])
  }

  @Test func `a function of the program computes`() throws {
    // snippet function
    PredicateFunctions.register("minutes") { target, _ in
      (target as? Int).map { $0 / 60 }
    }
    let short = NSPredicate(format: "FUNCTION(seconds, 'minutes') < 3")
    let titles = try songs.filter { try short.evaluateThrowing(with: $0) }.map(\.title)
    // end
    #expect(titles == ["Élan"])
  }

  @Test func `a fetch uses an operator of the program as well`() throws {
    let shop = try Shop()
    try shop.fill(12)
    PredicateFunctions.registerComparison("endsWithDigit:") { left, right in
      (left as? String)?.last.map(String.init) == right as? String
    }
    let request = Product.fetchRequest()
    request.predicate = NSPredicate(format: "price > 1 AND name endsWithDigit: %@", "1")
    #expect(try shop.context.fetch(request).map(\.name) == ["Product 11"])
  }
}
