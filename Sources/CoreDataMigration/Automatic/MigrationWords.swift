import CoreDataStorage

/// Whom the advice of migrations is for: somebody who runs the command line writes options of a command, the
/// author of a program calls methods.
enum MigrationWords {
  static func text(command: String, program: String) -> String {
    switch ErrorReader.ofProcess {
    case .commandLine: command
    case .developer: program
    }
  }
}
