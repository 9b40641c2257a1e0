import Foundation

/// Contestants that do the same in turn, in one process, so that a disturbance of the machine affects all of
/// them.
struct Race {
  /// A table's section.
  var part: any RacePart
  var title: String
  /// The divisor of the times.
  var operations: Int
  var rounds: Int

  struct Contestant {
    var name: String
    /// The contestant that the ratio refers to.
    var base: String?
    /// Runs before the clock starts.
    var prepare: () throws -> Void
    /// The measured code; its result is the same for all.
    var body: () throws -> Int
    /// Runs after the clock has stopped; its result, if there is one, replaces the body's.
    var finish: () throws -> Int?
    /// Runs after the last round.
    var end: () throws -> Void

    init(
      _ name: String, against base: String? = nil, prepare: @escaping () throws -> Void = {},
      body: @escaping () throws -> Int, finish: @escaping () throws -> Int? = { nil },
      end: @escaping () throws -> Void = {}
    ) {
      (self.name, self.base, self.prepare) = (name, base, prepare)
      (self.body, self.finish, self.end) = (body, finish, end)
    }
  }

  /// A contestant's times.
  struct Line: Encodable {
    var contestant: String
    var seconds: [Double]
    var base: String?
    /// How many SQL statements one pass runs, if that was counted.
    var statements: Int?
    /// The most memory its process held, where it has one of its own, in bytes.
    var peak: Int?

    var minimum: Double { seconds.min() ?? 0 }
    var median: Double { seconds.isEmpty ? 0 : seconds.sorted()[seconds.count / 2] }
  }

  struct Outcome: Encodable {
    var part: String
    var heading: String
    var title: String
    var operations: Int
    var found: Int
    var lines: [Line]

    func ratio(of line: Line) -> Double? {
      guard let base = lines.first(where: { $0.contestant == line.base }), base.minimum > 0 else {
        return nil
      }
      return line.minimum / base.minimum
    }
  }

  /// Runs each contestant once a round.
  /// - Throws: a contestant's errors; an error when two results differ.
  func run(_ contestants: [Contestant]) throws -> Outcome {
    var lines: [Line] = contestants.map { Line(contestant: $0.name, seconds: [], base: $0.base) }
    var agreed: Int?
    for _ in 0..<rounds {
      for (place, contestant) in contestants.enumerated() {
        try contestant.prepare()
        let start = ContinuousClock.now
        var found: Int = try contestant.body()
        lines[place].seconds.append((ContinuousClock.now - start) / .seconds(1))
        found = try contestant.finish() ?? found
        try agree(found, contestant, &agreed)
      }
    }
    for contestant in contestants { try contestant.end() }
    return Outcome(
      part: part.rawValue, heading: part.title, title: title, operations: operations, found: agreed ?? 0,
      lines: lines)
  }

  /// The same, after a pass that is not timed, in which the statements of the bodies are counted.
  /// `make`: contestants that have opened nothing yet.
  func runCounting(_ make: () throws -> [Contestant]) throws -> Outcome {
    var agreed: Int?
    let counts: [Int] = try StatementCounter.on {
      try make().map { contestant in
        try contestant.prepare()
        StatementCounter.startOver()
        let found: Int = try contestant.body()
        let count: Int = StatementCounter.statements
        try agree(contestant.finish() ?? found, contestant, &agreed)
        try contestant.end()
        return count
      }
    }
    var outcome: Outcome = try run(make())
    for (place, count) in counts.enumerated() { outcome.lines[place].statements = count }
    return outcome
  }

  private func agree(_ found: Int, _ contestant: Contestant, _ agreed: inout Int?) throws {
    if let agreed, agreed != found {
      throw BenchmarkError("\(title): \(contestant.name) found \(found), not \(agreed)")
    }
    agreed = found
  }
}

/// A section of a table of races.
protocol RacePart: RawRepresentable<String> {
  var title: String { get }
}
