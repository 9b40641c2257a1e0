import CoreDataStorage

/// Whom the advice of migrations is for: somebody who runs the command line writes options of a command, the
/// author of a program calls methods.
package enum MigrationWords {
  /// Set by the commands of `clarus`.
  @TaskLocal package static var reader: ErrorReader = .developer

  static func text(command: String, program: String) -> String {
    switch reader {
    case .commandLine: command
    case .developer: program
    }
  }
}
