import CoreDataPredicates
import Foundation

/// The objects that predicates are evaluated on, with a value of every kind, under the keys that the seeds
/// use. They are never changed.
package enum World {
  struct Person {
    var name: String
    var age: Int
    var score: Double?
    var tags: Set<String>
    var friends: [String]
    var born: Date
  }

  package static let now: Date = Date(timeIntervalSinceReferenceDate: 700_000_000)

  nonisolated(unsafe) static let objects: [Any?] = [
    dictionary, person("Ada", 36), [dictionary, dictionary], [1, 2.5, "three", NSNull()] as [Any], "text", 7,
    nil,
  ]

  private static func person(_ name: String, _ age: Int) -> Person {
    Person(
      name: name, age: age, score: age > 30 ? nil : 1.5, tags: ["x", name], friends: ["Bob", "Eve"],
      born: Date(timeIntervalSinceReferenceDate: Double(age) * -31_557_600))
  }

  private static var dictionary: [String: Any] {
    let people: [Person] = [person("Ada", 36), person("Bob", 27), person("Ülkü", 61)]
    return [
      "a": 1, "b": "text", "c": [1, 2, 3], "d": ["x": 1, "y": ["z", "Ä"]] as [String: Any], "e": 2.5,
      "f": true,
      "x": [["y": 1], ["y": NSNull()]], "y": NSNull(), "z": Set(["p", "q"]), "n": -7, "s": "hel*o",
      "name": "Ada Lovelace", "age": 36, "title": "Straße", "date": Date(timeIntervalSinceReferenceDate: 0),
      "data": Data([0, 255]), "uuid": UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID(),
      "url": URL(fileURLWithPath: "/a/b"), "decimal": Decimal(sign: .plus, exponent: -2, significand: 125),
      "big": UInt64.max, "nan": Double.nan, "infinity": Double.infinity, "empty": [Any](), "people": people,
      "items": [["price": 1.5, "n": 2], ["price": NSNull(), "n": 3]], "nested": [[1], [2, 3], []],
      "location": "somewhere",
    ]
  }

  /// Values of variables, under the names that occur.
  nonisolated(unsafe) static let variables: [String: Any] = Dictionary(
    uniqueKeysWithValues: ["x", "y", "a", "b", "v", "k", "name", "X"].enumerated().map { index, name in
      (
        name,
        [1, "x", [1, 2], "a", Date(timeIntervalSinceReferenceDate: 0), NSNull(), 2.5, Set([1])][index] as Any
      )
    })

  /// Arguments of formats; an input names them by number.
  nonisolated(unsafe) static let arguments: [Any?] = [
    "x", 1, 2.5, true, NSNull(), Date(timeIntervalSinceReferenceDate: 1.5), [1, 2], Set([1, 2]), ["k": "v"],
    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), URL(string: "https://example.org/"), Data([1]),
    Decimal(string: "12.5"), Int64.min, UInt64.max, "a.b", "in", "a b", "", "@sum.x",
    NSExpression(forKeyPath: "a"),
    Foundation.NSPredicate(format: "a == 1"), Foundation.NSPredicate(value: true), -1, [] as [Int],
    ["a", NSNull(), [1]] as [Any],
  ]
}
