import ArgumentParser

/// The groups of cases.
enum SuiteName: String, CaseIterable, ExpressibleByArgument {
  case records, predicates, graph, oo7, grdb, lighter, mappers
}

/// A part of one of the suites that are races.
struct RacePartName: ExpressibleByArgument {
  let name: String

  init?(argument: String) {
    guard PredicateSuite.Part(rawValue: argument) != nil || GraphSuite.Part(rawValue: argument) != nil else {
      return nil
    }
    name = argument
  }
}

extension PredicateSuite.Part {
  init?(_ part: RacePartName) { self.init(rawValue: part.name) }
}

extension GraphSuite.Part {
  init?(_ part: RacePartName) { self.init(rawValue: part.name) }
}

extension CaseName: ExpressibleByArgument {}
extension ContestantName: ExpressibleByArgument {}
extension OO7Size: ExpressibleByArgument {}
extension OO7Operation: ExpressibleByArgument {}
extension OO7Suite.Part: ExpressibleByArgument {}
