import ArgumentParser
import Foundation
import SwiftSources

/// `clarus port`
struct PortCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "port",
    abstract: "Changes Swift sources for Apple's platforms so that they compile here.",
    discussion: """
      Removes what needs the Objective-C runtime (@objc, @nonobjc, dynamic), writes #keyPath as text, imports CoreData where \
      Foundation lacks a class, and settles ambiguous names. The rest is listed, each place with the page of the \
      documentation that explains it. Comments, texts and code that isn't compiled here (#if canImport(UIKit)) stay as they \
      are, and a file that is not understood is not changed. A second run changes nothing. A link that leads out of the folder is \
      left out and named, and so is what is no file, such as a pipe.

      Without --write nothing is changed; the changes are shown as a diff. @NSManaged stays: CoreDataSourcesPlugin \
      makes the accessors. The manifest of a package that depends on Clarus gets the library and the plugins that its targets need \
      if it is in the folder; of another one it is told what to write.

      EXAMPLES
        clarus port Sources/Shop              the diff, and what is left
        clarus port Sources/Shop --write
        clarus port . --json | jq '.findings[] | select(.outcome == "left")'

      EXIT STATUS
        0 also where places are left   1 nothing was changed, as standard error says   2 wrong usage

      JSON
        { "files": [{"path", "changedLines"}], "changedLines", "written": true or false,
          "findings": [{"path", "line", "column", "rule", "outcome": "rewritten", "left" or "check", "source", "message",
                        "page"}],
          "unread": [{"path", "message"}], "skipped": [{"path", "message"}], "manifest": [what is to be written by hand] }
      """)

  @Argument(help: ArgumentHelp("A Swift file, or a folder with all its sources.", valueName: "path"))
  var path: String

  @Flag(name: .long, help: "Change the files.")
  var write = false

  @Flag(name: .long, help: "Print JSON.")
  var json = false

  @Flag(name: .long, help: "List each place that is changed, too.")
  var verbose = false

  func run() throws {
    let sources = try PortedSources(path)
    if write { try sources.write() }
    let output = StandardOutput()
    if json {
      try output.writeLine(sources.json(written: write).pretty)
    } else {
      if !write { for change in sources.changes { try output.write(change.diff) } }
      try sources.writeReport(to: output, written: write, verbose: verbose)
    }
    try output.flush()
  }
}
