import Foundation
import PackagePlugin

/// Compiles Swift sources for Apple's platforms.
///
/// - The Swift files in the folder of the target that the target itself does not compile (`exclude:` of its
///   manifest) are compiled as they stand: each is rewritten as `clarus port` does it, into the build folder,
///   and the compiler names the original file and line. What can't be rewritten is an error there.
/// - Members with `@NSManaged` in the files that the target compiles get their accessors.
///
/// Documentation/classes.md has examples.
@main
struct CoreDataSourcesPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let compiled: [URL] = target.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" }
    let paths = Set(compiled.map(\.standardizedFileURL.path))
    let excluded: [URL] = swiftFiles(in: target.directoryURL).filter {
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
    if !excluded.isEmpty { commands.append(try rewriting(excluded, context, target)) }
    if !compiled.isEmpty { commands.append(try accessors(compiled, beside: excluded, context, target)) }
    return commands
  }

  private func rewriting(
    _ sources: [URL], _ context: PluginContext, _ target: any SourceModuleTarget
  ) throws -> Command {
    let folder: URL = context.pluginWorkDirectoryURL.appendingPathComponent("Sources")
    var arguments: [String] = ["rewrite", "--output", folder.path]
    for module in modules(target) { arguments += ["--import", module.name] }
    return .buildCommand(
      displayName: "Rewriting the sources of \(target.name) for this platform",
      executable: try context.tool(named: "coredata-sources").url,
      arguments: arguments + sources.map(\.path), inputFiles: sources,
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
    // Types of modules of the same package can be those of members.
    let own = Set(context.package.targets.map(\.id))
    var inputs: [URL] = sources + beside
    for file in beside { arguments += ["--beside", file.path] }
    for module in modules(target) where own.contains(module.id) {
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

  private struct Module {
    let id: Target.ID
    let name: String
    let files: [URL]
  }

  /// The modules that a target depends on, each before those that it depends on itself.
  private func modules(_ target: any SourceModuleTarget) -> [Module] {
    var seen: Set<String> = []
    return target.recursiveTargetDependencies.reversed().compactMap { dependency in
      guard let module = dependency as? any SourceModuleTarget, seen.insert(module.moduleName).inserted else {
        return nil
      }
      return Module(
        id: module.id, name: module.moduleName,
        files: module.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" })
    }
  }

  /// All Swift files, without hidden folders, packages in it, and resources.
  private func swiftFiles(in folder: URL) -> [URL] {
    let manager = FileManager.default
    var files: [URL] = []
    let names: [String] = (try? manager.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names.sorted() where !name.hasPrefix(".") {
      let url: URL = folder.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      guard manager.fileExists(atPath: url.path, isDirectory: &isFolder) else { continue }
      if !isFolder.boolValue {
        if name.hasSuffix(".swift"), name != "Package.swift" { files.append(url) }
      } else if !manager.fileExists(atPath: url.appendingPathComponent("Package.swift").path) {
        files += swiftFiles(in: url)
      }
    }
    return files
  }
}
