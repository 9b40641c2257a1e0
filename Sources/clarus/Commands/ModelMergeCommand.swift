import ArgumentParser
import CoreDataModel
import CoreDataModelEditing
import CoreDataPredicates
import Foundation

/// `clarus model merge`: two edits of one source, as git calls a merge driver.
struct ModelMergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Merges two edits of the source of a model, entity by entity and property by property.",
    discussion: """
      The files are three `contents` files of an .xcdatamodel, or three .xccurrentversion: what both sides \
      began with, ours, theirs. The result is written over ours. What both changed differently, or what does \
      not go together, is a conflict: ours stays, and standard error names it and says how theirs is taken. If ours is a \
      model that can be used, the result is one. The result has the line ends of ours.

      Of a version that both sides added, git has no file that both began with: the version before it beside --path is taken, of \
      which both are copies; what theirs lacks of it is a conflict. Where there is none, what one side has alone is a conflict too.

      AS GIT'S MERGE DRIVER
        git config merge.coredata.driver 'clarus model merge %O %A %B --path %P'
        echo '**/*.xcdatamodel/contents merge=coredata' >> .gitattributes
        echo '.xccurrentversion merge=coredata' >> .gitattributes

      EXIT STATUS
        0 merged   1 merged but for the conflicts that are named   2 ours is as it was
      """)

  @Argument(help: "What both sides began with; an empty file if there was none.", completion: .file())
  var base: String
  @Argument(help: "Our side, which gets the result.", completion: .file())
  var ours: String
  @Argument(help: "Their side.", completion: .file())
  var theirs: String
  @Option(help: ArgumentHelp("The name of the file, for messages.", valueName: "name"))
  var path: String?

  func run() throws {
    let name: String = path ?? ours
    let result: (data: Data, conflicts: [ModelMerge.Conflict])
    do {
      let sides: [Data] = try [base, ours, theirs].map { try contents(of: $0) }
      result = try merged(sides.map { LineEnds.of(sides[1], in: $0) }, name)
      try FileReplacement.write(result.data, to: URL(fileURLWithPath: ours))
    } catch {
      let reason: String = ErrorText.line(for: error)
      writeToStandardError("clarus: error: \(name) is not merged: \(reason)")
      throw ExitCode(2)
    }
    for conflict in result.conflicts {
      writeToStandardError(ErrorText.oneLine("CONFLICT in \(name): \(conflict)"))
    }
    if !result.conflicts.isEmpty { throw ExitCode.failure }
  }

  private func contents(of path: String) throws -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw ModelFileError(file: path, reason: "The file can't be read: \(ErrorMessage.reason(of: error))")
    }
  }

  private func merged(_ sides: [Data], _ name: String) throws -> (Data, [ModelMerge.Conflict]) {
    if let ours = CurrentVersion(sides[1]), let theirs = CurrentVersion(sides[2]) {
      let merge = CurrentVersion.merge(base: CurrentVersion(sides[0]), ours: ours, theirs: theirs)
      return (merge.version.name == ours.name ? sides[1] : sides[2], merge.conflicts)
    }
    func document(_ data: Data, _ side: String) throws -> ModelDocument {
      try ModelDocument(data, file: "\(name) (\(side))")
    }
    var base: ModelDocument? = sides[0].isEmpty ? nil : try document(sides[0], "base")
    if base == nil, let (version, data) = versionBefore() {
      base = try ModelDocument(LineEnds.of(sides[1], in: data), file: version)
      writeToStandardError(
        ErrorText.oneLine(
          "\(name): both sides added this version: what they changed is told from '\(version)', the version before."
        ))
    }
    let merge = ModelMerge.merge(
      base: base, isOurBase: sides[0].isEmpty, ours: try document(sides[1], "ours"),
      theirs: try document(sides[2], "theirs"))
    return (merge.document.data, merge.conflicts)
  }

  /// The version before the file that is merged, in the same package; nil if there is none.
  private func versionBefore() -> (name: String, contents: Data)? {
    guard let path else { return nil }
    let version: URL = URL(fileURLWithPath: path).deletingLastPathComponent()
    let package: URL = version.deletingLastPathComponent()
    guard package.pathExtension == "xcdatamodeld", version.pathExtension == "xcdatamodel" else { return nil }
    let own: String = version.deletingPathExtension().lastPathComponent
    let names: [String] = ((try? FileManager.default.contentsOfDirectory(atPath: package.path)) ?? [])
      .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }
    for name in names.filter({ VersionNames.areInOrder($0, own) }).sorted(by: VersionNames.areInOrder)
      .reversed()
    {
      let file: URL = package.appendingPathComponent("\(name).xcdatamodel/contents")
      if let data = try? Data(contentsOf: file) { return (name, data) }
    }
    return nil
  }
}
