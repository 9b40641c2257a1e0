import ArgumentParser
import Foundation

/// The record cases that Clarus and object mappers of other languages have in common.
enum MapperCase: String, CaseIterable, ExpressibleByArgument {
  case insert, read, key, update, walk

  static let lookups: Int = 2_000

  func operations(rows: Int) -> Int { self == .key ? min(Self.lookups, rows) : rows }

  func title(rows: Int) -> String {
    let count: String = operations(rows: rows).formatted
    return switch self {
    case .insert: "make \(count) objects, save"
    case .read: "fetch \(count) objects, read all 10 properties"
    case .key: "\(count) fetches of one object each, by indexed key"
    case .update: "fetch \(count) objects, change one property of each, save"
    case .walk: "walk over \(count) objects in batches of 1,000, read all 10"
    }
  }
}

enum MapperName: String, CaseIterable, ExpressibleByArgument {
  case c, grdb, clarus, sqlalchemy, django

  var title: String {
    switch self {
    case .c: "C"
    case .grdb: "GRDB, by hand"
    case .clarus: "Clarus"
    case .sqlalchemy: "SQLAlchemy"
    case .django: "Django"
    }
  }

  var isPython: Bool { self == .sqlalchemy || self == .django }
}

/// What a process measured.
struct MapperMeasurement: Codable {
  var seconds: [Double]
  var rows: Int
  /// Of the values that were read, see `Checksum`; 0 where none is.
  var checksum: UInt64
  var peak: Int
  /// The store of the last pass: its rows are compared after a case that writes.
  var store: String
}

/// A case of one of the contestants in Swift, in a process of its own.
struct MapperPassCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "mapper-pass", shouldDisplay: false)

  @Argument var mapper: MapperName
  @Argument var name: MapperCase
  @Option var rows: Int
  @Option var passes: Int
  @Option var template: String
  @Option var folder: String

  func run() throws {
    let store: URL = URL(fileURLWithPath: folder)
      .appendingPathComponent("\(mapper.rawValue)-\(UUID().uuidString).sqlite")
    let samples: [Sample] = name == .insert ? Sample.make(count: rows) : []
    let numbers: [Int64] = name == .key ? scatteredNumbers() : []
    var result = MapperMeasurement(seconds: [], rows: 0, checksum: 0, peak: 0, store: store.path)
    for pass in 0..<passes {
      for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: store.path + suffix) {
        try FileManager.default.removeItem(atPath: store.path + suffix)
      }
      try FileManager.default.copyItem(at: URL(fileURLWithPath: template), to: store)
      var sum = Checksum(thorough: false)
      let seconds: Double = try measure(store, samples, numbers, &sum)
      if pass > 0, (sum.value, sum.rows) != (result.checksum, result.rows) {
        throw BenchmarkError("\(mapper.title) read something else in pass \(pass + 1) than in the first")
      }
      (result.checksum, result.rows) = (sum.value, sum.rows)
      result.seconds.append(seconds)
    }
    result.peak = try Memory.peak()
    try OwnProcess.print(result)
  }

  private func scatteredNumbers() -> [Int64] {
    var random = SplitMix(seed: 7)
    return (0..<name.operations(rows: rows)).map { _ in Sample.number(Int(random.next() % UInt64(rows))) }
  }

  private func measure(
    _ store: URL, _ samples: [Sample], _ numbers: [Int64], _ sum: inout Checksum
  ) throws -> Double {
    if name == .update {
      let updater: any RecordUpdater = try self.updater(store)
      let start = ContinuousClock.now
      try updater.run()
      let duration: Duration = ContinuousClock.now - start
      try updater.close()
      return duration / .seconds(1)
    }
    var player: any Contestant = try contestant.init(store: store)
    player.prepare(samples)
    let start = ContinuousClock.now
    switch name {
    case .insert: try player.insert()
    case .read: try player.readAll(into: &sum)
    case .key: try player.lookUp(numbers, into: &sum)
    case .walk: try player.walk(into: &sum)
    case .update: break
    }
    let duration: Duration = ContinuousClock.now - start
    try player.close()
    return duration / .seconds(1)
  }

  private var contestant: any Contestant.Type {
    switch mapper {
    case .grdb: GRDBContestant<HandRecord>.self
    case .clarus: ClarusContestant.self
    case .c, .sqlalchemy, .django: SQLiteContestant.self
    }
  }

  private func updater(_ store: URL) throws -> any RecordUpdater {
    switch mapper {
    case .grdb: try GRDBUpdater(store: store)
    case .clarus: try ClarusUpdater(store: store)
    case .c, .sqlalchemy, .django: try CUpdater(store: store)
    }
  }
}
