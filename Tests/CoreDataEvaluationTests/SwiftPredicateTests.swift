import Foundation
import Testing

@testable import CoreDataEvaluation
@testable import CoreDataPredicates

/// What Swift predicates over plain objects become. The forms are those that Apple's framework gives, where
/// it converts at all.
struct SwiftPredicateTests {
  /// Stored properties of a final class have names.
  final class Thing: NSObject, Sendable {
    let number: Int
    let text: String
    let ratio: Double
    let limit: Int
    let flag: Bool
    let numbers: [Int]
    let table: [String: Int]
    let date: Date
    let nick: String?
    let id: UUID
    let bytes: Data
    let link: URL
    let next: Thing?
    let things: Set<Thing>

    init(
      number: Int = 1, text: String = "Hello", nick: String? = nil, numbers: [Int] = [5, 6, 7, 8, 9],
      flag: Bool = true, next: Thing? = nil, things: Set<Thing> = []
    ) {
      self.number = number
      self.text = text
      self.nick = nick
      self.numbers = numbers
      self.flag = flag
      self.next = next
      self.things = things
      ratio = Double(number) * 2.25
      limit = 6
      table = ["A": 1, "B": 2]
      date = Date(timeIntervalSinceReferenceDate: TimeInterval(number) * 100)
      id = UUID(uuid: (UInt8(clamping: number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))
      bytes = Data([1, 2, UInt8(clamping: number)])
      link = URL(fileURLWithPath: "/\(number)")
    }

    static let samples: [Thing] = {
      let first = Thing(number: 3, text: "Zoë", nick: "Zo", numbers: [])
      let second = Thing(number: -7, text: "", nick: "", numbers: [2, 2], flag: false, next: first)
      let third = Thing(
        number: 0, text: "line one\nfelt", nick: "long nick", numbers: [6], next: second,
        things: [first, second])
      return [
        Thing(), first, second, third, Thing(number: 2, text: "café foo", next: third, things: [third]),
      ]
    }()
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let format: String
    let arguments: [any Sendable]
    let predicate: Predicate<Thing>
    var testDescription: String { format }

    init(_ format: String, _ arguments: any Sendable..., predicate: Predicate<Thing>) {
      self.format = format
      self.arguments = arguments
      self.predicate = predicate
    }
  }

  static let rows: [Row] = operators + ranges + paths + collections + optionals + constants + texts

