import Foundation
import PackagePlugin

/// Compiles Swift sources for Apple's platforms.
///
/// - The Swift files in the folder of the target that the target itself does not compile (`exclude:` of its
///   manifest) are compiled as they stand: each is rewritten as `clarus port` does it, into the build folder,
///   and the compiler names the original file and line. What can't be rewritten is an error there, and what
///   compiles and may do something else is a warning, as are models beside these files that nothing compiles.
/// - Members with `@NSManaged` in the files that the target compiles get their accessors.
///
/// Documentation/classes.md has examples.
@main
struct CoreDataSourcesPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let compiled: [URL] = target.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" }
    let paths = Set(compiled.map(\.standardizedFileURL.path))
    let excluded: [URL] = TargetFiles.swiftFiles(in: target.directoryURL).filter {
      !paths.contains($0.standardizedFileURL.path)
    }
    for (name, twins) in Dictionary(grouping: compiled + excluded, by: \.lastPathComponent)
    where twins.count > 1 {
      Diagnostics.error(
        "The target \(target.name) has several files named \(name): \(twins.map(\.path).joined(separator: ", ")). Rename all but one."
      )
      return []
    }
    var commands: [Command] = []
    // What plugins make that the target lists before this one: classes of models have accessors already, and
    // members can have them as types.
    let generated: [URL] = target.pluginGeneratedSources.filter { $0.pathExtension == "swift" }
    if !excluded.isEmpty {
      commands.append(try rewriting(excluded, beside: compiled + generated, context, target))
    }
    if !compiled.isEmpty {
      commands.append(try accessors(compiled, beside: excluded + generated, context, target))
    }
    return commands
  }

  private func rewriting(
    _ sources: [URL], beside: [URL], _ context: PluginContext, _ target: any SourceModuleTarget
  ) throws -> Command {
    let folder: URL = context.pluginWorkDirectoryURL.appendingPathComponent("Sources")
    var arguments: [String] = ["rewrite", "--output", folder.path]
    for module in TargetFiles.modules(of: target, in: context.package) {
      arguments += ["--import", module.name]
    }
    for file in beside { arguments += ["--beside", file.path] }
    var inputs: [URL] = sources + beside
    let own = Set(target.sourceFiles.map { $0.url.standardizedFileURL.path })
    // CoreDataModelPlugin, if it comes first, tells of them itself.
    let isTold: Bool = target.pluginGeneratedSources.contains {
      let name: String = $0.lastPathComponent
      return name == "CoreDataAmbiguousNames.swift" || name.hasSuffix("+CoreDataClasses.swift")
    }
    for model in TargetFiles.models(in: target.directoryURL)
    where !isTold && !own.contains(model.standardizedFileURL.path) {
      arguments += ["--model", model.standardizedFileURL.path]
    }
    // The plugin that reads them always makes a source; one that is listed later compiles nothing for these.
    let options: URL? = target.sourceFiles.map(\.url).first { $0.lastPathComponent == "coredata-modelc.json" }
    if let options, !target.pluginGeneratedSources.isEmpty {
      arguments += ["--options", options.standardizedFileURL.path]
      inputs.append(options)
    }
    return .buildCommand(
      displayName: "Rewriting the sources of \(target.name) for this platform",
      executable: try context.tool(named: "coredata-sources").url,
      arguments: arguments + sources.map(\.path), inputFiles: inputs,
      outputFiles: sources.map { source in
        let name: String = source.lastPathComponent
        return folder.appendingPathComponent(name == "main.swift" ? name : "Built_\(name)")
      })
  }

  private func accessors(
    _ sources: [URL], beside: [URL], _ context: PluginContext, _ target: any SourceModuleTarget
  ) throws -> Command {
    let folder: URL = context.pluginWorkDirectoryURL
    let output: URL = folder.appendingPathComponent("\(target.moduleName)+ManagedAccessors.swift")
    var arguments: [String] = ["accessors", "--module", target.moduleName, "--output", output.path]
    arguments += ["--work", folder.appendingPathComponent("Accessors").path]
    if let compiler = try? context.tool(named: "swiftc") { arguments += ["--compiler", compiler.url.path] }
    var inputs: [URL] = sources + beside
    for file in beside { arguments += ["--beside", file.path] }
    for module in TargetFiles.modules(of: target, in: context.package) where module.isOwn {
      for file in module.files {
        arguments += ["--source", "\(module.name)=\(file.path)"]
        inputs.append(file)
      }
    }
    return .buildCommand(
      displayName: "Making the accessors of @NSManaged members of \(target.name)",
      executable: try context.tool(named: "coredata-sources").url,
      arguments: arguments + sources.map(\.path), inputFiles: inputs, outputFiles: [output])
  }
}
