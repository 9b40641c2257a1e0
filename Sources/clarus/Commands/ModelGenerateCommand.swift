import ArgumentParser
import CoreDataCodeGeneration
import CoreDataModel
import CoreDataModelEditing
import Foundation

/// `clarus model generate`: the classes of a model.
struct ModelGenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Writes the classes of a model as Swift source.",
    discussion: """
      Item+CoreDataClass.swift and Item+CoreDataProperties.swift for each entity, as Xcode's editor writes them: for those whose \
      Codegen is Class Definition both, for Category/Extension the properties; with --all both for all. Files that are the same \
      already are left alone; a file that was not generated is never replaced, and nothing is written then. Generated files of other \
      classes, such as those of entities that are gone, are named and stay. Entities whose Codegen is \
      Manual/None get files with --all only, and those whose class is NSManagedObject none. Packages need not run this: \
      CoreDataModelPlugin does it in their build.

      EXAMPLES
        clarus model generate Shop.xcdatamodeld --output Sources/Shop
        clarus model generate Shop.xcdatamodeld --all --accessors managed --output ../iOS/Shop/Model

      JSON
        { "files": [{"name", "written"}], "others": [names of generated files that are none of these], "messages": [{"severity", "file", "line", "text"}] }
      """)

  @OptionGroup var options: ModelOptions

  @Option(
    name: .long, help: ArgumentHelp("The folder for the files; made if it is missing.", valueName: "path"),
    completion: .directory)
  var output: String

  @Flag(
    name: .long,
    help: ArgumentHelp(
      "Both files of every entity that names a class, as if its Codegen were Class Definition: also where it is Manual/None."
    ))
  var all: Bool = false

  @Option(name: .long, help: "Who may use the classes: public, package, internal or open.")
  var access: CodeGenerationOptions.Access = .public

  @Option(
    name: .long,
    help: "Computed properties over slots, @NSManaged, or each where it works: slots, managed or portable.")
  var accessors: CodeGenerationOptions.Accessors = .slots

  @Option(
    name: .long, help: "To-many relationships as NSSet? or as Set<Item> and [Item]: foundation or swift.")
  var collections: CodeGenerationOptions.Collections = .foundation

  @Option(
    name: .long,
    help: ArgumentHelp("The module of the classes; class names may begin with it.", valueName: "name"))
  var module: String?

  @Flag(name: .long, help: "Fetched properties get no accessors, as in Xcode.")
  var noFetchedProperties: Bool = false

  func validate() throws {
    if collections == .swift, accessors != .slots {
      throw ValidationError("--collections swift and @NSManaged don't go together; use --accessors slots.")
    }
  }

  func run() throws {
    let version: ModelVersion = try options.load()
    let file: URL? = version.model.file
    let generator = ClassGenerator(
      options: CodeGenerationOptions(
        access: access, accessors: accessors, collections: collections, entities: all ? .all : .asModelled,
        fetchedProperties: !noFetchedProperties, module: module))
    let lines: ModelSourceLines? =
      file?.lastPathComponent == "contents" ? try file.map { try ModelSourceLines(contentsOf: $0) } : nil
    let classes: GeneratedClasses = generator.classes(
      of: version.model, file: file?.path ?? options.model, lines: lines)
    let written: [Bool] = classes.hasErrors ? [] : try write(classes.files)
    let others: [String] = classes.hasErrors ? [] : others(classes.files)
    if options.json {
      let output = StandardOutput()
      try output.writeLine(Self.json(classes, written, others).pretty)
      try output.flush()
    } else {
      try report(classes, written, others)
    }
    if classes.hasErrors { throw CommandFailure("\(options.model): No classes were written.") }
  }

  /// Which of the files were written; the others were the same already.
  private func write(_ files: [GeneratedFile]) throws -> [Bool] {
    let folder = URL(fileURLWithPath: output, isDirectory: true)
    let marks: [Bool] = try files.map { file in
      let url: URL = folder.appendingPathComponent(file.name)
      guard try FileReplacement.check(url) != nil else { return true }
      let present: Data = try Data(contentsOf: url)
      if present == Data(file.contents.utf8) { return false }
      guard String(decoding: present, as: UTF8.self).hasPrefix(GeneratedFile.firstLine) else {
        throw CommandFailure(
          "\(url.path): The file was not generated, so it is not replaced. Give another folder, or remove it first."
        )
      }
      return true
    }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw CommandFailure("\(output): The folder can't be made: \(ErrorText.line(for: error))")
    }
    for (file, isChanged) in zip(files, marks) where isChanged {
      try FileReplacement.write(Data(file.contents.utf8), to: folder.appendingPathComponent(file.name))
    }
    return marks
  }

  /// Generated files in the folder that are none of these.
  private func others(_ files: [GeneratedFile]) -> [String] {
    let folder = URL(fileURLWithPath: output, isDirectory: true)
    let names: [String] = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let own: Set<String> = Set(files.map(\.name))
    return names.sorted().filter { name in
      name.hasSuffix(".swift") && name.contains("+CoreData") && !own.contains(name)
        && isGenerated(folder.appendingPathComponent(name))
    }
  }

  private func isGenerated(_ url: URL) -> Bool {
    // A pipe would wait for a writer.
    guard (try? FileReplacement.check(url)) != nil, let present = try? Data(contentsOf: url) else {
      return false
    }
    return present.starts(with: Data(GeneratedFile.firstLine.utf8))
  }

  private func report(_ classes: GeneratedClasses, _ written: [Bool], _ others: [String]) throws {
    for message in classes.messages { writeToStandardError(ErrorText.oneLine(message.description)) }
    let output = StandardOutput()
    for (file, isChanged) in zip(classes.files, written) {
      try output.writeLine(DisplayWidth.escaped("\(isChanged ? "written   " : "unchanged ") \(file.name)"))
    }
    for name in others {
      try output.writeLine(
        DisplayWidth.escaped(
          "left       \(name): generated, but of no class of this model; remove it if its entity is gone"))
    }
    if classes.files.isEmpty {
      try output.writeLine(
        all
          ? "No entity names a class: all objects are of NSManagedObject. Write representedClassName=\"Item\" at an entity Item."
          : "No entity's Codegen asks for a class; --all writes those of all.")
    }
    try output.flush()
  }

  private static func json(
    _ classes: GeneratedClasses, _ written: [Bool], _ others: [String]
  ) -> JSONText {
    .object([
      (
        "files",
        .array(
          zip(classes.files, written).map {
            .object([("name", .string($0.name)), ("written", .bool($1))])
          })
      ),
      ("others", .array(others.map { .string($0) })),
      (
        "messages",
        .array(
          classes.messages.map {
            .object([
              ("severity", .string($0.severity.rawValue)), ("file", .string($0.file)),
              ("line", $0.line.map { .integer(Int64($0)) } ?? .null), ("text", .string($0.text)),
            ])
          })
      ),
    ])
  }
}

extension CodeGenerationOptions.Access: ExpressibleByArgument {}
extension CodeGenerationOptions.Accessors: ExpressibleByArgument {}
extension CodeGenerationOptions.Collections: ExpressibleByArgument {}
