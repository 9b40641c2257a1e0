import Foundation

/// Clarus beside object mappers of Python, C and GRDB on the record cases: one table, the same rows, the same
/// journal mode (WAL, in the file) and `synchronous` setting, each measurement in a process of its own.
struct MapperSuite {
  var folder: URL
  var rows: Int
  var rounds: Int
  var passes: Int
  /// Of the environment that Benchmarks/Python/setup makes; nil leaves Python's mappers out.
  var python: String?
  var scripts: URL
  var progress: (String) -> Void = { _ in }

  struct Part: RacePart {
    let rawValue: String = "mappers"
    let title: String = "Object mappers on the record cases"
    init() {}
    init?(rawValue: String) { nil }
  }

  func run() throws -> [Race.Outcome] {
    let empty: URL = folder.appendingPathComponent("mappers-empty.sqlite")
    try ClarusContestant.makeStore(at: empty)
    let full: URL = folder.appendingPathComponent("mappers.sqlite")
    try FileManager.default.copyItem(at: empty, to: full)
    var writer = try SQLiteContestant(store: full)
    writer.prepare(Sample.make(count: rows))
    try writer.insert()
    try writer.run("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.close()
    let names: [MapperName] = MapperName.allCases.filter { !$0.isPython || python != nil }
    return try MapperCase.allCases.map { try run($0, names, template: $0 == .insert ? empty : full, full) }
  }

  private func run(
    _ name: MapperCase, _ names: [MapperName], template: URL, _ full: URL
  ) throws -> Race.Outcome {
    var lines: [Race.Line] = names.map {
      Race.Line(contestant: $0.title, seconds: [], base: $0 == .clarus ? nil : MapperName.clarus.title)
    }
    var agreed: (checksum: UInt64, rows: Int)?
    for round in 1...rounds {
      for (place, mapper) in names.enumerated() {
        progress("mappers, \(name.rawValue), round \(round) of \(rounds): \(mapper.title)")
        let found: MapperMeasurement = try measure(mapper, name, template: template, full)
        lines[place].seconds += found.seconds
        lines[place].peak = max(lines[place].peak ?? 0, found.peak)
        let result: (checksum: UInt64, rows: Int) = try outcome(of: found, name)
        if let agreed, agreed != result {
          throw BenchmarkError(
            "\(mapper.title) differs in case \(name.rawValue): \(result), not \(agreed)")
        }
        agreed = result
      }
    }
    return Race.Outcome(
      part: Part().rawValue, heading: Part().title, title: name.title(rows: rows),
      operations: name.operations(rows: rows), found: agreed?.rows ?? 0, lines: lines)
  }

  /// What was read, or what C reads after a case that writes: every byte of the rows, and their versions.
  private func outcome(
    of found: MapperMeasurement, _ name: MapperCase
  ) throws -> (checksum: UInt64, rows: Int) {
    let store = URL(fileURLWithPath: found.store)
    defer {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
    }
    guard name == .insert || name == .update else { return (found.checksum, found.rows) }
    var sum = Checksum(thorough: true)
    let judge = try SQLiteContestant(store: store)
    try judge.readAll(into: &sum)
    judge.close()
    let database = try CDatabase(store)
    defer { database.close() }
    sum.add(try database.integer("SELECT SUM(Z_OPT) + (SELECT Z_MAX FROM Z_PRIMARYKEY) FROM ZITEM"))
    return (sum.value, sum.rows)
  }

  private func measure(
    _ mapper: MapperName, _ name: MapperCase, template: URL, _ full: URL
  ) throws -> MapperMeasurement {
    let label: String = "\(mapper.title) in case \(name.rawValue)"
    guard mapper.isPython, let python else {
      return try OwnProcess.measure(
        MapperMeasurement.self, label: label, "mapper-pass", mapper.rawValue, name.rawValue, "--rows",
        String(rows), "--passes", String(passes), "--template", template.path, "--folder", folder.path)
    }
    return try OwnProcess.measure(
      MapperMeasurement.self, label: label, program: URL(fileURLWithPath: python),
      scripts.appendingPathComponent("mappers.py").path, mapper.rawValue, name.rawValue, "--rows",
      String(rows), "--lookups", String(name.operations(rows: rows)), "--passes", String(passes),
      "--template", template.path, "--rows-from", full.path, "--folder", folder.path)
  }
}
