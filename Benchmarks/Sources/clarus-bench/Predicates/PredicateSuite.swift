import CoreData
import Foundation

/// Predicates parsed, evaluated in memory and run by SQLite, each beside what one would write by hand.
///
/// All in one process: contestants take turns within a round, so that whatever disturbs the machine disturbs all of them.
struct PredicateSuite {
  var folder: URL
  /// Objects to choose from.
  var count: Int
  var rounds: Int
  var parts: [Part] = Part.allCases
  var progress: (String) -> Void = { _ in }

  /// What is measured, in the order of the table.
  enum Part: String, CaseIterable, Encodable {
    case parse, objects, values, fetch, count

    var title: String {
      switch self {
      case .parse: "Parsing formats"
      case .objects: "Evaluating over loaded managed objects, beside a closure over typed accessors"
      case .values: "Evaluating over dictionaries and structs, beside a closure over the structs"
      case .fetch: "Fetching objects from SQLite, beside SQL by hand that reads the same columns"
      case .count: "Counting in SQLite, beside SQL by hand"
      }
    }
  }

  /// A contestant's times in one case.
  struct Line: Encodable {
    var contestant: String
    var seconds: [Double]
    /// What the ratio is against.
    var base: String?

    var minimum: Double { seconds.min() ?? 0 }
    var median: Double { seconds.isEmpty ? 0 : seconds.sorted()[seconds.count / 2] }
  }

  struct Outcome: Encodable {
    var part: Part
    var title: String
    var operations: Int
    var matches: Int
    var lines: [Line]

    func ratio(of line: Line) -> Double? {
      guard let base = lines.first(where: { $0.contestant == line.base }), base.minimum > 0 else {
        return nil
      }
      return line.minimum / base.minimum
    }
  }

  func run() throws -> [Outcome] {
    let samples: [PersonSample] = PersonSample.make(count: count)
    var outcomes: [Outcome] = parts.contains(.parse) ? [try ParsingBench(rounds: rounds).run()] : []
    progress("writing \(count.formatted) people")
    let store: URL = folder.appendingPathComponent("people.sqlite")
    try PeopleStore.write(samples, to: store)
    if parts.contains(.objects) {
      progress("predicates in memory")
      outcomes += try ManagedObjectBench(store: store, count: count, rounds: rounds).run()
    }
    if parts.contains(.values) {
      progress("predicates over plain values")
      outcomes += try PlainValueBench(samples: samples, rounds: rounds).run()
    }
    for part in [Part.fetch, .count] where parts.contains(part) {
      progress("predicates in SQLite: \(part.rawValue)")
      outcomes += try FetchingBench(store: store, count: count, rounds: rounds, part: part).run()
    }
    return outcomes
  }

  /// Runs each contestant once a round. A contestant says how many matches it found, which must be the same for all.
  static func race(
    part: Part, title: String, operations: Int, rounds: Int,
    _ contestants: [(name: String, base: String?, body: () throws -> Int)]
  ) throws -> Outcome {
    var lines: [Line] = contestants.map { Line(contestant: $0.name, seconds: [], base: $0.base) }
    var matches: Int?
    for _ in 0..<rounds {
      for (place, contestant) in contestants.enumerated() {
        let start = ContinuousClock.now
        let found: Int = try contestant.body()
        lines[place].seconds.append((ContinuousClock.now - start) / .seconds(1))
        if let matches, matches != found {
          throw BenchmarkError("\(title): \(contestant.name) found \(found), not \(matches)")
        }
        matches = found
      }
    }
    return Outcome(part: part, title: title, operations: operations, matches: matches ?? 0, lines: lines)
  }
}

/// The store of the people.
enum PeopleStore {
  static func open(_ store: URL) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "People", managedObjectModel: BenchPerson.makeModel())
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: store)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  static func close(_ container: NSPersistentContainer) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  static func write(_ samples: [PersonSample], to store: URL) throws {
    let container: NSPersistentContainer = try open(store)
    let context: NSManagedObjectContext = container.newBackgroundContext()
    try context.performAndWait {
      var departments: [String: BenchDepartment] = [:]
      for name in PersonSample.departments {
        let department = BenchDepartment(context: context)
        department.name = name
        departments[name] = department
      }
      for sample in samples {
        let person = BenchPerson(context: context)
        person.name = sample.name
        person.city = sample.city
        person.note = sample.note
        person.age = Int16(sample.age)
        person.active = sample.active
        person.salary = sample.salary
        person.rating = sample.rating
        person.joined = sample.joined
        person.department = departments[sample.department.name]
        for order in sample.orders {
          let made = BenchOrder(context: context)
          made.total = order.total
          made.person = person
        }
      }
      try context.save()
      context.reset()
    }
    try close(container)
  }
}
