/// Whether advice is for somebody who runs the command line, or for the author of a program: the one writes
/// options of a command, the other calls methods.
package enum MigrationWords {
  /// True in a command of `clarus`.
  @TaskLocal package static var areForCommands: Bool = false

  static func text(command: String, program: String) -> String { areForCommands ? command : program }
}
