import CoreData
import Foundation

/// Predicates parsed, evaluated in memory and run by SQLite, each beside code written by hand.
///
/// All in one process: contestants run in turn within a round, so that a disturbance of the machine affects
/// all of them.
struct PredicateSuite {
  var folder: URL
  /// Objects to choose from.
  var count: Int
  var rounds: Int
  var parts: [Part] = Part.allCases
  var progress: (String) -> Void = { _ in }

  /// The measured parts, in the order of the table.
  enum Part: String, CaseIterable, RacePart {
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

  func run() throws -> [Race.Outcome] {
    let samples: [PersonSample] = PersonSample.make(count: count)
    var outcomes: [Race.Outcome] = parts.contains(.parse) ? [try ParsingBench(rounds: rounds).run()] : []
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
}

/// The store of the people.
enum PeopleStore {
  static func open(_ store: URL) throws -> NSPersistentContainer {
    try BenchStore.open(store, BenchStore.model("People"))
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
    try BenchStore.close(container)
  }
}
