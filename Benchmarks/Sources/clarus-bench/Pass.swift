import Foundation

/// The measurement of one process: a contestant in a case, several times.
struct Measurement: Codable {
  /// Of each pass.
  var seconds: [Double]
  var rows: Int
  /// See `Checksum`: of the timed passes (all alike) and of the thorough one.
  var checksum: UInt64
  var thoroughChecksum: UInt64
  /// The most memory the process held in its first pass, in bytes.
  var peak: Int
  /// The increase from the memory that it held before the pass.
  var growth: Int
}

/// A case of one contestant, run in a process of its own.
struct Pass {
  var contestant: ContestantName
  var name: CaseName
  var rows: Int
  var passes: Int
  /// How many of the passes do the case, the last ones; those before only open the store and close it, for
  /// whoever counts what the case alone costs.
  var played: Int
  /// A store to copy: with all rows, or empty for the insertion.
  var template: URL
  var folder: URL

  /// - Throws: the contestant's errors; an error when two passes differ.
  func run() throws -> Measurement {
    let samples: [Sample] = name == .insert ? Sample.make(count: name.operations(rows: rows)) : []
    let numbers: [Int64] = name == .lookup ? scatteredNumbers() : []
    var result = Measurement(
      seconds: [], rows: 0, checksum: 0, thoroughChecksum: 0, peak: 0, growth: 0)

    for pass in 0..<passes {
      let store: URL = try freshCopy()
      var player: any Contestant = try contestant.type.init(store: store)
      player.prepare(samples)
      if name == .update { try player.load(name.operations(rows: rows)) }
      var sum = Checksum(thorough: false)
      let before: Int = try Memory.startOver()
      let start = ContinuousClock.now
      if pass >= passes - played { try play(&player, samples: samples, numbers: numbers, into: &sum) }
      let duration: Duration = ContinuousClock.now - start
      if pass <= passes - played {
        result.peak = try Memory.peak()
        result.growth = max(0, result.peak - before)
        (result.checksum, result.rows) = (sum.value, sum.rows)
      } else if (result.checksum, result.rows) != (sum.value, sum.rows) {
        throw BenchmarkError("\(contestant.title) read something else in pass \(pass + 1) than in the first")
      }
      result.seconds.append(duration / .seconds(1))
      try player.close()
      if pass == passes - 1 {
        result.thoroughChecksum = try thoroughSum(store, numbers: numbers)
      }
      try remove(store)
    }
    return result
  }

  private func play(
    _ player: inout any Contestant, samples: [Sample], numbers: [Int64], into sum: inout Checksum
  ) throws {
    switch name {
    case .insert: try player.insert()
    case .update: try player.update()
    case .read: try player.readAll(into: &sum)
    case .faults: try player.readNothing(into: &sum)
    case .walk: try player.walk(into: &sum)
    case .stream: try player.stream(into: &sum)
    case .section: try player.readSection(37, into: &sum)
    case .lookup: try player.lookUp(numbers, into: &sum)
    case .page: try player.readPages(CaseName.pages(of: rows), into: &sum)
    case .sort: try player.readSortedPage(into: &sum)
    }
  }

  /// C reads the written rows, the same for all contestants; of the other cases the contestant reads the rows
  /// again.
  private func thoroughSum(_ store: URL, numbers: [Int64]) throws -> UInt64 {
    var sum = Checksum(thorough: true)
    if name == .insert || name == .update {
      let judge = try SQLiteContestant(store: store)
      try judge.readAll(into: &sum)
      judge.close()
    } else {
      var player: any Contestant = try contestant.type.init(store: store)
      try play(&player, samples: [], numbers: numbers, into: &sum)
      try player.close()
    }
    return sum.value &+ UInt64(sum.rows)
  }

  private func scatteredNumbers() -> [Int64] {
    var random = SplitMix(seed: 7)
    return (0..<name.operations(rows: rows)).map { _ in Sample.number(Int(random.next() % UInt64(rows))) }
  }

  private func freshCopy() throws -> URL {
    let store: URL = folder.appendingPathComponent("\(contestant.rawValue)-\(UUID().uuidString).sqlite")
    try FileManager.default.copyItem(at: template, to: store)
    return store
  }

  private func remove(_ store: URL) throws {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: store.path + suffix) {
      try FileManager.default.removeItem(atPath: store.path + suffix)
    }
  }
}

/// The kernel's counts of this process's memory. Linux only; elsewhere 0.
enum Memory {
  /// Resets the peak and returns the memory held now.
  static func startOver() throws -> Int {
    #if os(Linux)
      // 5: reset the peak resident set size (proc(5)).
      try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    #endif
    return try field("VmRSS")
  }

  static func peak() throws -> Int { try field("VmHWM") }

  private static func field(_ name: String) throws -> Int {
    #if os(Linux)
      let status: String = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
        let words: [Substring] = line.split { $0 == " " || $0 == "\t" }
        if words.count >= 2, let kibibytes = Int(words[1]) { return kibibytes * 1024 }
      }
      throw BenchmarkError("/proc/self/status has no \(name)")
    #else
      return 0
    #endif
  }
}
