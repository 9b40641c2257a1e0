import ArgumentParser
import Foundation

/// `clarus-bench`: Clarus beside plain C `sqlite3` and GRDB records, on one schema, in one run.
@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clarus-bench",
    abstract: "Measures Clarus beside C sqlite3, GRDB records, objects of Swift and mappers of Python.",
    discussion: """
      Suites. records: rows written and read; every measurement runs in a process of its own, contestants in turn, \
      and checksums over all bytes must agree, or the run stops. predicates: parsed, evaluated in memory and fetched, \
      contestants in turn in one process; all must find as many. graph: objects changed, linked and deleted with \
      cascades, taken back and saved, in one process; the graphs must be the same in the end. oo7: the benchmark of \
      that name, small and medium, cold and warm. grdb, lighter: the workloads that these libraries publish. \
      mappers: SQLAlchemy and Django on the record cases (with --python).
      """,
    subcommands: [
      Run.self, RunPass.self, FilesCommand.self, FilePassCommand.self, MigrationsCommand.self,
      MigrationPassCommand.self, MapperPassCommand.self, InstructionsCommand.self,
    ],
    defaultSubcommand: Run.self)
}

/// One process of a run.
struct RunPass: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "pass", shouldDisplay: false)

  @Argument var contestant: ContestantName
  @Argument var name: CaseName
  @Option var rows: Int
  @Option var passes: Int
  @Option var played: Int?
  @Option var template: String
  @Option var folder: String

  func run() throws {
    let pass = Pass(
      contestant: contestant, name: name, rows: rows, passes: passes, played: played ?? passes,
      template: URL(fileURLWithPath: template), folder: URL(fileURLWithPath: folder))
    try OwnProcess.print(try pass.run())
  }
}
