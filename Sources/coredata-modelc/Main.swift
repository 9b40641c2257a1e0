import CoreDataCodeGeneration
import CoreDataModel
import Foundation
import SwiftSources

// Compiles models and writes their classes, at build time or by hand. Builds without database, evaluator and
// argument parser, because every program that applies CoreDataModelPlugin builds it.

@main
struct ModelCompiler {
  static let usage = """
    coredata-modelc compile SOURCE OUTPUT [--module NAME]
        Compiles Shop.xcdatamodeld to a .momd, Shop.xcdatamodel to a .mom, Shop1to2.xcmappingmodel to a .cdm.
    coredata-modelc generate MODEL OUTPUT [OPTIONS]
        Writes the classes of a model, into a folder, or into one file where OUTPUT ends in .swift.
    coredata-modelc build SOURCE COMPILED FILE.swift [OPTIONS]
        Both at once.
    coredata-modelc accessors --options FILE.json --module MODULE --work FOLDER --output FILE.swift
        [--compiler SWIFTC] [--source MODULE=FILE]… [--beside FILE]… FILE…
        Writes the accessors of generated classes whose members have @NSManaged; FILE… are these classes,
        --beside the other files of their module, --source those of other modules.
    coredata-modelc aliases FILE.swift
        Writes which of the names are meant that Foundation and CoreData share.

    OPTIONS
      --options FILE.json      options from a file: an object of the names below, such as {"access": "internal"}
      --access WORD            public (the default), package, internal, open
      --accessors WORD         slots (the default), managed (@NSManaged), portable (both)
      --collections WORD       foundation (the default: NSSet?), swift (Set<Tag>, [Tag])
      --classes WORD           model (the default: as Codegen says), all, none
      --fetched-properties WORD  yes (the default), no
      --module NAME            the module that the classes are compiled in; compiled models name it for classes of the
                               "Current Product Module"
      --other-modules A,B      modules of other classes that the model names

    Files that would not change are not written. Exit status: 0 done, 1 failed, 2 usage.
    """

  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as UsageError {
      report("coredata-modelc: error: \(error.text)\n\n\(usage)")
      exit(2)
    } catch let error as ModelFileError {
      report(Message.error(error))
      exit(1)
    } catch is ReportedFailure {
      exit(1)
    } catch {
      report("coredata-modelc: error: \(error.localizedDescription)")
      exit(1)
    }
  }

  private static func run(_ words: [String]) throws {
    guard let command = words.first, !["help", "--help", "-h"].contains(command) else {
      print(usage)
      return
    }
    if command == "accessors" {
      try writeAccessors(Array(words.dropFirst()))
      return
    }
    let arguments = try Arguments(Array(words.dropFirst()))
    switch command {
    case "compile":
      let places: [String] = try arguments.places("SOURCE", "OUTPUT")
      try compile(places[0], to: places[1], arguments.options)
    case "generate":
      let places: [String] = try arguments.places("MODEL", "OUTPUT")
      try Generation(arguments.options).run(places[0], into: places[1])
    case "build":
      let places: [String] = try arguments.places("SOURCE", "COMPILED", "FILE.swift")
      guard places[2].hasSuffix(".swift") else { throw UsageError("'\(places[2])' does not end in .swift.") }
      try compile(places[0], to: places[1], arguments.options)
      try Generation(arguments.options).run(places[0], into: places[2], showsWarnings: false)
    case "aliases":
      try OutputFile.write(Data(AmbiguousNames.source.utf8), to: try arguments.places("FILE.swift")[0])
    default: throw UsageError("There is no command '\(command)'.")
    }
  }

  /// A build that has options always runs this: whether there is something to write is known only now, since
  /// builds don't plan anew where the text of a file has changed.
  private static func writeAccessors(_ words: [String]) throws {
    do {
      let words = try CommandOptions(words, known: AccessorsCommand.options.union(["--options"]))
      var options = ToolOptions()
      for file in words.all("--options") { try options.read(file: file) }
      if options.generation.accessors == .managed, !options.isWithoutClasses {
        for remark in try AccessorsCommand(words).run() { report("\(remark)") }
      } else {
        try OutputFile.write(
          Data("// The generated classes have accessors of their own.\n".utf8),
          to: try words.required("--output"))
      }
    } catch let failure as CommandOptions.Failure {
      throw UsageError("\(failure)")
    } catch let failure as SourceFailure {
      report("\(failure)")
      throw ReportedFailure()
    }
  }

  private static func compile(_ source: String, to output: String, _ options: ToolOptions) throws {
    let compilation = try ModelCompilation(
      of: URL(fileURLWithPath: source), module: options.generation.module)
    for warning in compilation.warnings { report(Message.warning(warning)) }
    try compilation.write(to: URL(fileURLWithPath: output))
  }

  static func report(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}

/// A failure whose messages were written already.
struct ReportedFailure: Error {}

/// Words on the command line that can't be understood.
struct UsageError: Error {
  var text: String

  init(_ text: String) { self.text = text }
}

/// Messages as compilers write them, so that editors and build logs lead to the line.
enum Message {
  static func error(_ error: ModelFileError) -> String {
    "\(error.file):\(error.line ?? 1): error: \(error.reason)"
  }

  static func warning(_ warning: ModelWarning) -> String {
    "\(warning.file):\(warning.line ?? 1): warning: \(warning.message)"
  }
}
