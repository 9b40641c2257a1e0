import ArgumentParser
import CoreDataGraph
import CoreDataStorage
import Foundation

/// The command line: `clarus --help`.
@main
struct Clarus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clarus",
    abstract: "Looks into Core Data stores and models.",
    discussion: """
      Reads stores and models written by Apple's Core Data or by Clarus. A store that is read, its journal and its folder \
      stay byte for byte as they are; what is made is a new file, complete or not there at all.

      EXAMPLES
        clarus info Shop.sqlite                       what is in a store
        clarus fetch Shop.sqlite Item --where 'price > 10' --sort name --limit 5
        clarus show Shop.sqlite Item/p42              one object with its relationships
        clarus check Shop.sqlite                      what is wrong with a store
        clarus convert Shop.sqlite Shop.xml --verify  a store of another kind with the same contents
        clarus migrate Shop.sqlite --to Shop.momd --plan   what a new model changes in a store
        clarus diff Shop.sqlite Backup.sqlite         what two stores disagree in
        clarus model show Shop.xcdatamodeld           what is in a model
        clarus info Shop.sqlite --json | jq '.entities[].count'

      EXIT STATUS
        0 done, 1 failed (one line on standard error says why), 2 wrong usage; `diff`: 0 equal, 1 different, 2 trouble
      """,
    version: "clarus 0.1.0-dev",
    subcommands: [
      InfoCommand.self, FetchCommand.self, ShowCommand.self, CheckCommand.self, ConvertCommand.self,
      DiffCommand.self, ExportCommand.self, ImportCommand.self, MigrateCommand.self,
      ModelCommand.self, PortCommand.self,
    ])

  /// Runs a command and ends the process with the documented exit status.
  static func main() {
    // When a reader closes the pipe (`| head`) `write` fails, so that commands end in order.
    signal(SIGPIPE, SIG_IGN)
    Warning.tellsMissingClasses = false
    ErrorReader.ofProcess = .commandLine
    do {
      var command: any ParsableCommand = try parseAsRoot(
        CommandWords.prepared(Array(CommandLine.arguments.dropFirst())))
      try command.run()
      Foundation.exit(0)
    } catch is OutputClosed {
      Foundation.exit(0)
    } catch let code as ExitCode {
      // The command has said all.
      Foundation.exit(code.rawValue)
    } catch {
      finish(after: error)
    }
  }

  private static func finish(after error: any Error) -> Never {
    let code: ExitCode = exitCode(for: error)
    if code == .success {
      // Help was asked for.
      print(fullMessage(for: error))
      Foundation.exit(0)
    }
    if code == .validationFailure {
      let full: String = fullMessage(for: error)
      let hint: Substring? = full.split(separator: "\n").last { $0.contains("See '") }
      var sentences: [String] = [message(for: error)]
      if let advice = CommandWords.advice(on: sentences[0], Array(CommandLine.arguments.dropFirst())) {
        sentences.append(advice)
      }
      if let hint { sentences.append(String(hint)) }
      writeToStandardError("clarus: " + sentences.map(ErrorText.sentence).joined(separator: " "))
      Foundation.exit(2)
    }
    writeToStandardError("clarus: " + ErrorText.line(for: error))
    Foundation.exit((error as? CommandFailure)?.status ?? 1)
  }
}
