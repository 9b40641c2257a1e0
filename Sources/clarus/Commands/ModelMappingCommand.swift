import ArgumentParser
import CoreDataModel
import CoreDataModelChecking
import Foundation

/// `clarus model mapping`: the mapping model between two versions of a model, as a file.
struct ModelMappingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mapping",
    abstract: "Writes the mapping model between two versions of a model.",
    discussion: """
      It is the mapping model that a lightweight migration infers, to be changed in Xcode's editor or with NSMappingModel, or that of a \
      file. The ending of the output says what is written: .xcmappingmodel, a source, or .cdm, its compiled form. The source names both \
      models by their paths: keep it beside them, or in a folder below. Xcode's editor stores both models in it too; here it has the \
      paths alone. With one package name two of its versions. What is required and has no value for the objects that there are gets \
      none in it either: a line on standard error names each such attribute. --value gives an attribute its value: an expression as \
      for NSExpression(format:), in which $source is the former object; so an attribute may get any other type. It is used for the \
      sub-entities that inherit the attribute too, unless --value names one of them. Expressions that name what the models don't have are \
      refused; of a --mapping they are told.

      EXAMPLES
        clarus model mapping Shop.xcdatamodeld --from Shop --to 'Shop 2' --output Shop1to2.xcmappingmodel
        clarus model mapping Old.momd Shop.momd --output Shop1to2.cdm
        clarus model mapping Shop.xcdatamodeld --from Shop --to 'Shop 2' --mapping Shop1to2.cdm \\
          --output Shop1to2.xcmappingmodel                     the source of a compiled one
        clarus model mapping Shop.xcdatamodeld --from Shop --to 'Shop 2' --value 'Item.label=uppercase:($source.title)' \\
          --value 'Item.sku="none"' --output Shop1to2.cdm
      """)

  @Argument(
    help: "The older model: .xcdatamodeld, .xcdatamodel, its contents file, .momd, .mom, or a store.",
    completion: .file())
  var source: String

  @Argument(help: "The newer model; the same package unless given.", completion: .file())
  var destination: String?

  @Option(name: .long, help: ArgumentHelp("A version of the older model, by name.", valueName: "name"))
  var from: String?

  @Option(name: .long, help: ArgumentHelp("A version of the newer model, by name.", valueName: "name"))
  var to: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A mapping model for these versions, .cdm or .xcmappingmodel, in place of the inferred one.",
      valueName: "path"),
    completion: .file())
  var mapping: String?

  @Option(
    name: .customLong("value"), parsing: .singleValue,
    help: ArgumentHelp(
      "The value of an attribute of the newer model; see NSExpression(format:). May be repeated.",
      valueName: "Entity.attribute=expression"))
  var values: [String] = []

  @Option(
    name: .long,
    help: ArgumentHelp("The new .xcmappingmodel or .cdm. There must be none yet.", valueName: "path"),
    completion: .file())
  var output: String

  func validate() throws {
    if destination == nil && from == nil && to == nil {
      throw ValidationError("Name a second model, or two versions of the one with --from and --to.")
    }
    for text in values { _ = try MappedValue(text) }
    if !["xcmappingmodel", "cdm"].contains(URL(fileURLWithPath: output).pathExtension) {
      throw ValidationError("\(output): Give the output the ending .xcmappingmodel or .cdm.")
    }
  }

  func run() throws {
    let old: ModelVersion = try ModelArgument.load(source, version: from, option: "--from")
    let new: ModelVersion = try ModelArgument.load(destination ?? source, version: to, option: "--to")
    for warning in old.warnings + new.warnings {
      writeToStandardError(ErrorText.oneLine(warning.description))
    }
    var values = MappedValues(try values.map { try MappedValue($0) }, in: new.model)
    let (model, unfinished): (NSMappingModel, [MappingInference.Refusal]) = try completed(
      &values, from: old.model, to: new.model)
    let lacking: [MappingInference.Refusal] = unfinished.filter {
      !values.paths.contains("\($0.entity).\($0.property ?? "")")
    }
    if URL(fileURLWithPath: output).pathExtension == "cdm" {
      let data: Data = try model.archivedData()
      try NewFile.folder(output) { try data.write(to: $0) }
    } else {
      let data: Data = try model.sourceData(
        from: old.model, at: sourcePath(old), to: new.model, at: sourcePath(new))
      try NewFile.folder(output) { url in
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try data.write(to: url.appendingPathComponent("xcmapping.xml"))
      }
    }
    for refusal in lacking {
      writeToStandardError(
        ErrorText.oneLine(
          "\(refusal.reason) Give '\(refusal.property ?? "")' of the entity mapping for \(refusal.entity) a value expression "
            + "in \(output), before a store is migrated by it: --value '\(refusal.entity).\(refusal.property ?? "")=…' "
            + "of this command writes one."))
    }
    if old.model.entityVersionHashesByName == new.model.entityVersionHashesByName {
      writeToStandardError(
        ErrorText.oneLine(
          "'\(old.name)' and '\(new.name)' have the same version hashes: a store of the one is a store of the other, so that no "
            + "migration uses \(output). Give what gets other values a hash modifier in the newer version (`clarus model "
            + "set MODEL Entity.attribute --hash-modifier 2`), and write the mapping model anew."))
    }
    let standard = StandardOutput()
    let count: Int = model.entityMappings.count
    try standard.writeLine(
      DisplayWidth.escaped("\(output): \(Counted.text(count, "entity mapping", "entity mappings"))"))
    try standard.flush()
  }

  /// The mapping model with the values, and what it still lacks.
  ///
  /// - Throws: ``CommandFailure`` with everything that is wrong with the values, and with what they lack.
  private func completed(
    _ values: inout MappedValues, from old: NSManagedObjectModel, to new: NSManagedObjectModel
  ) throws -> (NSMappingModel, [MappingInference.Refusal]) {
    var reasons: [String] = []
    var made: (model: NSMappingModel, lacking: [MappingInference.Refusal])?
    if let mapping {
      made = (
        try .load(
          contentsOf: URL(fileURLWithPath: mapping), forSourceModel: old, destinationModel: new), []
      )
    } else {
      let inference = MappingInference(from: old, to: new)
      do {
        made = try inference.unfinishedMappingModel(expressions: values.paths)
      } catch {
        let open: [String] = inference.refusals.filter { $0.needsExpression && !$0.lacksValueOnly }
          .map { "\($0.entity).\($0.property ?? "")" }.filter { !values.paths.contains($0) }
        if open.isEmpty, values.problems.isEmpty { throw error }
        let options: String = open.map { "--value '\($0)=EXPRESSION'" }.joined(separator: " ")
        reasons.append(
          ErrorText.line(for: error)
            + (open.isEmpty
              ? "" : " Or write one here with expressions that convert the values: \(options)."))
        // The given values are checked even so.
        made = try? inference.unfinishedMappingModel(expressions: values.paths.union(open))
      }
    }
    if let made {
      let known: Set<String> = Set(made.model.expressionProblems(from: old, to: new).map(\.description))
      for problem in known.sorted() { writeToStandardError(ErrorText.oneLine("\(problem)")) }
      values.set(in: made.model)
      // An expression is told once, not for each sub-entity.
      var told: Set<String> = []
      for found in made.model.expressionProblems(from: old, to: new)
      where !known.contains(found.description)
        && told.insert("\(found.property): \(found.problem.part)").inserted
      {
        reasons.append("--value: \(found)")
      }
    }
    reasons = values.problems + reasons
    guard reasons.isEmpty, let made else { throw CommandFailure(reasons.joined(separator: " ")) }
    return made
  }

  /// As the editor names a version: `Shop.xcdatamodeld/Shop 2.xcdatamodel`.
  private func sourcePath(_ version: ModelVersion) throws -> String {
    guard let path = version.model.sourcePath else {
      throw CommandFailure(
        "\(version.path): The source of a mapping model names its models by their files, and this is none. Name the "
          + "model's file, or write a .cdm.")
    }
    return path
  }
}
