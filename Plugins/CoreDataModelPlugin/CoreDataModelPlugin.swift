import Foundation
import PackagePlugin

/// Compiles the models of a target: `Shop.xcdatamodeld` becomes the resource `Shop.momd`,
/// `Shop1to2.xcmappingmodel` the resource `Shop1to2.cdm`, and the classes of the current version become
/// sources, as the model's Codegen says.
///
/// Each model is a command of its own, which runs when one of its files has changed. Options are in the file
/// `coredata-modelc.json` of the target, if there is one (Documentation/classes.md).
@main
struct CoreDataModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    guard let target = target as? SourceModuleTarget else { return [] }
    let tool: URL = try context.tool(named: "coredata-modelc").url
    let folder: URL = context.pluginWorkDirectoryURL
    let own: [URL] = target.sourceFiles.map(\.url)
    let options: URL? = own.first { $0.lastPathComponent == "coredata-modelc.json" }
    let settings: [String: Any] = settings(options)
    let files: [URL] = own + sharedModels(settings, options, target).filter { !own.contains($0) }
    // The source of a mapping model names two versions of a model, which decide what it compiles to.
    let models: [URL] = files.filter { ["xcdatamodeld", "xcdatamodel"].contains($0.pathExtension) }
      .sorted { $0.path < $1.path }
    let mappings: [URL] = files.filter { $0.pathExtension == "xcmappingmodel" }.sorted { $0.path < $1.path }
    // Bundles are flat, and files of one name would replace each other.
    for kind in [models, mappings] {
      for (name, twins) in Dictionary(grouping: kind, by: name) where twins.count > 1 {
        Diagnostics.error(
          "The target \(target.name) has several models named \(name): \(twins.map(\.path).joined(separator: ", ")). Rename all but one, move them to other targets, or remove those that the program does not use."
        )
        return []
      }
    }
    var commands: [Command] = try models.map { model in
      try compile(model, tool, folder, options, target)
    }
    if let options, !models.isEmpty {
      commands.append(accessors(models.map { classes($0, folder) }, tool, options, context, target))
    }
    for mapping in mappings {
      let compiled: URL = folder.appendingPathComponent(name(mapping) + ".cdm")
      commands.append(
        .buildCommand(
          displayName: "Compiling mapping model \(mapping.lastPathComponent)", executable: tool,
          arguments: ["compile", mapping.path, compiled.path],
          inputFiles: inputs(mapping) + models.flatMap(inputs), outputFiles: [compiled]))
    }
    warnOfStrayModels(besides: files, compiles: !commands.isEmpty, target, in: context.package)
    if target.kind != .snippet, settings["aliases"] as? Bool ?? true {
      let aliases: URL = folder.appendingPathComponent("CoreDataAmbiguousNames.swift")
      commands.append(
        .buildCommand(
          displayName: "Writing the names that Foundation and CoreData share", executable: tool,
          arguments: ["aliases", aliases.path], inputFiles: options.map { [$0] } ?? [], outputFiles: [aliases]
        ))
    }
    return commands
  }

  /// Warns of models that nothing compiles: those that the target excludes and, if it has none at all, those
  /// of other targets, which may have been put into the wrong folder.
  private func warnOfStrayModels(
    besides files: [URL], compiles: Bool, _ target: any SourceModuleTarget, in package: Package
  ) {
    let known = Set(files.map(\.standardizedFileURL.path))
    let folder: String = target.directoryURL.standardizedFileURL.path + "/"
    let others: [any SourceModuleTarget] = package.targets.compactMap { $0 as? any SourceModuleTarget }
      .filter { $0.id != target.id }
    let inner: [String] = others.map { $0.directoryURL.standardizedFileURL.path + "/" }.filter {
      $0.hasPrefix(folder)
    }
    for model in TargetFiles.models(in: target.directoryURL) {
      let path: String = model.standardizedFileURL.path
      if known.contains(path) || inner.contains(where: path.hasPrefix) { continue }
      let name: String = model.deletingLastPathComponent().lastPathComponent
      Diagnostics.warning(
        "\(path): Nothing compiles this model, since the target \(target.name) excludes its folder: name the folder in the "
          + "target's coredata-modelc.json, {\"folders\": [\"\(name)\"]}, or remove what is not used."
      )
    }
    if compiles { return }
    let found: [String] = others.flatMap { other in
      TargetFiles.models(in: other.directoryURL).map {
        "\($0.lastPathComponent) in the folder of the target \(other.name)"
      }
    }
    let hint: String =
      found.isEmpty
      ? ""
      : " There is \(found.sorted().prefix(3).joined(separator: ", ")): list the plugin there, or move the model."
    Diagnostics.warning(
      "The target \(target.name) has no .xcdatamodeld, .xcdatamodel or .xcmappingmodel for CoreDataModelPlugin to compile.\(hint)"
    )
  }

  private func compile(
    _ model: URL, _ tool: URL, _ folder: URL, _ options: URL?, _ target: any SourceModuleTarget
  ) throws -> Command {
    let isPackage: Bool = model.pathExtension == "xcdatamodeld"
    let compiled: URL = folder.appendingPathComponent(name(model) + (isPackage ? ".momd" : ".mom"))
    let classes: URL = classes(model, folder)
    var arguments: [String] = [
      "build", model.path, compiled.path, classes.path, "--module", target.moduleName,
    ]
    let modules: [String] = target.recursiveTargetDependencies.compactMap {
      ($0 as? any SourceModuleTarget)?.moduleName
    }
    if !modules.isEmpty { arguments += ["--other-modules", Set(modules).sorted().joined(separator: ",")] }
    if let options { arguments += ["--options", options.path] }
    return .buildCommand(
      displayName: "Compiling model \(model.lastPathComponent)", executable: tool, arguments: arguments,
      inputFiles: inputs(model) + (options.map { [$0] } ?? []), outputFiles: [compiled, classes])
  }

  private func classes(_ model: URL, _ folder: URL) -> URL {
    folder.appendingPathComponent(name(model) + "+CoreDataClasses.swift")
  }

  /// The accessors of classes with `@NSManaged`, if that is what the options say. Members can have types that
  /// the sources of the target declare, or those of other targets of the package.
  private func accessors(
    _ classes: [URL], _ tool: URL, _ options: URL, _ context: PluginContext, _ target: any SourceModuleTarget
  ) -> Command {
    let folder: URL = context.pluginWorkDirectoryURL
    let output: URL = folder.appendingPathComponent("\(target.moduleName)+CoreDataAccessors.swift")
    var arguments: [String] = [
      "accessors", "--options", options.path, "--module", target.moduleName, "--output", output.path,
      "--work", folder.appendingPathComponent("Accessors").path,
    ]
    if let compiler = try? context.tool(named: "swiftc") { arguments += ["--compiler", compiler.url.path] }
    let beside: [URL] = TargetFiles.swiftFiles(in: target.directoryURL)
    for file in beside { arguments += ["--beside", file.path] }
    let dependencies: [TargetFiles.Module] = TargetFiles.modules(of: target, in: context.package)
      .filter(\.isOwn)
    for module in dependencies {
      for file in module.files { arguments += ["--source", "\(module.name)=\(file.path)"] }
    }
    return .buildCommand(
      displayName: "Making the accessors of the classes of \(target.name)", executable: tool,
      arguments: arguments + classes.map(\.path),
      inputFiles: classes + [options] + beside + dependencies.flatMap(\.files), outputFiles: [output])
  }

  private func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

  /// The files of a package, and the package itself: what is listed here is no unhandled file of the target.
  private func inputs(_ package: URL) -> [URL] {
    let manager = FileManager.default
    let names: [String] = (manager.enumerator(atPath: package.path)?.compactMap { $0 as? String } ?? [])
      .sorted()
    return [package]
      + names.map { package.appendingPathComponent($0) }.filter { !$0.lastPathComponent.hasPrefix("._") }
  }

  private func settings(_ options: URL?) -> [String: Any] {
    guard let options, let data = try? Data(contentsOf: options) else { return [:] }
    return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
  }

  /// The models in folders that the target excludes, since they are shared with an app, and that its options
  /// name.
  private func sharedModels(
    _ settings: [String: Any], _ options: URL?, _ target: any SourceModuleTarget
  ) -> [URL] {
    let manager = FileManager.default
    var models: [URL] = []
    func collect(_ folder: URL) {
      for name in ((try? manager.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() {
        let url: URL = folder.appendingPathComponent(name)
        var isFolder: ObjCBool = false
        guard !name.hasPrefix("."), manager.fileExists(atPath: url.path, isDirectory: &isFolder),
          isFolder.boolValue
        else { continue }
        if ["xcdatamodeld", "xcdatamodel", "xcmappingmodel"].contains(url.pathExtension) {
          models.append(url)
        } else {
          collect(url)
        }
      }
    }
    let one: [String] = (settings["folders"] as? String).map { [$0] } ?? []
    for name in settings["folders"] as? [String] ?? one {
      let folder: URL = target.directoryURL.appendingPathComponent(name)
      var isFolder: ObjCBool = false
      if !manager.fileExists(atPath: folder.path, isDirectory: &isFolder) || !isFolder.boolValue {
        // SwiftPM prints the text alone, without the place that a diagnostic has.
        let place: String = options.map { "\($0.path):\(line(of: "\"\(name)\"", in: $0)): " } ?? ""
        Diagnostics.error(
          "\(place)folders: There is no folder \(folder.path); names are those of folders in the one of the target \(target.name)."
        )
      }
      collect(folder)
    }
    return models
  }

  /// The line of the file that has the text, counted from 1.
  private func line(of text: String, in file: URL) -> Int {
    let lines = (try? String(contentsOf: file, encoding: .utf8))?
      .split(separator: "\n", omittingEmptySubsequences: false)
    return (lines?.firstIndex { $0.contains(text) } ?? 0) + 1
  }
}
