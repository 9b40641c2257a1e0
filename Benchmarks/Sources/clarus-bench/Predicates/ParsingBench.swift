import CoreData
import Foundation

/// Formats of every usual kind, each text and each argument different, so that a cache of parsed texts would
/// not help.
struct ParsingBench {
  var rounds: Int

  private struct Source {
    var format: String
    var arguments: [Any?]
  }

  func run() throws -> Race.Outcome {
    let sources: [Source] = (0..<10_000).map(Self.source)
    return try Race(
      part: PredicateSuite.Part.parse, title: "parse predicates, 20 kinds of format",
      operations: sources.count, rounds: rounds
    ).run(
      [
        Race.Contestant(
          "NSPredicate(format:)",
          body: {
            var length: Int = 0
            for source in sources {
              let predicate = try NSPredicate(parsing: source.format, arguments: source.arguments)
              length += predicate === NSNull() ? 0 : 1
            }
            return length
          }
        )
      ])
  }

  private static func source(_ number: Int) -> Source {
    let key: String = "key\(number / 20)"
    let name: String = "name \(number)"
    let date = Date(timeIntervalSinceReferenceDate: Double(number) * 1000)
    switch number % 20 {
    case 0: return Source(format: "\(key) == %@", arguments: [name])
    case 1: return Source(format: "\(key) > \(number) AND active == YES", arguments: [])
    case 2: return Source(format: "%K BEGINSWITH[c] %@", arguments: [key, name])
    case 3: return Source(format: "\(key) IN %@", arguments: [[name, "b", "c", "d", "e"]])
    case 4:
      return Source(
        format: "salary\(number) BETWEEN {%d, %d} OR rating >= 4.5", arguments: [number, number + 10])
    case 5: return Source(format: "\(key).name == 'Department \(number)'", arguments: [])
    case 6: return Source(format: "ANY \(key).total > \(number).5", arguments: [])
    case 7: return Source(format: "date >= %@ AND date < %@", arguments: [date, date + 86_400])
    case 8: return Source(format: "\(key) CONTAINS[cd] %@ OR title CONTAINS[cd] %@", arguments: [name, name])
    case 9: return Source(format: "\(key) == nil", arguments: [])
    case 10: return Source(format: "NOT (\(key) == %d OR \(key) == %d)", arguments: [number, number + 1])
    case 11:
      return Source(
        format: "SUBQUERY(\(key), $item, $item.price > \(number) AND $item.done == NO).@count > 2",
        arguments: [])
    case 12: return Source(format: "\(key).@count == \(number)", arguments: [])
    case 13: return Source(format: "\(key) LIKE[c] '*\(number)?'", arguments: [])
    case 14: return Source(format: "price\(number) * quantity + 5 > %f", arguments: [Double(number) / 4])
    case 15: return Source(format: "\(key) MATCHES '[a-z]+\(number)'", arguments: [])
    case 16: return Source(format: "(a\(number) == 1 AND b == 2) OR (c == 3 AND d != 4)", arguments: [])
    case 17: return Source(format: "\(key) == $owner AND done == %@", arguments: [true])
    case 18: return Source(format: "length(\(key)) > \(number)", arguments: [])
    default: return Source(format: "ALL \(key).tags.name != \"tag \(number)\"", arguments: [])
    }
  }
}