  private static let operators: [Row] = {
    let two: Int = 2
    return [
      Row("number == 2", predicate: #Predicate { $0.number == two }),
      Row("number != 0", predicate: #Predicate { $0.number != 0 }),
      Row("number + 2 == 4", predicate: #Predicate { $0.number + 2 == 4 }),
      Row("number - 2 < 4", predicate: #Predicate { $0.number - 2 < 4 }),
      Row("number * 2 <= 4", predicate: #Predicate { $0.number * 2 <= 4 }),
      Row("number / 2 == 1", predicate: #Predicate { $0.number / 2 == 1 }),
      Row("modulus:by:(number, 2) == 1", predicate: #Predicate { $0.number % 2 == 1 }),
      Row("ratio / 2 > 1", predicate: #Predicate { $0.ratio / 2 > 1 }),
      Row("number * -1 > 1", predicate: #Predicate { -$0.number > 1 }),
      Row("flag == YES", predicate: #Predicate { $0.flag }),
      Row("NOT (flag == YES)", predicate: #Predicate { !$0.flag }),
      Row("flag == YES AND number == 1", predicate: #Predicate { $0.flag && $0.number == 1 }),
      Row("flag == YES OR number == 1", predicate: #Predicate { $0.flag || $0.number == 1 }),
      Row(
        "(flag == YES AND number > 0) AND number < 3",
        predicate: #Predicate { $0.flag && $0.number > 0 && $0.number < 3 }),
      Row("YES == YES", predicate: #Predicate { _ in true }),
      Row("(YES == YES) && (NO == YES)", predicate: #Predicate { _ in true && false }),
      Row(
        "TERNARY(flag == YES AND YES == YES, YES, NO) == NO",
        predicate: #Predicate { ($0.flag && true) == false }),
      Row("TERNARY(flag == YES, YES, NO) == YES", predicate: #Predicate { $0.flag ? true : false }),
      Row(
        "TERNARY(number > 1, text, 'x') != 'x'",
        predicate: #Predicate { ($0.number > 1 ? $0.text : "x") != "x" }),
    ]
  }()

  private static let ranges: [Row] = {
    let early = Date(timeIntervalSinceReferenceDate: 100)
    let late = Date(timeIntervalSinceReferenceDate: 200)
    let range: Range<Date> = early..<late
    let closed: ClosedRange<Date> = early...late
    let from: PartialRangeFrom<Date> = late...
    let through: PartialRangeThrough<Date> = ...late
    let upTo: PartialRangeUpTo<Date> = ..<late
    let numbers: ClosedRange<Int> = 1...2
    return [
      Row("date BETWEEN {date, date}", predicate: #Predicate { ($0.date...$0.date).contains($0.date) }),
      Row("date >= date AND date < date", predicate: #Predicate { ($0.date..<$0.date).contains($0.date) }),
      Row("date >= %@ AND date < %@", early, late, predicate: #Predicate { range.contains($0.date) }),
      Row("date BETWEEN %@", [early, late], predicate: #Predicate { closed.contains($0.date) }),
      Row("date >= %@", late, predicate: #Predicate { from.contains($0.date) }),
      Row("date <= %@", late, predicate: #Predicate { through.contains($0.date) }),
      Row("date < %@", late, predicate: #Predicate { upTo.contains($0.date) }),
      Row("number BETWEEN %@", [1, 2], predicate: #Predicate { numbers.contains($0.number) }),
      Row("number BETWEEN %@", [0, 3], predicate: #Predicate { (0...3).contains($0.number) }),
      Row("number >= 0 AND number < 3", predicate: #Predicate { (0..<3).contains($0.number) }),
    ]
  }()

  private static let paths: [Row] = [
    Row("text.length == 5", predicate: #Predicate { $0.text.count == 5 }),
    Row("text.length == 0", predicate: #Predicate { $0.text.isEmpty }),
    Row("numbers.@count == 5", predicate: #Predicate { $0.numbers.count == 5 }),
    Row("numbers.@count == 0", predicate: #Predicate { $0.numbers.isEmpty }),
    Row("things.@count > 0", predicate: #Predicate { $0.things.count > 0 }),
    Row("(numbers)[FIRST] == 5", predicate: #Predicate { $0.numbers.first == 5 }),
    Row("(numbers)[LAST] == 9", predicate: #Predicate { $0.numbers.last == 9 }),
    Row("(SELF.table)['A'] == 1", predicate: #Predicate { $0.table["A"] == 1 }),
    Row(
      "TERNARY((table)['C'] != nil, (table)['C'], 4) == 4",
      predicate: #Predicate { $0.table["C", default: 4] == 4 }),
    Row("link.lastPathComponent == '3'", predicate: #Predicate { $0.link.lastPathComponent == "3" }),
  ]

  private static let collections: [Row] = {
    let wanted: [Int] = [1, 2]
    let texts: Set<String> = ["Hello", ""]
    let nicks: [String?] = [nil, "Zo"]
    return [
      Row("number IN %@", [1, 2], predicate: #Predicate { wanted.contains($0.number) }),
      Row("text IN %@", texts, predicate: #Predicate { texts.contains($0.text) }),
      Row("nick IN %@", nicks, predicate: #Predicate { nicks.contains($0.nick) }),
      Row("6 IN numbers", predicate: #Predicate { $0.numbers.contains(6) }),
      Row("limit IN numbers", predicate: #Predicate { $0.numbers.contains($0.limit) }),
      Row(
        "SUBQUERY(numbers, $_local_1, $_local_1 == limit).@count > 0",
        predicate: #Predicate { thing in thing.numbers.filter { $0 == thing.limit }.count > 0 }),
      Row(
        "SUBQUERY(numbers, $_local_1, $_local_1 == 2).@count != 0",
        predicate: #Predicate { $0.numbers.contains { $0 == 2 } }),
      Row(
        "SUBQUERY(numbers, $_local_1, NOT ($_local_1 == 2)).@count == 0",
        predicate: #Predicate { $0.numbers.allSatisfy { $0 == 2 } }),
      Row(
        "SUBQUERY(numbers, $_local_1, $_local_1 > 1 AND $_local_1 < 3).@count != 0",
        predicate: #Predicate { $0.numbers.filter { $0 > 1 }.contains { $0 < 3 } }),
      Row(
        "SUBQUERY(numbers, $_local_1, $_local_1 > 1 AND $_local_1 == 6).@count != 0",
        predicate: #Predicate { $0.numbers.filter { $0 > 1 }.contains(6) }),
      Row(
        "SUBQUERY(things, $_local_1, SUBQUERY($_local_1.numbers, $_local_2, $_local_2 > number).@count != 0).@count != 0",
        predicate: #Predicate { outer in outer.things.contains { $0.numbers.contains { $0 > outer.number } } }
      ),
      Row(
        "number > 1 OR number > 2", predicate: #Predicate { thing in wanted.contains { thing.number > $0 } }),
      Row(
        "number > 1 AND number > 2",
        predicate: #Predicate { thing in wanted.allSatisfy { thing.number > $0 } }),
      Row(
        "numbers.@max.#self == numbers.@min.#self",
        predicate: #Predicate { $0.numbers.max() == $0.numbers.min() }),
      Row("number == 2", predicate: #Predicate { $0.number == wanted.max()! }),
    ]
  }()

  private static let optionals: [Row] = {
    let least: Int? = 1
    let most: Int? = nil
    return [
      Row("nick == nil", predicate: #Predicate { $0.nick == nil }),
      Row("nick != 'Zo'", predicate: #Predicate { $0.nick != "Zo" }),
      Row(
        "TERNARY(nick != NULL, nick, '').length == 0", predicate: #Predicate { ($0.nick ?? "").isEmpty }),
      Row(
        "TERNARY(TERNARY(nick != nil, nick.length, nil) != nil, TERNARY(nick != nil, nick.length, nil), 1 * -1) > 1",
        predicate: #Predicate { ($0.nick?.count ?? -1) > 1 }),
      Row(
        "TERNARY(next != nil, next.text, nil) == 'Zoë'", predicate: #Predicate { $0.next?.text == "Zoë" }),
      Row(
        "TERNARY(TERNARY(nick != nil, TERNARY(nick.length > 3, YES, NO), nil) != nil, "
          + "TERNARY(nick != nil, TERNARY(nick.length > 3, YES, NO), nil), NO) == YES",
        predicate: #Predicate { if let nick = $0.nick { nick.count > 3 } else { false } }),
      Row(
        "number > 1", predicate: #Predicate { thing in if let least { thing.number > least } else { true } }),
      Row("YES == YES", predicate: #Predicate { thing in if let most { thing.number > most } else { true } }),
    ]
  }()

  private static let constants: [Row] = {
    struct Holder: Codable, Sendable {
      var number: Int
      var list: [Int]
    }
    enum Kind: String, Codable {
      case greeting = "Hello"
      case other
    }
    let holder = Holder(number: 1, list: [1, 2, 3])
    let holders: [Holder] = [holder, Holder(number: 3, list: [])]
    let thing = Thing(number: 3)
    let (id, bytes, link, date): (UUID, Data, URL, Date) = (thing.id, thing.bytes, thing.link, thing.date)
    return [
      Row("number == 1", predicate: #Predicate { $0.number == holder.number }),
      Row("flag == YES", predicate: #Predicate { $0.flag == holder.list.contains([1, 2]) }),
      Row(
        "number == 1 OR number == 3",
        predicate: #Predicate { thing in holders.contains { thing.number == $0.number } }),
      Row("id == %@", id, predicate: #Predicate { $0.id == id }),
      Row("bytes == %@", bytes, predicate: #Predicate { $0.bytes == bytes }),
      Row("link == %@", link, predicate: #Predicate { $0.link == link }),
      Row("date > %@", date, predicate: #Predicate { $0.date > date }),
      Row(
        "id IN %@", [id],
        predicate: {
          let ids: [UUID] = [id]
          return #Predicate { ids.contains($0.id) }
        }()),
    ]
  }()

  private static let texts: [Row] = {
    let same: ComparisonResult = .orderedSame
    let before: ComparisonResult = .orderedAscending
    let regex = #/[e-f][l-m]|^$/#
    return [
      Row("text CONTAINS 'foo'", predicate: #Predicate { $0.text.contains("foo") }),
      Row("TRUEPREDICATE", predicate: #Predicate { $0.text.contains("") }),
      Row("text BEGINSWITH 'He'", predicate: #Predicate { $0.text.starts(with: "He") }),
      Row(
        "TERNARY(nick != nil, nick, 'o') == '' OR text CONTAINS TERNARY(nick != nil, nick, 'o')",
        predicate: #Predicate { $0.text.contains($0.nick ?? "o") }),
      Row(
        "TERNARY(text ==[c] 'HELLO', 0, TERNARY(text <[c] 'HELLO', -1, 1)) == 0",
        predicate: #Predicate { $0.text.caseInsensitiveCompare("HELLO") == same }),
      Row(
        "TERNARY(text ==[l] 'Hello', 0, TERNARY(text <[l] 'Hello', -1, 1)) == -1",
        predicate: #Predicate { $0.text.localizedCompare("Hello") == before }),
      Row("text CONTAINS[cdl] 'CAFE'", predicate: #Predicate { $0.text.localizedStandardContains("CAFE") }),
      Row(
        "text MATCHES '(?s:.*)(?:[e-f][l-m]|^$)(?s:.*)'", predicate: #Predicate { $0.text.contains(regex) }),
    ]
  }()

  @Test(arguments: rows) func `a Swift predicate becomes the format that Apple's framework gives`(
    _ row: Row
  ) throws {
    let converted = try NSPredicate(converting: row.predicate)
    #expect(converted == NSPredicate(format: row.format, argumentArray: row.arguments))
    #expect(NSPredicate(row.predicate) == converted)
  }

  @Test(arguments: rows) func `the converted predicate answers as the Swift predicate does`(
    _ row: Row
  ) throws {
    let converted = try NSPredicate(converting: row.predicate)
    for (place, thing) in Thing.samples.enumerated() {
      #expect(try converted.evaluateThrowing(with: thing) == row.predicate.evaluate(thing), "sample \(place)")
    }
  }
}
