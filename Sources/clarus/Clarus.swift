import ArgumentParser
import Foundation

/// The command line: `clarus --help`.
@main
struct Clarus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clarus",
    abstract: "Looks into Core Data stores and models.",
    discussion: """
      Reads stores and models written by Apple's Core Data or by Clarus. Nothing is ever written: a store, its journal and \
      its folder stay byte for byte as they are.

      EXAMPLES
        clarus info Shop.sqlite                       what is in a store
        clarus fetch Shop.sqlite Item --where 'price > 10' --sort name --limit 5
        clarus show Shop.sqlite Item/p42              one object with its relationships
        clarus model show Shop.xcdatamodeld           what is in a model
        clarus info Shop.sqlite --json | jq '.entities[].count'

      EXIT STATUS
        0 done, 1 failed (one line on standard error says why), 2 wrong usage
      """,
    subcommands: [InfoCommand.self, FetchCommand.self, ShowCommand.self, ModelCommand.self])

  /// Runs a command and ends the process with the documented exit status.
  static func main() {
    // When a reader closes the pipe (`| head`) `write` fails, so that commands end in order.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command: any ParsableCommand = try parseAsRoot()
      try command.run()
      Foundation.exit(0)
    } catch is OutputClosed {
      Foundation.exit(0)
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
      let text: String = message(for: error)
      writeToStandardError("clarus: " + ErrorText.oneLine(hint.map { "\(text) \($0)" } ?? text))
      Foundation.exit(2)
    }
    writeToStandardError("clarus: " + ErrorText.line(for: error))
    Foundation.exit(1)
  }
}
