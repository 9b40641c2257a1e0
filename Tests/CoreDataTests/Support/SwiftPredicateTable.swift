import CoreData
import Foundation
import StackSupport

/// The table of Documentation/swift-predicates.md: Swift predicates and what they become. Each row is a test.
struct SwiftPredicateTable {
  struct Row {
    let swift: String
    let predicate: Predicate<Worker>
    let format: String
    let arguments: [Any?]

    init(
      _ swift: String, _ predicate: Predicate<Worker>, _ format: String, _ arguments: [Any?] = []
    ) {
      self.swift = swift
      self.predicate = predicate
      self.format = format
      self.arguments = arguments
    }

    /// The line of the page.
    var line: String {
      let cells: [String] = [swift, format].map { "`\($0.replacingOccurrences(of: "|", with: "\\|"))`" }
      return "| \(cells[0]) | \(cells[1]) |"
    }
  }

  struct Limits: Codable {
    var low: Int16
  }

  let ann: Chief
  let annID: NSManagedObjectID
  let red: Squad
  let tea: Skill
  let bosses: [Chief?]

  private let grown: Int16 = 22
  private let least: Int16? = 10
  private let most: Int16? = nil
  private let limits = Limits(low: 1)
  private let ages: [Int16] = [-20, 1, 22, 3]
  private let names: Set<String> = ["Ann", "Zoë", "", "Nobody"]
  private let nicks: [String?] = [nil, "B"]
  private let words: [String] = ["n", "o"]
  private let empty: String = ""
  private let day = Date(timeIntervalSinceReferenceDate: 6000)
  private let days = Date(timeIntervalSinceReferenceDate: 2000)..<Date(timeIntervalSinceReferenceDate: 5000)
  private let from: PartialRangeFrom<Int16> = 20...
  private let upTo: PartialRangeUpTo<Int16> = ..<20
  private let id: UUID? = UUID(uuid: (3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
  private let badge: Data? = Data([4])
  private let home: URL? = URL(string: "https://example.org/6")
  private let cost: Decimal? = Decimal(string: "1.25")
  private let senior: Grade = .senior
  private let grave: Mood? = .grave
  private let same: ComparisonResult = .orderedSame
  private let before: ComparisonResult = .orderedAscending

  /// Over the workers of ``TeamModel``.
  init(_ context: NSManagedObjectContext) throws {
    func named<Object: NSManagedObject>(_ name: String, _ entity: String) throws -> Object {
      let found: [Object] = try context.all(Object.self, entity, NSPredicate(format: "name == %@", name))
      guard let object = found.first else { throw CocoaError(.fileNoSuchFile) }
      return object
    }
    ann = try named("Ann", "Chief")
    annID = ann.objectID
    red = try named("red", "Squad")
    tea = try named("tea", "Skill")
    bosses = [ann, nil]
  }

  var sections: [(title: String, rows: [Row])] {
    [
      ("Values", rowsValues()), ("Objects", rowsObjects()),
      ("Logic and arithmetic", rowsLogicAndArithmetic()), ("Ranges", rowsRanges()),
      ("Collections", rowsCollections()), ("Optionals", rowsOptionals()), ("Text", rowsText()),
    ]
  }

  var rows: [Row] { sections.flatMap(\.rows) }

  // MARK: Values

  private func rowsValues() -> [Row] {
    [
      Row("$0.age == grown", #Predicate { $0.age == grown }, "age == 22"),
      Row("$0.age != grown", #Predicate { $0.age != grown }, "age != 22"),
      Row("$0.age < grown", #Predicate { $0.age < grown }, "age < 22"),
      Row("$0.pay >= 4.5", #Predicate { $0.pay >= 4.5 }, "pay >= 4.5"),
      Row("$0.name < \"D\"", #Predicate { $0.name < "D" }, "name < 'D'"),
      Row("$0.active", #Predicate { $0.active }, "active == YES"),
      Row("!$0.active", #Predicate { !$0.active }, "NOT active == YES"),
      Row("$0.vip == true", #Predicate { $0.vip == true }, "vip == YES"),
      Row("$0.vip != true", #Predicate { $0.vip != true }, "vip != YES"),
      Row("$0.nick == nil", #Predicate { $0.nick == nil }, "nick == nil"),
      Row("$0.nick != nil", #Predicate { $0.nick != nil }, "nick != nil"),
      Row("$0.nick == \"E\"", #Predicate { $0.nick == "E" }, "nick == 'E'"),
      Row("$0.nick != \"B\"", #Predicate { $0.nick != "B" }, "nick != 'B'"),
      Row("$0.share > 1", #Predicate { $0.share > 1 }, "share > 1"),
      Row("$0.cost == cost", #Predicate { $0.cost == cost }, "cost == %@", [cost]),
      Row("$0.hired > day", #Predicate { $0.hired > day }, "hired > %@", [day]),
      Row("$0.id == id", #Predicate { $0.id == id }, "id == %@", [id]),
      Row("$0.badge == badge", #Predicate { $0.badge == badge }, "badge == %@", [badge]),
      Row("$0.home == home", #Predicate { $0.home == home }, "home == %@", [home]),
      Row("$0.grade == senior", #Predicate { $0.grade == senior }, "gradeNumber == 2"),
      Row("$0.mood == grave", #Predicate { $0.mood == grave }, "moodName == 'grave'"),
      Row("$0.age == limits.low", #Predicate { $0.age == limits.low }, "age == 1"),
    ]
  }

  // MARK: Objects

  private func rowsObjects() -> [Row] {
    [
      Row("$0 == ann", #Predicate { $0 == ann }, "SELF == %@", [ann]),
      Row("$0.boss == ann", #Predicate { $0.boss == ann }, "boss == %@", [ann]),
      Row("$0.squad != red", #Predicate { $0.squad != red }, "squad != %@", [red]),
      Row("$0.objectID == annID", #Predicate { $0.objectID == annID }, "objectID == %@", [ann.objectID]),
      Row("bosses.contains($0.boss)", #Predicate { bosses.contains($0.boss) }, "boss IN %@", [bosses]),
      Row("$0.skills.contains(tea)", #Predicate { $0.skills.contains(tea) }, "%@ IN skills", [tea]),
      Row("$0 is Chief", #Predicate { $0 is Chief }, "SELF isKindOfClass: %@", [Chief.self]),
      Row(
        "($0 as? Chief) == nil", #Predicate { ($0 as? Chief) == nil },
        "TERNARY(SELF isKindOfClass: %@, SELF, nil) == nil", [Chief.self]),
      Row(
        "($0 as? Chief)?.name == \"Ann\"", #Predicate { ($0 as? Chief)?.name == "Ann" },
        "TERNARY(TERNARY(SELF isKindOfClass: %@, SELF, nil) != nil, TERNARY(SELF isKindOfClass: %@, SELF, nil).name, nil) == 'Ann'",
        [Chief.self, Chief.self]),
      Row(
        "(($0 as? Chief)?.budget ?? 0) > 100", #Predicate { (($0 as? Chief)?.budget ?? 0) > 100 },
        "TERNARY(TERNARY(TERNARY(SELF isKindOfClass: %@, SELF, nil) != nil, TERNARY(SELF isKindOfClass: %@, SELF, nil).budget, nil) != nil, TERNARY(TERNARY(SELF isKindOfClass: %@, SELF, nil) != nil, TERNARY(SELF isKindOfClass: %@, SELF, nil).budget, nil), 0) > 100",
        [Chief.self, Chief.self, Chief.self, Chief.self]),
    ]
  }

  // MARK: Logic and arithmetic

  private func rowsLogicAndArithmetic() -> [Row] {
    [
      Row(
        "$0.active && $0.age > grown", #Predicate { $0.active && $0.age > grown },
        "active == YES AND age > 22"),
      Row(
        "$0.active || $0.age > grown", #Predicate { $0.active || $0.age > grown }, "active == YES OR age > 22"
      ),
      Row(
        "$0.active && $0.age > 0 && $0.age < 30", #Predicate { $0.active && $0.age > 0 && $0.age < 30 },
        "(active == YES AND age > 0) AND age < 30"),
      Row(
        "$0.active == ($0.age > grown)", #Predicate { $0.active == ($0.age > grown) },
        "active == TERNARY(age > 22, YES, NO)"),
      Row(
        "$0.active ? $0.age > 0 : $0.age < 0", #Predicate { $0.active ? $0.age > 0 : $0.age < 0 },
        "TERNARY(active == YES, TERNARY(age > 0, YES, NO), TERNARY(age < 0, YES, NO)) == YES"),
      Row(
        "($0.active ? $0.age : 7) > 5", #Predicate { ($0.active ? $0.age : 7) > 5 },
        "TERNARY(active == YES, age, 7) > 5"),
      Row("$0.age + 6 == 0", #Predicate { $0.age + 6 == 0 }, "age + 6 == 0"),
      Row("$0.pay * 2 - 1 > 9", #Predicate { $0.pay * 2 - 1 > 9 }, "(pay * 2) - 1 > 9"),
      Row("$0.age / 2 == -3", #Predicate { $0.age / 2 == -3 }, "age / 2 == 3 * -1"),
      Row("$0.age % 5 == -3", #Predicate { $0.age % 5 == -3 }, "modulus:by:(age, 5) == 3 * -1"),
      Row("$0.pay / 2 > 3", #Predicate { $0.pay / 2 > 3 }, "pay / 2 > 3"),
      Row("-$0.age > 5", #Predicate { -$0.age > 5 }, "age * -1 > 5"),
    ]
  }

  // MARK: Ranges

  private func rowsRanges() -> [Row] {
    [
      Row(
        "(1...22).contains($0.age)", #Predicate { (1...22).contains($0.age) }, "age BETWEEN %@", [[1, 22]]),
      Row("(1..<22).contains($0.age)", #Predicate { (1..<22).contains($0.age) }, "age >= 1 AND age < 22"),
      Row(
        "days.contains($0.hired)", #Predicate { days.contains($0.hired) }, "hired >= %@ AND hired < %@",
        [days.lowerBound, days.upperBound]),
      Row("from.contains($0.age)", #Predicate { from.contains($0.age) }, "age >= 20"),
      Row("upTo.contains($0.age)", #Predicate { upTo.contains($0.age) }, "age < 20"),
      Row(
        "($0.age...90).contains(grown)", #Predicate { ($0.age...90).contains(grown) }, "22 BETWEEN {age, 90}"),
    ]
  }

  // MARK: Collections

  private func rowsCollections() -> [Row] {
    [
      Row("ages.contains($0.age)", #Predicate { ages.contains($0.age) }, "age IN %@", [ages]),
      Row("names.contains($0.name)", #Predicate { names.contains($0.name) }, "name IN %@", [names]),
      Row("nicks.contains($0.nick)", #Predicate { nicks.contains($0.nick) }, "nick IN %@", [nicks]),
      Row("$0.skills.isEmpty", #Predicate { $0.skills.isEmpty }, "skills.@count == 0"),
      Row("$0.skills.count > 1", #Predicate { $0.skills.count > 1 }, "skills.@count > 1"),
      Row(
        "$0.skills.contains { $0.name == \"sql\" }", #Predicate { $0.skills.contains { $0.name == "sql" } },
        "SUBQUERY(skills, $_local_1, $_local_1.name == 'sql').@count != 0"),
      Row(
        "$0.skills.allSatisfy { $0.rank < 10 }", #Predicate { $0.skills.allSatisfy { $0.rank < 10 } },
        "SUBQUERY(skills, $_local_1, NOT $_local_1.rank < 10).@count == 0"),
      Row(
        "$0.skills.filter { $0.rank > 5 }.count == 2",
        #Predicate { $0.skills.filter { $0.rank > 5 }.count == 2 },
        "SUBQUERY(skills, $_local_1, $_local_1.rank > 5).@count == 2"),
      Row(
        "$0.skills.filter { $0.rank > 5 }.contains { $0.rank < 15 }",
        #Predicate { $0.skills.filter { $0.rank > 5 }.contains { $0.rank < 15 } },
        "SUBQUERY(skills, $_local_1, $_local_1.rank > 5 AND $_local_1.rank < 15).@count != 0"),
      Row(
        "$0.skills.filter { $0.rank > 5 }.contains(tea)",
        #Predicate { $0.skills.filter { $0.rank > 5 }.contains(tea) },
        "SUBQUERY(skills, $_local_1, $_local_1.rank > 5 AND $_local_1 == %@).@count != 0", [tea]),
      Row(
        "worker.skills.contains { $0.owners.contains { $0.age > worker.age } }",
        #Predicate { worker in worker.skills.contains { $0.owners.contains { $0.age > worker.age } } },
        "SUBQUERY(skills, $_local_1, SUBQUERY($_local_1.owners, $_local_2, $_local_2.age > age).@count != 0).@count != 0"
      ),
      Row(
        "words.contains { worker.name.contains($0) }",
        #Predicate { worker in words.contains { worker.name.contains($0) } },
        "name CONTAINS 'n' OR name CONTAINS 'o'"),
      Row(
        "words.allSatisfy { worker.name.contains($0) }",
        #Predicate { worker in words.allSatisfy { worker.name.contains($0) } },
        "name CONTAINS 'n' AND name CONTAINS 'o'"),
      Row(
        "$0.squad!.jobs[0].name == \"plan\"", #Predicate { $0.squad!.jobs[0].name == "plan" },
        "((squad.jobs)[0]).name == 'plan'"),
      Row(
        "$0.squad!.jobs.first!.name == \"plan\"", #Predicate { $0.squad!.jobs.first!.name == "plan" },
        "((squad.jobs)[FIRST]).name == 'plan'"),
      Row(
        "$0.squad!.jobs.last!.name == \"build\"", #Predicate { $0.squad!.jobs.last!.name == "build" },
        "((squad.jobs)[LAST]).name == 'build'"),
      Row(
        "$0.labels!.contains(\"first\")", #Predicate { $0.labels!.contains("first") }, "'first' IN labels"),
      Row(
        "$0.labels!.max() == \"first\"", #Predicate { $0.labels!.max() == "first" },
        "labels.@max.#self == 'first'"),
    ]
  }

  // MARK: Optionals

  private func rowsOptionals() -> [Row] {
    [
      Row(
        "$0.boss?.name == \"Ann\"", #Predicate { $0.boss?.name == "Ann" },
        "TERNARY(boss != nil, boss.name, nil) == 'Ann'"),
      Row(
        "$0.boss?.boss?.name == \"Ann\"", #Predicate { $0.boss?.boss?.name == "Ann" },
        "TERNARY(TERNARY(boss != nil, boss.boss, nil) != nil, TERNARY(boss != nil, boss.boss, nil).name, nil) == 'Ann'"
      ),
      Row(
        "$0.boss?.skills.isEmpty == false", #Predicate { $0.boss?.skills.isEmpty == false },
        "TERNARY(boss != nil, TERNARY(boss.skills.@count == 0, YES, NO), nil) == NO"),
      Row("$0.boss!.name == \"Ann\"", #Predicate { $0.boss!.name == "Ann" }, "boss.name == 'Ann'"),
      Row(
        "($0.nick ?? \"\") == \"\"", #Predicate { ($0.nick ?? "") == "" },
        "TERNARY(nick != nil, nick, '') == ''"),
      Row(
        "($0.nick ?? \"\") != \"E\"", #Predicate { ($0.nick ?? "") != "E" },
        "TERNARY(nick != nil, nick, '') != 'E'"),
      Row("$0.vip ?? true", #Predicate { $0.vip ?? true }, "TERNARY(vip != nil, vip, YES) == YES"),
      Row(
        "($0.nick?.count ?? 9) > 0", #Predicate { ($0.nick?.count ?? 9) > 0 },
        "TERNARY(TERNARY(nick != nil, nick.length, nil) != nil, TERNARY(nick != nil, nick.length, nil), 9) > 0"
      ),
      Row(
        "if let left = $0.left { left < day } else { false }",
        #Predicate { if let left = $0.left { left < day } else { false } },
        "TERNARY(TERNARY(left != nil, TERNARY(left < %@, YES, NO), nil) != nil, TERNARY(left != nil, TERNARY(left < %@, YES, NO), nil), NO) == YES",
        [day, day]),
      Row(
        "if let left = $0.left { left < day } else { true }",
        #Predicate { if let left = $0.left { left < day } else { true } },
        "TERNARY(TERNARY(left != nil, TERNARY(left < %@, YES, NO), nil) != nil, TERNARY(left != nil, TERNARY(left < %@, YES, NO), nil), YES) == YES",
        [day, day]),
      Row(
        "if let least { worker.age > least } else { true }",
        #Predicate { worker in if let least { worker.age > least } else { true } }, "age > 10"),
      Row(
        "if let most { worker.age < most } else { true }",
        #Predicate { worker in if let most { worker.age < most } else { true } }, "YES == YES"),
    ]
  }

  // MARK: Text

  private func rowsText() -> [Row] {
    let regex = #/[n-o]e|\|/#
    return [
      Row("$0.name.contains(\"a\")", #Predicate { $0.name.contains("a") }, "name CONTAINS 'a'"),
      Row("$0.name.starts(with: \"E\")", #Predicate { $0.name.starts(with: "E") }, "name BEGINSWITH 'E'"),
      Row("$0.name.contains(empty)", #Predicate { $0.name.contains(empty) }, "TRUEPREDICATE"),
      Row(
        "$0.name.contains($0.nick ?? \"o\")", #Predicate { $0.name.contains($0.nick ?? "o") },
        "TERNARY(nick != nil, nick, 'o') == '' OR name CONTAINS TERNARY(nick != nil, nick, 'o')"),
      Row("$0.name.count == 3", #Predicate { $0.name.count == 3 }, "name.length == 3"),
      Row("$0.name.isEmpty", #Predicate { $0.name.isEmpty }, "name.length == 0"),
      Row("$0.boss!.name.count > 2", #Predicate { $0.boss!.name.count > 2 }, "boss.name.length > 2"),
      Row(
        "$0.name.contains(regex)", #Predicate { $0.name.contains(regex) },
        "name MATCHES '(?s:.*)(?:[n-o]e|\\\\|)(?s:.*)'"),
      Row(
        "$0.name.localizedStandardContains(\"OE\")", #Predicate { $0.name.localizedStandardContains("OE") },
        "name CONTAINS[cdl] 'OE'"),
      Row(
        "$0.name.caseInsensitiveCompare(\"ZOË\") == same",
        #Predicate { $0.name.caseInsensitiveCompare("ZOË") == same },
        "TERNARY(name ==[c] 'ZOË', 0, TERNARY(name <[c] 'ZOË', -1, 1)) == 0"),
      Row(
        "$0.name.caseInsensitiveCompare(\"DORA\") == before",
        #Predicate { $0.name.caseInsensitiveCompare("DORA") == before },
        "TERNARY(name ==[c] 'DORA', 0, TERNARY(name <[c] 'DORA', -1, 1)) == -1"),
      Row(
        "$0.name.localizedCompare(\"Dora\") == before",
        #Predicate { $0.name.localizedCompare("Dora") == before },
        "TERNARY(name ==[l] 'Dora', 0, TERNARY(name <[l] 'Dora', -1, 1)) == -1"),
      Row(
        "$0.home!.absoluteString == \"https://example.org/2\"",
        #Predicate { $0.home!.absoluteString == "https://example.org/2" },
        "home.absoluteString == 'https://example.org/2'"),
    ]
  }
}
